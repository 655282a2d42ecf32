"""One number out of a column of a table, or one a group, computed exactly."""

from collections.abc import Sequence
from decimal import MAX_EMAX, MAX_PREC, MIN_EMIN, Context, Decimal, Inexact
from fractions import Fraction
from typing import Literal, NamedTuple, TypeAlias

from langchain_core.tools import ToolException

from loopwright_tools.exact import number_in, shown
from loopwright_tools.text import printable

Aggregate: TypeAlias = Literal["sum", "mean", "count", "min", "max"]

# The sum of decimals is a decimal: with all the room there is nothing is ever rounded.
_EXACT = Context(prec=MAX_PREC, Emax=MAX_EMAX, Emin=MIN_EMIN, traps=[Inexact])


class NumberedRow(NamedTuple):
    """A row with its number in the file, the header not counted."""

    number: int
    cells: tuple[str, ...]


class Aggregated(NamedTuple):
    """The result as text, and what has to be said of it."""

    text: str
    remarks: tuple[str, ...] = ()


def aggregate(kind: Aggregate, rows: Sequence[NumberedRow], at: int | None, column: str) -> Aggregated:
    """The sum, mean, count, least or greatest of the cells at a place that are not empty; all rows where it is None.

    `min` and `max` of a column without any number compare text, which also orders ISO dates. Raises ToolException
    naming the first row at fault when a column holds other things than numbers.
    """
    if at is None:
        return Aggregated(str(len(rows)))
    filled = [row for row in rows if row.cells[at]]
    empty = (f"{len(rows) - len(filled)} of them empty",) if len(filled) < len(rows) else ()
    if kind == "count":
        return Aggregated(str(len(filled)), empty)
    if not filled and kind != "sum":
        return Aggregated("no value", empty)
    texts = [row.cells[at] for row in filled]
    if kind in ("min", "max") and all(number_in(text) is None for text in texts):
        return Aggregated(printable(min(texts) if kind == "min" else max(texts)), (*empty, "compared as text"))
    commas = ("commas taken as thousand separators",) if any("," in text for text in texts) else ()
    return Aggregated(_computed(kind, _numbers(filled, at, column)), (*empty, *commas))


def _numbers(rows: Sequence[NumberedRow], at: int, column: str) -> list[Decimal]:
    """The numbers of a column, all cells filled."""
    numbers = [number_in(row.cells[at]) for row in rows]
    if rows and all(number is None for number in numbers):
        cell = rows[0].cells[at][:50]
        raise ToolException(f"{column} holds no numbers, but such as {cell!r}: choose another column.")
    for row, number in zip(rows, numbers, strict=True):
        if number is None:
            cell = row.cells[at][:50]
            raise ToolException(
                f"Row {row.number} holds {cell!r} in {column}, which is not a number: leave such rows out with where, "
                f'as by "{column} != {printable(cell)}", or choose another column.'
            )
    return [number for number in numbers if number is not None]


def _computed(kind: Aggregate, numbers: Sequence[Decimal]) -> str:
    if kind == "min":
        return shown(Fraction(min(numbers)))
    if kind == "max":
        return shown(Fraction(max(numbers)))
    total = Decimal(0)
    for number in numbers:
        total = _EXACT.add(total, number)
    return shown(Fraction(total) / len(numbers) if kind == "mean" else Fraction(total))
