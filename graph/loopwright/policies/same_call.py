"""An identical call, whatever came of those before it: the rule of the hand-written loops."""

from dataclasses import dataclass
from typing import Literal

from loopwright.policies.finding import CallRung, Facts, Finding, GuardView


@dataclass(frozen=True)
class SameCall:
    """Refuses the `limit`-th identical call, in a row or in the run, or closes the run there.

    Calls count whether they succeeded, failed or were refused, since the model made them; equal calls of one message
    count one after the other. A `repeatable` tool is left alone. Not among the default policies: a second identical
    call occurs in 1-15 % of recorded runs that succeed; published loops have 2 (in a row) and 3 (in the run).
    """

    limit: int
    within: Literal["row", "run"] = "row"
    ends: bool = False
    name: str = "same_call"

    def __call__(self, view: GuardView) -> Finding | None:
        """Find for one pending call."""
        if view.call is None or view.call.repeatable:
            return None
        steps = self._in_row(view) if self.within == "row" else self._in_run(view)
        if len(steps) + 1 < self.limit:
            return None
        facts: Facts = {
            "call": view.call.shown,
            "tool": view.call.tool,
            "times": len(steps) + 1,
            "steps": sorted(set(steps)),
        }
        rung: CallRung = "close" if self.ends else "block"
        reason = f"identical call number {len(steps) + 1}"
        return Finding(rung, self.name, reason, view.call.id, stop="repeat" if self.ends else None, facts=facts)

    def _in_row(self, view: GuardView) -> list[int]:
        """Steps of the calls right before the judged one that are identical to it."""
        made = [(e["signature"], e["step"]) for e in view.window if e["kind"] == "call" and e["status"] != "not_run"]
        steps: list[int] = []
        for signature, step in reversed([*made, *_ahead(view)]):
            if view.call is None or signature != view.call.signature:
                break
            steps.append(step)
        return steps

    def _in_run(self, view: GuardView) -> list[int]:
        """Steps of all identical calls of the run."""
        made = [e["step"] for e in view.before() if e["run"] == view.run["id"] and e["status"] != "not_run"]
        return [*made, *(step for mark, step in _ahead(view) if view.call is not None and mark == view.call.signature)]


def _ahead(view: GuardView) -> list[tuple[str, int]]:
    """Signature and step of the calls that wait in front of the judged one."""
    place = next((n for n, call in enumerate(view.pending) if view.call is not None and call.id == view.call.id), 0)
    return [(call.signature, view.run["model_calls"]) for call in view.pending[:place]]
