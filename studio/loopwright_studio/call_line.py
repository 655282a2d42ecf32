"""A call's arguments, or limits, on one line: for the terminal and the page."""

import json
from typing import Any

from loopwright_studio.visible import one_line

SHOWN = 300
"""Characters of a reply, an argument or a result that a line starts from; the line is cut at the terminal's width."""


def arguments(args: dict[str, Any] | str) -> str:
    """A call's arguments as `name=value, ...` on one line."""
    if isinstance(args, str):
        return one_line(args[:SHOWN])
    return ", ".join(f"{one_line(name)}={_value(value)}" for name, value in args.items())[:SHOWN]


def _value(value: Any) -> str:
    if isinstance(value, str) and value and not any(character in value for character in ' ,="\n\t'):
        return one_line(value[:SHOWN])
    return one_line(json.dumps(value, ensure_ascii=False, default=str)[:SHOWN])


def limits(extend: dict[str, float]) -> str:
    """Limits as `name=number, ...`."""
    return ", ".join(f"{one_line(name)}={bound:g}" for name, bound in extend.items())
