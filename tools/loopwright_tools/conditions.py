"""Conditions on the rows of a table, such as "region = North" or "date starts 2026-03"."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from langchain_core.tools import ToolException

from loopwright_tools.exact import number_in
from loopwright_tools.rows import Table

Kind: TypeAlias = Literal["number", "date", "text"]

_OPERATOR = re.compile(r"\s*(!=|<=|>=|==|[=<>≠≤≥＝＜＞]|(?:contains|starts(?:\s+with)?)(?=\s|$))\s*(.*)", re.S | re.I)
_SAME = {"==": "=", "≠": "!=", "≤": "<=", "≥": ">=", "＝": "=", "＜": "<", "＞": ">", "starts with": "starts"}
_DATE = re.compile(r"\d{4}-\d{2}(?:-\d{2}.*)?", re.ASCII)
_CODE = re.compile(r"[-+]?0\d")


@dataclass(frozen=True)
class Condition:
    """One condition: the column's place and name, an operator, and the value to compare with."""

    at: int
    column: str
    operator: str
    value: str

    def __str__(self) -> str:
        return f"{self.column} {self.operator} {self.value}"

    def holds(self, row: Sequence[str], number: int) -> bool:
        """Whether a row fulfils it; `number` is the row's, for the error when < or > compares unlike things.

        Texts are compared without case. Numbers are equal by value, but not codes such as 007. Dates are compared
        as far as the value goes: "date <= 2026-03" holds for all of March. Nothing orders an empty cell.
        """
        cell, value = row[self.at], self.value
        match self.operator:
            case "contains":
                return value.casefold() in cell.casefold()
            case "starts":
                return cell.casefold().startswith(value.casefold())
            case "=":
                return _equal(cell, value)
            case "!=":
                return not _equal(cell, value)
            case _:
                return cell != "" and _ordered(self._difference(cell, number), self.operator)

    def _difference(self, cell: str, number: int) -> int:
        """-1, 0 or 1 for a cell below, at or above the value."""
        if kind(cell) != kind(self.value):
            raise ToolException(
                f"Row {number} holds {cell[:50]!r} in {self.column}, a {kind(cell)}, which cannot be ordered against "
                f"the {kind(self.value)} {self.value!r}: compare with a {kind(cell)}, or leave such rows out by a "
                "condition before this one."
            )
        left, right = number_in(cell), number_in(self.value)
        if left is not None and right is not None:
            return (left > right) - (left < right)
        one, other = _to_same_precision(cell, self.value)
        return (one > other) - (one < other)


def conditions_in(where: Sequence[str], table: Table) -> list[Condition]:
    """The conditions that the items state. Raises ToolException for one that is none, or names no column."""
    return [_condition(item, table) for item in where]


def kind(cell: str) -> Kind:
    """What a cell holds: a number, an ISO date with at least its month, or text."""
    if number_in(cell) is not None:
        return "number"
    return "date" if _DATE.fullmatch(cell) else "text"


def _condition(item: str, table: Table) -> Condition:
    text = item.strip()
    column, found = _split(text, table.columns)
    if found is None:
        raise ToolException(
            f"The condition {item[:100]!r} is not understood: write a column, one of = != < <= > >= contains starts, "
            'and a value, such as "region = North" or "date starts 2026-03".'
        )
    sign = " ".join(found[1].lower().split())
    operator = _SAME.get(sign, sign)
    value = _unquoted(found[2].strip())
    if not value and operator not in ("=", "!="):
        raise ToolException(f'The condition {item[:100]!r} has no value behind "{operator}": add one.')
    at = table.index(column)
    return Condition(at, table.columns[at], operator, value)


def _split(text: str, columns: Sequence[str]) -> tuple[str, re.Match[str] | None]:
    """A condition's column, and the operator and value behind it. A column's own name may hold blanks and signs."""
    for column in sorted(columns, key=len, reverse=True):
        if text.casefold().startswith(column.casefold()) and (found := _OPERATOR.fullmatch(text, len(column))):
            return column, found
    first = re.match(r"(.+?)(?=!=|[=<>≠≤≥＝＜＞]|\s(?:contains|starts)\s)", text, re.S | re.I)
    return (first[1], _OPERATOR.fullmatch(text, first.end())) if first else ("", None)


def _unquoted(value: str) -> str:
    return value[1:-1] if len(value) > 1 and value[0] == value[-1] and value[0] in "'\"" else value


def _equal(cell: str, value: str) -> bool:
    if cell.casefold() == value.casefold():
        return True
    if kind(cell) == kind(value) == "date":
        one, other = _to_same_precision(cell, value)
        return one == other
    left, right = number_in(cell), number_in(value)
    return left is not None and left == right and not (_CODE.match(cell) or _CODE.match(value))


def _to_same_precision(cell: str, value: str) -> tuple[str, str]:
    """Both in lower case; of two dates the cell's cut to what the value says, a day to its month."""
    cut = cell[: len(value)] if kind(cell) == "date" else cell
    return cut.casefold(), value.casefold()


def _ordered(difference: int, operator: str) -> bool:
    match operator:
        case "<":
            return difference < 0
        case "<=":
            return difference <= 0
        case ">":
            return difference > 0
        case _:
            return difference >= 0
