"""The contract of a policy: what it is shown and what it may find."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, Protocol, TypeAlias

from loopwright.event_shapes import CallEvent, Event
from loopwright.events import Round, rounds
from loopwright.settings import Settings
from loopwright.shapes import Effect, Failure, Run, StopReason

CallRung: TypeAlias = Literal["run", "note", "serve", "ask", "block", "close"]
"""How far the guard goes: note, serve, ask and block concern one call; close ends the run with an answer.

For the run as a whole, note nudges the model in its next request and ask pauses until a person decides.
"""

_SEVERITY: dict[str, int] = {"run": 0, "note": 1, "serve": 2, "ask": 3, "block": 4, "close": 5}

Facts: TypeAlias = Mapping[str, str | int | float | list[int]]
"""What a sentence about a finding needs to know: the call, the steps, the error, the bound."""

SHOWN = 120
"""Characters of a call that a sentence repeats; the model wrote it and has it before it."""


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

    @property
    def shown(self) -> str:
        """The call as a sentence names it: `read_file(path="a.txt")`, long arguments cut."""
        return shown_call(self.tool, self.args)


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
    later: bool = False
    """Whether a blocked call may simply be made again: then it counts as not run, and not as refused."""


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
        """Calls in the window with the judged call's signature, oldest first."""
        if self.call is None:
            return []
        wanted = self.call.signature
        return [event for event in self.window if event["kind"] == "call" and event["signature"] == wanted]

    def before(self) -> Sequence[CallEvent]:
        """Calls of the whole branch, earlier runs among them, with the judged call's signature, oldest first."""
        return self.history.get(self.call.signature, ()) if self.call is not None else ()


class Policy(Protocol):
    """A named, pure judgement. A frozen dataclass with `name`, thresholds as fields, and `__call__`."""

    @property
    def name(self) -> str:
        """Under which name its findings stand in events and reports."""
        ...

    def __call__(self, view: GuardView) -> Finding | None:
        """What it finds about `view.call`, or about the run where that is None."""
        ...


def shown_call(tool: str, args: Mapping[str, object]) -> str:
    """A call on one line, its arguments cut at SHOWN characters; those that could not be read as they were written."""
    written = ", ".join(f"{name}={_value(value)}" if name else str(value) for name, value in args.items())
    written = " ".join(written.split())
    return f"{tool}({written if len(written) <= SHOWN else written[:SHOWN] + '…'})"


def _value(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)


def severity(finding: Finding) -> int:
    """Position on the ladder: the most severe finding wins, the first of equals."""
    return _SEVERITY[finding.rung]
