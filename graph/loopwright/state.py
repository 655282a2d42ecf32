"""The channels of the graph and the plain types that live in them: what a checkpoint holds."""

from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, Literal, TypeAlias, TypeVar, cast

from langchain_core.messages import AnyMessage
from langchain_core.messages.tool import ToolCall
from langgraph.channels.delta import DeltaChannel
from langgraph.channels.ephemeral_value import EphemeralValue
from langgraph.graph.message import (
    _messages_delta_reducer,
)  # private: LangGraph assigns ids only where it sees this very object
from langgraph.managed.is_last_step import RemainingSteps
from typing_extensions import TypedDict

FORMAT = 1
"""Version of the state's layout, written into every run."""

StopReason: TypeAlias = Literal[
    "answered", "repeat", "cycle", "no_progress", "errors", "model_calls", "tool_calls", "tokens", "cost", "seconds",
    "steps", "invalid_replies", "empty_reply", "length", "refusal", "content_filter", "context", "auth", "model_error",
    "cancelled", "drained",
]  # fmt: skip
Status: TypeAlias = Literal["running", "completed", "stopped", "failed"]
Effect: TypeAlias = Literal["pure", "read", "idempotent", "write"]
CallStatus: TypeAlias = Literal["ok", "error", "refused", "served", "rejected", "unknown", "not_run"]
FailureKind: TypeAlias = Literal[
    "transient", "bad_arguments", "unknown_tool", "denied", "permanent", "timeout", "invalid_reply", "context", "auth",
    "refusal", "content_filter",
]  # fmt: skip
Rung: TypeAlias = Literal["run", "note", "serve", "block", "ask"]
Go: TypeAlias = Literal["call_model", "compress_memory", "execute_tools", "ask", "finish"]


class Failure(TypedDict):
    """Why a call or a reply failed: its class, which decides what happens, and a short text."""

    kind: FailureKind
    text: str


class StopReport(TypedDict):
    """Why a run ended: which policy ended it at which step, the call that was stuck, and what to do next."""

    reason: StopReason
    complete: bool
    policy: str
    step: int
    call_id: str | None
    earlier_steps: list[int]
    last_error: str | None
    counters: dict[str, float]
    advice: str


class Run(TypedDict):
    """Counters of the current run. Only begin, guard and finish write it, so that parallel tools never collide.

    `seen` counts the events folded so far, `length` the messages of the transcript, `shortened` the results of the
    thread that were cut and can be read on.
    """

    format: int
    id: str
    number: int
    status: Status
    limits: dict[str, float]
    model_calls: int
    tool_calls: int
    tokens_in: int
    tokens_out: int
    cost_usd: float | None
    working_seconds: float
    errors_in_row: int
    invalid_in_row: int
    shortened: int
    seen: int
    length: int
    stop: StopReport | None


class Judged(TypedDict):
    """What the guard decided about one call that will run or be served, or that a person is asked about."""

    call_id: str
    rung: Rung
    policy: str
    text: str


class Verdict(TypedDict):
    """The guard's last decision, read by the routers and by the node it sends the run to."""

    go: Go
    closing: bool
    calls: list[Judged]
    withheld: list[str]
    nudge: str
    question: str
    stop: StopReason | None
    policy: str
    reason: str


class Fact(TypedDict):
    """One line of the ledger: what a folded call said that may still be needed."""

    call_id: str
    tool: str
    text: str


class Pin(TypedDict):
    """A sentence that no compression may shorten, and who pinned it."""

    text: str
    by: Literal["user", "model"]


class View(TypedDict):
    """What the model sees instead of the whole transcript: by id, never by index; under 8 kB."""

    summary: str
    folded_through: str
    clips: dict[str, list[int]]
    dropped: list[list[str]]
    ledger: list[Fact]
    pins: list[Pin]
    window: int


class Parts(TypedDict):
    """Tokens of one request by part."""

    system: int
    tools: int
    summary: int
    pinned: int
    recent: int


class _Stamp(TypedDict):
    """What every event carries: the run, the step (its model calls so far), unix time, and the seconds it took."""

    run: str
    step: int
    at: float
    seconds: float


class BeginEvent(_Stamp):
    """A run begins, or goes on under larger limits: under which delivery."""

    kind: Literal["begin"]
    delivery: str
    extend: dict[str, float] | None


class ModelEvent(_Stamp):
    """A model call: what was sent and came back, in tokens, and the failure where it came to nothing."""

    kind: Literal["model"]
    message_id: str
    model: str
    finish_reason: str
    request_tokens: int
    parts: Parts
    tokens_in: int
    tokens_out: int
    cost_usd: float | None
    estimated: bool
    retries: int
    failure: Failure | None


class DecisionEvent(_Stamp):
    """The guard's decision: where the run goes, by which policy, and how each pending call was judged."""

    kind: Literal["decision"]
    go: Go
    policy: str
    reason: str
    rungs: dict[str, Rung]


class CallEvent(_Stamp):
    """A tool call and what became of it; `ref` names the whole result where it was shortened."""

    kind: Literal["call"]
    call_id: str
    tool: str
    effect: Effect | None
    signature: str
    digest: str
    status: CallStatus
    failure: Failure | None
    retries: int
    ref: str | None
    edited_args: dict[str, Any] | None


class CompressionEvent(_Stamp):
    """A compression: tokens of the next request before and after, and how far the summary reaches."""

    kind: Literal["compression"]
    before: int
    after: int
    stage: str
    folded_through: str
    summary_tokens: int


class PauseEvent(_Stamp):
    """A budget question that was answered; `extend` holds the new limits, None means no."""

    kind: Literal["pause"]
    question: str
    extend: dict[str, float] | None


class AnswerEvent(_Stamp):
    """The run's answer, and whether the task is complete."""

    kind: Literal["answer"]
    message_id: str
    complete: bool


class StopEvent(_Stamp):
    """The end of the run."""

    kind: Literal["stop"]
    report: StopReport


Event: TypeAlias = (
    BeginEvent | ModelEvent | DecisionEvent | CallEvent | CompressionEvent | PauseEvent | AnswerEvent | StopEvent
)


class ToolTask(TypedDict):
    """What travels with one Send to execute_tools: a Send node sees no state.

    `known` holds the ids of calls with the same signature in this branch of the thread, `words` the rare words of the
    user's message, which decide what a shortened result keeps.
    """

    call: ToolCall
    judged: Judged
    run: str
    step: int
    known: list[str]
    words: list[str]


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
    """All channels. `messages` is the transcript: our nodes only ever append to it."""

    messages: Annotated[list[AnyMessage], DeltaChannel(by_id, snapshot_frequency=200)]
    events: Annotated[list[Event], DeltaChannel(append, snapshot_frequency=400)]
    view: Annotated[View, DeltaChannel(last, View, snapshot_frequency=200)]
    run: Run
    verdict: Verdict
    extend: Annotated[dict[str, float], EphemeralValue]
    answer: Annotated[str, EphemeralValue]
    stop: Annotated[StopReport, EphemeralValue]
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

    messages: list[AnyMessage]
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


def view_of(state: State) -> View:
    """The thread's view; an empty one before the first compression."""
    return state.get("view") or EMPTY_VIEW


def run_of(state: Mapping[str, Any]) -> Run | None:
    """The thread's last run; None before the first, when the channel is still empty."""
    return state.get("run")


def extend_of(state: Mapping[str, Any]) -> dict[str, float] | None:
    """The new limits of this input; None when it brought none."""
    return state.get("extend")
