"""One tool that gives the same error whatever it is called with."""

from dataclasses import dataclass

from loopwright.event_shapes import CallEvent
from loopwright.policies.finding import Facts, Finding, GuardView


@dataclass(frozen=True)
class SameError:
    """Notes, on the call after it, that a tool failed `note` times in a row with the same error under other arguments.

    A transient error says nothing about the arguments and is left alone. It never closes the run: five rounds of errors
    do that (`error_rounds`); three in a row occur in 2-4 % of recorded runs that succeed, so that a note is all they
    get.
    """

    name: str = "same_error"
    note: int = 3

    def __call__(self, view: GuardView) -> Finding | None:
        """Find for one pending call."""
        if view.call is None:
            return None
        tool = view.call.tool
        calls = [e for e in view.window if e["kind"] == "call" and e["tool"] == tool and e["status"] in ("ok", "error")]
        newest = calls[-self.note :]
        texts = {_text(event) for event in newest}
        if len(newest) < self.note or len(texts) != 1 or "" in texts or len({e["signature"] for e in newest}) < 2:
            return None
        facts: Facts = {
            "call": view.call.shown,
            "tool": tool,
            "times": len(newest),
            "steps": sorted({event["step"] for event in newest}),
            "error": texts.pop()[:200],
        }
        return Finding("note", self.name, "the same error under other arguments", view.call.id, facts=facts)


def _text(event: CallEvent) -> str:
    """The error of a call that other arguments could mend; empty where there is none."""
    failure = event["failure"]
    return "" if failure is None or failure["kind"] in ("transient", "timeout") else failure["text"]
