"""The same few calls going round in a circle."""

from collections.abc import Sequence
from dataclasses import dataclass

from loopwright.policies.finding import Facts, Finding, GuardView


@dataclass(frozen=True)
class Cycle:
    """Notes a cycle of 2 to `longest` calls after `note` full periods, and closes the run after `close`.

    A period counts only if its results and errors were those of the period before: polling two things whose results
    change is no cycle, and what the guard refused was not made. Both bounds are those of a single call: recorded runs
    repeat a call with its result for the third time in 0-1.5 % of runs that succeed, and closing there left 94.0 % of
    bench tasks done, at the fifth 99.3 %. Four is the longest circle that people reported. Among the default policies
    `identical_result` and `insistence` mostly act before this one, which stands alone where they are taken out.
    """

    name: str = "cycle"
    note: int = 3
    close: int = 5
    longest: int = 4

    def __call__(self, view: GuardView) -> Finding | None:
        """Find for one pending call, which would complete the period."""
        if view.call is None or view.call.repeatable:
            return None
        calls = [e for e in view.window if e["kind"] == "call" and e["status"] in ("ok", "error")]
        marks = [(event["signature"], event["digest"]) for event in calls]
        for period in range(2, self.longest + 1):
            if len(marks) < period or marks[-period][0] != view.call.signature:
                continue
            periods = _periods(marks, period)
            if periods >= self.note and len({mark for mark, _ in marks[-period:]}) > 1:
                facts: Facts = {
                    "call": view.call.shown,
                    "tool": view.call.tool,
                    "times": periods,
                    "period": period,
                    "tools": ", ".join(dict.fromkeys(event["tool"] for event in calls[-period:])),
                    "steps": sorted({event["step"] for event in calls[-period * periods :]}),
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
