"""The same call with the same result, again and again."""

from dataclasses import dataclass

from loopwright.policies.finding import Facts, Finding, GuardView


@dataclass(frozen=True)
class IdenticalResult:
    """Blocks a call that brought the same result `allowed` times already, and withholds its tool for one round.

    Equal calls of one message count one after the other: those that could be too many are found here, and judged again
    once the ones in front of them have run. A poll whose results differ and a `repeatable` tool are left alone.
    Recorded runs: a third identical pair occurs in 0-1.5 % of runs that succeed, a second in 1-15 %.
    """

    name: str = "identical_result"
    allowed: int = 2

    def __call__(self, view: GuardView) -> Finding | None:
        """Find for one pending call."""
        if view.call is None or view.call.repeatable:
            return None
        results = [event for event in view.earlier() if event["status"] == "ok"]
        ahead = [call.id for call in view.pending if call.signature == view.call.signature].index(view.call.id)
        newest = results[-self.allowed :]
        if len(results) + ahead < self.allowed or len({event["digest"] for event in newest}) > 1:
            return None
        facts: Facts = {
            "call": view.call.shown,
            "tool": view.call.tool,
            "times": len(results) or ahead,
            "steps": sorted({event["step"] for event in newest} or {view.run["model_calls"]}),
        }
        return Finding("block", self.name, "same call, same result", view.call.id, facts=facts, withhold=True)
