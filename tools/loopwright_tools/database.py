"""The tool `query_database`: one SELECT on a SQLite file, over a connection that cannot write."""

import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager

from langchain_core.tools import BaseTool, StructuredTool, ToolException
from pydantic import BaseModel, ConfigDict, Field

from loopwright import tool_policy
from loopwright_tools.text import fitting, printable
from loopwright_tools.workspace import Workspace

MAX_ROWS = 200
"""Rows that one call shows at most, whatever `limit` says."""
MAX_CELL_CHARACTERS = 200
"""Characters shown of one cell."""
QUERY_SECONDS = 20.0
"""Seconds a query may take; it is then broken off."""
_INSTRUCTIONS = 10_000
"""Steps of SQLite's machine between two looks at the clock: about a millisecond."""
_READS = {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE}
_HEADER = b"SQLite format 3\x00"


class QueryArguments(BaseModel):
    """What query_database takes."""

    model_config = ConfigDict(extra="forbid")

    path: str = Field(description='SQLite file in the workspace, such as "shop.db".')
    sql: str = Field(default="", description="One SELECT statement; without it the tables and columns are listed.")
    limit: int = Field(default=50, description=f"How many rows to show, 1 to {MAX_ROWS}.", ge=1)


def query_database_tool(workspace: Workspace) -> BaseTool:
    """The tool `query_database`, for one workspace; none of the default tools, as most folders hold no database."""

    def query_database(path: str, sql: str = "", limit: int = 50) -> str:
        with _reading(workspace, path) as connection:
            try:
                return _rows(connection, sql, min(limit, MAX_ROWS)) if sql.strip() else _tables(connection)
            except (sqlite3.Error, sqlite3.Warning) as error:
                raise ToolException(_sentence(error)) from None

    tool = StructuredTool.from_function(
        query_database,
        description=(
            "Ask a SQLite database file with one SELECT statement; without sql it lists tables and columns, which is "
            "the first thing to do. Use when a question is about data in a .db or .sqlite file. Do not use to change "
            "data: the connection cannot write. Do not use for CSV or JSON files (read_table). "
            "An error is SQLite's own: correct the statement as it says."
        ),
        args_schema=QueryArguments,
    )
    return tool_policy(tool, effect="read", timeout=30, untrusted=True)


@contextmanager
def _reading(workspace: Workspace, path: str) -> Iterator[sqlite3.Connection]:
    """A connection that is read-only by itself, allows nothing but reading, and breaks off what takes too long."""
    if not workspace.starts_with(path, _HEADER):
        raise ToolException(f"{path!r} is no SQLite database: use read_file or read_table for it.")
    place = workspace.root.joinpath(*workspace.parts(path))
    with closing(sqlite3.connect(f"{place.as_uri()}?mode=ro", uri=True, timeout=5)) as connection:
        until = time.monotonic() + QUERY_SECONDS
        connection.set_authorizer(lambda action, *_: sqlite3.SQLITE_OK if action in _READS else sqlite3.SQLITE_DENY)
        connection.set_progress_handler(lambda: time.monotonic() > until, _INSTRUCTIONS)
        yield connection


def _tables(connection: sqlite3.Connection) -> str:
    """Each table or view as it was declared."""
    found = connection.execute("SELECT sql FROM sqlite_master WHERE type IN ('table', 'view') AND sql IS NOT NULL")
    lines = fitting(printable(" ".join(str(sql).split())) for (sql,) in found)
    return "\n".join(["[tables and views]", *lines]) if lines else "The database holds no tables."


def _rows(connection: sqlite3.Connection, sql: str, limit: int) -> str:
    """The head, the column names and the rows, cells parted by tabs."""
    cursor = connection.execute(sql)
    if cursor.description is None:
        raise ToolException("The statement reads nothing: give one SELECT statement.")
    rows = cursor.fetchmany(limit + 1)
    names = "\t".join(printable(column[0]) for column in cursor.description)
    lines = fitting("\t".join(map(_shown, row)) for row in rows[:limit])
    more = "; there are more: narrow the statement, or raise limit" if len(rows) > len(lines) else ""
    return "\n".join([f"[{len(lines)} rows{more}]", names, *lines])


def _shown(value: object) -> str:
    """A cell on one line, cut at MAX_CELL_CHARACTERS with a mark."""
    text = "NULL" if value is None else f"({len(value)} bytes)" if isinstance(value, bytes) else printable(str(value))
    left = len(text) - MAX_CELL_CHARACTERS
    return text if left <= 0 else f"{text[:MAX_CELL_CHARACTERS]} [... {left} more characters]"


def _sentence(error: Exception) -> str:
    text = str(error)
    if any(word in text for word in ("not authorized", "authorization denied", "readonly")):
        return "Only reading is allowed: the statement would change or attach something. Give one SELECT statement."
    if "one statement at a time" in text:
        return "More than one statement was given: give one SELECT statement."
    if "interrupted" in text:
        return f"The query took longer than {QUERY_SECONDS:g} seconds and was broken off: narrow it."
    return f"SQLite says: {text}."
