"""The next request: which tools it offers, how it reads, how many tokens it takes."""

from collections.abc import Sequence

from langchain_core.messages import AnyMessage, BaseMessage

from loopwright.builtins import kept_out
from loopwright.memory import measure_next, render
from loopwright.nodes.offers import Offer
from loopwright.nodes.wiring import Wiring
from loopwright.settings import Settings
from loopwright.state import Parts, State, Verdict, view_of


def offer_for(
    wiring: Wiring, settings: Settings, state: State, verdict: Verdict, *, compressing: bool = False
) -> Offer:
    """The model with the tools that this verdict leaves on offer; the built-in ones once they are of use.

    With `compressing` they count as of use: what a compression takes away can then be read on or recalled.

    Not streamed where the settings say so, and after a reply that could not be used: langchain-openai drops a refusal
    from streams, which then look empty, and some servers break calls only there.
    """
    plain = not settings.model.stream or state["run"]["invalid_in_row"] > 0
    useless = frozenset[str]()
    if not compressing:
        stored, long_term = state["run"]["shortened"], settings.memory.long_term
        useless = kept_out(state["messages"], view_of(state), stored=stored, long_term=long_term)
    withheld = useless.union(verdict["withheld"])
    return wiring.offer(withheld=withheld, closing=verdict["closing"], plain=plain)


def next_request(wiring: Wiring, settings: Settings, state: State, verdict: Verdict) -> list[BaseMessage]:
    """The request exactly as it will be sent."""
    return render(
        state["messages"],
        view_of(state),
        system_prompt=wiring.system_prompt(settings, state["messages"]),
        nudge=verdict["nudge"],
        profile=wiring.profile(),
    )


def next_parts(
    wiring: Wiring, settings: Settings, state: State, verdict: Verdict, extra: Sequence[AnyMessage] = ()
) -> Parts:
    """Tokens of the next request by part, with `extra` messages that this visit is about to write."""
    return measure_next(
        [*state["messages"], *extra] if extra else state["messages"],
        view_of(state),
        state["events"],
        system_prompt=wiring.system_prompt(settings, state["messages"]),
        nudge=verdict["nudge"],
        tools_tokens=offer_for(wiring, settings, state, verdict).tokens,
        profile=wiring.profile(),
    )
