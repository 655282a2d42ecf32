"""How far a run is: what it waits for and since when, what is used of its limits, which tools run."""

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from loopwright.event_shapes import DecisionEvent, Event
from loopwright.report import RunEntry
from loopwright_studio.visible import one_line


class Call(NamedTuple):
    """A call as the model made it."""

    tool: str
    args: dict[str, Any] | str


@dataclass
class Progress:
    """What the events of a run say up to now. Times are those of `time.monotonic`."""

    limits: Mapping[str, float]
    waits_for: str = "begin"
    since: float = field(default_factory=time.monotonic)
    step: int = 0
    used: int = 0
    cost: float | None = None
    running: dict[str, tuple[str, float]] = field(default_factory=dict)
    """Tool and start of each call that runs, by the call's id."""

    def take(self, event: Event, made: Mapping[str, Call]) -> None:
        """Learn from this event; `made` holds the calls that are known, by id."""
        if event["kind"] == "begin" or event["kind"] == "pause":
            self.limits = {**self.limits, **(event["extend"] or {})}
        elif event["kind"] == "decision":
            self._wait_for(event["go"])
            self._start(event, made)
        elif event["kind"] == "model":
            self._spend(event["step"], event["tokens_in"] + event["tokens_out"], event["cost_usd"])
            self._wait_for("guard")
        elif event["kind"] == "call":
            self.running.pop(event["call_id"], None)

    def go_on(self, run: RunEntry, now: float) -> None:
        """Count what this run, which goes on, had done before this unix time, and take over its limits."""
        self.limits = {**self.limits, **run.limits}
        for turn in run.rounds:
            if turn.model is not None and turn.model.at < now:
                self._spend(turn.step, turn.model.tokens_in + turn.model.tokens_out, turn.model.cost_usd)

    def _wait_for(self, what: str) -> None:
        self.waits_for, self.since = what, time.monotonic()

    def _start(self, decided: DecisionEvent, made: Mapping[str, Call]) -> None:
        if decided["go"] == "execute_tools":
            sent = [call_id for call_id, rung in decided["rungs"].items() if rung in ("run", "note", "ask")]
            self.running = {each: (one_line(made[each].tool), self.since) for each in sent if each in made}

    def _spend(self, step: int, used: int, cost: float | None) -> None:
        self.step = step
        self.used += used
        if cost is not None:
            self.cost = (self.cost or 0.0) + cost
