"""Compiles the expressions of target files: a small subset of Python, checked before it is compiled (docs/hooks.md)."""
from __future__ import annotations

import ast
from typing import Any, Callable, Optional

_FUNCTIONS = {
    function.__name__: function
    for function in (
        len, str, int, float, bool, min, max, sum, zip, enumerate, sorted, list, dict, getattr, range,
    )
}
_METHODS = {"items", "keys", "values", "get"}
# Code of expressions is known by it.
FILE_NAME = "<teller hooks>"
_NAMES = ("self", "args", "result", "before")
_NODES = (
    ast.Expression, ast.Constant, ast.Name, ast.Load, ast.Store, ast.Attribute, ast.Subscript, ast.Slice,
    ast.Compare, ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.Is, ast.IsNot, ast.In, ast.NotIn,
    ast.BoolOp, ast.And, ast.Or, ast.UnaryOp, ast.Not, ast.USub, ast.UAdd,
    ast.BinOp, ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod,
    ast.IfExp, ast.Tuple, ast.List, ast.Dict, ast.Call, ast.keyword,
    ast.ListComp, ast.DictComp, ast.GeneratorExp, ast.comprehension,
)  # fmt: skip


class Refused(ValueError):
    """The expression is not of the subset."""


def _bound_names(tree: ast.AST) -> set:
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}


def _check_call(node: ast.Call, bound: set) -> None:
    function = node.func
    if isinstance(function, ast.Attribute):
        if function.attr not in _METHODS:
            raise Refused("method %s is not allowed" % function.attr)
        return
    if not isinstance(function, ast.Name) or function.id not in _FUNCTIONS or function.id in bound:
        raise Refused("only the listed functions may be called")
    if function.id == "getattr":
        name = node.args[1] if len(node.args) > 1 else None
        if not isinstance(name, ast.Constant) or not isinstance(name.value, str) or name.value.startswith("__"):
            raise Refused("getattr needs a plain name")


def _check(tree: ast.AST) -> None:
    bound = _bound_names(tree)
    for node in ast.walk(tree):
        if not isinstance(node, _NODES):
            raise Refused("%s is not allowed" % type(node).__name__)
        if isinstance(node, ast.Attribute) and node.attr.startswith("__"):
            raise Refused("%s is not allowed" % node.attr)
        if isinstance(node, ast.Name):
            known = node.id in _NAMES or node.id in _FUNCTIONS or node.id in bound
            if node.id.startswith("__") or not known:
                raise Refused("unknown name %s" % node.id)
        if isinstance(node, ast.Dict) and None in node.keys:
            raise Refused("** is not allowed")
        if isinstance(node, ast.Call):
            _check_call(node, bound)


def compile_expression(text: str, limit: Optional[int] = 4096) -> Callable[..., Any]:
    """`text` as a function of (self, args, result, before=None). Raises Refused or SyntaxError."""
    if not isinstance(text, str) or (limit is not None and len(text) > limit):
        raise Refused("an expression is a text of at most 4096 characters")
    _check(ast.parse(text.strip(), mode="eval"))
    # A lambda, not eval() with locals: the inner scope of a comprehension would not see those.
    code = compile("lambda self, args, result, before=None: (%s\n)" % text.strip(), FILE_NAME, "eval")
    return eval(code, {"__builtins__": {}, **_FUNCTIONS})
