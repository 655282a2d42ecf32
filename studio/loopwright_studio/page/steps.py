"""A report as the list that a person scrolls through: rounds, and between them what is no round."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

from loopwright.report import (
    CallReport,
    CompressionReport,
    DecisionReport,
    ExtensionReport,
    PauseReport,
    RoundReport,
    RunEntry,
    RunReport,
)  # fmt: skip
from loopwright.report.data import OutcomeReport
from loopwright_studio.page.tags import Tag, tag_of

FAILED = ("error", "unknown")
"""What became of a call that failed."""


@dataclass(frozen=True)
class RoundStep:
    """A round with the decisions about its reply. `earlier` links a call to the one before that is the same."""

    anchor: str
    run: RunEntry
    turn: RoundReport
    decisions: tuple[DecisionReport, ...]
    tag: Tag | None
    earlier: dict[str, tuple[str, int]]
    at: int
    """Its place among all rounds of the thread, from 0: the x of the chart."""

    kind = "round"

    @property
    def failed(self) -> bool:
        """Whether the model call or a tool call of it failed."""
        model = self.turn.model
        return bool(model and model.failure) or any(call.status in FAILED for call in self.turn.calls)

    @property
    def asked(self) -> bool:
        """Whether a person was asked about it."""
        rungs = {rung for decision in self.decisions for rung in decision.rungs.values()}
        return "ask" in rungs or any(call.edited or call.status == "rejected" for call in self.turn.calls)

    @property
    def filters(self) -> str:
        """The filters that show it."""
        return _words(guard=self.tag is not None, error=self.failed, people=self.asked)

    @property
    def nodes(self) -> str:
        """The nodes that it went through."""
        ran = any(decision.go == "execute_tools" for decision in self.decisions)
        ended = any(decision.go == "finish" for decision in self.decisions)
        return _words(guard=True, call_model=self.turn.model is not None, execute_tools=ran, finish=ended)

    @property
    def tool_seconds(self) -> float:
        """Seconds of its tool calls."""
        return sum(call.seconds for call in self.turn.calls)


@dataclass(frozen=True)
class BetweenStep:
    """What is no round: a compression, an answered question, larger limits. `at` is the round that follows."""

    kind: Literal["compression", "pause", "outcome", "extension"]
    anchor: str
    run: RunEntry
    what: CompressionReport | PauseReport | OutcomeReport | ExtensionReport
    at: int

    @property
    def filters(self) -> str:
        """The filters that show it."""
        return "memory" if self.kind == "compression" else "people"

    @property
    def nodes(self) -> str:
        """The nodes that it went through."""
        return {"compression": "guard compress_memory", "extension": "begin guard"}.get(self.kind, "guard ask")


@dataclass(frozen=True)
class BoundaryStep:
    """Where a run begins, with its task, or ends, with its answer."""

    kind: Literal["task", "end"]
    anchor: str
    run: RunEntry
    at: int

    filters = "people"

    @property
    def nodes(self) -> str:
        """The nodes that it went through."""
        return "__start__ begin" if self.kind == "task" else "finish __end__"


Step: TypeAlias = RoundStep | BetweenStep | BoundaryStep


def steps_of(report: RunReport) -> list[Step]:
    """Everything that happened on the thread, in order."""
    steps: list[Step] = []
    at = 0
    seen: dict[str, tuple[str, int]] = {}
    for run in report.runs:
        steps.append(BoundaryStep("task", anchor(run, 0), run, at))
        for step in _run(run, at, seen):
            steps.append(step)
            at = max(at, step.at + (step.kind == "round"))
        if run.stop is not None:
            steps.append(BoundaryStep("end", f"{_prefix(run)}end", run, max(0, at - 1)))
    return steps


def anchor(run: RunEntry, step: int) -> str:
    """The id of a round in the page: `r397`, in later runs of a thread `run2-r5`; step 0 is the task."""
    return f"{_prefix(run)}r{step}"


def _prefix(run: RunEntry) -> str:
    return "" if run.number == 1 else f"run{run.number}-"


def _run(run: RunEntry, at: int, seen: dict[str, tuple[str, int]]) -> Iterator[RoundStep | BetweenStep]:
    """The steps of a run; a decision belongs to the reply that it judges."""
    decided: dict[int, list[DecisionReport]] = {}
    for decision in (each for turn in run.rounds for each in turn.decisions):
        decided.setdefault(decision.step, []).append(decision)
    between = _between(run)
    for turn in run.rounds:
        for kind, number, what in _taken(between, before=turn.step):
            yield BetweenStep(kind, f"{anchor(run, what.step)}-{kind}{number}", run, what, at)
        if turn.model is None:  # decided, and not asked yet
            continue
        decisions = tuple(decided.get(turn.step, ()))
        place = anchor(run, turn.step)
        yield RoundStep(place, run, turn, decisions, tag_of(run, turn, decisions), _earlier(turn, place, seen), at)
        at += 1
    for kind, number, what in _taken(between, before=None):
        yield BetweenStep(kind, f"{anchor(run, what.step)}-{kind}{number}", run, what, max(0, at - 1))


class _Between(NamedTuple):
    """What is no round, and its number among those of its kind."""

    kind: Literal["compression", "pause", "outcome", "extension"]
    number: int
    what: CompressionReport | PauseReport | OutcomeReport | ExtensionReport


def _between(run: RunEntry) -> list[_Between]:
    """What is no round, by the step it came after; people first, since they were asked before the memory was."""
    found: list[_Between] = []
    found.extend(_Between("extension", n, each) for n, each in enumerate(run.extensions))
    found.extend(_Between("pause", n, each) for n, each in enumerate(run.pauses))
    found.extend(_Between("outcome", n, each) for n, each in enumerate(run.outcomes))
    found.extend(_Between("compression", n, each) for n, each in enumerate(run.compressions))
    return sorted(found, key=lambda each: each.what.step)


def _taken(between: list[_Between], before: int | None) -> list[_Between]:
    """Take what came before a step off the list."""
    count = sum(1 for each in between if before is None or each.what.step < before)
    taken = between[:count]
    del between[:count]
    return taken


def _earlier(turn: RoundReport, place: str, seen: dict[str, tuple[str, int]]) -> dict[str, tuple[str, int]]:
    """For calls that did not run, where the same call was made before."""
    keys = {call.call_id: _key(call) for call in turn.calls}
    found = {
        call.call_id: seen[keys[call.call_id]]
        for call in turn.calls
        if call.status in ("refused", "served", "not_run") and keys[call.call_id] in seen
    }
    seen.update(dict.fromkeys(keys.values(), (place, turn.step)))
    return found


def _key(call: CallReport) -> str:
    return f"{call.tool} {json.dumps(call.args, sort_keys=True, default=str)}"


def _words(**present: bool) -> str:
    return " ".join(word for word, is_present in present.items() if is_present)
