"""Progress, read from the transcript alone: the task, the calls made for it, and what came of them."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage

Arguments: TypeAlias = Mapping[str, str | int | list[str]]

_MARKED = re.compile(
    r"\s*(?:<|Go on with the task|请继续完成任务"
    r"|\[(?:Automatic note|Instruction from|Message from|Memory of|…|自动提示|系统指令|来自|较早))"
)
"""How texts begin that an agent put in the user's place: memory, notes, "go on"."""

_VALUE = re.compile(r"=\s*(-?\d[\d.]*(?:[eE][-+]?\d+)?)\s*(?:$|\()", re.M)


@dataclass(frozen=True)
class Call:
    """A call of a tool, known again in a transcript by its signature."""

    tool: str
    args: Arguments = field(default_factory=dict)

    @property
    def signature(self) -> str:
        """The name and the arguments as one text, equal for equal calls."""
        return signature(self.tool, self.args)

    def __str__(self) -> str:
        return f"{self.tool}({', '.join(f'{name}={value!r}' for name, value in self.args.items())})"


class Said(NamedTuple):
    """A reply: a text, calls, or both."""

    text: str
    calls: tuple[Call, ...] = ()


class Outcome(NamedTuple):
    """What a call brought: the text the tool returned, or the text of its error."""

    tool: str
    text: str
    failed: bool = False


@dataclass(frozen=True)
class History:
    """The newest task, what its calls brought by signature, and the outcomes of earlier tasks, oldest first."""

    task: str
    outcomes: Mapping[str, Outcome]
    earlier: tuple[Outcome, ...] = ()
    earlier_tasks: tuple[str, ...] = ()


def signature(tool: str, args: Mapping[str, object]) -> str:
    """A text that is equal for calls of the same tool with the same arguments in any order."""
    return f"{tool} {json.dumps(args, sort_keys=True, ensure_ascii=False, default=str)}"


def read_history(messages: Sequence[BaseMessage]) -> History:
    """The history that these messages tell; what an agent put in the user's place is no task."""
    at = _task_position(messages)
    task = messages[at].text if at >= 0 else ""
    before = tuple(outcome for _, outcome in _answered(messages[: max(at, 0)]))
    asked = tuple(m.text for m in messages[: max(at, 0)] if isinstance(m, HumanMessage) and not _MARKED.match(m.text))
    outcomes: dict[str, Outcome] = {}
    for key, outcome in _answered(messages[at + 1 :]):
        # a refused repetition must not hide what the same call brought before
        if not outcome.failed or key not in outcomes or outcomes[key].failed:
            outcomes[key] = outcome
    return History(task, outcomes, before, asked)


def _task_position(messages: Sequence[BaseMessage]) -> int:
    said = [position for position, message in enumerate(messages) if isinstance(message, HumanMessage)]
    own = [position for position in said if not _MARKED.match(messages[position].text)]
    return (own or said or [-1])[-1]


def _answered(messages: Sequence[BaseMessage]) -> list[tuple[str, Outcome]]:
    """Every call that has a result, as signature and outcome, in the order of the results."""
    calls: dict[str, tuple[str, str]] = {}
    found: list[tuple[str, Outcome]] = []
    for message in messages:
        if isinstance(message, AIMessage):
            calls |= {c["id"] or "": (c["name"], signature(c["name"], c["args"])) for c in message.tool_calls}
        elif isinstance(message, ToolMessage) and message.tool_call_id in calls:
            tool, key = calls[message.tool_call_id]
            found.append((key, Outcome(tool, message.text, message.status == "error")))
    return found


def last_number(outcomes: Sequence[Outcome]) -> str | None:
    """The value behind the equals sign of the newest result of calculator or read_table, or None."""
    for outcome in reversed(outcomes):
        if (
            outcome.tool in ("calculator", "read_table")
            and not outcome.failed
            and (match := _VALUE.search(outcome.text))
        ):
            return match[1]
    return None
