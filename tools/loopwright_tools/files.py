"""The tools `list_files` and `read_file`: what a folder of the workspace holds, and the lines of a file in it."""

import fnmatch
import os
import re
import stat

from langchain_core.tools import BaseTool, StructuredTool, ToolException
from pydantic import BaseModel, ConfigDict, Field

from loopwright import tool_policy
from loopwright_tools.text import decode, fitting, printable, titled
from loopwright_tools.workspace import Workspace

MAX_ENTRIES = 200
"""Entries that one listing shows."""
MAX_LINES = 2_000
"""Lines that one call of read_file shows at most, whatever `limit` says."""
MAX_LINE_CHARACTERS = 1_000
"""Characters shown of one line."""


class ListFilesArguments(BaseModel):
    """What list_files takes."""

    model_config = ConfigDict(extra="forbid")

    path: str = Field(
        default=".", description='Folder in the workspace, such as "reports"; "." is the workspace itself.'
    )
    pattern: str = Field(
        default="*",
        description='Shows only names that match, such as "*.csv" or "sales*"; * is any text, ? one character. No "/".',
    )


class ReadFileArguments(BaseModel):
    """What read_file takes."""

    model_config = ConfigDict(extra="forbid")

    path: str = Field(description='File in the workspace as list_files shows it, such as "notes.txt" or "logs/a.log".')
    offset: int = Field(default=1, description="Number of the first line to show; the file's first line is 1.")
    limit: int = Field(default=200, description=f"How many lines to show, 1 to {MAX_LINES}.")


def list_files_tool(workspace: Workspace) -> BaseTool:
    """The tool `list_files`, for one workspace."""

    def list_files(path: str = ".", pattern: str = "*") -> str:
        if "/" in pattern:
            raise ToolException(
                f"The pattern {pattern!r} holds a slash: give the folder as path and only names as pattern."
            )
        entries = workspace.entries(path)
        matches = re.compile(fnmatch.translate(pattern.casefold())).match
        found = sorted(name for name in entries if matches(name.casefold()))
        narrowed = f" matching {printable(pattern)} (of {len(entries)} in all)" if pattern != "*" else ""
        head = f"[{printable(path)}: {len(found)} {'entry' if len(found) == 1 else 'entries'}{narrowed}]"
        lines = [_entry(name, entries[name]) for name in found[:MAX_ENTRIES]]
        left = len(found) - len(lines)
        more = (
            [f'({left} more are not shown: narrow the listing with a pattern, such as "a*" or "*.csv")'] if left else []
        )
        return "\n".join([head, *lines, *more])

    tool = StructuredTool.from_function(
        list_files,
        description=(
            "List what one folder of the workspace holds: a line for each file, with its size; folders end with "
            "a slash. "
            "Use when you do not know which files there are, or a path was not found. "
            "Do not use for what a file says (read_file, read_table), nor again for a folder that you have listed. "
            "An error means that the folder does not exist, is a file, or lies outside the workspace."
        ),
        args_schema=ListFilesArguments,
    )
    return tool_policy(tool, effect="read", timeout=10, untrusted=True)


def read_file_tool(workspace: Workspace) -> BaseTool:
    """The tool `read_file`, for one workspace."""

    def read_file(path: str, offset: int = 1, limit: int = 200) -> str:
        decoded = decode(workspace.read(path), path)
        return _page(titled(path, decoded), decoded.lines, offset, limit)

    tool = StructuredTool.from_function(
        read_file,
        description=(
            "Show lines of a text file in the workspace, headed by which lines of how many they are. "
            "Use when you need what a text, log or source file says; read a long file on with offset. "
            "Do not use for sums, averages, counts or filters over a table: read_table computes them exactly. "
            "An error means that the file does not exist, is binary, too large or outside the workspace, "
            "or that offset is behind its last line."
        ),
        args_schema=ReadFileArguments,
    )
    return tool_policy(tool, effect="read", timeout=20, untrusted=True)


def _entry(name: str, status: os.stat_result) -> str:
    """The line of one entry: its name, a tab, and its size or kind."""
    if stat.S_ISDIR(status.st_mode):
        return f"{printable(name)}/\tfolder"
    if stat.S_ISREG(status.st_mode):
        return f"{printable(name)}\t{status.st_size} bytes"
    return f"{printable(name)}\t{'link' if stat.S_ISLNK(status.st_mode) else 'not a file'}"


def _page(title: str, lines: list[str], offset: int, limit: int) -> str:
    """Lines from `offset`, at most `limit` and MAX_CHARACTERS of them, between a head and how to read on."""
    if limit < 1:
        raise ToolException(f"limit is {limit}, but at least 1 line has to be asked for: use 200, or leave it out.")
    if not 1 <= offset <= max(len(lines), 1):
        count = f"{len(lines)} line" + ("" if len(lines) == 1 else "s")
        where = "behind its end" if offset > 0 else "before its first line"
        raise ToolException(
            f"offset {offset} is {where}: the file has {count}, so use an offset from 1 to {max(len(lines), 1)}."
        )
    shown = fitting(map(_cut, lines[offset - 1 : offset - 1 + min(limit, MAX_LINES)]))
    last = offset - 1 + len(shown)
    left = len(lines) - last
    more = [f"({left} more lines: read on with offset={last + 1})"] if left else []
    return "\n".join([f"[{title}, lines {min(offset, last)}-{last} of {len(lines)}]", *shown, *more])


def _cut(line: str) -> str:
    """A line of at most MAX_LINE_CHARACTERS, cut at white space, else where no number is broken, and a mark."""
    if len(line) <= MAX_LINE_CHARACTERS:
        return line
    words = re.match(rf"(?s).{{1,{MAX_LINE_CHARACTERS}}}(?=\s)", line)
    if words and len(words[0]) > MAX_LINE_CHARACTERS // 2:
        head = words[0].rstrip()
    else:
        head = line[:MAX_LINE_CHARACTERS]
        if re.match(r"[\d.,]", line[MAX_LINE_CHARACTERS]):
            head = re.sub(r"[-+\d.,]+$", "", head)
    return f"{head} [... {len(line) - len(head)} more characters of this line are not shown]"
