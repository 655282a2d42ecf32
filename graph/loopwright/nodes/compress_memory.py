"""Brings the next request within its budget by changing the view; the transcript is never rewritten."""

import time

from langchain_core.messages import BaseMessage

from loopwright.builtin import load_results
from loopwright.effects import Journal
from loopwright.events import publish, stamp
from loopwright.memory import Material, compress
from loopwright.models import ask_model, demands_finish
from loopwright.nodes.request import offer_for
from loopwright.nodes.wiring import Wiring
from loopwright.state import CompressionEvent, State, Update, view_of
from loopwright.steps import Core

SMALLER = 0.7
"""Share of the last request that is aimed at after a server said that it was too long."""


def compress_memory(wiring: Wiring, state: State) -> Core[Update]:
    """Clip, fold, drop until the request is at the target share of its budget; one event says what was done."""
    started = time.perf_counter()
    settings, verdict, run = wiring.settings_now(), state["verdict"], state["run"]
    budget = wiring.budget(settings)
    newest = next((event for event in reversed(state["events"]) if event["kind"] == "model"), None)
    if newest and newest["failure"] and newest["failure"]["kind"] == "context":
        budget = min(budget, max(1, int(newest["request_tokens"] * SMALLER)))
    refs = [event["ref"] for event in state["events"] if event["kind"] == "call" and event["ref"]]
    journal = Journal.here()
    originals = (yield from load_results(journal.store, journal.thread, refs)) if journal and refs else {}
    material = Material(
        messages=state["messages"],
        system_prompt=wiring.system_prompt(settings),
        nudge=verdict["nudge"],
        tools_tokens=offer_for(wiring, settings, state, verdict).tokens,
        budget=budget,
        target=int(budget * settings.memory.target),
        profile=wiring.profile(),
        settings=settings.memory,
        originals=originals,
    )

    def summarise(request: list[BaseMessage]) -> Core[str | None]:
        """The summary model's text, or None when it failed."""
        model = wiring.summary_model.with_config(tags=["nostream"])
        reply = yield from ask_model(
            model,
            request,
            wiring.model_settings(settings),
            used_ids=set(),
            demands_finish=demands_finish(wiring.summary_model),
            on_retry=lambda *_: None,
        )
        return reply.message.text if reply.message is not None and reply.failure is None else None

    done = yield from compress(material, view_of(state), summarise if settings.memory.summary else None)
    event: CompressionEvent = {
        **stamp(run["id"], run["model_calls"], started),
        "kind": "compression",
        "before": done.before,
        "after": done.after,
        "stage": done.stage,
        "folded_through": done.view["folded_through"],
        "summary_tokens": done.summary_tokens,
    }
    return {"view": done.view, "events": publish(event)}
