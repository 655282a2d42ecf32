"""A call of a tool that was not on offer in the request."""

from dataclasses import dataclass

from loopwright.policies.finding import Facts, Finding, GuardView


@dataclass(frozen=True)
class NotOffered:
    """Blocks the call for whose sake the request withheld its tool: the model makes it again from memory.

    A tool is withheld for one round after the guard blocked it for bringing nothing new, so that the model looks
    elsewhere. Another call of the tool runs: it may bring news. (Blocking that too refused calls with new results in
    1 to 9 % of the recorded runs of one source.) In a closing request nothing is on offer and no policy is asked: the
    guard answers such calls itself, and the rendered report becomes the answer.
    """

    name: str = "not_offered"

    def __call__(self, view: GuardView) -> Finding | None:
        """Find for one pending call."""
        newest = next(reversed(view.rounds), None)
        if view.call is None or newest is None or view.call.tool not in newest.model.get("withheld", ()):
            return None
        if not any(event["status"] == "refused" for event in view.earlier()):
            return None
        step = newest.model["step"]
        facts: Facts = {"call": view.call.shown, "tool": view.call.tool, "step": step}
        return Finding(
            "block", self.name, f"{view.call.tool} was not offered at step {step}", view.call.id, facts=facts
        )
