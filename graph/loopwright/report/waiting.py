"""How long a run waited for a person, from its log alone."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from loopwright.event_shapes import CallEvent, DecisionEvent, Event


def waited_seconds(events: Iterable[Event]) -> float:
    """Seconds from each question to its answer, and from the end of a run until someone let it go on.

    Calls that ran while an approval was open took their own time: the waiting begins when the last of them ended.
    """
    waited = 0.0
    asked: _Asked | None = None
    ended: float | None = None
    for event in events:
        if event["kind"] == "decision":
            waited += asked.seconds() if asked else 0.0
            asked = _Asked.by(event)
        elif event["kind"] == "call" and asked:
            asked.calls.append(event)
        elif event["kind"] in ("pause", "outcome") and asked:
            asked.answered = event["at"]
        elif event["kind"] == "stop":
            ended = event["at"]
        elif event["kind"] == "begin":
            waited += event["at"] - ended if ended is not None and event["extend"] else 0.0
            ended = None
    return max(0.0, waited + (asked.seconds() if asked else 0.0))


@dataclass
class _Asked:
    """A decision that put questions: when, about which calls, and what became of it."""

    at: float
    call_ids: frozenset[str]
    calls: list[CallEvent] = field(default_factory=list)
    answered: float | None = None

    @classmethod
    def by(cls, decided: DecisionEvent) -> "_Asked | None":
        """What this decision asked; None where it asked nothing."""
        call_ids = frozenset(call_id for call_id, rung in decided["rungs"].items() if rung == "ask")
        return cls(decided["at"], call_ids) if call_ids or decided["go"] == "ask" else None

    def seconds(self) -> float:
        """How long the last answer took; 0 where none came yet."""
        answers = [call["at"] - call["seconds"] for call in self.calls if call["call_id"] in self.call_ids]
        if self.answered is not None:
            answers.append(self.answered)
        newest = max(answers, default=self.at)
        others = [call["at"] for call in self.calls if call["call_id"] not in self.call_ids and call["at"] < newest]
        return max(0.0, newest - max([self.at, *others]))
