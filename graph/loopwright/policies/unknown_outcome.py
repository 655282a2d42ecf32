"""A call whose earlier outcome nobody knows."""

from dataclasses import dataclass

from loopwright.policies.finding import Facts, Finding, GuardView


@dataclass(frozen=True)
class UnknownOutcome:
    """Asks a person before a call of unknown outcome is repeated; blocks it where nobody can be asked.

    Looks at the whole branch of the thread: an effect does not become known by a new message, but by a person who says
    what became of it, which the history then says. One unknown outcome is enough: without a journal 16 of 390 effects
    of killed runs happened twice.
    """

    name: str = "unknown_outcome"

    def __call__(self, view: GuardView) -> Finding | None:
        """Find for one pending call."""
        if view.call is None:
            return None
        known = ("ok", "unknown", "served")
        newest = next((event for event in reversed(view.before()) if event["status"] in known), None)
        if newest is None or newest["status"] != "unknown":
            return None
        facts: Facts = {"call": view.call.shown, "tool": view.call.tool, "step": newest["step"]}
        asks = view.can_ask
        return Finding("ask" if asks else "block", self.name, "its outcome is not known", view.call.id, facts=facts)
