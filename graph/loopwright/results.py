"""What a caller gets: the result of a run, what waits for a person, and the tokens of a live stream."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from langchain_core.messages import AnyMessage
from langgraph.types import Interrupt

from loopwright.state import Run, StopReport, run_of


class Token(NamedTuple):
    """A piece of the model's text as it comes.

    A model event with a failure and this `message_id` means: drop what was shown under it, the request is made again.
    """

    text: str
    node: str
    message_id: str


@dataclass(frozen=True)
class Usage:
    """What a run used: calls, tokens, and USD where the model's price is known."""

    model_calls: int = 0
    tool_calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    cost_usd: float | None = None


@dataclass(frozen=True)
class Pending:
    """A question that a run waits with: `about` is the call's id or the limit, `call` the action that was asked for."""

    id: str
    thread: str
    about: str
    kind: Literal["approval", "budget", "unknown"]
    description: str
    call: dict[str, Any]


@dataclass(frozen=True)
class RunResult:
    """The end of a run, or where it waits. `complete` is true when the task was answered without being stopped."""

    answer: str
    complete: bool
    stop: StopReport | None
    usage: Usage
    thread: str
    run_id: str
    pending: tuple[Pending, ...]
    messages: list[AnyMessage]
    output: None = None


def usage_of(run: Run | None) -> Usage:
    """The counters of a run as its usage."""
    if run is None:
        return Usage()
    return Usage(run["model_calls"], run["tool_calls"], run["tokens_in"], run["tokens_out"], run["cost_usd"])


def pending_of(thread: str, interrupts: Sequence[Interrupt]) -> tuple[Pending, ...]:
    """The open questions among a snapshot's interrupts."""
    return tuple(_pending(thread, interrupt) for interrupt in interrupts)


def _pending(thread: str, interrupt: Interrupt) -> Pending:
    value = interrupt.value if isinstance(interrupt.value, dict) else {}
    action = (value.get("action_requests") or [{}])[0]
    return Pending(
        id=interrupt.id,
        thread=thread,
        about=str(value.get("about", "")),
        kind=value.get("kind", "approval"),
        description=str(action.get("description", "")),
        call={"name": action.get("name", ""), "args": action.get("args", {})},
    )


def result_of(thread: str, values: dict[str, Any], interrupts: Sequence[Interrupt]) -> RunResult:
    """The result that a snapshot of the thread stands for."""
    run = run_of(values)
    pending = pending_of(thread, interrupts)
    stop = run["stop"] if run and not pending and run["status"] != "running" else None
    return RunResult(
        answer=values.get("answer", "") if stop else "",
        complete=stop["complete"] if stop else False,
        stop=stop,
        usage=usage_of(run),
        thread=thread,
        run_id=run["id"] if run else "",
        pending=pending,
        messages=list(values.get("messages", [])),
    )
