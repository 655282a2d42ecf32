"""A declared write that was done already."""

from dataclasses import dataclass

from loopwright.policies.finding import Facts, Finding, GuardView


@dataclass(frozen=True)
class SameWrite:
    """Asks a person before a declared `write` is done a second time in one run; blocks it where nobody can be asked.

    An undeclared tool is judged as a read here, since it may be a poll. A write of an earlier run of the thread does
    not count: a second order by the user is an order.
    """

    name: str = "same_write"

    def __call__(self, view: GuardView) -> Finding | None:
        """Find for one pending call."""
        if view.call is None or view.call.declared != "write" or view.call.repeatable:
            return None
        done = next((event for event in reversed(view.earlier()) if event["status"] == "ok"), None)
        if done is None:
            return None
        facts: Facts = {"tool": view.call.tool, "step": done["step"]}
        asks = view.can_ask
        return Finding("ask" if asks else "block", self.name, "this was done before", view.call.id, facts=facts)
