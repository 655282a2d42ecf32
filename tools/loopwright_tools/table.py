"""The tool `read_table`: rows of a table file that fulfil conditions, or one number out of a column."""

from collections.abc import Sequence
from dataclasses import dataclass

from langchain_core.tools import BaseTool, StructuredTool, ToolException
from pydantic import BaseModel, ConfigDict, Field

from loopwright import tool_policy
from loopwright_tools.aggregates import Aggregate, Aggregated, NumberedRow, aggregate
from loopwright_tools.conditions import Condition, conditions_in
from loopwright_tools.rows import Table, table_in
from loopwright_tools.text import decode, fitting, printable, titled
from loopwright_tools.workspace import Workspace

MAX_ROWS = 200
"""Rows or groups that one call shows at most, whatever `limit` says."""
MAX_CELL_CHARACTERS = 200
"""Characters shown of one cell."""
VALUES_NAMED = 10
"""Values of a column that are named where no row fulfils a condition."""


class ReadTableArguments(BaseModel):
    """What read_table takes."""

    model_config = ConfigDict(extra="forbid")

    path: str = Field(description='CSV, TSV, JSON or JSON lines file in the workspace, such as "sales.csv".')
    columns: list[str] | None = Field(default=None, description="Columns to show, in this order; without it all.")
    where: list[str] | None = Field(
        default=None,
        description=(
            "Conditions that all have to hold, each a column, one of = != < <= > >= contains starts, and a value: "
            '["region = North", "date starts 2026-03", "amount > 100"].'
        ),
    )
    aggregate: Aggregate | None = Field(default=None, description="Computes this instead of showing rows.")
    column: str | None = Field(default=None, description="The column that aggregate is taken of; count may go without.")
    group_by: str | None = Field(default=None, description="Gives one aggregate for each value of this column.")
    limit: int = Field(
        default=20, description=f"How many rows or groups to show, 1 to {MAX_ROWS}; no aggregate changes."
    )


@dataclass(frozen=True)
class Selection:
    """A table, the conditions, and its rows that fulfil them."""

    title: str
    table: Table
    conditions: list[Condition]
    rows: list[NumberedRow]
    limit: int

    @property
    def share(self) -> str:
        """How many of how many rows, and by which conditions."""
        where = f"; where {' and '.join(map(printable, map(str, self.conditions)))}" if self.conditions else ""
        return f"{len(self.rows)} of {len(self.table.rows)} rows{where}"


def read_table_tool(workspace: Workspace) -> BaseTool:
    """The tool `read_table`, for one workspace."""

    def read_table(
        path: str,
        columns: list[str] | None = None,
        where: list[str] | None = None,
        aggregate: Aggregate | None = None,
        column: str | None = None,
        group_by: str | None = None,
        limit: int = 20,
    ) -> str:
        selection = _select(workspace, path, where or [], limit)
        if aggregate is None:
            if column or group_by:
                raise ToolException("column and group_by go with aggregate: add aggregate, or use columns and where.")
            return _listing(selection, columns or [])
        at = _column(selection.table, aggregate, column)
        return _grouped(selection, aggregate, at, group_by) if group_by else _single(selection, aggregate, at)

    tool = StructuredTool.from_function(
        read_table,
        description=(
            "Look into a table file (CSV, TSV, JSON lines), or compute the sum, mean, count, min or max of a column "
            "over the rows that fulfil conditions; sums are exact, and the result says how many rows went into it. "
            "Use when a question is about rows, columns, totals, averages or counts; look at the columns first. "
            "Do not use for text files (read_file) or for arithmetic with the results (calculator). "
            "An error names the column, condition or row that does not fit, and what there is instead."
        ),
        args_schema=ReadTableArguments,
    )
    return tool_policy(tool, effect="read", timeout=30, untrusted=True)


