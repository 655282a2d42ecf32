"""What a caller gets: the result of a run, what waits for a person, and the tokens of a live stream."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple

from langchain_core.messages import AnyMessage
from langgraph.types import Interrupt
from pydantic import BaseModel
from typing_extensions import TypeVar

from loopwright.events import fold
from loopwright.language import language_of
from loopwright.models.structured import OutputFormat
from loopwright.nodes.stop_report import counters_of
from loopwright.pending import Pending, pending_of
from loopwright.policies import advice
from loopwright.shapes import Interruption
from loopwright.state import Run, StopReport, run_of

OutputT = TypeVar("OutputT", bound=BaseModel, default=BaseModel)
"""The pydantic model that an agent's answers must fit."""


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
class RunResult(Generic[OutputT]):
    """The end of a run, or where it waits. `complete` is true when the task was answered without being stopped.

    While it waits `answer` is empty and `stop` None, and `pending` holds its questions. A run that was stopped has an
    answer too, of what was found, and `stop["reason"]` (docs/stops.md). `messages` are those of the whole thread.
    `output` is the answer as the agent's output model; None where there is no such model, or no answer that fits it.
    """

    answer: str
    complete: bool
    stop: StopReport | None
    usage: Usage
    thread: str
    run_id: str
    pending: tuple[Pending, ...]
    messages: list[AnyMessage]
    output: OutputT | None = None


def counted(values: Mapping[str, Any]) -> Run | None:
    """The run of these values, with what happened since the guard last counted."""
    run = run_of(values)
    return run if run is None else fold(run, values.get("events", [])[run["seen"] :])


def usage_of(run: Run | None) -> Usage:
    """The counters of a run as its usage."""
    if run is None:
        return Usage()
    return Usage(run["model_calls"], run["tool_calls"], run["tokens_in"], run["tokens_out"], run["cost_usd"])


def result_of(
    thread: str, values: dict[str, Any], interrupts: Sequence[Interrupt], output: type[OutputT] | None = None
) -> RunResult[OutputT]:
    """The result that a snapshot of the thread stands for."""
    run = counted(values)
    pending = pending_of(thread, interrupts)
    stop = run["stop"] if run and not pending and run["status"] != "running" else None
    answer: str = values.get("answer", "") if stop else ""
    return RunResult(
        answer=answer,
        complete=stop["complete"] if stop else False,
        stop=stop,
        usage=usage_of(run),
        thread=thread,
        run_id=run["id"] if run else "",
        pending=pending,
        messages=list(values.get("messages", [])),
        output=OutputFormat(output).read(answer) if output is not None and answer else None,
    )


def interruption(values: Mapping[str, Any], reason: Interruption) -> StopReport:
    """Why a run was left in the middle, as a report: nothing of it is written, so that the run can be resumed."""
    run, language = counted(values), language_of(values.get("messages", []))
    return {
        "reason": reason,
        "complete": False,
        "policy": "caller",
        "step": run["model_calls"] if run else 0,
        "call_id": None,
        "earlier_steps": [],
        "last_error": None,
        "counters": counters_of(run) if run else {},
        "advice": advice(reason, language),
    }
