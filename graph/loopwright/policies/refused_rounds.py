"""Rounds in a row in which the guard refused everything and nothing new came."""

from dataclasses import dataclass

from loopwright.event_shapes import CallEvent
from loopwright.policies.finding import Facts, Finding, GuardView


@dataclass(frozen=True)
class RefusedRounds:
    """Closes the run after `limit` refused rounds in a row without news.

    News is a result not seen before in this run, or a call not made before of a tool that does something (the tenth
    "saved" is as new as the first). Rounds of errors in between change nothing. Measured on the bench: closing at 2
    refused rounds leaves 97.3 % of tasks done, at 3 99.3 %, at 4 100 %.
    """

    name: str = "refused_rounds"
    limit: int = 4

    def __call__(self, view: GuardView) -> Finding | None:
        """Find for the run, once its calls are answered."""
        if view.call is not None or view.pending:
            return None
        seen: set[str] = set()
        steps: list[int] = []
        for turn in view.rounds:
            news = {_result(call) for call in turn.calls if call["status"] == "ok"} - seen
            seen |= news
            refused = any(call["status"] in ("refused", "served") for call in turn.calls)
            if news or not turn.calls:
                steps = []
            elif refused:
                steps.append(turn.model["step"])
        if len(steps) < self.limit:
            return None
        facts: Facts = {"times": len(steps), "steps": steps}
        return Finding("close", self.name, f"{len(steps)} refused rounds without news", stop="no_progress", facts=facts)


def _result(call: CallEvent) -> str:
    return call["signature"] if call["effect"] in ("write", "idempotent") else call["digest"]
