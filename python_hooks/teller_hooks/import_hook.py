"""Patches a module right after it was imported, without importing anything by itself."""
from __future__ import annotations

import sys

from . import counters

TYPE_CHECKING = False  # typing is not imported for its own sake: it would bring re and enum into every Python
if TYPE_CHECKING:
    from typing import Any, Optional

_wanted: dict = {}


def _patch(module: Any, entries: list) -> None:
    # Late: most Python processes import no target, and what these modules need would be in all of them.
    from . import operators, patching, targets

    if any(entry is targets.OPERATORS for entry, _ in entries):
        operators.observe(module)
    patching.patch_module(module, targets.compiled(entries))


class _Loader:
    """Stands in for the real loader until the module is executed; whoever looks at it meanwhile sees the real one."""

    def __init__(self, loader: Any, entries: list) -> None:
        self._loader = loader
        self._entries = entries

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)

    def create_module(self, spec: Any) -> Any:
        create = getattr(self._loader, "create_module", None)
        return create(spec) if create is not None else None

    def exec_module(self, module: Any) -> None:
        # Before the module runs, so that its code finds __loader__ and __spec__ as without us.
        spec = getattr(module, "__spec__", None)
        if spec is not None and spec.loader is self:
            spec.loader = self._loader
        if getattr(module, "__loader__", None) is self:
            module.__loader__ = self._loader
        self._loader.exec_module(module)
        try:
            _patch(module, self._entries)
        except Exception:  # at the recursion limit even the call fails
            counters.own_errors += 1


class _Finder:
    """First on sys.meta_path; answers only for modules that are wanted, with what the others find."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Optional[Any]:
        entries = _wanted.get(name)
        if entries is None:
            return None
        for finder in list(sys.meta_path):
            find = getattr(finder, "find_spec", None)
            if finder is self or find is None:
                continue
            spec = find(name, path, target)
            if spec is None:
                continue
            if spec.loader is not None and hasattr(spec.loader, "exec_module"):
                spec.loader = _Loader(spec.loader, entries)
            return spec
        return None


def install(wanted: dict) -> None:
    """Wraps what is imported already, and the rest when it is."""
    _wanted.update(wanted)
    for name, entries in wanted.items():
        module = sys.modules.get(name)
        if module is not None:
            _patch(module, entries)
    sys.meta_path.insert(0, _Finder())


def count_main() -> int:
    """Targets of a module that was run with -m: it is __main__ then, and was executed before anybody could reach it."""
    spec = getattr(sys.modules.get("__main__"), "__spec__", None)
    entries = _wanted.get(getattr(spec, "name", None), ())
    return sum(1 for entry, _ in entries if entry)
