"""Unpacks what a checkpoint holds where LangGraph's machine is not imported, and leaves its tasks and types packed."""

import sys
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import ormsgpack

_TYPES = "langgraph.types"
_BY_POSITION, _BY_NAME = 1, 2
"""LangGraph's codes for an object that is built from positional and from named arguments."""


def machine_is_imported() -> bool:
    """Whether LangGraph's own types are there. Importing them takes most of a second, and reading needs none."""
    return _TYPES in sys.modules


def unpack(packed: bytes, whole: Callable[[bytes], Any]) -> Any:
    """The value, with None for each task and a plain object with the same fields for each question.

    `whole` unpacks every other object, messages first of all: it gets one alone, packed.
    """

    def build(code: int, data: bytes) -> Any:
        if code in (_BY_POSITION, _BY_NAME) and _TYPES.encode() in data[: len(_TYPES) + 8]:
            _, name, arguments = ormsgpack.unpackb(data, ext_hook=build, option=ormsgpack.OPT_NON_STR_KEYS)[:3]
            if name == "Send":
                return None
            if name == "Interrupt" and code == _BY_NAME:
                return SimpleNamespace(**arguments)
        return whole(ormsgpack.packb(ormsgpack.Ext(code, data)))

    return ormsgpack.unpackb(packed, ext_hook=build, option=ormsgpack.OPT_NON_STR_KEYS)
