"""Rounds in a row in which the guard refused everything and nothing new came."""

from dataclasses import dataclass

from loopwright.policies.finding import Facts, Finding, GuardView


@dataclass(frozen=True)
class RefusedRounds:
    """Closes the run after `limit` refused rounds in a row without news.

    News is a result not seen before in this run. Measured: closing at 2 refused rounds 97.3 % of bench tasks done, at
    3 99.3 %, at 4 100 %.
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
            news = {call["digest"] for call in turn.calls if call["status"] == "ok"} - seen
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
