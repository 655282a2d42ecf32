"""How long a run waited for a person, from its log alone."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from loopwright.event_shapes import CallEvent, DecisionEvent, Event, StopEvent
from loopwright.report.timing import Span


def waits(events: Iterable[Event]) -> list[Span]:
    """From each question to its answer, and from the end of a run until someone let it go on.

    Calls that ran while an approval was open took their own time: the waiting begins when the last of them ended.
    A question that nobody answered, since another run began, waited for nobody.
    """
    found: list[Span] = []
    asked: _Asked | None = None
    ended: StopEvent | None = None
    for event in events:
        if event["kind"] == "decision":
            found += [asked.span()] if asked else []
            asked = _Asked.by(event)
        elif event["kind"] == "call" and asked and event["run"] == asked.run:
            asked.calls.append(event)
        elif event["kind"] in ("pause", "outcome") and asked:
            asked.answered = event["at"]
        elif event["kind"] == "stop":
            ended = event
        elif event["kind"] == "begin":
            goes_on = ended is not None and (ended["run"], ended["step"]) == (event["run"], event["step"])
            found += [Span(ended["at"], event["at"])] if ended is not None and goes_on else []
            ended = None
    found += [asked.span()] if asked else []
    return [span for span in found if span.end > span.start]


@dataclass
class _Asked:
    """A decision that put questions: when, in which run, about which calls, and what became of it."""

    at: float
    run: str
    call_ids: frozenset[str]
    calls: list[CallEvent] = field(default_factory=list)
    answered: float | None = None

    @classmethod
    def by(cls, decided: DecisionEvent) -> "_Asked | None":
        """What this decision asked; None where it asked nothing."""
        call_ids = frozenset(call_id for call_id, rung in decided["rungs"].items() if rung == "ask")
        return cls(decided["at"], decided["run"], call_ids) if call_ids or decided["go"] == "ask" else None

    def span(self) -> Span:
        """Until the last answer; empty where none came yet."""
        answers = [call["at"] - call["seconds"] for call in self.calls if call["call_id"] in self.call_ids]
        if self.answered is not None:
            answers.append(self.answered)
        newest = max(answers, default=self.at)
        others = [call["at"] for call in self.calls if call["call_id"] not in self.call_ids and call["at"] < newest]
        return Span(max([self.at, *others]), newest)
