"""From the text of a CSV, TSV or JSON file to the columns and rows of a table, all cells as text."""

import csv
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from io import StringIO
from itertools import islice
from pathlib import PurePath

from langchain_core.tools import ToolException

from loopwright_tools.text import printable
from loopwright_tools.workspace import closest

ROWS_SNIFFED = 20
"""Rows by which the separator of a file is found."""
_SEPARATORS = ",;\t|"


@dataclass(frozen=True)
class Table:
    """Columns and rows; every row has a cell for each column."""

    columns: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]

    def index(self, column: str) -> int:
        """The place of a column, case aside where that is unique. Raises ToolException that lists the columns."""
        wanted = column.strip()
        if wanted in self.columns:
            return self.columns.index(wanted)
        alike = [at for at, name in enumerate(self.columns) if name.casefold() == wanted.casefold()]
        if len(alike) == 1:
            return alike[0]
        similar = closest(wanted, self.columns)
        meant = f" Did you mean {similar!r}?" if similar else ""
        raise ToolException(f"There is no column {wanted!r}: the columns are {', '.join(self.columns)}.{meant}")


def table_in(text: str, path: str) -> Table:
    """The table of a file: JSON by its suffix or first character, else separated text, whose first row is the header.

    Raises ToolException, with the row at fault, when the file is no table.
    """
    suffix = PurePath(path).suffix.lower()
    start = text.lstrip()[:1]
    if not start:
        raise ToolException(f"{path!r} is empty: there is no table in it.")
    if suffix in (".jsonl", ".ndjson", ".json") or (suffix not in (".csv", ".tsv") and start in "{["):
        return _from_objects(_json_rows(text, path), path)
    separator = "\t" if suffix == ".tsv" else _separator(text)
    try:
        rows = [tuple(cell.strip() for cell in row) for row in _records(text, separator)]
    except csv.Error as error:
        raise ToolException(f"{path!r} cannot be read as a table ({error}): use read_file to look at it.") from None
    if len(rows[0]) == 1 and suffix not in (".csv", ".tsv"):
        raise ToolException(f"{path!r} has no columns, so it is no table: use read_file to see what it says.")
    return _with_header(rows, path)


def _records(text: str, separator: str) -> Iterator[list[str]]:
    """The records as csv finds them, empty lines left out."""
    return filter(None, csv.reader(StringIO(text, newline=""), delimiter=separator, strict=True))


def _separator(text: str) -> str:
    """The separator that gives the header most columns, and the rows behind it as many; the comma where none does."""

    def fitness(separator: str) -> tuple[bool, int]:
        try:
            widths = [len(row) for row in islice(_records(text, separator), ROWS_SNIFFED)]
        except csv.Error:
            return False, 0
        return widths[0] > 1 and len(set(widths)) == 1, widths[0]

    return max(_SEPARATORS, key=fitness)


def _with_header(rows: list[tuple[str, ...]], path: str) -> Table:
    columns = _distinct(rows[0])
    for number, row in enumerate(rows[1:], 1):
        if len(row) != len(columns):
            raise ToolException(
                f"Row {number} of {path!r} has {len(row)} cells where the header has {len(columns)}, so that no column "
                "can be trusted: use read_file to look at the file."
            )
    return Table(columns, rows[1:])


def _distinct(names: Iterable[str]) -> tuple[str, ...]:
    """The column names, those without one numbered, doubles told apart by a number behind them."""
    taken: dict[str, None] = {}
    for at, name in enumerate(names, 1):
        plain = printable(name) or f"column_{at}"
        number, column = 1, plain
        while column in taken:
            number += 1
            column = f"{plain}_{number}"
        taken[column] = None
    return tuple(taken)


def _json_rows(text: str, path: str) -> list[object]:
    """One value a line, or the values of one array."""
    if text.lstrip().startswith("["):
        whole = _parsed(text, path)
        return whole if isinstance(whole, list) else [whole]
    return [_parsed(line, f"{path}, line {at}") for at, line in enumerate(text.split("\n"), 1) if line.strip()]


def _parsed(text: str, place: str) -> object:
    """The JSON value; numbers stay as they are written, so that no digit is lost."""
    try:
        parsed: object = json.loads(text, parse_float=str, parse_int=str, parse_constant=str)
    except (ValueError, RecursionError) as error:
        raise ToolException(f"{place} is not JSON ({error}): use read_file to look at it.") from None
    return parsed


def _from_objects(values: list[object], path: str) -> Table:
    objects = [value for value in values if isinstance(value, dict)]
    if len(objects) < len(values) or not objects:
        raise ToolException(f"{path!r} is no table: each row has to be a JSON object. Use read_file to look at it.")
    keys = list(dict.fromkeys(key for row in objects for key in row))
    return Table(_distinct(keys), [tuple(_cell(row.get(key)) for key in keys) for row in objects])


def _cell(value: object) -> str:
    if value is None:
        return ""
    return value.strip() if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
