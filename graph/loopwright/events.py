"""The one log of a run: how events are stamped, published live, and folded into the run's counters."""

import time
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from typing_extensions import TypedDict

from loopwright.event_shapes import CallEvent, Event, ModelEvent
from loopwright.shapes import Run


def executed(call: CallEvent) -> bool:
    """Whether the call's tool was really started: a call that could not be read or names no tool was not."""
    failure = call["failure"]
    return call["status"] in ("ok", "error", "unknown") and not (
        failure and failure["kind"] in ("unknown_tool", "invalid_reply")
    )


class Stamp(TypedDict):
    """The fields every event begins with."""

    run: str
    step: int
    at: float
    seconds: float


def stamp(run: str, step: int, started: float) -> Stamp:
    """Stamp of something that began at `started` (of `time.perf_counter`) and ends now."""
    return {"run": run, "step": step, "at": time.time(), "seconds": round(time.perf_counter() - started, 6)}


def publish(*events: Event) -> list[Event]:
    """Write the events to the live stream (stream mode `custom`) and return them for the state."""
    from langgraph.runtime import get_runtime  # here, so that a log is read without importing LangGraph

    write = get_runtime().stream_writer
    for event in events:
        write(event)
    return list(events)


def since_begin(events: Sequence[Event], at_most: int | None = None) -> Sequence[Event]:
    """The newest events down to the last begin event, that one included; `at_most` of them."""
    lowest = 0 if at_most is None else max(0, len(events) - at_most)
    for index in range(len(events) - 1, lowest - 1, -1):
        if events[index]["kind"] == "begin":
            return events[index:]
    return events[lowest:]


def fold(run: Run, events: Iterable[Event]) -> Run:
    """The run with the counters of these events added.

    `working_seconds` grows by the longest of the events that one super-step brought, since parallel tools overlap.
    """
    folded: Run = {**run}
    longest, errors, fine = 0.0, 0, 0
    for event in events:
        folded["seen"] += 1
        if event["kind"] == "model":
            _fold_model(folded, event)
        elif event["kind"] == "compression":
            _fold_spent(folded, event.get("tokens_in", 0), event.get("tokens_out", 0), event.get("cost_usd"))
        elif event["kind"] == "call":
            folded["tool_calls"] += executed(event)
            folded["shortened"] += event["ref"] is not None
            errors += event["status"] in ("error", "unknown")
            fine += event["status"] == "ok"
        elif event["kind"] == "pause" and event["extend"]:
            folded["limits"] = {**folded["limits"], **event["extend"]}
        if event["kind"] in ("model", "call", "compression"):
            longest = max(longest, event["seconds"])
    folded["working_seconds"] = round(folded["working_seconds"] + longest, 6)
    if fine:
        folded["errors_in_row"] = 0
    elif errors:
        folded["errors_in_row"] += 1
    return folded


def _fold_model(run: Run, event: ModelEvent) -> None:
    run["model_calls"] += 1
    _fold_spent(run, event["tokens_in"], event["tokens_out"], event["cost_usd"])
    failure = event["failure"]
    run["invalid_in_row"] = run["invalid_in_row"] + 1 if failure and failure["kind"] == "invalid_reply" else 0


def _fold_spent(run: Run, tokens_in: int, tokens_out: int, cost_usd: float | None) -> None:
    run["tokens_in"] += tokens_in
    run["tokens_out"] += tokens_out
    if cost_usd is not None:
        run["cost_usd"] = round((run["cost_usd"] or 0.0) + cost_usd, 9)


class Round(NamedTuple):
    """One turn of the loop: the model's reply and what became of its calls."""

    model: ModelEvent
    calls: list[CallEvent]


def rounds(events: Iterable[Event]) -> Iterator[Round]:
    """The events grouped by model call, in order; calls before the first model call are left out."""
    current: Round | None = None
    for event in events:
        if event["kind"] == "model":
            if current:
                yield current
            current = Round(event, [])
        elif event["kind"] == "call" and current:
            current.calls.append(event)
    if current:
        yield current
