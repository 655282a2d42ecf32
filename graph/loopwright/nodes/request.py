"""The next request: which tools it offers, how it reads, how many tokens it takes."""

from collections.abc import Sequence

from langchain_core.messages import AnyMessage, BaseMessage

from loopwright.memory import measure_next, render
from loopwright.nodes.wiring import Offer, Wiring
from loopwright.settings import Settings
from loopwright.state import Parts, State, Verdict, view_of


def offer_for(wiring: Wiring, settings: Settings, state: State, verdict: Verdict) -> Offer:
    """The model with the tools that this verdict leaves on offer; paging once a result was shortened.

    Not streamed where the settings say so, and after a reply that could not be used: langchain-openai drops a refusal
    from streams, which then look empty, and some servers break calls only there.
    """
    paging = state["run"]["shortened"] > 0 or bool(view_of(state)["clips"])
    plain = not settings.model.stream or state["run"]["invalid_in_row"] > 0
    withheld = frozenset(verdict["withheld"])
    return wiring.offer(withheld=withheld, closing=verdict["closing"], paging=paging, plain=plain)


def next_request(wiring: Wiring, settings: Settings, state: State, verdict: Verdict) -> list[BaseMessage]:
    """The request exactly as it will be sent."""
    return render(
        state["messages"],
        view_of(state),
        system_prompt=wiring.system_prompt(settings),
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
        system_prompt=wiring.system_prompt(settings),
        nudge=verdict["nudge"],
        tools_tokens=offer_for(wiring, settings, state, verdict).tokens,
        profile=wiring.profile(),
    )
