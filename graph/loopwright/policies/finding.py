"""The contract of a policy: what it is shown and what it may find."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, Protocol, TypeAlias

from loopwright.events import Round, rounds
from loopwright.settings import Settings
from loopwright.state import CallEvent, Effect, Event, Failure, Run, StopReason

CallRung: TypeAlias = Literal["run", "note", "serve", "ask", "block", "close"]
"""How far the guard goes: note, serve, ask and block concern one call; close ends the run with an answer.

For the run as a whole, note nudges the model in its next request and ask pauses until a person decides.
"""

_SEVERITY: dict[str, int] = {"run": 0, "note": 1, "serve": 2, "ask": 3, "block": 4, "close": 5}

Facts: TypeAlias = Mapping[str, str | int | float | list[int]]
"""What a sentence about a finding needs to know: the tool, the steps, the error, the bound."""


@dataclass(frozen=True)
class PendingCall:
    """A call the model wants: its arguments, or the failure that makes it impossible to run.

    `effect` is what it is run as (undeclared: write), `declared` what its author said.
    """

    id: str
    tool: str
    args: Mapping[str, object]
    signature: str
    effect: Effect | None
    declared: Effect | None = None
    repeatable: bool = False
    failure: Failure | None = None
    outside: Sequence[str] = ()
    """Names of arguments with a value that stands only in results of untrusted tools; looked up for declared writes."""


@dataclass(frozen=True)
class Finding:
    """What a policy found: how severe, about which call (None: the run), and the facts a sentence is made of."""

    rung: CallRung
    policy: str
    reason: str
    call_id: str | None = None
    stop: StopReason | None = None
    facts: Facts = field(default_factory=dict)
    withhold: bool = False
    """Whether the call's tool is not offered in the next request."""


@dataclass(frozen=True)
class GuardView:
    """What a policy sees: the run's newest events, the calls that are pending, and the one being judged.

    `window` holds at most 64 events since the last begin event. `history` maps the signatures of pending calls to the
    calls of this branch of the thread that had it, oldest first. `call` is None when the run as a whole is judged.
    """

    run: Run
    settings: Settings
    window: Sequence[Event]
    pending: Sequence[PendingCall]
    history: Mapping[str, Sequence[CallEvent]]
    call: PendingCall | None = None
    remaining_steps: int = 10_000
    can_ask: bool = False
    tool_counts: Mapping[str, int] = field(default_factory=dict)
    """Executions of this run by tool name, for the tools that have a limit."""

    @cached_property
    def rounds(self) -> list[Round]:
        """The window's events by model call, oldest first."""
        return list(rounds(self.window))

    def earlier(self) -> list[CallEvent]:
        """Calls of this run, in the window, with the judged call's signature."""
        if self.call is None:
            return []
        wanted = self.call.signature
        return [event for event in self.window if event["kind"] == "call" and event["signature"] == wanted]


class Policy(Protocol):
    """A named, pure judgement. A frozen dataclass with `name`, thresholds as fields, and `__call__`."""

    @property
    def name(self) -> str:
        """Under which name its findings stand in events and reports."""
        ...

    def __call__(self, view: GuardView) -> Finding | None:
        """What it finds about `view.call`, or about the run where that is None."""
        ...


def severity(finding: Finding) -> int:
    """Position on the ladder: the most severe finding wins, the first of equals."""
    return _SEVERITY[finding.rung]
