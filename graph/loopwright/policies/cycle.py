"""The same few calls going round in a circle."""

from collections.abc import Sequence
from dataclasses import dataclass

from loopwright.policies.finding import Facts, Finding, GuardView


@dataclass(frozen=True)
class Cycle:
    """Notes a cycle of 2 to 4 different calls after `note` full periods and closes the run at `close`.

    A period counts only if its results were those of the period before: polling two things whose results change is no
    cycle. Closing below five would end runs that succeed (recorded runs: the third repetition in 0-1.5 % of them).
    """

    name: str = "cycle"
    note: int = 3
    close: int = 5
    longest: int = 4

    def __call__(self, view: GuardView) -> Finding | None:
        """Find for one pending call, which would complete the period."""
        if view.call is None or view.call.repeatable:
            return None
        calls = [event for event in view.window if event["kind"] == "call"]
        marks = [(event["signature"], event["digest"] if event["status"] == "ok" else "") for event in calls]
        for period in range(2, self.longest + 1):
            if len(marks) < period or marks[-period][0] != view.call.signature:
                continue
            periods = _periods(marks, period)
            if periods >= self.note and len({mark for mark, _ in marks[-period:]}) > 1:
                facts: Facts = {
                    "tool": view.call.tool,
                    "times": periods,
                    "period": period,
                    "steps": sorted({event["step"] for event in calls[-period:]}),
                }
                reason = f"{periods} rounds of the same {period} calls"
                if periods >= self.close:
                    return Finding("close", self.name, reason, view.call.id, stop="cycle", facts=facts)
                return Finding("note", self.name, reason, view.call.id, facts=facts)
        return None


def _periods(marks: Sequence[tuple[str, str]], period: int) -> int:
    """How often the last `period` marks stand in a row at the end."""
    newest = marks[-period:]
    count = 0
    while marks[len(marks) - period * (count + 1) : len(marks) - period * count] == newest:
        count += 1
        if period * (count + 1) > len(marks):
            break
    return count