def _select(workspace: Workspace, path: str, where: Sequence[str], limit: int) -> Selection:
    if limit < 1:
        raise ToolException(f"limit is {limit}, but at least 1 row has to be asked for: use 20, or leave it out.")
    decoded = decode(workspace.read(path), path)
    table = table_in(decoded.text, path)
    conditions = conditions_in(where, table)
    rows = [
        NumberedRow(number, row)
        for number, row in enumerate(table.rows, 1)
        if all(condition.holds(row, number) for condition in conditions)
    ]
    return Selection(titled(path, decoded), table, conditions, rows, min(limit, MAX_ROWS))


def _column(table: Table, aggregate: Aggregate, column: str | None) -> int | None:
    if column:
        return table.index(column)
    if aggregate == "count":
        return None
    raise ToolException(f"{aggregate} needs a column to be taken of: the columns are {', '.join(table.columns)}.")


def _listing(selection: Selection, columns: Sequence[str]) -> str:
    """The head, the column names and the rows, cells parted by tabs."""
    places = [selection.table.index(column) for column in columns] or list(range(len(selection.table.columns)))
    lines = fitting("\t".join(_shown(row.cells[at]) for at in places) for row in selection.rows[: selection.limit])
    head = f"[{selection.title}: {selection.share}; columns: {', '.join(selection.table.columns)}]"
    names = "\t".join(selection.table.columns[at] for at in places)
    left = len(selection.rows) - len(lines)
    more = (
        [f"({left} more rows are not shown: narrow with where or columns, or raise limit up to {MAX_ROWS})"]
        if left
        else []
    )
    return "\n".join([head, *_hint(selection), names, *lines, *more])


def _single(selection: Selection, kind: Aggregate, at: int | None) -> str:
    """As "sum of amount = 4321.5 (7 of 24 rows; where date starts 2026-03)"."""
    result = aggregate(kind, selection.rows, at, _name(selection.table, at))
    text = f"{_title(selection.table, kind, at)} = {result.text} ({'; '.join([selection.share, *result.remarks])})"
    return "\n".join([text, *_hint(selection)])


def _grouped(selection: Selection, kind: Aggregate, at: int | None, group_by: str) -> str:
    """A head, and a line for each group, in the order of their names."""
    by = selection.table.index(group_by)
    groups: dict[str, list[NumberedRow]] = {}
    for row in selection.rows:
        groups.setdefault(row.cells[by], []).append(row)
    results = {name: aggregate(kind, groups[name], at, _name(selection.table, at)) for name in sorted(groups)}
    lines = [_group(name, results[name]) for name in list(results)[: selection.limit]]
    title = f"{_title(selection.table, kind, at)} by {selection.table.columns[by]}"
    left = len(groups) - len(lines)
    more = [f"({left} more groups are not shown: narrow with where, or raise limit up to {MAX_ROWS})"] if left else []
    return "\n".join([f"[{title}: {len(groups)} groups, {selection.share}]", *_hint(selection), *lines, *more])


def _group(name: str, result: Aggregated) -> str:
    remarks = f" ({'; '.join(result.remarks)})" if result.remarks else ""
    return f"{_shown(name) or '(empty)'}: {result.text}{remarks}"


def _title(table: Table, kind: Aggregate, at: int | None) -> str:
    return kind if at is None else f"{kind} of {table.columns[at]}"


def _name(table: Table, at: int | None) -> str:
    return "" if at is None else table.columns[at]


def _hint(selection: Selection) -> list[str]:
    """What the column of a condition holds, where no row fulfils the conditions."""
    if selection.rows or not selection.conditions or not selection.table.rows:
        return []
    lines = []
    for condition in selection.conditions:
        values = list(dict.fromkeys(row[condition.at] for row in selection.table.rows))
        more = ", ..." if len(values) > VALUES_NAMED else ""
        lines.append(f"{condition.column} holds: {', '.join(map(_shown, values[:VALUES_NAMED]))}{more}")
    return ["No row fulfils the conditions.", *dict.fromkeys(lines)]


def _shown(cell: str) -> str:
    """A cell on one line, cut at MAX_CELL_CHARACTERS with a mark."""
    text = printable(cell)
    if len(text) <= MAX_CELL_CHARACTERS:
        return text
    return f"{text[:MAX_CELL_CHARACTERS]} [... {len(text) - MAX_CELL_CHARACTERS} more characters]"
