"""Any Python value as plain data or text, without ever failing: for results that tools return."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import fields, is_dataclass
from datetime import date, time
from enum import Enum
from typing import Any

from pydantic import BaseModel

DEEPEST = 50
"""Levels of nesting that are written out."""
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")
_LARGEST = 10**4_000


def text_of(value: Any) -> str:
    """A value as text: text as it is, nothing as "", data as JSON, a table by its `to_string`, the rest by `str`."""
    if value is None:
        return ""
    try:
        shown = plain(value)
        return shown if isinstance(shown, str) else json.dumps(shown, ensure_ascii=False)
    except Exception:
        return _unshowable(value)


def plain(value: Any) -> Any:
    """A value as JSON-like data: sets sorted, bytes read as text, cycles and what lies too deep replaced by a sign."""
    return _plain(value, ())


def _plain(value: Any, above: tuple[int, ...]) -> Any:
    if isinstance(value, Enum):
        value = value.value
    if value is None or isinstance(value, bool | float):
        return value
    if isinstance(value, str):
        return str.__str__(value)  # a subclass would be stored as an object of its class
    if isinstance(value, int):
        return int(value) if -_LARGEST < value < _LARGEST else f"(an integer of {value.bit_length()} bits)"
    if isinstance(value, bytes | bytearray | memoryview):
        return _bytes(bytes(value))
    if isinstance(value, date | time):
        return value.isoformat()
    if id(value) in above:
        return "(circular)"
    if len(above) >= DEEPEST:
        return "…"
    return _written_out(value, (*above, id(value)))


def _written_out(value: Any, above: tuple[int, ...]) -> Any:
    """A value that is no scalar, with its parts."""
    if isinstance(value, Mapping):
        return {str(_plain(key, above)): _plain(item, above) for key, item in value.items()}
    if isinstance(value, Set):
        return sorted((_plain(item, above) for item in value), key=repr)
    if isinstance(value, Sequence):
        return [_plain(item, above) for item in value]
    if isinstance(value, BaseModel) or (is_dataclass(value) and not isinstance(value, type)):
        return {name: _plain(item, above) for name, item in _fields(value)}
    for method in ("to_string", "tolist"):  # tables and arrays, without importing their libraries
        write = None if isinstance(value, type) else getattr(value, method, None)
        if callable(write):
            return _plain(write(), above)
    return _named(value)


def _fields(value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, BaseModel):
        yield from value
    else:
        yield from ((each.name, getattr(value, each.name)) for each in fields(value))


def _named(value: Any) -> str:
    """An object by its own text, without the memory address, which would make equal results differ."""
    try:
        return _ADDRESS.sub("", str(value))
    except Exception:
        return _unshowable(value)


def _unshowable(value: Any) -> str:
    return f"(a {type(value).__name__} that cannot be shown as text)"


def _bytes(value: bytes) -> str:
    try:
        return value.decode()
    except UnicodeDecodeError:
        return f"({len(value)} bytes that are no text: {value[:32].hex(' ')}{' …' if len(value) > 32 else ''})"
