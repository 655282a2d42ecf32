"""Builds what a policy sees out of rounds told in one line each: what was called, what came back, what is wanted."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from loopwright import Finding, GuardView, Policy, Settings
from loopwright.events import Stamp, fold, since_begin
from loopwright.nodes.pending import histories
from loopwright.nodes.visit import WINDOW
from loopwright.policies import PendingCall
from loopwright.state import (
    BeginEvent,
    CallEvent,
    CallStatus,
    Effect,
    Event,
    Failure,
    FailureKind,
    ModelEvent,
    Run,
)
from loopwright.tooling import digest, signature


@dataclass(frozen=True)
class Made:
    """A call that was made: its one argument, what became of it, and what came back."""

    at: str
    says: str
    tool: str = "look"
    status: CallStatus = "ok"
    kind: FailureKind | None = None
    effect: Effect = "read"

    @property
    def failure(self) -> Failure | None:
        """Why it failed, where it did."""
        return {"kind": self.kind, "text": self.says} if self.kind else None


def ran(at: str = "a", says: str = "same", *, tool: str = "look", effect: Effect = "read") -> Made:
    """A call that succeeded."""
    return Made(at, says, tool, effect=effect)


def failed(at: str = "a", error: str = "no such place", *, kind: FailureKind = "permanent", tool: str = "look") -> Made:
    """A call that failed."""
    return Made(at, error, tool, "error", kind)


def answered(status: CallStatus, at: str = "a", *, tool: str = "look", effect: Effect = "read") -> Made:
    """A call that the guard, a person or nobody answered: refused, served, rejected, unknown, not_run."""
    return Made(at, f"{status} {at}", tool, status, effect=effect)


def wants(
    at: str = "a",
    *,
    tool: str = "look",
    effect: Effect = "read",
    declared: bool = True,
    repeatable: bool = False,
    id: str = "wanted",
) -> PendingCall:
    """A call that the model wants now; undeclared tools run like a write."""
    args = {"at": at}
    shown: Effect = effect if declared else "write"
    return PendingCall(id, tool, args, signature(tool, args), shown, effect if declared else None, repeatable)


@dataclass
class Story:
    """A thread told round by round: `Story.of([ran()], [ran()]).judge(policy, wants())`."""

    events: list[Event]
    run: Run
    settings: Settings = field(default_factory=Settings)

    @classmethod
    def of(cls, *rounds: Sequence[Made], settings: Settings | None = None) -> "Story":
        """The rounds of one run, oldest first."""
        chosen = settings or Settings()
        story = cls([], _fresh("1", chosen), chosen)
        story.begin("1")
        return story.then(*rounds)

    def begin(self, run: str) -> "Story":
        """The user's next message: a new run."""
        self.run = _fresh(run, self.settings)
        event: BeginEvent = {**self._stamp(), "kind": "begin", "delivery": run, "extend": None}
        self.events.append(event)
        return self

    def then(self, *rounds: Sequence[Made]) -> "Story":
        """Further rounds of the run: a model call each, and what became of its calls."""
        for calls in rounds:
            self.replied()
            self._happened(*[self._call(made) for made in calls])
        return self

    def replied(self, failure: str = "") -> "Story":
        """A reply alone; with a failure one that could not be used."""
        event: ModelEvent = {
            "run": self.run["id"], "step": self.run["model_calls"] + 1, "at": 0.0, "seconds": 0.0, "kind": "model",
            "message_id": "", "model": "m", "finish_reason": "stop", "request_tokens": 0,
            "parts": {"system": 0, "tools": 0, "summary": 0, "pinned": 0, "recent": 0},
            "tokens_in": 10, "tokens_out": 1, "cost_usd": None, "estimated": True, "retries": 0,
            "failure": {"kind": "invalid_reply", "text": failure} if failure else None,
        }  # fmt: skip
        self._happened(event)
        return self

    def view(self, *pending: PendingCall, can_ask: bool = False, remaining_steps: int = 1_000) -> GuardView:
        """What the policies see about the run."""
        limited = self.settings.tools.max_calls
        calls = [event for event in since_begin(self.events) if event["kind"] == "call"]
        return GuardView(
            run=self.run,
            settings=self.settings,
            window=since_begin(self.events, WINDOW),
            pending=pending,
            history=histories(pending, self.events),
            remaining_steps=remaining_steps,
            can_ask=can_ask,
            tool_counts={tool: sum(call["tool"] == tool for call in calls) for tool in limited},
        )

    def judge(self, policy: Policy, *pending: PendingCall, can_ask: bool = False) -> Finding | None:
        """What the policy finds about the last of the pending calls."""
        return policy(replace(self.view(*pending, can_ask=can_ask), call=pending[-1]))

    def judge_run(self, policy: Policy, *, can_ask: bool = False, remaining_steps: int = 1_000) -> Finding | None:
        """What the policy finds about the run, all calls answered."""
        return policy(self.view(can_ask=can_ask, remaining_steps=remaining_steps))

    def _stamp(self) -> Stamp:
        return {"run": self.run["id"], "step": self.run["model_calls"], "at": 0.0, "seconds": 0.0}

    def _happened(self, *events: Event) -> None:
        self.events.extend(events)
        self.run = fold(self.run, events)

    def _call(self, made: Made) -> CallEvent:
        args = {"at": made.at}
        return {
            **self._stamp(), "kind": "call", "call_id": f"call{len(self.events)}{made.at}", "tool": made.tool,
            "effect": made.effect, "signature": signature(made.tool, args), "digest": digest(made.says),
            "status": made.status, "failure": made.failure, "retries": 0, "ref": None, "edited_args": None,
        }  # fmt: skip


def rung(finding: Finding | None) -> str:
    """How far a finding goes; "run" for none."""
    return finding.rung if finding else "run"


def _fresh(run: str, settings: Settings) -> Run:
    return {
        "format": 1, "id": run, "number": 1, "status": "running", "limits": settings.limits(), "model_calls": 0,
        "tool_calls": 0, "tokens_in": 0, "tokens_out": 0, "cost_usd": None, "working_seconds": 0.0, "errors_in_row": 0,
        "invalid_in_row": 0, "shortened": 0, "seen": 0, "length": 0, "stop": None,
    }  # fmt: skip
