"""Our own sources as syntax trees, for the tests that hold rules over them."""

import ast
import gc
from pathlib import Path

ROOT = Path(__file__).parents[2]


def parse(code: str, name: str = "<code>") -> ast.Module:
    """
    The syntax tree of this code, made while the garbage collector rests.

    CPython 3.11 counts the depth of every thread's parsing in one place: a collection in the midst of it can let
    another thread in, and it then raises "AST constructor recursion depth mismatch" (python/cpython#106905).
    """
    collects = gc.isenabled()
    gc.disable()
    try:
        return ast.parse(code, name)
    finally:
        if collects:
            gc.enable()


def tree(path: Path) -> ast.Module:
    """The syntax tree of this file."""
    return parse(path.read_text(encoding="utf-8"), str(path))
