"""Reads JSON strictly: one whole object, no name with two values, no NaN, nothing nested without end."""

import json
import math
import re
from typing import Any

DEEPEST = 64
"""Levels that arguments may be nested: checkpoints are written with a format that gives up at about 250."""
FENCE = re.compile(r"```\w*\s*(.*?)\s*```", re.DOTALL)
"""A fenced block, its language aside."""
_LOOK_ALIKES = re.compile("[“”„‟＂｛｝［］：，]")


def read_object(raw: str) -> dict[str, Any]:
    """The object when the text is one whole JSON object; `""` and `null` mean an empty one.

    A code fence around the object, or quotes around its text, are form and are taken off. Raises ValueError with a
    clause that says what is wrong.
    """
    if raw.strip() in ("", "null"):
        return {}
    fenced = FENCE.fullmatch(raw.strip())
    value = read_json(fenced[1] if fenced else raw)
    if isinstance(value, str) and value.lstrip().startswith("{"):
        value = read_json(value)
    if not isinstance(value, dict):
        raise ValueError("another JSON value stands where an object must be")
    return value


def read_json(text: str) -> Any:
    """The value that the whole text is. Raises ValueError."""
    value, end = next_json(text, len(text) - len(text.lstrip()))
    if text[end:].strip():
        raise ValueError(f"more text follows the JSON value: {text[end:].strip()[:40]!r}")
    return value


def next_json(text: str, start: int) -> tuple[Any, int]:
    """The JSON value that begins at `start`, and where it ends. Raises ValueError."""
    try:
        value, end = _DECODER.raw_decode(text, start)
    except RecursionError:
        raise ValueError(f"it is nested more than {DEEPEST} levels deep") from None
    except json.JSONDecodeError as error:
        found = _LOOK_ALIKES.search(text, start)
        hint = f" (it holds the character {found[0]}, which is no JSON punctuation)" if found else ""
        raise ValueError(f"{error}{hint}") from error
    if _too_deep(value):
        raise ValueError(f"it is nested more than {DEEPEST} levels deep")
    return value, end


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """The object, if no name stands for two values: which of them was meant cannot be known."""
    read = dict(pairs)
    if len(read) < len(pairs):
        for name, value in pairs:
            if read[name] != value:
                raise ValueError(f"{name!r} is given twice, with different values")
    return read


def _constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON value")


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text} is too large for a number")
    return number


_DECODER = json.JSONDecoder(strict=False, object_pairs_hook=_unique, parse_constant=_constant, parse_float=_finite)


def _too_deep(value: Any) -> bool:
    level = [value]
    for _ in range(DEEPEST + 1):
        level = [part for item in level for part in _parts(item)]
        if not level:
            return False
    return True


def _parts(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else []
