"""A declared write that was done already."""

from dataclasses import dataclass

from loopwright.policies.finding import Facts, Finding, GuardView


@dataclass(frozen=True)
class SameWrite:
    """Asks a person before a declared `write` is done a second time in one run; blocks it where nobody can be asked.

    However long ago in the run it was, and also where it was found done on another branch of the thread. An undeclared
    tool is judged as a read here, since it may be a poll. A write of an earlier run of the thread does not count: a
    second order by the user is an order. Two equal writes of one message are one write and a second: a write goes
    alone, so that the second is judged when the first is done.
    """

    name: str = "same_write"

    def __call__(self, view: GuardView) -> Finding | None:
        """Find for one pending call."""
        if view.call is None or view.call.declared != "write" or view.call.repeatable:
            return None
        same_run = (event for event in reversed(view.before()) if event["run"] == view.run["id"])
        done = next((event for event in same_run if event["status"] in ("ok", "served")), None)
        if done is None:
            return None
        facts: Facts = {"call": view.call.shown, "tool": view.call.tool, "step": done["step"]}
        asks = view.can_ask
        return Finding("ask" if asks else "block", self.name, "this was done before", view.call.id, facts=facts)
