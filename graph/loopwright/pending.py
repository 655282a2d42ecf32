"""The questions that a run waits with, as a person or a program answers them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol


class Asked(Protocol):
    """LangGraph's Interrupt, which is not imported for it: a question's id, and what it asks."""

    @property
    def id(self) -> str:
        """Which question it is."""
        ...

    @property
    def value(self) -> Any:
        """What is asked, in LangChain's HITLRequest shape."""
        ...


@dataclass(frozen=True)
class Pending:
    """A question that a run waits with: `about` is the call's id or the limit, `call` the action that was asked for.

    `allowed` are the types of decision that answer it, `expires_at` the unix time from which on it counts as rejected,
    `problem` what was wrong with the last answer.
    """

    id: str
    thread: str
    about: str
    kind: Literal["approval", "budget", "unknown"]
    description: str
    call: dict[str, Any]
    allowed: tuple[str, ...] = ()
    expires_at: float | None = None
    problem: str = ""


def pending_of(thread: str, interrupts: Sequence[Asked]) -> tuple[Pending, ...]:
    """The open questions among a snapshot's interrupts."""
    return tuple(_pending(thread, interrupt) for interrupt in interrupts)


def _pending(thread: str, interrupt: Asked) -> Pending:
    value = interrupt.value if isinstance(interrupt.value, dict) else {}
    action = (value.get("action_requests") or [{}])[0]
    review = (value.get("review_configs") or [{}])[0]
    return Pending(
        id=interrupt.id,
        thread=thread,
        about=str(value.get("about", "")),
        kind=value.get("kind", "approval"),
        description=str(action.get("description", "") if action else interrupt.value),
        call={"name": action.get("name", ""), "args": action.get("args", {})},
        allowed=tuple(review.get("allowed_decisions", ())),
        expires_at=value.get("expires_at"),
        problem=value.get("problem", ""),
    )
