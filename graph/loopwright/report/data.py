"""The shapes of a report: frozen, typed, and plain enough for `model_dump(mode="json")`."""

from typing import Any, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict

from loopwright.pending import Pending
from loopwright.shapes import CallStatus, Effect, Failure, Go, Parts, Rung, Status, StopReport

RunStatus: TypeAlias = Status | Literal["paused", "unfinished"]
"""`paused` until a process takes up a person's answer; `unfinished`: a newer run began before this one ended, or no
process holds it.

A run by LangGraph's server reads `unfinished` until it ends where its graph is not `served` under our claim."""


class _Data(BaseModel):
    # a limit may be infinite, and JSON has no such number
    model_config = ConfigDict(frozen=True, ser_json_inf_nan="strings")


class DecisionReport(_Data):
    """One visit of the guard: where it sent the run and why; `rungs` by call id."""

    step: int
    at: float
    """Unix time of the decision."""
    go: Go
    policy: str
    reason: str
    rungs: dict[str, Rung]


class ModelReport(_Data):
    """One model call; `said` is the head of its text, `parts` the tokens of its request, `budget` those it could have.

    `notices` say what the user should know of it: a parameter that the server refused, a price that is not known.
    """

    at: float
    """Unix time at which it had answered or failed."""
    model: str
    message_id: str
    finish_reason: str
    request_tokens: int
    parts: Parts
    budget: int | None = None
    tokens_in: int
    tokens_out: int
    cost_usd: float | None
    estimated: bool
    retries: int
    seconds: float
    failure: Failure | None
    said: str
    notices: tuple[str, ...] = ()


class CallReport(_Data):
    """One tool call: `args` as they ran (text where they could not be read), `result` the head of what came back.

    `result_characters` is the length of what the model got; `result` is None while the message is not written.
    An `open` call was asked for and has no outcome yet: it runs, waits for a person or its turn, or went with its
    process.
    """

    at: float | None = None
    """Unix time of its outcome; None while it is open."""
    call_id: str
    tool: str
    args: dict[str, Any] | str
    effect: Effect | None
    status: CallStatus | Literal["open"]
    failure: Failure | None = None
    retries: int = 0
    seconds: float = 0.0
    edited: bool = False
    ref: str | None = None
    result: str | None = None
    result_characters: int = 0


class RoundReport(_Data):
    """One turn of the loop: the decisions around it in order, the model call, and what became of its tool calls.

    `step` is the number of the model call in its run. The decision that led to the call comes first, unless it was made
    about the calls of the round before and stands there; `model` is None while the model has not answered.
    """

    step: int
    decisions: tuple[DecisionReport, ...]
    model: ModelReport | None
    calls: tuple[CallReport, ...]


class CompressionReport(_Data):
    """One compression before the model call after `step`: tokens of the request before and after, how far it went.

    `folded` and `dropped` count the steps that left the request, `clipped` the messages that were cut in it; `tools`
    names those whose calls left. `summary` is empty where none was asked for, else how that went.
    `tokens_in`, `tokens_out` and `cost_usd` are those of the requests for its summary.
    """

    step: int
    at: float
    before: int
    after: int
    stage: str
    folded_through: str
    summary_tokens: int
    seconds: float
    folded: int = 0
    dropped: int = 0
    clipped: int = 0
    tools: tuple[str, ...] = ()
    summary: str = ""
    tokens_in: int = 0
    tokens_out: int = 0
    cost_usd: float | None = None


class PauseReport(_Data):
    """A budget question that was answered; `extend` holds the new limits, None when it was declined."""

    step: int
    at: float
    question: str
    extend: dict[str, float] | None


class OutcomeReport(_Data):
    """A call whose outcome nobody knew, and what a person says of it."""

    step: int
    at: float
    call_id: str
    question: str
    happened: Literal["yes", "no", "unknown"]


class ExtensionReport(_Data):
    """A run that had ended after `step` and went on under the new `limits`; those not named stayed as they were.

    After a failure a run goes on under its old limits: then none is named.
    """

    step: int
    at: float
    limits: dict[str, float]


class ForkReport(_Data):
    """Where the thread was taken back to: `checkpoint` of `thread`, with something in it `edited` or as it was.

    `thread` is another one where the fork went on in a new thread. `step` counts the model calls up to there.
    """

    step: int
    at: float
    checkpoint: str
    thread: str
    edited: bool


class StuckReport(_Data):
    """Where a run got stuck: the step at which it was stopped, the one where that began, and the call, if one did."""

    step: int
    began: int
    call_id: str | None


class Totals(_Data):
    """Sums over events. Tools that ran together each count their whole time.

    `tool_calls` counts those that ran, `failed_calls` those of them that gave no result, `refused_calls` those that did
    not run: refused, rejected, left, not readable, or of no tool that there is. A call that was `served` is in none.
    `waiting_seconds` is the time that questions waited for a person who answered them.
    """

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
    waiting_seconds: float = 0.0


class RunEntry(_Data):
    """One run of the thread. `started` and `ended` are unix times of its first and newest event; the answer is whole.

    `limits` are those it runs under, known for the newest run only.
    `own_seconds` is the time between its events that was neither the model's, nor a tool's, a compression's or a
    person's: that of our own code. `left_seconds` is apart from it: long gaps in the log, in which no process ran it,
    or went with all that it did.
    """

    number: int
    id: str
    task: str
    status: RunStatus
    rounds: tuple[RoundReport, ...]
    compressions: tuple[CompressionReport, ...]
    pauses: tuple[PauseReport, ...]
    outcomes: tuple[OutcomeReport, ...] = ()
    extensions: tuple[ExtensionReport, ...]
    forks: tuple[ForkReport, ...] = ()
    stop: StopReport | None
    stuck: StuckReport | None = None
    answer: str
    totals: Totals
    started: float
    ended: float
    own_seconds: float
    left_seconds: float
    limits: dict[str, float] = {}


class RunReport(_Data):
    """A thread as plain data: its runs in order, sums over all of them, and the questions that wait for an answer.

    While a process holds the thread nobody can answer, and it may hold the answers already: then none waits.
    `version` is that of these shapes, so that a report in JSON of another one is refused when it is read.
    `holder` says which process holds the thread, None where none does or it was not asked.
    `token_ratios` holds, by model, the tokens that its server reports for each one that we count, once that is known.
    """

    version: Literal[1] = 1
    thread: str
    runs: tuple[RunEntry, ...]
    totals: Totals
    waiting: tuple[Pending, ...]
    holder: str | None = None
    token_ratios: dict[str, float] = {}
