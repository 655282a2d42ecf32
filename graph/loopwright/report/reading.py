"""Reads a thread's log and transcript from its checkpointer alone, and reports them: LangGraph need not be imported."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

from langchain_core.messages import AnyMessage, BaseMessage, RemoveMessage
from langgraph.checkpoint.base import BaseCheckpointSaver, CheckpointTuple, PendingWrite
from langgraph.checkpoint.serde.types import ERROR, INTERRUPT, RESUME

from loopwright.errors import UnknownThread
from loopwright.event_shapes import Event
from loopwright.pending import Asked, pending_of
from loopwright.report.branching import branches
from loopwright.report.data import RunReport
from loopwright.report.folding import fold_report
from loopwright.report.texts import HEAD
from loopwright.shapes import Run
from loopwright.steps import Core, Do, drive
from loopwright.storage import Place, Storage

_CONTROL = frozenset({ERROR, INTERRUPT, RESUME, "__error_source_node__"})
"""Channels of a task's writes that say what happened to it; all others are its output."""
_BESIDE_TASKS = "00000000-0000-0000-0000-000000000000"
"""The task id of writes that belong to no task: LangGraph's NULL_TASK_ID."""


class Stored(NamedTuple):
    """What a report needs of a thread's newest state, `head`, with what a step in progress has finished."""

    head: CheckpointTuple
    events: list[Event]
    messages: list[AnyMessage]
    run: Run | None
    interrupts: Sequence[Asked]


def read_report(place: Place, thread: str, characters: int = HEAD) -> RunReport:
    """What happened on a thread, as `Agent.report` tells it, without an agent. Raises UnknownThread, StorageError."""
    with place.open() as storage:
        return drive(report_of(place, storage, thread, characters))


def report_of(place: Place, storage: Storage, thread: str, characters: int = HEAD) -> Core[RunReport]:
    """The report of a thread of this open storage, each text up to so many characters. Raises UnknownThread."""
    stored = yield from read(storage.saver, thread)
    holder: str | None = None
    if stored is not None and _is_open(stored):
        holder = yield Do(place.holder, place.aholder, (thread,))
        if holder is None and not stored.interrupts:  # the run may have ended between the two looks
            stored = yield from read(storage.saver, thread)
    if stored is None or not (stored.events or stored.messages or stored.run):
        raise UnknownThread(f"There is no thread {thread!r} in {place.url}.")
    return fold_report(
        thread,
        stored.events,
        stored.messages,
        pending_of(thread, stored.interrupts),
        branches=(yield from branches(storage.saver, thread, stored.head)),
        limits=stored.run["limits"] if stored.run else None,
        holder=holder,
        characters=characters,
    )


def _is_open(stored: Stored) -> bool:
    """Whether a run goes on or was left in the middle; one that was answered still asks until its next step ends."""
    return stored.run is not None and stored.run["status"] == "running"


def read(saver: BaseCheckpointSaver[Any], thread: str) -> Core[Stored | None]:
    """The same as LangGraph's get_state gives, which a test holds; None for an unknown thread."""
    config = {"configurable": {"thread_id": thread, "checkpoint_ns": ""}}
    saved: CheckpointTuple | None = yield Do(saver.get_tuple, saver.aget_tuple, (config,))
    if saved is None:
        return None
    values, written = saved.checkpoint["channel_values"], saved.checkpoint["channel_versions"]
    missing = [each for each in ("events", "messages") if each in written and each not in values]
    history: Any = {}
    if missing:  # they are stored as the writes since their last snapshot
        history = yield Do(
            partial(saver.get_delta_channel_history, config=saved.config, channels=missing),
            partial(saver.aget_delta_channel_history, config=saved.config, channels=missing),
        )
    pending = saved.pending_writes or []
    newer = [*_of(pending, beside=True), *_of(pending, beside=False)]

    def value(channel: str) -> tuple[Any, list[Any]]:
        kept = history.get(channel, {"writes": [], "seed": values.get(channel, [])})
        seed = kept.get("seed", [])  # a list, or LangGraph's snapshot of one
        return getattr(seed, "value", seed), [write for _, name, write in (*kept["writes"], *newer) if name == channel]

    runs = [write for _, name, write in newer if name == "run"]
    run: Run | None = runs[-1] if runs else values.get("run")
    return Stored(saved, _events(*value("events")), _messages(*value("messages")), run, _interrupts(pending))


def _of(pending: Sequence[PendingWrite], *, beside: bool) -> list[PendingWrite]:
    """What the step in progress has brought: the writes beside its tasks, or the output of those that finished."""
    return [w for w in pending if (w[0] == _BESIDE_TASKS) is beside and w[1] not in _CONTROL]


def _interrupts(pending: Sequence[PendingWrite]) -> list[Asked]:
    """The questions of the tasks that have not finished."""
    finished = {task for task, channel, _ in pending if channel not in _CONTROL}
    asked = [value for task, channel, value in pending if channel == INTERRUPT and task not in finished]
    return [each for value in asked for each in (value if isinstance(value, (list, tuple)) else [value])]


def _events(seed: list[Event], writes: list[Any]) -> list[Event]:
    if not all(isinstance(write, list) for write in writes):
        from loopwright.state import append

        return _replayed(append, seed, writes)
    return [*seed, *(event for write in writes for event in write)]


def _messages(seed: list[AnyMessage], writes: list[Any]) -> list[AnyMessage]:
    """The transcript, by id; LangGraph's own reducer is asked where something else than messages was written."""
    new = [message for write in writes for message in (write if isinstance(write, list) else [write])]
    if not all(isinstance(each, BaseMessage) and not isinstance(each, RemoveMessage) for each in (*seed, *new)):
        from loopwright.state import by_id

        return _replayed(by_id, seed, writes)
    places: dict[str, int] = {message.id: place for place, message in enumerate(seed) if message.id}
    messages = list(seed)
    for message in new:
        if message.id in places:
            messages[places[message.id]] = message
        else:
            places |= {message.id: len(messages)} if message.id else {}
            messages.append(message)
    return messages


def _replayed(reducer: Callable[[Any, Sequence[Any]], Any], seed: list[Any], writes: list[Any]) -> list[Any]:
    """The channel's value as LangGraph computes it: a write may be its Overwrite, a message a dict."""
    from langgraph.channels.delta import DeltaChannel

    channel: DeltaChannel[list[Any]] = DeltaChannel(reducer).from_checkpoint(seed)
    channel.replay_writes([("", "", write) for write in writes])
    value: list[Any] = channel.value
    return value
