"""What a run may use: model calls, tool calls, tokens, USD, working seconds, and the caller's recursion limit."""

from dataclasses import dataclass

from loopwright.errors import UsageError
from loopwright.policies.finding import Facts, Finding, GuardView
from loopwright.shapes import Run, StopReason

LIMITS = ("model_calls", "tool_calls", "tokens", "cost", "seconds")
"""The limits of a run by name."""


def used(run: Run, limit: str) -> float:
    """How much of a named limit the run has used."""
    amounts: dict[str, float] = {
        "model_calls": run["model_calls"],
        "tool_calls": run["tool_calls"],
        "tokens": run["tokens_in"] + run["tokens_out"],
        "cost": run["cost_usd"] or 0.0,
        "seconds": run["working_seconds"],
    }
    return amounts[limit]


def check_extension(run: Run, extend: dict[str, float]) -> None:
    """Raises UsageError for an unknown limit, or one that is already used up."""
    for name, bound in extend.items():
        if name not in LIMITS:
            raise UsageError(
                f"There is no limit called {name!r}: extend model_calls, tool_calls, tokens, cost or seconds."
            )
        if bound <= used(run, name):
            raise UsageError(
                f"The new limit {name}={bound:g} is already used up ({used(run, name):g} used): give a larger one."
            )


@dataclass(frozen=True)
class Limit:
    """Closes the run, or asks where `on_limit` is `ask` and someone can be asked, once a named limit is used up.

    The closing call is one model call more: it is counted and may pass each limit once. The bounds are those of the
    settings: 50 model calls, which would end 1.6 % of successful recorded runs (ten: 66 %), and 200 tool calls; tokens,
    cost and seconds have none until someone sets it.
    """

    limit: StopReason
    name: str = "limit"

    def __call__(self, view: GuardView) -> Finding | None:
        """Find for the run."""
        bound = view.run["limits"].get(self.limit)
        if view.call is not None or bound is None:
            return None
        # calls already asked for may still run when only the model calls are used up
        if view.pending and self.limit == "model_calls":
            return None
        amount = used(view.run, self.limit)
        if amount < bound:
            return None
        facts: Facts = {"limit": str(self.limit), "used": round(amount, 4), "bound": bound}
        reason = f"{self.limit}: {amount:g} of {bound:g}"
        asks = view.settings.on_limit == "ask" and view.can_ask
        return Finding("ask" if asks else "close", self.name, reason, stop=self.limit, facts=facts)


@dataclass(frozen=True)
class ToolLimit:
    """Blocks calls of a tool that has run as often as `settings.tools.max_calls` allows in one run.

    There is no default bound: what is much for a payment is little for a search.
    """

    name: str = "tool_limit"

    def __call__(self, view: GuardView) -> Finding | None:
        """Find for one pending call."""
        if view.call is None:
            return None
        bound = view.settings.tools.max_calls.get(view.call.tool)
        count = view.tool_counts.get(view.call.tool, 0)
        if bound is None or count < bound:
            return None
        facts: Facts = {
            "call": view.call.shown,
            "tool": view.call.tool,
            "bound": bound,
            "step": view.run["model_calls"],
        }
        reason = f"{view.call.tool} ran {count} of {bound} times"
        return Finding("block", self.name, reason, view.call.id, facts=facts, withhold=True)


@dataclass(frozen=True)
class RecursionLimit:
    """Closes the run while the caller's recursion limit still leaves the steps that an answer takes.

    Six: this visit of the guard, a compression with its visit, the closing call with its visit, and finish.
    """

    name: str = "recursion_limit"
    reserve: int = 6

    def __call__(self, view: GuardView) -> Finding | None:
        """Find for the run."""
        if view.call is not None or view.remaining_steps > self.reserve:
            return None
        facts: Facts = {"remaining": view.remaining_steps}
        reason = f"{view.remaining_steps} steps left of the recursion limit"
        return Finding("close", self.name, reason, stop="steps", facts=facts)
