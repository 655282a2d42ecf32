"""What a person scrolls through: rounds, what lies between them, and where runs begin and end."""

from dataclasses import dataclass
from functools import cached_property
from typing import Literal, TypeAlias

from loopwright.report import (
    CompressionReport,
    DecisionReport,
    ExtensionReport,
    ForkReport,
    OutcomeReport,
    PauseReport,
    RoundReport,
    RunEntry,
)  # fmt: skip
from loopwright_studio.page.tags import Tag

FAILED = ("error", "unknown")
"""What became of a call that failed."""

Kind: TypeAlias = Literal["extension", "pause", "outcome", "fork", "compression"]
What: TypeAlias = ExtensionReport | PauseReport | OutcomeReport | ForkReport | CompressionReport


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

    @cached_property
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
    def to_approve(self) -> list[str]:
        """The tools whose calls waited for a person, once each, as far as the calls have ended."""
        asked = {id for decision in self.decisions for id, rung in decision.rungs.items() if rung == "ask"}
        return list(dict.fromkeys(call.tool for call in self.turn.calls if call.call_id in asked))

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
    """What is no round: a compression, an answered question, larger limits, a fork. `at` is the round that follows."""

    kind: Kind
    anchor: str
    run: RunEntry
    what: What
    at: int

    @property
    def filters(self) -> str:
        """The filters that show it."""
        return "memory" if self.kind == "compression" else "people"

    @property
    def nodes(self) -> str:
        """The nodes that it went through."""
        return {"compression": "guard compress_memory", "extension": "begin guard", "fork": ""}.get(
            self.kind, "guard ask"
        )


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


def anchor(run: RunEntry, step: int) -> str:
    """The id of a round in the page: `r397`, in later runs of a thread `run2-r5`; step 0 is the task."""
    return f"{prefix(run)}r{step}"


def prefix(run: RunEntry) -> str:
    """How ids begin that belong to a run: the first one's begin with nothing."""
    return "" if run.number == 1 else f"run{run.number}-"


def _words(**present: bool) -> str:
    return " ".join(word for word, is_present in present.items() if is_present)
