"""More calls in one reply than may be made in a turn."""

from dataclasses import dataclass

from loopwright.policies.finding import Facts, Finding, GuardView


@dataclass(frozen=True)
class CallsPerTurn:
    """Blocks the calls of a reply behind the first `limit`: the model is to see each result before it goes on.

    A blocked call is none that was made: in the next turn it is no repeat. Not among the default policies, which let
    calls run together; published loops that make one call a turn have 1.
    """

    limit: int
    name: str = "calls_per_turn"

    def __call__(self, view: GuardView) -> Finding | None:
        """Find for one pending call."""
        if view.call is None:
            return None
        place = [call.id for call in view.pending].index(view.call.id)
        turn = next(reversed(view.rounds), None)
        open_ids = {call.id for call in view.pending}
        answered = sum(event["call_id"] not in open_ids for event in turn.calls) if turn else 0
        if answered + place < self.limit:
            return None
        facts: Facts = {
            "call": view.call.shown,
            "tool": view.call.tool,
            "bound": self.limit,
            "step": view.run["model_calls"],
        }
        reason = f"more than {self.limit} calls in one turn"
        return Finding("block", self.name, reason, view.call.id, facts=facts, later=True)
