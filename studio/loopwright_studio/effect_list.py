"""A thread's journal in the terminal: what was started and what was done, open ones first."""

from collections.abc import Mapping, Sequence
from typing import Any

from loopwright.effects import Record, records
from loopwright.report import RunReport
from loopwright.steps import drive
from loopwright.storage import open_storage
from loopwright_studio.call_line import arguments
from loopwright_studio.console import Screen
from loopwright_studio.live import calls_of
from loopwright_studio.visible import one_line

SHOWN = 200
"""Characters of a result that are shown."""


def journal_of(url: str, report: RunReport) -> list[dict[str, Any]]:
    """The journal of the report's thread, each record with the arguments of its call. Raises StorageError."""
    args = {call.call_id: call.args for call in calls_of(report)}
    with open_storage(url) as storage:
        return [_effect(record, args) for record in drive(records(storage.store, report.thread))]


def _effect(record: Record, args: Mapping[str, dict[str, Any] | str]) -> dict[str, Any]:
    """A record as plain data; a call of a branch that was left has no arguments here."""
    kept = {name: value for name, value in record.items() if name not in ("signature", "repeats")}
    return {**kept, "args": args.get(record["call_id"])}


def print_effects(screen: Screen, effects: Sequence[Mapping[str, Any]]) -> None:
    """One line a call. `started` without an end means that nobody knows whether it happened."""
    if not effects:
        screen.say("No effects.")
        return
    lines = [
        (
            "OUTCOME UNKNOWN" if each["state"] == "started" else str(each["status"]),
            str(each["step"]),
            str(each["call_id"]),
            f"{each['tool']}({arguments(each['args'] or {})})",
            str(each["text"])[:SHOWN],
        )
        for each in effects
    ]
    screen.columns(("outcome", "step", "call", "what was called", "result"), [[*map(one_line, line)] for line in lines])
