"""The channels of the graph; the plain types that live in them are those of shapes.py."""

from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, TypeVar, cast

from langchain_core.messages import AnyMessage, RemoveMessage
from langgraph.channels.delta import DeltaChannel
from langgraph.channels.ephemeral_value import EphemeralValue
from langgraph.graph.message import (
    _messages_delta_reducer,
)  # private: LangGraph assigns ids only where it sees this very object
from langgraph.managed.is_last_step import RemainingSteps
from typing_extensions import TypedDict

from loopwright.event_shapes import (
    AnswerEvent,
    BeginEvent,
    CallEvent,
    CompressionEvent,
    DecisionEvent,
    Event,
    ForkEvent,
    ModelEvent,
    OutcomeEvent,
    PauseEvent,
    StopEvent,
)
from loopwright.shapes import (
    FORMAT,
    OLDEST_FORMAT,
    CallStatus,
    Effect,
    Fact,
    Failure,
    FailureKind,
    Go,
    Judged,
    Parts,
    Pin,
    Run,
    Rung,
    Status,
    StopReason,
    StopReport,
    ToolTask,
    Verdict,
    View,
)

__all__ = [
    "EMPTY_VIEW",
    "FORMAT",
    "OLDEST_FORMAT",
    "AnswerEvent",
    "BeginEvent",
    "CallEvent",
    "CallStatus",
    "CompressionEvent",
    "DecisionEvent",
    "Effect",
    "Event",
    "Fact",
    "Failure",
    "FailureKind",
    "ForkEvent",
    "Go",
    "Input",
    "Judged",
    "ModelEvent",
    "OutcomeEvent",
    "Output",
    "Parts",
    "PauseEvent",
    "Pin",
    "Run",
    "Rung",
    "State",
    "Status",
    "StopEvent",
    "StopReason",
    "StopReport",
    "ToolTask",
    "Update",
    "Verdict",
    "View",
    "append",
    "by_id",
    "extend_of",
    "last",
    "repeats_of",
    "run_of",
    "view_of",
]

_T = TypeVar("_T")


def append(log: list[_T], writes: Sequence[list[_T]]) -> list[_T]:
    """Reducer of `events`: the log followed by every write in order."""
    return [*log, *(event for write in writes for event in write)]


def last(value: _T, writes: Sequence[_T]) -> _T:
    """Reducer of `view`: the newest write replaces what was there."""
    return writes[-1] if writes else value


by_id = cast("Callable[[Any, Sequence[Any]], Any]", _messages_delta_reducer)
"""Reducer of `messages`: appends, and replaces a message of the same id (an edit in Studio).

LangGraph's own private one: it gives ids to messages only where it sees this very object."""


class State(TypedDict):
    """All channels, short values first, as a front end lists them. `messages` is the transcript: our nodes only append.

    `repeats` names a permission given to this branch: effects that were journaled without it may happen again.
    """

    answer: Annotated[str, EphemeralValue]
    stop: Annotated[StopReport, EphemeralValue]
    verdict: Verdict
    run: Run
    repeats: str
    extend: Annotated[dict[str, float], EphemeralValue]
    messages: Annotated[list[AnyMessage], DeltaChannel(by_id, snapshot_frequency=200)]
    view: Annotated[View, DeltaChannel(last, View, snapshot_frequency=200)]
    events: Annotated[list[Event], DeltaChannel(append, snapshot_frequency=400)]
    remaining_steps: RemainingSteps


class Input(TypedDict, total=False):
    """What a caller sends: messages to begin a run, or `extend` (new limits by name) to go on with the last one."""

    messages: list[AnyMessage]
    extend: dict[str, float]


class Output(TypedDict, total=False):
    """What a caller gets: the answer, why the run stopped, and the transcript."""

    answer: str
    stop: StopReport
    messages: list[AnyMessage]


class Update(TypedDict, total=False):
    """A node's partial update."""

    messages: Sequence[AnyMessage | RemoveMessage]
    events: list[Event]
    view: View
    run: Run
    verdict: Verdict
    answer: str
    stop: StopReport


EMPTY_VIEW: View = {
    "summary": "",
    "folded_through": "",
    "clips": {},
    "dropped": [],
    "ledger": [],
    "pins": [],
    "window": 0,
}


def view_of(state: Mapping[str, Any]) -> View:
    """The thread's view; an empty one before the first compression."""
    return state.get("view") or EMPTY_VIEW


def run_of(state: Mapping[str, Any]) -> Run | None:
    """The thread's last run; None before the first, when the channel is still empty."""
    return state.get("run")


def verdict_of(state: Mapping[str, Any]) -> Verdict | None:
    """The guard's last decision; None before the first."""
    return state.get("verdict")


def repeats_of(state: Mapping[str, Any]) -> str:
    """The branch's permission to repeat effects; empty when none was given."""
    return state.get("repeats") or ""


def extend_of(state: Mapping[str, Any]) -> dict[str, float] | None:
    """The new limits of this input; None when it brought none."""
    return state.get("extend")
