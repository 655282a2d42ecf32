"""A report as the list of all that happened on a thread, in order."""

import json
from collections import deque
from collections.abc import Iterator, Sequence
from typing import NamedTuple, TypeAlias

from loopwright.report import CallReport, DecisionReport, RoundReport, RunEntry, RunReport
from loopwright_studio.page.steps import BetweenStep, BoundaryStep, Kind, RoundStep, Step, What, anchor, prefix
from loopwright_studio.page.tags import tag_of

Place: TypeAlias = tuple[str, int]
"""The anchor and the number of a round."""
NOT_MADE = ("refused", "served", "not_run")
"""What became of a call that did not run."""


def steps_of(report: RunReport) -> list[Step]:
    """Everything that happened on the thread, in order."""
    steps: list[Step] = []
    at = 0
    seen: dict[str, Place] = {}
    for run in report.runs:
        steps.append(BoundaryStep("task", anchor(run, 0), run, at))
        for step in _run(run, at, seen):
            steps.append(step)
            at += step.kind == "round"
        if run.stop is not None:
            steps.append(BoundaryStep("end", f"{prefix(run)}end", run, max(0, at - 1)))
    return steps


def _run(run: RunEntry, at: int, seen: dict[str, Place]) -> Iterator[RoundStep | BetweenStep]:
    """The steps of a run whose first round is `at` of the thread; a decision belongs to the reply that it judges."""
    decided: dict[int, list[DecisionReport]] = {}
    for decision in (each for turn in run.rounds for each in turn.decisions):
        decided.setdefault(decision.step, []).append(decision)
    between = deque(_between(run))
    for turn in run.rounds:
        while between and between[0].what.step < turn.step:
            yield between.popleft().as_step(run, at)
        if turn.model is None:  # decided, and not asked yet
            continue
        decisions = tuple(decided.get(turn.step, ()))
        place = anchor(run, turn.step)
        yield RoundStep(place, run, turn, decisions, tag_of(run, turn, decisions), _earlier(turn, place, seen), at)
        at += 1
    yield from (each.as_step(run, max(0, at - 1)) for each in between)


class _Between(NamedTuple):
    """What is no round, and its number among those of its kind."""

    kind: Kind
    number: int
    what: What

    def as_step(self, run: RunEntry, at: int) -> BetweenStep:
        return BetweenStep(self.kind, f"{anchor(run, self.what.step)}-{self.kind}{self.number}", run, self.what, at)


def _between(run: RunEntry) -> list[_Between]:
    """What is no round, by the step it came after, and then by its time."""
    kinds: tuple[tuple[Kind, Sequence[What]], ...] = (
        ("extension", run.extensions),
        ("pause", run.pauses),
        ("outcome", run.outcomes),
        ("fork", run.forks),
        ("compression", run.compressions),
    )
    found = [_Between(kind, number, each) for kind, many in kinds for number, each in enumerate(many)]
    return sorted(found, key=lambda each: (each.what.step, each.what.at))


def _earlier(turn: RoundReport, place: str, seen: dict[str, Place]) -> dict[str, Place]:
    """For calls that did not run, where the same call was made before."""
    keys = {call.call_id: _key(call) for call in turn.calls}
    found = {
        call.call_id: seen[keys[call.call_id]]
        for call in turn.calls
        if call.status in NOT_MADE and keys[call.call_id] in seen
    }
    seen.update(dict.fromkeys(keys.values(), (place, turn.step)))
    return found


def _key(call: CallReport) -> str:
    return f"{call.tool} {json.dumps(call.args, sort_keys=True, default=str)}"
