"""The same call with the same result, again and again."""

from dataclasses import dataclass

from loopwright.policies.finding import Facts, Finding, GuardView


@dataclass(frozen=True)
class IdenticalResult:
    """Blocks a call that brought the same result `allowed` times already, and withholds its tool for one round.

    A poll whose results differ and a `repeatable` tool are left alone. Recorded runs: a third identical pair occurs in
    0-1.5 % of runs that succeed, a second in 1-15 %.
    """

    name: str = "identical_result"
    allowed: int = 2

    def __call__(self, view: GuardView) -> Finding | None:
        """Find for one pending call."""
        if view.call is None or view.call.repeatable:
            return None
        results = [event for event in view.earlier() if event["status"] == "ok"]
        if len(results) < self.allowed or len({event["digest"] for event in results[-self.allowed :]}) > 1:
            return None
        facts: Facts = {
            "tool": view.call.tool,
            "times": len(results),
            "steps": [event["step"] for event in results[-self.allowed :]],
        }
        return Finding("block", self.name, "same call, same result", view.call.id, facts=facts, withhold=True)
