"""One tool that gives the same error whatever it is called with."""

from dataclasses import dataclass

from loopwright.policies.finding import Facts, Finding, GuardView


@dataclass(frozen=True)
class SameError:
    """Notes, on the call after it, that a tool failed `note` times in a row with the same error under other arguments.

    It never closes the run: five rounds of errors do that (`error_rounds`).
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
        texts = {event["failure"]["text"] if event["failure"] else "" for event in newest}
        if len(newest) < self.note or len(texts) != 1 or "" in texts or len({e["signature"] for e in newest}) < 2:
            return None
        facts: Facts = {
            "tool": tool,
            "times": len(newest),
            "steps": [event["step"] for event in newest],
            "error": texts.pop()[:200],
        }
        return Finding("note", self.name, "the same error under other arguments", view.call.id, facts=facts)
