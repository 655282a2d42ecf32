"""Plan for one number from a table: look at its columns first, then let read_table aggregate."""

import re
from dataclasses import dataclass

from loopwright.models.offline.filters import NoDates, Question, question
from loopwright.models.offline.history import Call, Outcome
from loopwright.models.offline.intents import Aggregate, Operation
from loopwright.models.offline.listing import Table, read_table_listing
from loopwright.models.offline.months import months_in
from loopwright.models.offline.paths import without_files
from loopwright.models.offline.plan import Desk, Finding, Plan
from loopwright.models.offline.reading import Opened, opened
from loopwright.models.offline.wording import beginning, say

ROWS_LOOKED_AT = 50
"""Rows of the first look: enough to see which columns hold numbers, dates and which values."""
TEXT_QUOTED = 200

_RESULT = re.compile(r"=\s*(-?\d[\d.]*(?:[eE][-+]?\d+)?)(?:[^\n(]*\((.*)\))?")


@dataclass(frozen=True)
class _Asked:
    """The question together with where and for what it is asked."""

    source: Opened
    operation: Operation
    columns: tuple[str, ...]
    question: Question


def aggregate_plan(desk: Desk, intent: Aggregate) -> Plan:
    """The number asked for, with the conditions and column that were understood."""
    if intent.file is None:
        return Finding(say(desk.language, "no_file_named", asked=intent.asked.strip()))
    look = yield from opened(desk, intent.file, lambda p: Call("read_table", {"path": p, "limit": ROWS_LOOKED_AT}))
    if look.failed:
        return Finding(say(desk.language, "file_failed", path=look.path, error=look.outcome.text) + look.note)
    table = read_table_listing(look.outcome.text)
    if table is None:
        return Finding(say(desk.language, "no_columns", path=look.path, text=beginning(look.outcome.text, TEXT_QUOTED)))
    asked = _ask(desk, intent, look, table)
    if isinstance(asked, Finding):
        return asked
    [outcome] = yield (_call(asked),)
    return _answer(desk, asked, outcome)


def _ask(desk: Desk, intent: Aggregate, look: Opened, table: Table) -> _Asked | Finding:
    """The question to put, or why none can be put."""
    columns = ", ".join(table.columns)
    months = months_in(without_files(intent.asked))
    if len(months) > 1:
        names = ", ".join(f"{month.year}-{month.number:02}" if month.year else str(month.number) for month in months)
        return Finding(say(desk.language, "one_month", months=names))
    try:
        asked = question(intent.asked, table, needs_numbers=intent.operation in ("sum", "mean", "min", "max"))
    except NoDates:
        return Finding(say(desk.language, "no_dates", path=look.path, columns=columns))
    if asked.column is None and intent.operation != "count":
        return Finding(say(desk.language, "no_numbers", path=look.path, columns=columns))
    return _Asked(look, intent.operation, table.columns, asked)


def _call(asked: _Asked) -> Call:
    args: dict[str, str | int | list[str]] = {"path": asked.source.path, "aggregate": asked.operation}
    if asked.operation != "count" and asked.question.column:
        args["column"] = asked.question.column
    if asked.question.where:
        args["where"] = list(asked.question.where)
    if asked.question.group_by:
        args["group_by"] = asked.question.group_by
    return Call("read_table", args)


def _answer(desk: Desk, asked: _Asked, outcome: Outcome) -> Finding:
    facts = {
        "operation": say(desk.language, asked.operation),
        "column": asked.question.column or "",
        "path": asked.source.path,
        "note": asked.source.note,
        "group": asked.question.group_by,
        "text": outcome.text.strip(),
        "error": outcome.text,
    }
    if outcome.failed:
        return Finding(say(desk.language, "aggregate_failed", **facts))
    if asked.question.group_by:
        return Finding(say(desk.language, "aggregate_groups", **facts) + _remarks(desk, asked))
    result = _RESULT.search(outcome.text)
    if result is None:
        return Finding(say(desk.language, "no_value", **facts) + _remarks(desk, asked))
    sentence = "aggregate_rows" if asked.operation == "count" else "aggregate"
    detail = result[2] or outcome.text.strip()
    return Finding(
        say(desk.language, sentence, value=result[1], detail=detail, **facts) + _remarks(desk, asked), result[1]
    )


def _remarks(desk: Desk, asked: _Asked) -> str:
    """What the user should know about how the question was understood."""
    remarks = ""
    if asked.question.chosen and asked.operation != "count":
        columns = ", ".join(asked.columns)
        remarks += say(desk.language, "column_chosen", column=asked.question.column, columns=columns)
    if asked.question.every_year:
        remarks += say(desk.language, "every_year")
    if asked.question.unused:
        remarks += say(desk.language, "unused_words", words=", ".join(asked.question.unused))
    return remarks
