"""One tool that says the same whatever it is called with."""

from dataclasses import dataclass

from loopwright.policies.finding import Facts, Finding, GuardView


@dataclass(frozen=True)
class NoNews:
    """Notes, on the call after it, that a tool gave the same result `note` times in a row under other arguments.

    It never closes the run: at five it would end 2 % of recorded successes of one source; three is where the ladder
    begins everywhere else. A declared `write` or `idempotent` tool is called for what it does, and "ok" for each of
    five letters is no news that is missing.
    """

    name: str = "no_news"
    note: int = 3

    def __call__(self, view: GuardView) -> Finding | None:
        """Find for one pending call."""
        if view.call is None or view.call.repeatable or view.call.declared in ("write", "idempotent"):
            return None
        tool = view.call.tool
        calls = [e for e in view.window if e["kind"] == "call" and e["tool"] == tool and e["status"] in ("ok", "error")]
        newest = calls[-self.note :]
        same = len({event["digest"] for event in newest}) == 1 and all(event["status"] == "ok" for event in newest)
        if len(newest) < self.note or not same or len({event["signature"] for event in newest}) < 2:
            return None
        facts: Facts = {
            "call": view.call.shown,
            "tool": tool,
            "times": len(newest),
            "steps": sorted({event["step"] for event in newest}),
        }
        return Finding("note", self.name, "the same result under other arguments", view.call.id, facts=facts)
