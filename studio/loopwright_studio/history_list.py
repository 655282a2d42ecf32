"""A thread's history in the terminal: one line a checkpoint, from which `fork` can go on."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from loopwright.threads import HistoryEntry
from loopwright_studio.console import Screen
from loopwright_studio.visible import one_line


def print_history(screen: Screen, entries: Sequence[HistoryEntry]) -> None:
    """The checkpoints, the newest last; those of a branch that was left are marked, and times are local."""
    lines = [
        (
            each.checkpoint + ("" if each.current else " (left)"),
            f"{each.at.astimezone():%H:%M:%S}",
            str(each.step),
            each.node or each.source,
            each.text + (" (waiting)" if each.paused else ""),
        )
        for each in entries
    ]
    screen.columns(("checkpoint", "at", "step", "node", "what happened"), [[*map(one_line, line)] for line in lines])


def history_data(entry: HistoryEntry) -> dict[str, Any]:
    """A checkpoint as plain data; the time in ISO form."""
    return {**asdict(entry), "at": entry.at.isoformat()}
