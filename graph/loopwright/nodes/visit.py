"""One visit of the guard: what it finds, and the messages and events it produces."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from langchain_core.messages import ToolMessage
from langgraph.runtime import get_runtime

from loopwright.events import executed, fold, publish, since_begin, stamp
from loopwright.memory import language_of, total
from loopwright.nodes.pending import histories, pending_calls
from loopwright.nodes.request import next_parts
from loopwright.nodes.wiring import Wiring, verdict
from loopwright.policies import Finding, GuardView, Language, PendingCall, say
from loopwright.settings import Settings
from loopwright.state import (
    CallEvent,
    CallStatus,
    DecisionEvent,
    Effect,
    Event,
    Failure,
    Go,
    Judged,
    ModelEvent,
    Run,
    Rung,
    State,
    Update,
    Verdict,
)
from loopwright.tooling import digest

WINDOW = 64
"""Events since the last begin that the policies see."""


@dataclass(frozen=True)
class Entry:
    """A call that will be sent, with the effect that the waves need."""

    judged: Judged
    effect: Effect | None


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

    @classmethod
    def of(cls, wiring: Wiring, state: State) -> "Visit":
        """Fold what is new into the run and look at the calls that are open."""
        started = time.perf_counter()
        run, before = state["run"], state["verdict"]
        run = fold(run, state["events"][run["seen"] :])
        run["length"] = len(state["messages"])
        pending = pending_calls(wiring, state["messages"])
        visit = cls(wiring, state, wiring.settings_now(), run, before, started, pending)
        if before["go"] in ("execute_tools", "ask"):  # the same round goes on
            visit.withheld = list(before["withheld"])
        return visit

    def newest(self) -> Event | None:
        """The last thing that happened which was not a decision."""
        return next((event for event in reversed(self.state["events"]) if event["kind"] != "decision"), None)

    def view(self, pending: Sequence[PendingCall] | None = None) -> GuardView:
        """What the policies see now, with what this visit has answered already."""
        calls = self.pending if pending is None else pending
        log = self.state["events"]
        window = [*since_begin(log, WINDOW), *self.events] if self.events else since_begin(log, WINDOW)
        info = get_runtime().execution_info
        return GuardView(
            run=self.run,
            settings=self.settings,
            window=window,
            pending=calls,
            history=histories(calls, log),
            remaining_steps=self.state["remaining_steps"],
            can_ask=self.settings.guard.ask and info is not None and info.thread_id is not None,
            tool_counts=self._tool_counts(),
        )

    def _tool_counts(self) -> dict[str, int]:
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

    def settle(self, call: PendingCall, found: Finding | None) -> Entry | None:
        """The call as it will be sent, or None after it was answered here: refused, served, unreadable, unknown."""
        if found is not None and found.withhold:
            self.withheld.append(call.tool)
        if found is not None and found.rung == "block":
            self.answer(call, "refused", say(found, self.language()), None)
        elif found is not None and found.rung == "serve":
            self.answer(call, "served", self._served(found), None)
        elif call.failure is not None:
            self.answer(call, "error", f"Error: {call.failure['text']}", call.failure)
        else:
            rung: Rung = "note" if found and found.rung == "note" else "ask" if found and found.rung == "ask" else "run"
            text = say(found, self.language()) if found else ""
            policy = found.policy if found else ""
            return Entry({"call_id": call.id, "rung": rung, "policy": policy, "text": text}, call.effect)
        return None

    def _served(self, found: Finding) -> str:
        source = found.facts.get("served_from")
        earlier = next(
            (m for m in self.state["messages"] if isinstance(m, ToolMessage) and m.tool_call_id == source), None
        )
        return f"{earlier.text if earlier else ''}\n{say(found, self.language())}"

    def answer_all(self, text: str) -> None:
        """Answer every call that is still open as not run."""
        answered = {message.tool_call_id for message in self.messages}
        for call in self.pending:
            if call.id not in answered:
                self.answer(call, "not_run", text, None)

    def answer(self, call: PendingCall, status: CallStatus, text: str, failure: Failure | None) -> None:
        """Answer a call in the tool's stead: a message and an event, counted at once."""
        fine = status == "served"
        message = ToolMessage(
            text, tool_call_id=call.id, name=call.tool, status="success" if fine else "error", id=f"result-{call.id}"
        )
        event: CallEvent = {
            **stamp(self.run["id"], self.run["model_calls"], time.perf_counter()),
            "kind": "call",
            "call_id": call.id,
            "tool": call.tool,
            "effect": call.effect,
            "signature": call.signature,
            "digest": digest(text),
            "status": status,
            "failure": failure,
            "retries": 0,
            "ref": None,
            "edited_args": None,
        }
        self.messages.append(message)
        self.events.append(event)
        self.run = fold(self.run, [event])

    def budget(self) -> int:
        """Tokens the next request may have."""
        return self.wiring.budget(self.settings)

    def over_budget(self, tokens: int) -> str:
        """By how much a request that cannot be shortened further passes the budget."""
        return f"the request takes {tokens} tokens, {tokens - self.budget()} more than the budget of {self.budget()}"

    def compressed_before(self, event: ModelEvent) -> bool:
        """Whether a compression came right before this model call."""
        recent = self.state["events"][-8:]
        return any(e["kind"] == "compression" and e["step"] >= event["step"] - 1 for e in recent)

    def request(self, **changes: Any) -> Update:
        """The model's turn, or a compression first when the next request would pass the budget."""
        decided = verdict("call_model", withheld=self.withheld, **changes)
        tokens = total(next_parts(self.wiring, self.settings, self.state, decided, self.messages))
        go: Go = "call_model" if tokens <= self.budget() else "compress_memory"
        return self.go(go, withheld=self.withheld, **changes)

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
            "policy": decided["policy"],
            "reason": decided["reason"],
            "rungs": {**refused, **(rungs or {})},
        }
        events = publish(*self.events, event)
        run: Run = {**self.run, "seen": len(self.state["events"]) + len(events)}
        run["length"] = len(self.state["messages"]) + len(self.messages)
        update: Update = {"events": events, "run": run, "verdict": decided}
        if self.messages:  # an empty write would count towards the channel's next snapshot
            update["messages"] = list(self.messages)
        return update
