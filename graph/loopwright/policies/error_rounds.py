"""Rounds in a row in which every call failed."""

from dataclasses import dataclass

from loopwright.policies.finding import Facts, Finding, GuardView


@dataclass(frozen=True)
class ErrorRounds:
    """Closes the run after `limit` rounds in a row that brought errors and no result.

    A batch of calls is one round, a round that only the guard refused is none, and what the executor tries again by
    itself is one call. Recorded runs: three in a row occur in 2-4 % of runs that succeed, five in 0-1.1 %; on the bench
    closing at three left 94.0-95.3 % of tasks done, at five 99.3 %.
    """

    name: str = "error_rounds"
    limit: int = 5

    def __call__(self, view: GuardView) -> Finding | None:
        """Find for the run, once its calls are answered."""
        if view.call is not None or view.pending:
            return None
        steps: list[int] = []
        last = ""
        for turn in reversed(view.rounds):
            if any(call["status"] in ("ok", "served") for call in turn.calls):
                break
            failures = [call["failure"] for call in turn.calls if call["status"] in ("error", "unknown")]
            if not failures and not turn.calls:
                break
            if failures:
                steps.append(turn.model["step"])
                last = last or (failures[0] or {"text": ""})["text"]
        if len(steps) < self.limit:
            return None
        facts: Facts = {"times": len(steps), "steps": sorted(steps), "error": last[:200]}
        return Finding("close", self.name, f"{len(steps)} rounds of errors in a row", stop="errors", facts=facts)
