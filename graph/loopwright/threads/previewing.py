"""The request that a thread would send next, exactly, with its tokens by part."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from langchain_core.messages import BaseMessage

from loopwright.memory import compress, measure, total
from loopwright.nodes import Wiring
from loopwright.nodes.compress_memory import material_for
from loopwright.nodes.request import next_request, offer_for
from loopwright.nodes.wiring import verdict
from loopwright.state import Parts, State, Verdict, view_of
from loopwright.steps import drive


@dataclass(frozen=True)
class Preview:
    """A thread's next request. `parts` and `tokens` are ours by tiktoken; `budget` is what they may be."""

    thread: str
    messages: list[BaseMessage]
    parts: Parts
    tokens: int
    budget: int
    shortened: bool
    """Whether the thread is over the budget, so that it is shortened first: shown here as without a new summary."""


def preview(wiring: Wiring, thread: str, values: Mapping[str, Any]) -> Preview:
    """The next request of a thread with these values, under the agent's own settings.

    Between two runs it is what a new run adds its message to.
    """
    state = cast("State", values)
    wiring, settings = wiring.in_use(state["events"]), wiring.settings
    decided = _decided(state)
    budget = wiring.budget(settings)
    messages = next_request(wiring, settings, state, decided)
    parts = measure(messages, offer_for(wiring, settings, state, decided).tokens, wiring.profile())
    shortened = total(parts) > budget
    if shortened:
        material = material_for(wiring, settings, state, decided, budget, {})
        state = cast("State", {**state, "view": drive(compress(material, view_of(state), None)).view})
        messages = next_request(wiring, settings, state, decided)
        parts = measure(messages, offer_for(wiring, settings, state, decided).tokens, wiring.profile())
    return Preview(thread, messages, parts, total(parts), budget, shortened)


def _decided(state: State) -> Verdict:
    """The guard's verdict where it leads to a request, which its nudge is a part of; else one without anything."""
    last = state["verdict"]
    running = state["run"]["status"] == "running" and last["go"] in ("call_model", "compress_memory")
    return last if running else verdict("call_model")
