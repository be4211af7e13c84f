"""What Python source files define, by reading them: nothing is imported or executed.

Follows re-exports, aliases and base classes through the packages of a search path as far as they can be read.
"""
from __future__ import annotations

import ast
import os
from typing import NamedTuple, Optional

_MAX_SOURCE_BYTES = 8 << 20
_MAX_HOPS = 8  # re-exports and bases that are followed, one after the other
# Decorators that turn a function into something else, or that only announce one.
_NO_FUNCTION = {"property", "cached_property", "lru_cache", "cache", "singledispatch", "setter", "getter"}
_ANNOUNCES = {"overload"}


class Found(NamedTuple):
    """Where the search for an object ended."""

    status: str  # there, missing, not_function, unknown, no_module, no_package
    note: str = ""  # for people


class Scope:
    """The names that a module or class body defines, as far as its statements say."""

    def __init__(self, module: str, is_package: bool, node: ast.AST) -> None:
        self.module = module
        self.package = module if is_package else module.rpartition(".")[0]
        self.node = node
        self.names: dict = {}  # name -> FunctionDef, ClassDef, (module, name) or another node
        self.stars: list = []  # modules of `from m import *`
        for statement in getattr(node, "body", ()):
            self._read(statement)

    def _read(self, node: ast.AST) -> None:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            if not decorators(node) & _ANNOUNCES:
                self.names[node.name] = node
        elif isinstance(node, ast.ClassDef):
            self.names[node.name] = node
        elif isinstance(node, ast.ImportFrom):
            self._read_import(node)
        elif isinstance(node, ast.Import):
            for alias in node.names:
                name = alias.asname or alias.name.partition(".")[0]
                self.names[name] = (alias.name if alias.asname else name, None)
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                if isinstance(target, ast.Name) and node.value is not None:
                    self.names[target.id] = node.value
        else:  # what stands in if, try and with may be defined
            for part in ("body", "handlers", "orelse", "finalbody"):
                for child in getattr(node, part, ()) if not isinstance(node, ast.Lambda) else ():
                    self._read(child)

    def _read_import(self, node: ast.ImportFrom) -> None:
        module = node.module or ""
        if node.level:
            base = self.package.split(".")
            base = base[: len(base) - node.level + 1]
            module = ".".join([*base, module] if module else base)
        for alias in node.names:
            if alias.name == "*":
                self.stars.append(module)
            else:
                self.names[alias.asname or alias.name] = (module, alias.name)


def decorators(node: ast.AST) -> set:
    """The last names of a definition's decorators."""
    names = set()
    for decorator in getattr(node, "decorator_list", ()):
        target = decorator.func if isinstance(decorator, ast.Call) else decorator
        names.add(getattr(target, "attr", getattr(target, "id", "")))
    return names


