"""From the text of a calculation to its signs, names and numbers; half- and full-width signs alike."""

import re
from collections.abc import Iterator
from fractions import Fraction
from typing import Literal, NamedTuple, TypeAlias

from langchain_core.tools import ToolException

MAX_CHARACTERS = 1_000
"""A longer expression is refused."""
MAX_EXPONENT = 1_000
"""Largest power of ten that a number may be written with, as in 1e1000."""

LISTS = frozenset({"min", "max", "sum"})
FUNCTIONS = LISTS | {"abs", "round", "sqrt"}

_FULL_WIDTH = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)}
_SAME = _FULL_WIDTH | {ord(one): other for one, other in zip("×⋅÷−–", "**/--", strict=True)}
_GROUPED = re.compile(r"[1-9]\d{0,2}(?:,\d{3})+(?!\d)(\.\d+)?", re.ASCII)
_TOKEN = re.compile(
    r"(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)|(?P<name>[A-Za-z_]\w*)|(?P<sign>\*\*|//|[-+*/%(),[\]])", re.ASCII
)


class ExpressionError(ToolException):
    """An expression that cannot be computed; the text says how to write it."""


class Token(NamedTuple):
    """A sign, name or number, or the end; a number with its exact value."""

    kind: "Kind"
    text: str
    value: Fraction = Fraction(0)


Kind: TypeAlias = Literal["number", "name", "sign", "end"]


def stated(expression: str) -> str:
    """The expression as the answer repeats it: on one line, without the question's equals sign at its end."""
    return re.sub(r"\s*[=＝]\s*[?？]?$", "", " ".join(expression.split()))


def tokens(expression: str) -> Iterator[Token]:
    """The tokens of an expression, the end last. Raises ExpressionError for what has no place in one."""
    if len(expression) > MAX_CHARACTERS:
        raise ExpressionError(f"The expression is longer than {MAX_CHARACTERS} characters: compute it in parts.")
    text = stated(expression).translate(_SAME)
    calls: list[bool] = []  # of each parenthesis that is open, whether it is a function's
    at, before = 0, ""
    while at < len(text):
        if text[at] == " ":
            at += 1
            continue
        if grouped := _GROUPED.match(text, at):
            token = _ungrouped(grouped, in_call=any(calls))
            at = grouped.end()
        else:
            token, at = _next(text, at)
        if token.text == "(":
            calls.append(before in FUNCTIONS)
        elif token.text == ")" and calls:
            calls.pop()
        before = token.text
        yield token
    yield Token("end", "")


def _next(text: str, at: int) -> tuple[Token, int]:
    match = _TOKEN.match(text, at)
    if match is None:
        raise ExpressionError(_misplaced(text[at]))
    if match["number"]:
        return Token("number", match[0], _value(match[0])), match.end()
    return Token("name" if match["name"] else "sign", match[0]), match.end()


def _value(text: str) -> Fraction:
    exponent = text.lower().partition("e")[2] or "0"
    if abs(int(exponent)) > MAX_EXPONENT:
        raise ExpressionError(f"The number {text[:50]} is too large or too small to compute with.")
    return Fraction(text)


def _ungrouped(match: re.Match[str], in_call: bool) -> Token:
    """The number written with commas between its thousands, where it can mean nothing else."""
    plain = match[0].replace(",", "")
    if in_call:
        spaced = match[0].replace(",", ", ")
        raise ExpressionError(
            f"{match[0]} inside a function is unclear: write {plain} for one number, or {spaced} for several."
        )
    if match[0].count(",") == 1 and not match[1]:
        decimal = match[0].replace(",", ".")
        raise ExpressionError(
            f"{match[0]} is unclear: write {plain} if the comma parts thousands, {decimal} if decimals."
        )
    return Token("number", match[0], Fraction(plain))


def _misplaced(character: str) -> str:
    match character:
        case "^":
            return "^ is not used here: write ** for a power, such as 2**10."
        case "=" | "<" | ">" | "!":
            return f"{character} compares, which is not computed here: give one side only, such as 2*3+1."
        case "√":
            return "√ is not used here: write sqrt(...)."
        case _:
            return f"{character!r} has no place in a calculation: use only numbers, + - * / // % **, ( ), functions."
