"""Goes on from an old checkpoint: LangGraph's fork, with an edit, in the same thread or in a new one."""

import time
from collections.abc import Sequence
from typing import Any, TypeAlias
from uuid import uuid4

from langchain_core.messages import AnyMessage
from langchain_core.runnables import RunnableConfig
from langgraph.store.base import BaseStore
from langgraph.types import StateSnapshot

from loopwright.errors import UnknownCheckpoint, UnknownThread, UsageError
from loopwright.events import stamp
from loopwright.layout import check_format
from loopwright.soundness import check_clock
from loopwright.state import ForkEvent, by_id, run_of
from loopwright.steps import Core, Do
from loopwright.threads.editing import Change, Edit, change_of
from loopwright.threads.entering import Standing, difference, entrance, standing_of, whole
from loopwright.threads.reading import Graph, checkpoint_of, config_of
from loopwright.threads.stored import read_stored, write_stored

__all__ = ["Edit", "enter_new", "fork", "permit_repeats"]

Step: TypeAlias = tuple[str, dict[str, Any]]
"""The node under whose name something is written, and what."""


def fork(
    graph: Graph,
    store: BaseStore,
    thread: str,
    checkpoint: str,
    *,
    edit: Edit | None = None,
    repeat_effects: bool = False,
    into: str | None = None,
) -> Core[str]:
    """Make a new head from an old checkpoint and return its id; nothing runs yet.

    In the same thread it is a branch, as LangGraph's update_state makes it; with `into` the state is copied to a new
    thread, with journal and results. Raises UnknownThread, UnknownCheckpoint, and UsageError for a bad edit or an
    `into` that exists.
    """
    old = yield from _standing_at(graph, thread, checkpoint)
    check_format(run_of(old.values), thread)
    change = change_of(old, edit)
    forked = _event(old, thread, checkpoint, edited=edit is not None)
    more: dict[str, Any] = {"events": [forked], **({"repeats": uuid4().hex} if repeat_effects else {})}
    if into is None:
        head: StateSnapshot = yield Do(graph.get_state, graph.aget_state, (config_of(thread),))
        yield from check_clock(head)
        steps = _steps(old, change, more)
        return (yield from _write(graph, config_of(thread, checkpoint), steps, change.run_id))
    yield from _refuse_existing(graph, into)
    stored = yield from read_stored(store, thread)
    yield from write_stored(store, into, stored)  # before the thread: it must not go on without its journal
    more["events"] = [*old.values.get("events", []), forked]
    return (yield from enter_new(graph, into, old, change, more))


def permit_repeats(graph: Graph, thread: str) -> Core[None]:
    """Permit the run in progress to repeat what the journal holds so far; what it does from now on is not repeated.

    The permission stands in the state, so that it holds through the next crash. An ended run is left alone.
    """
    now: StateSnapshot = yield Do(graph.get_state, graph.aget_state, (config_of(thread),))
    standing = standing_of(now)
    if not now.values or entrance(standing) == "finish":
        return None
    head = config_of(thread, checkpoint_of(now.config))
    before: StateSnapshot = yield Do(graph.get_state, graph.aget_state, (head,))
    base = {**difference(now.values, before.values), "repeats": uuid4().hex}
    yield from _write(graph, head, _steps(standing, change_of(standing, None), base), standing.run_id)
    return None


def enter_new(
    graph: Graph, thread: str, standing: Standing, change: Change | None = None, more: dict[str, Any] | None = None
) -> Core[str]:
    """Write a state into an empty thread so that it goes on from there; returns the checkpoint's id."""
    change = change or change_of(standing, None)
    values = {**whole(standing.values), **(more or {})}
    if change.messages:
        values["messages"] = by_id(list(standing.messages), [list(change.messages)])
        change = Change(change.messages[-1:] if change.begins else (), change.begins, change.run_id)
    return (yield from _write(graph, config_of(thread), _steps(standing, change, values), change.run_id))


def _event(old: Standing, thread: str, checkpoint: str, *, edited: bool) -> ForkEvent:
    run = run_of(old.values)
    mark = stamp(run["id"] if run else "", run["model_calls"] if run else 0, time.perf_counter())
    return {**mark, "kind": "fork", "checkpoint": checkpoint, "thread": thread, "edited": edited}


def _steps(standing: Standing, change: Change, base: dict[str, Any]) -> list[Step]:
    """What is written, on top of `base`, so that the right node comes next."""
    if change.begins:
        messages = list(change.messages or standing.messages[-1:])
        return [*([("finish", base)] if base else []), ("__start__", {"messages": messages})]
    node = entrance(standing)
    if not change.messages:
        return [(node, base)]
    return [("finish" if node == "finish" else "call_model", {**base, "messages": list(change.messages)})]


def _write(graph: Graph, config: RunnableConfig, steps: Sequence[Step], run_id: str | None) -> Core[str]:
    for node, values in steps:
        stamped: RunnableConfig = {**config, "metadata": {"run_id": run_id}} if run_id else config
        config = yield Do(graph.update_state, graph.aupdate_state, (stamped, values, node))
    return checkpoint_of(config) or ""


def _standing_at(graph: Graph, thread: str, checkpoint: str) -> Core[Standing]:
    snapshot: StateSnapshot = yield Do(graph.get_state, graph.aget_state, (config_of(thread, checkpoint),))
    if snapshot.metadata is None:
        head: StateSnapshot = yield Do(graph.get_state, graph.aget_state, (config_of(thread),))
        if head.metadata is None:
            raise UnknownThread(f"There is no thread {thread!r} in this storage.")
        raise UnknownCheckpoint(f"Thread {thread!r} has no checkpoint {checkpoint!r}: take one from its history.")
    if "__start__" not in snapshot.next:
        return standing_of(snapshot)
    arriving = yield from _arriving(graph, config_of(thread, checkpoint))
    values = {**snapshot.values, "messages": by_id(list(snapshot.values.get("messages", [])), [arriving])}
    return Standing(values, snapshot.next, standing_of(snapshot).run_id)


def _arriving(graph: Graph, config: RunnableConfig) -> Core[list[AnyMessage]]:
    """The messages of an input that was stored and not yet taken in."""
    saver = graph.checkpointer
    if saver is None or isinstance(saver, bool):
        return []
    found = yield Do(saver.get_tuple, saver.aget_tuple, (config,))
    messages = (found.checkpoint["channel_values"].get("__start__") or {}).get("messages")
    if not messages:
        raise UsageError("This checkpoint is of an input without a message: fork from the one before it.")
    return list(messages)


def _refuse_existing(graph: Graph, thread: str) -> Core[None]:
    snapshot: StateSnapshot = yield Do(graph.get_state, graph.aget_state, (config_of(thread),))
    if snapshot.metadata is not None:
        raise UsageError(f"Thread {thread!r} exists already: name one that does not.")
    return None