class SourceIndex:
    """Modules of a search path, each parsed once."""

    def __init__(self, paths: list) -> None:
        self.paths = paths
        self._scopes: dict = {}

    def file_of(self, module: str) -> Optional[str]:
        """The module's source file; "" for a module without one (an extension or a namespace package)."""
        parts = module.split(".")
        if not all(part.isidentifier() for part in parts):
            return None
        for path in self.paths:
            base = os.path.join(path, *parts)
            for file in (os.path.join(base, "__init__.py"), base + ".py"):
                if os.path.isfile(file):
                    return file
            if os.path.isdir(base) or _has_extension(base):
                return ""
        return None

    def scope(self, module: str) -> Optional[Scope]:
        """The module's names. None if there is no such module or its source cannot be read."""
        if module not in self._scopes:
            self._scopes[module] = self._parse(module)
        return self._scopes[module]

    def _parse(self, module: str) -> Optional[Scope]:
        file = self.file_of(module)
        if not file:
            return None
        try:
            with open(file, "rb") as source:
                text = source.read(_MAX_SOURCE_BYTES + 1)
            if len(text) > _MAX_SOURCE_BYTES:
                return None
            return Scope(module, file.endswith("__init__.py"), ast.parse(text))
        except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
            return None

    def find(self, module: str, path: str) -> Found:
        """Whether `path` ("Class.method", "function") in `module` is a function."""
        if self.file_of(module.partition(".")[0]) is None:
            return Found("no_package", "%s is not installed" % module.partition(".")[0])
        if self.file_of(module) is None:
            return Found("no_module", "no module %s" % module)
        scope = self.scope(module)
        if scope is None:
            return Found("unknown", "the source of %s cannot be read" % module)
        return self._find_in(scope, path.split("."), 0, [])

    def _find_in(self, scope: Scope, parts: list, hops: int, trail: list) -> Found:
        found, node = self._lookup(scope, parts[0], hops)
        if node is None:
            return found
        owner, node = node
        if owner is not scope:
            trail = [*trail, "from " + owner.module]
        if len(parts) == 1:
            return _judge(node, trail)
        if isinstance(node, ast.ClassDef):
            return self._find_in_class(owner, node, parts[1:], hops, trail, set())
        return Found("unknown", "%s is no class that can be read" % parts[0])

    def _lookup(self, scope: Scope, name: str, hops: int, seen: Optional[dict] = None) -> tuple:
        """(Found, None), or (None, (scope, node)) of the definition that `name` leads to. `seen` holds the hops after
        which a name of a module was looked at, since modules may import * from each other."""
        seen = {} if seen is None else seen
        entry = scope.names.get(name)
        if isinstance(entry, ast.Name) and entry.id != name:  # an alias
            entry = scope.names.get(entry.id, entry)
        if isinstance(entry, tuple):
            return self._follow(scope, entry, hops, seen)
        if entry is not None:
            return None, (scope, entry)
        for module in scope.stars if hops < _MAX_HOPS else ():
            found, node = self._follow(scope, (module, name), hops, seen)
            if node is not None:
                return found, node
        if any(self.scope(module) is None for module in scope.stars):
            return Found("unknown", "%s may come from an import * that cannot be read" % name), None
        return Found("missing", "no %s in %s" % (name, scope.module)), None

    def _follow(self, scope: Scope, entry: tuple, hops: int, seen: dict) -> tuple:
        module, name = entry
        target = self.scope(module)
        if name is None or hops >= _MAX_HOPS or target is None or target is scope or seen.get(entry, _MAX_HOPS) <= hops:
            return Found("unknown", "comes from %s, which cannot be followed" % module), None
        seen[entry] = hops
        return self._lookup(target, name, hops + 1, seen)

    def _find_in_class(self, scope: Scope, node: ast.ClassDef, parts: list, hops: int, trail: list, seen: set) -> Found:
        body = Scope(scope.module, False, node)
        entry = body.names.get(parts[0])
        if isinstance(entry, ast.ClassDef) and len(parts) > 1:
            return self._find_in_class(scope, entry, parts[1:], hops, trail, seen)
        if isinstance(entry, tuple):
            return Found("unknown", "%s is imported into the class" % parts[0])
        if entry is not None:
            return _judge(entry, trail) if len(parts) == 1 else Found("missing", "no class %s" % parts[0])
        seen.add((scope.module, node.name))
        unread = []
        for base in node.bases:
            found = self._find_in_base(scope, base, parts, hops, trail, seen)
            if found.status in ("there", "not_function"):
                return found
            if found.status == "unknown":
                unread.append(found.note)
        if unread:
            return Found("unknown", "not in %s; %s" % (node.name, unread[0]))
        return Found("missing", "no %s in %s" % (".".join(parts), node.name))

    def _find_in_base(self, scope: Scope, base: ast.AST, parts: list, hops: int, trail: list, seen: set) -> Found:
        if isinstance(base, ast.Subscript):  # Generic[T]
            base = base.value
        name = ast.unparse(base)
        if name in ("object", "ABC", "Protocol", "Generic", "NamedTuple", "Enum", "IntEnum", "Exception"):
            return Found("missing")
        found, definition = self._resolve(scope, base, hops)
        if definition is None:
            return Found("unknown", "its base %s cannot be read" % name) if found.status != "missing" else found
        owner, node = definition
        if not isinstance(node, ast.ClassDef) or hops >= _MAX_HOPS or (owner.module, node.name) in seen:
            return Found("unknown", "its base %s cannot be read" % name)
        return self._find_in_class(owner, node, parts, hops + 1, [*trail, "inherited from " + name], seen)

    def _resolve(self, scope: Scope, node: ast.AST, hops: int) -> tuple:
        if isinstance(node, ast.Name):
            return self._lookup(scope, node.id, hops)
        if isinstance(node, ast.Attribute):  # module.Class
            text = ast.unparse(node.value)
            entry = scope.names.get(text.partition(".")[0])
            if isinstance(entry, tuple):
                prefix = entry[0] if entry[1] is None else "%s.%s" % entry
                target = self.scope(prefix + text[len(text.partition(".")[0]):])
                if target is not None:
                    return self._lookup(target, node.attr, hops + 1)
        return Found("unknown"), None


def _judge(node: ast.AST, trail: list) -> Found:
    note = ", ".join(trail)
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        other = decorators(node) & _NO_FUNCTION
        return Found("not_function", "it is a %s" % sorted(other)[0]) if other else Found("there", note)
    if isinstance(node, ast.ClassDef):
        return Found("not_function", "it is a class")
    if isinstance(node, ast.Lambda):
        return Found("there", note)
    return Found("unknown", "it is the value of an expression")


def _has_extension(base: str) -> bool:
    folder, name = os.path.split(base)
    try:
        return any(entry.startswith(name + ".") and entry.endswith(".so") for entry in os.listdir(folder))
    except OSError:
        return False
