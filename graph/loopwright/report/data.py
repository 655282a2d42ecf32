"""The shapes of a report: frozen, typed, and plain enough for `model_dump(mode="json")`."""

from typing import Any, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict

from loopwright.results import Pending
from loopwright.state import CallStatus, Effect, Failure, Go, Parts, Rung, Status, StopReport

RunStatus: TypeAlias = Status | Literal["paused", "unfinished"]
"""`paused` until a person answers; `unfinished`: a newer run began before this one ended.

A run whose process died reads `running`, since the log cannot tell."""


class _Data(BaseModel):
    model_config = ConfigDict(frozen=True)


class DecisionReport(_Data):
    """One visit of the guard: where it sent the run and why; `rungs` by call id."""

    step: int
    go: Go
    policy: str
    reason: str
    rungs: dict[str, Rung]


class ModelReport(_Data):
    """One model call; `said` is the head of its text, `parts` the tokens of its request."""

    model: str
    message_id: str
    finish_reason: str
    request_tokens: int
    parts: Parts
    tokens_in: int
    tokens_out: int
    cost_usd: float | None
    estimated: bool
    retries: int
    seconds: float
    failure: Failure | None
    said: str


class CallReport(_Data):
    """One tool call: `args` as they ran (text where they could not be read), `result` the head of what came back.

    `result_characters` is the length of what the model got; `result` is None while the message is not written.
    """

    call_id: str
    tool: str
    args: dict[str, Any] | str
    effect: Effect | None
    status: CallStatus
    failure: Failure | None
    retries: int
    seconds: float
    edited: bool
    ref: str | None
    result: str | None
    result_characters: int


class RoundReport(_Data):
    """One turn of the loop: the decisions around it in order, the model call, and what became of its tool calls.

    `step` is the number of the model call in its run. The decision that led to the call comes first; `model` is None
    while the model has not answered.
    """

    step: int
    decisions: tuple[DecisionReport, ...]
    model: ModelReport | None
    calls: tuple[CallReport, ...]


class CompressionReport(_Data):
    """One compression before the model call after `step`: tokens of the request before and after, how far it went."""

    step: int
    before: int
    after: int
    stage: str
    folded_through: str
    summary_tokens: int
    seconds: float


class PauseReport(_Data):
    """A budget question that was answered; `extend` holds the new limits, None when it was declined."""

    step: int
    question: str
    extend: dict[str, float] | None


class ExtensionReport(_Data):
    """A run that had ended after `step` and went on under the new `limits`; those not named stayed as they were."""

    step: int
    limits: dict[str, float]


class Totals(_Data):
    """Sums over events. Tools that ran together each count their whole time; `tool_calls` counts those that ran."""

    model_calls: int = 0
    tool_calls: int = 0
    failed_calls: int = 0
    refused_calls: int = 0
    compressions: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    cost_usd: float | None = None
    model_seconds: float = 0.0
    tool_seconds: float = 0.0
    compression_seconds: float = 0.0


class RunEntry(_Data):
    """One run of the thread. `started` and `ended` are unix times of its first and newest event."""

    number: int
    id: str
    task: str
    status: RunStatus
    rounds: tuple[RoundReport, ...]
    compressions: tuple[CompressionReport, ...]
    pauses: tuple[PauseReport, ...]
    extensions: tuple[ExtensionReport, ...]
    stop: StopReport | None
    answer: str
    totals: Totals
    started: float
    ended: float


class RunReport(_Data):
    """A thread as plain data: its runs in order, sums over all of them, and the questions that are open."""

    thread: str
    runs: tuple[RunEntry, ...]
    totals: Totals
    waiting: tuple[Pending, ...]
