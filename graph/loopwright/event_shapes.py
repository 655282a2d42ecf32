"""The plain types of the log: one a kind of event. Needs no LangGraph."""

from typing import Any, Literal, NotRequired, TypeAlias

from typing_extensions import TypedDict

from loopwright.shapes import CallStatus, Effect, Failure, Go, Parts, Rung, StopReport


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
    """A model call: what was sent and came back, in tokens, and the failure where it came to nothing.

    `place` is that of the model among the agent's own and its fallbacks, where it is not the first; `keeps` the tokens
    of a request that the server seems to keep, where it cuts longer ones; `notices` what the user should know.
    `withheld` names the tools that were kept out of the request, `rescued` counts calls that were written as text,
    `protocol` names the text protocol of the request, where it was made in one.
    `budget` is what a request might take, in tokens as we count them: the settings' share of the model's window.
    `counted_as` is the name the model was asked for by, where the server gives another: tokens are counted by it.
    """

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
    budget: NotRequired[int]
    counted_as: NotRequired[str]
    place: NotRequired[int]
    keeps: NotRequired[int]
    notices: NotRequired[list[str]]
    withheld: NotRequired[list[str]]
    rescued: NotRequired[int]
    protocol: NotRequired[str]


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
    """A compression: tokens of the next request before and after, and how far the summary reaches.

    `folded` and `dropped` count steps, `clipped` messages; `tools` names those whose calls left the request. `summary`
    is empty where none was asked for, else `written`, `unusable`, or `failed: ` and why.
    `tokens_in`, `tokens_out` and `cost_usd` are those of the summary's own requests, where there were any.
    """

    kind: Literal["compression"]
    before: int
    after: int
    stage: str
    folded_through: str
    summary_tokens: int
    summary: NotRequired[str]
    folded: NotRequired[int]
    dropped: NotRequired[int]
    clipped: NotRequired[int]
    tools: NotRequired[list[str]]
    tokens_in: NotRequired[int]
    tokens_out: NotRequired[int]
    cost_usd: NotRequired[float | None]


class PauseEvent(_Stamp):
    """A budget question that was answered; `extend` holds the new limits, None means no."""

    kind: Literal["pause"]
    question: str
    extend: dict[str, float] | None


class OutcomeEvent(_Stamp):
    """A call whose outcome nobody knew, and what a person says of it."""

    kind: Literal["outcome"]
    call_id: str
    question: str
    happened: Literal["yes", "no", "unknown"]


class ForkEvent(_Stamp):
    """The thread goes on from an old checkpoint, which may be one of another `thread`, with an edit or as it was.

    Written where the thread is forked by us; LangGraph's own `update_state` leaves no event.
    """

    kind: Literal["fork"]
    checkpoint: str
    thread: str
    edited: bool


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
    BeginEvent
    | ModelEvent
    | DecisionEvent
    | CallEvent
    | CompressionEvent
    | PauseEvent
    | OutcomeEvent
    | ForkEvent
    | AnswerEvent
    | StopEvent
)
