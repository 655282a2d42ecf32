"""The threads of a storage, as a list, and those in which something was said."""

import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal, TypeAlias

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage
from langgraph.types import StateSnapshot

from loopwright.errors import UsageError
from loopwright.state import Event, Run, Status, run_of
from loopwright.storage import Place, Storage, thread_ids
from loopwright.threads.reading import look, reader
from loopwright.transcript import text_of

ThreadStatus: TypeAlias = Status | Literal["paused", "unfinished"]
"""`unfinished`: no process holds it, so that it was left in the middle, or LangGraph's server runs it without our claim
(see `served`)."""


@dataclass(frozen=True)
class ThreadInfo:
    """One thread: how its last run stands, its model calls, when it changed last, and what was asked."""

    thread: str
    status: ThreadStatus
    steps: int
    updated_at: datetime
    task: str


def list_threads(place: Place) -> list[ThreadInfo]:
    """All threads that Loopwright ran in this place, the one that changed last first. Raises StorageError."""
    with place.open() as storage:
        return [_info(place, thread, found) for thread, found in _snapshots(storage)]


def search(place: Place, text: str) -> list[ThreadInfo]:
    """The threads in which a user's message or an answer holds this text, the one that changed last first.

    Upper and lower case are the same, and so are full-width and half-width forms. Raises UsageError for an empty text,
    and StorageError.
    """
    sought = _folded(text.strip())
    if not sought:
        raise UsageError("There is nothing to search for: give a text.")
    with place.open() as storage:
        said = [(thread, each) for thread, each in _snapshots(storage) if sought in _folded(_said(each.values))]
        return [_info(place, thread, found) for thread, found in said]


def _snapshots(storage: Storage) -> Iterator[tuple[str, StateSnapshot]]:
    graph = reader(storage)
    for thread in thread_ids(storage):
        snapshot = look(graph, thread)
        if snapshot.values:
            yield thread, snapshot


def _info(place: Place, thread: str, snapshot: StateSnapshot) -> ThreadInfo:
    run = run_of(snapshot.values)
    events: list[Event] = snapshot.values.get("events", [])
    messages: list[AnyMessage] = snapshot.values.get("messages", [])
    if events:
        updated = datetime.fromtimestamp(events[-1]["at"], UTC)
    else:
        updated = datetime.fromisoformat(snapshot.created_at) if snapshot.created_at else datetime.now(UTC)
    task = next((text_of(message) for message in reversed(messages) if isinstance(message, HumanMessage)), "")
    return ThreadInfo(thread, _status(place, thread, snapshot, run), run["model_calls"] if run else 0, updated, task)


def _status(place: Place, thread: str, snapshot: StateSnapshot, run: Run | None) -> ThreadStatus:
    if run is not None and not snapshot.next and run["status"] != "running":
        return run["status"]
    if place.holder(thread) is not None:  # also while its question, which was answered, still stands
        return "running"
    return "paused" if snapshot.interrupts else "unfinished"


def _said(values: dict[str, Any]) -> str:
    """What users asked and what they were answered, one text a line; words beside a call are no answer."""
    messages: list[AnyMessage] = values.get("messages", [])
    return "\n".join(
        text_of(message)
        for message in messages
        if isinstance(message, HumanMessage) or (isinstance(message, AIMessage) and not message.tool_calls)
    )


def _folded(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold()
