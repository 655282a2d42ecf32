"""The plain types of the state, those of its log aside. Needs no LangGraph, whose import takes long."""

from typing import Literal, NotRequired, TypeAlias

from langchain_core.messages.tool import ToolCall
from typing_extensions import TypedDict

from loopwright.language import Language

FORMAT = 1
"""Version of the state's layout, written into every run."""
OLDEST_FORMAT = 1
"""The oldest layout that is still read."""

StopReason: TypeAlias = Literal[
    "answered", "repeat", "cycle", "no_progress", "errors", "model_calls", "tool_calls", "tokens", "cost", "seconds",
    "steps", "invalid_replies", "empty_reply", "length", "refusal", "content_filter", "context", "auth", "model_error",
    "cancelled", "drained",
]  # fmt: skip
Interruption: TypeAlias = Literal["cancelled", "drained"]
"""Why a run was left in the middle: `cancelled` by a caller, `drained` because the process ends."""
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
    """The guard's last decision, read by the routers and by the node it sends the run to.

    `closing`: the next request offers no tools and its reply is the answer; `reshaping`: it asks for an answer again
    that had not the demanded form; `call_id`: the call that the stop is about, where the policy names one.
    """

    go: Go
    closing: bool
    reshaping: bool
    call_id: str | None
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
    """What the model sees instead of the whole transcript: by id, never by index; under 8 kB.

    `summarised_through` is how far the summary reaches, or was tried; it may lag behind `folded_through`.
    `reflections` holds what was thought of the newest steps, by the id of their assistant message.
    """

    summary: str
    folded_through: str
    summarised_through: NotRequired[str]
    reflections: NotRequired[dict[str, str]]
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


class ToolTask(TypedDict):
    """What travels with one Send to execute_tools: a Send node sees no state.

    `known` holds the ids of calls with the same signature in this branch of the thread, `words` the rare words of the
    user's message, which decide what a shortened result keeps, `language` that of the user's last message,
    `decided_at` the unix time of the guard's decision, `repeats` the branch's permission to repeat effects (see State),
    `answer` what the transcript itself answers to a call of a built-in tool.
    """

    call: ToolCall
    judged: Judged
    run: str
    step: int
    known: list[str]
    words: list[str]
    language: Language
    decided_at: float
    repeats: str
    answer: NotRequired[str]
