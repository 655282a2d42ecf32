"""A pure call whose result is known."""

from dataclasses import dataclass

from loopwright.policies.finding import Facts, Finding, GuardView


@dataclass(frozen=True)
class ServedPure:
    """Serves the stored result when a `pure` call that succeeded is made again.

    Only `pure` tools: serving results of undeclared tools would withhold a different result in 4-7.5 % of recorded
    successes.
    """

    name: str = "served_pure"

    def __call__(self, view: GuardView) -> Finding | None:
        """Find for one pending call."""
        if view.call is None or view.call.effect != "pure" or view.call.repeatable:
            return None
        earlier = next((e for e in reversed(view.history.get(view.call.signature, ())) if e["status"] == "ok"), None)
        if earlier is None:
            return None
        facts: Facts = {"tool": view.call.tool, "step": earlier["step"], "served_from": earlier["call_id"]}
        return Finding("serve", self.name, "same pure call", view.call.id, facts=facts)
