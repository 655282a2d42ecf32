"""The threads of a storage, as a list."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal, TypeAlias

from langchain_core.messages import AnyMessage, HumanMessage
from langgraph.types import StateSnapshot

from loopwright.graph import build_graph
from loopwright.state import Event, Status, run_of
from loopwright.storage import Storage, thread_ids
from loopwright.transcript import text_of

ThreadStatus: TypeAlias = Status | Literal["paused"]


@dataclass(frozen=True)
class ThreadInfo:
    """One thread: how its last run stands, its model calls, when it changed last, and what was asked."""

    thread: str
    status: ThreadStatus
    steps: int
    updated_at: datetime
    task: str


def list_threads(storage: Storage) -> list[ThreadInfo]:
    """All threads that Loopwright ran in this storage, the one that changed last first."""
    reader = build_graph("offline:demo", checkpointer=storage.saver)  # reads states; its model is never called
    snapshots = ((thread, reader.get_state({"configurable": {"thread_id": thread}})) for thread in thread_ids(storage))
    return [_info(thread, snapshot) for thread, snapshot in snapshots if snapshot.values]


def _info(thread: str, snapshot: StateSnapshot) -> ThreadInfo:
    run = run_of(snapshot.values)
    events: list[Event] = snapshot.values.get("events", [])
    messages: list[AnyMessage] = snapshot.values.get("messages", [])
    if events:
        updated = datetime.fromtimestamp(events[-1]["at"], UTC)
    else:
        updated = datetime.fromisoformat(snapshot.created_at) if snapshot.created_at else datetime.now(UTC)
    task = next((text_of(message) for message in reversed(messages) if isinstance(message, HumanMessage)), "")
    status: ThreadStatus = "paused" if snapshot.interrupts else run["status"] if run else "running"
    return ThreadInfo(thread, status, run["model_calls"] if run else 0, updated, task)
