"""Tools that ship with Loopwright: they compute, tell the time, and read files and tables of one folder."""

from collections.abc import Callable, Iterable
from datetime import datetime
from pathlib import Path

from langchain_core.tools import BaseTool

from loopwright_tools.calculator import calculator_tool
from loopwright_tools.clock import now_tool, utc_now
from loopwright_tools.database import query_database_tool
from loopwright_tools.files import list_files_tool, read_file_tool
from loopwright_tools.table import read_table_tool
from loopwright_tools.workspace import Workspace

__all__ = [
    "Workspace",
    "calculator_tool",
    "default_tools",
    "list_files_tool",
    "now_tool",
    "query_database_tool",
    "read_file_tool",
    "read_table_tool",
]


def default_tools(
    workspace: str | Path, *, hidden: Iterable[str | Path] = (), clock: Callable[[], datetime] | None = None
) -> list[BaseTool]:
    """The tools an agent starts with, reading the folder `workspace` and nothing outside it; none of them writes.

    What is `hidden` of it is not there for them. `clock` gives the time to `now`, with its zone; without one it is the
    system's. Raises ValueError when `workspace` is no existing folder.
    """
    folder = Workspace(workspace, hidden)
    return [
        calculator_tool(),
        now_tool(clock or utc_now),
        list_files_tool(folder),
        read_file_tool(folder),
        read_table_tool(folder),
    ]
