"""A call's arguments, or limits, on one line: for the terminal and the page."""

import json
from collections.abc import Mapping
from typing import Any

from loopwright_studio.terminal_wording import ENGLISH, TerminalWording
from loopwright_studio.visible import one_line, visible

SHOWN = 300
"""Characters of a reply, an argument or a result that a line starts from; the line is cut at the terminal's width."""
LONG = 1_000
"""Characters of an argument that a person who decides about a call sees at once."""


def arguments(args: dict[str, Any] | str) -> str:
    """A call's arguments as `name=value, ...` on one line."""
    if isinstance(args, str):
        return one_line(args[:SHOWN])
    return ", ".join(f"{one_line(name)}={_value(value)}" for name, value in args.items())[:SHOWN]


def _value(value: Any) -> str:
    if isinstance(value, str) and value and not any(character in value for character in ' ,="\n\t'):
        return one_line(value[:SHOWN])
    return one_line(_json(value)[:SHOWN])


def limits(extend: dict[str, float]) -> str:
    """Limits as `name=number, ...`."""
    return ", ".join(f"{one_line(name)}={bound:g}" for name, bound in extend.items())


def spelled_out(call: Mapping[str, Any], characters: int = LONG, words: TerminalWording = ENGLISH) -> str:
    """A call that a person decides about: on one line where it fits, else an argument a line, and what is cut said."""
    name, args = one_line(call["name"]), call["args"]
    texts = {each: value if isinstance(value, str) else _json(value) for each, value in args.items()}
    if sum(map(len, texts.values())) <= SHOWN // 2 and len(arguments(args)) < SHOWN:
        return f"  {name}({arguments(args)})"
    return "\n".join(
        [f"  {name}", *(f"    {one_line(each)}: {_head(text, characters, words)}" for each, text in texts.items())]
    )


def is_cut(call: Mapping[str, Any]) -> bool:
    """Whether `spelled_out` leaves out something of this call."""
    return any(len(value if isinstance(value, str) else _json(value)) > LONG for value in call["args"].values())


def _head(text: str, characters: int, words: TerminalWording) -> str:
    head = visible(text[:characters]).replace("\n", "\n      ")
    return head if len(text) <= characters else f"{head} {words.characters_in_all.format(count=len(text))}"


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)
