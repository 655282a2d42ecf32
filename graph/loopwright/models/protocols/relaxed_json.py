"""Finds the JSON objects in a text as models write them: off in form, never guessed in meaning.

No repair library: json-repair, the best kept one, answers every text with something. It closes what was cut off, reads
`{"amount": 12 34}` as 12 and takes the last of two objects, each in its strict mode too; a call that pays must not be
guessed. What is read here beyond JSON is a fixed list: comments, single quotes, trailing commas and Python's literals.
"""

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from loopwright.models.json_text import next_json, read_json

_TOKEN = re.compile(
    r"(?P<space>\s+|//[^\n]*|/\*.*?\*/|#[^\n]*)"
    r"""|(?P<string>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')"""
    r"|(?P<open>[{\[])|(?P<close>[}\]])|(?P<mark>[,:])|(?P<word>[^\s,:{}\[\]\"'#/]+|/)",
    re.DOTALL,
)
_LITERALS = {"True": "true", "False": "false", "None": "null"}
_CLOSES = {"{": "}", "[": "]"}
_QUOTES = re.compile(r"\\.|\"", re.DOTALL)


class Found(NamedTuple):
    """A braced part of a text: where it stands, and its object; None where it is no JSON that can be read."""

    start: int
    end: int
    value: dict[str, Any] | None


class CutOff(ValueError):
    """The text ends inside an object."""


def objects_in(text: str) -> Iterator[Found]:
    """The braced parts of a text, the outermost ones, in order.

    Raises CutOff where one is not closed, after those before it: what stands inside of half an object counts nothing.
    """
    start = text.find("{")
    while start >= 0:
        found = _object_at(text, start)
        yield found
        start = text.find("{", found.end)


def _object_at(text: str, start: int) -> Found:
    try:
        value, end = next_json(text, start)
    except ValueError:
        written, end = _plainly(text, start)
        try:
            value = read_json(written)
        except ValueError:
            value = None
    return Found(start, end, value)


def _plainly(text: str, start: int) -> tuple[str, int]:
    """The braced part that begins here in strict JSON, as far as its form goes, and where it ends. Raises CutOff."""
    written: list[str] = []
    closing: list[str] = []
    at = start
    while found := _TOKEN.match(text, at):
        kind, token, at = found.lastgroup, found[0], found.end()
        if kind == "space":
            token = " "
        elif kind == "string":
            token = _quoted(token)
        elif kind == "word":
            token = _LITERALS.get(token, token)
        elif kind == "open":
            closing.append(_CLOSES[token])
        elif kind == "close":
            if written[-1] == "," and written[-2] not in ("{", "[", ","):
                written.pop()
            token = token if closing.pop() == token else "mismatched"
        if kind != "space":
            written.append(token)
        if not closing:
            return " ".join(written), at
    raise CutOff("the text ends inside an object")


def _quoted(token: str) -> str:
    """A string in double quotes; an escaped single quote needs no escape there."""

    def escaped(found: re.Match[str]) -> str:
        return {"\\'": "'", '"': '\\"'}.get(found[0], found[0])

    return f'"{_QUOTES.sub(escaped, token[1:-1])}"'
