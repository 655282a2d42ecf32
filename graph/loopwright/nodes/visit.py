"""One visit of the guard: what it finds, and the messages and events it produces."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from langchain_core.messages import ToolMessage

from loopwright.events import executed, fold, publish, since_begin, stamp
from loopwright.language import Language, language_of
from loopwright.layout import check_format, check_whole
from loopwright.memory import outgrown, total, unreflected
from loopwright.node import thread_here
from loopwright.nodes.call_event import call_event
from loopwright.nodes.fallback import falls_back
from loopwright.nodes.pending import histories, pending_calls
from loopwright.nodes.request import next_parts
from loopwright.nodes.steps_left import StepsLeft
from loopwright.nodes.wiring import Wiring, verdict
from loopwright.policies import GuardView, PendingCall
from loopwright.settings import Settings
from loopwright.state import (
    CallStatus,
    DecisionEvent,
    Event,
    Failure,
    Go,
    ModelEvent,
    Run,
    Rung,
    State,
    Update,
    Verdict,
    view_of,
)
from loopwright.tooling import Outcome, result_message
from loopwright.transcript import last_reply, text_of

WINDOW = 64
"""Events since the last begin that the policies see."""


@dataclass
class Visit:
    """One visit of the guard: what it found, and the messages and events it has produced so far."""

    wiring: Wiring
    state: State
    settings: Settings
    run: Run
    before: Verdict
    started: float
    pending: list[PendingCall]
    messages: list[ToolMessage] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    withheld: list[str] = field(default_factory=list)
    why: list[tuple[str, str]] = field(default_factory=list)
    """Policy and reason of each pending call that will not simply run."""

    @classmethod
    def of(cls, wiring: Wiring, state: State) -> "Visit":
        """Fold what is new into the run and look at the calls that are open."""
        started = time.perf_counter()
        wiring = wiring.in_use(state["events"], wiring.settings_now().protocol)
        run, before = state["run"], state["verdict"]
        check_format(run, thread_here() or "")
        check_whole(run, state["events"])
        run = fold(run, state["events"][run["seen"] :])
        run["length"] = len(state["messages"])
        pending = pending_calls(wiring, state["messages"])
        visit = cls(wiring, state, wiring.settings_now(), run, before, started, pending)
        last = visit.newest()
        again = last is not None and last["kind"] == "model" and visit.falls_back(last)
        if again or before["go"] in ("execute_tools", "ask"):  # the same round goes on
            visit.withheld = list(before["withheld"])
        return visit

    @property
    def steps_left(self) -> StepsLeft:
        """The steps that the caller's recursion limit leaves."""
        return StepsLeft(self.state["remaining_steps"])

    def newest(self) -> Event | None:
        """The last thing that happened in the run: decisions are made about it, and a fork only goes back to it."""
        return next((e for e in reversed(self.state["events"]) if e["kind"] not in ("decision", "fork")), None)

    def view(self, pending: Sequence[PendingCall] | None = None) -> GuardView:
        """What the policies see now, with what this visit has answered already."""
        calls = self.pending if pending is None else pending
        log = self.state["events"]
        window = [*since_begin(log, WINDOW), *self.events] if self.events else since_begin(log, WINDOW)
        return GuardView(
            run=self.run,
            settings=self.settings,
            window=window,
            pending=calls,
            history=histories(calls, log),
            remaining_steps=self.state["remaining_steps"],
            can_ask=self.can_ask(),
            tool_counts=self.tool_counts(),
        )

    def can_ask(self) -> bool:
        """Whether a person can be asked: there is a thread to wait in."""
        return self.settings.guard.ask and thread_here() is not None

    def may_ask(self) -> bool:
        """Whether a question fits in: someone can be asked, and an answer still fits the caller's recursion limit."""
        return self.can_ask() and self.steps_left.fit_a_question

    def tool_counts(self) -> dict[str, int]:
        """How often each tool with a limit of its own has run since the last begin."""
        limited = self.settings.tools.max_calls
        counts = dict.fromkeys(limited, 0)
        if limited:
            for event in since_begin(self.state["events"]):
                if event["kind"] == "call" and event["tool"] in counts and executed(event):
                    counts[event["tool"]] += 1
        return counts

    def language(self) -> Language:
        """Language of the user's last message."""
        return language_of(self.state["messages"])

    def answer_all(self, text: str) -> None:
        """Answer every call that is still open as not run."""
        answered = {message.tool_call_id for message in self.messages}
        for call in self.pending:
            if call.id not in answered:
                self.answer(call, "not_run", text, None)

    def answer(self, call: PendingCall, status: CallStatus, text: str, failure: Failure | None) -> None:
        """Answer a call in the tool's stead: a message and an event, counted at once."""
        outcome = Outcome(status, text, failure)
        event = call_event(
            self.run["id"],
            self.run["model_calls"],
            time.perf_counter(),
            call_id=call.id,
            tool=call.tool,
            effect=call.effect,
            signature=call.signature,
            outcome=outcome,
        )
        self.messages.append(result_message(call.id, call.tool, outcome))
        self.events.append(event)
        self.run = fold(self.run, [event])

    def misshapen(self) -> str:
        """Why the last reply has not the form that the answer must have; empty when it has, or none is demanded."""
        reply = last_reply(self.state["messages"])
        form = self.wiring.output
        return form.problem(text_of(reply)) if form is not None and reply is not None else ""

    def budget(self) -> int:
        """Tokens the next request may have."""
        return self.wiring.budget(self.settings)

    def falls_back(self, reply: ModelEvent) -> bool:
        """Whether the request of this reply is made again to the next model, for which the steps must be left."""
        return self.steps_left.fit_a_fallback and falls_back(reply, 1 + len(self.wiring.fallback))

    def over_budget(self, tokens: int) -> str:
        """By how much a request that cannot be shortened further passes the budget."""
        return f"the request takes {tokens} tokens, {tokens - self.budget()} more than the budget of {self.budget()}"

    def may_shorten(self, reply: ModelEvent) -> bool:
        """Whether a request that was too long for the server is made again, shorter: once, and while steps are left."""
        if reply["failure"] is None or reply["failure"]["kind"] != "context":
            return False
        recent = self.state["events"][-8:]
        before = any(e["kind"] == "compression" and e["step"] >= reply["step"] - 1 for e in recent)
        return not before and self.steps_left.fit_a_shorter_request

    def request(self, **changes: Any) -> Update:
        """The model's turn, or a compression first when the next request would pass the budget or the window."""
        decided = verdict("call_model", **{"withheld": self.withheld, **changes})
        tokens = total(next_parts(self.wiring, self.settings, self.state, decided, self.messages))
        first = tokens > self.budget() or self._remembers_first(decided)
        return self.go("compress_memory" if first else "call_model", **changes)

    def _remembers_first(self, decided: Verdict) -> bool:
        """Whether work leaves the window, or is reflected on, before the next request, for which steps must be left."""
        if not self.steps_left.fit_remembering:
            return False
        messages, view, settings = [*self.state["messages"], *self.messages], view_of(self.state), self.settings.memory
        reflects = not decided["closing"] and bool(unreflected(messages, view, settings))
        return reflects or outgrown(messages, view, settings, self.wiring.profile())

    def go(self, go: Go, rungs: dict[str, Rung] | None = None, **changes: Any) -> Update:
        """The update of this visit: what was answered, the decision, and the verdict."""
        decided = verdict(go, **{"withheld": self.withheld, **changes})
        refused: dict[str, Rung] = {
            e["call_id"]: "serve" if e["status"] == "served" else "block" for e in self.events if e["kind"] == "call"
        }
        event: DecisionEvent = {
            **stamp(self.run["id"], self.run["model_calls"], self.started),
            "kind": "decision",
            "go": go,
            "policy": decided["policy"] or (self.why[0][0] if self.why else ""),
            "reason": decided["reason"] or "; ".join(dict.fromkeys(reason for _, reason in self.why)),
            "rungs": {**refused, **(rungs or {})},
        }
        events = publish(*self.events, event)
        run: Run = {**self.run, "seen": len(self.state["events"]) + len(events)}
        run["length"] = len(self.state["messages"]) + len(self.messages)
        update: Update = {"events": events, "run": run, "verdict": decided}
        if self.messages:  # an empty write would count towards the channel's next snapshot
            update["messages"] = list(self.messages)
        return update
