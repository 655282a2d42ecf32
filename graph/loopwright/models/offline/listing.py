"""Reads what read_table and list_files return: tolerantly, since results may be clipped or carry notes."""

import re
from dataclasses import dataclass
from typing import Literal, TypeAlias

from loopwright.models.offline.months import ENGLISH

Kind: TypeAlias = Literal["number", "date", "month", "text"]

_NUMBER = re.compile(r"[-+]?\d+(?:\.\d+)?")
_DATE = re.compile(r"\d{4}-\d{2}(?:-\d{2}.*)?")
_SEPARATORS = ("\t", " | ", "|", ",", ";")


@dataclass(frozen=True)
class Table:
    """The part of a table that a listing shows; `whole` when these rows are all there are."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    whole: bool

    def values(self, column: str) -> list[str]:
        """The shown values of a column that are not empty."""
        at = self.columns.index(column)
        return [row[at] for row in self.rows if row[at]]

    def kind(self, column: str) -> Kind:
        """What a column holds, judged by its shown values."""
        values = self.values(column)
        names = {name.lower() for name in ENGLISH} | {name[:3].lower() for name in ENGLISH}
        if values and all(_NUMBER.fullmatch(value) for value in values):
            return "number"
        if values and all(_DATE.fullmatch(value) for value in values):
            return "date"
        return "month" if values and all(value.lower() in names for value in values) else "text"


def read_table_listing(text: str) -> Table | None:
    """The table that a listing of rows shows, or None where no columns can be made out.

    The first line may say totals and columns ("24 rows, columns: date, region"); the header may stand there or alone.
    """
    lines = [line for line in text.splitlines() if line.strip()]
    separator, columns, first = _header(lines)
    if not columns:
        return None
    rows = [_cells(line, separator) for line in lines[first:]]
    rows = [row for row in rows if len(row) == len(columns) and row != columns and not set("".join(row)) <= set("-: ")]
    total = re.search(r"(\d+)\s+rows?\b|rows?\b\D{0,3}(\d+)", lines[0])
    numbers = [int(number) for number in re.findall(r"\d+", lines[0])] if total else []
    return Table(columns, tuple(rows), whole=bool(rows) and len(rows) >= max(numbers, default=len(rows)))


def _header(lines: list[str]) -> tuple[str, tuple[str, ...], int]:
    """The rows' separator, the columns, and the index of the line behind the header."""
    named = next((m for line in lines[:2] if (m := re.search(r"columns?:\s*(.+?)\]?\.?$", line, re.I))), None)
    announced = tuple(part.strip(" `'\"") for part in named[1].split(",")) if named else ()
    for at, line in enumerate(lines[:4]):
        if named and line == named.string:
            continue
        for separator in _SEPARATORS:
            cells = _cells(line, separator)
            if len(cells) > 1 and (
                cells == announced or (not announced and _uniform(lines[at:], separator, len(cells)))
            ):
                return separator, cells, at + 1
    for separator in _SEPARATORS:
        if announced and any(len(_cells(line, separator)) == len(announced) for line in lines[1:4]):
            return separator, announced, 1
    return "\n", announced, 1


def _cells(line: str, separator: str) -> tuple[str, ...]:
    inner = line.strip().strip("|") if "|" in separator else line
    return tuple(cell.strip() for cell in inner.split(separator))


def _uniform(lines: list[str], separator: str, width: int) -> bool:
    """Whether most lines have this many cells, none of the first line's being a number."""
    fitting = sum(len(_cells(line, separator)) == width for line in lines)
    return fitting >= max(2, len(lines) // 2) and not any(_NUMBER.fullmatch(c) for c in _cells(lines[0], separator))


def files_listed(text: str) -> tuple[str, ...]:
    """The names in a listing of files, folders with a slash behind: lines of a name, a tab and a size."""
    names = (line.split("\t")[0].strip() for line in text.splitlines() if "\t" in line or line.rstrip().endswith("/"))
    return tuple(name for name in names if name)
