"""How the guard stepped in at a round: one word of its ladder, and why."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from loopwright.report import DecisionReport, RoundReport, RunEntry

TagWord: TypeAlias = Literal["note", "serve", "ask", "block", "stop"]
_SEVERITY: dict[TagWord, int] = {"note": 1, "serve": 2, "ask": 3, "block": 4, "stop": 5}


@dataclass(frozen=True)
class Tag:
    """How the guard stepped in: the most severe word of the ladder, and why."""

    word: TagWord
    why: str
    policy: str

    @property
    def hard(self) -> bool:
        """Whether something was refused or ended."""
        return self.word in ("block", "stop")


def tag_of(run: RunEntry, turn: RoundReport, decisions: Sequence[DecisionReport]) -> Tag | None:
    """How the guard stepped in at a round, from the decisions about its reply; None where it only let it go on."""
    stop = run.stop
    if stop is not None and not stop["complete"] and stop["step"] == turn.step:
        why = next((each.reason for each in reversed(decisions) if each.policy == stop["policy"]), "")
        return Tag("stop", why or stop["reason"], stop["policy"])
    found: Tag | None = None
    for decision in decisions:
        word = _word(decision)
        if word is not None and (found is None or _SEVERITY[word] >= _SEVERITY[found.word]):
            found = Tag(word, decision.reason, decision.policy)
    return found


def _word(decision: DecisionReport) -> TagWord | None:
    """How a decision stepped in: by the rung of a call, by a nudge or by a question; None where it only went on."""
    rungs: list[TagWord] = [rung for rung in decision.rungs.values() if rung != "run"]
    if rungs:
        return max(rungs, key=lambda rung: _SEVERITY[rung])
    if decision.go == "ask":
        return "ask"
    return "note" if decision.policy and decision.go == "call_model" else None
