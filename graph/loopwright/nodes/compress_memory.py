"""Brings the next request within its budget by changing the view; the transcript is never rewritten."""

import time
from collections.abc import Mapping
from typing import cast

from langchain_core.messages import HumanMessage

from loopwright.builtins import load_results
from loopwright.effects import Journal
from loopwright.events import publish, stamp
from loopwright.memory import Material, compress, reflection_request, unreflected, with_reflection
from loopwright.nodes.request import offer_for
from loopwright.nodes.summary_calls import SummaryCalls
from loopwright.nodes.wiring import Wiring
from loopwright.settings import Settings
from loopwright.state import CompressionEvent, State, Update, Verdict, View, view_of
from loopwright.steps import Core
from loopwright.transcript import text_of

SMALLER = 0.7
"""Share of the last request that is aimed at after a server said that it was too long."""


def compress_memory(wiring: Wiring, state: State) -> Core[Update]:
    """Clip, fold, drop until the request fits window and budget; one event says what was done.

    A reflection on the newest step is asked for first, where the settings want one.
    """
    started = time.perf_counter()
    wiring = wiring.in_use(state["events"], wiring.settings_now().protocol)
    settings, verdict, run = wiring.settings_now(), state["verdict"], state["run"]
    budget = wiring.budget(settings)
    newest = next((event for event in reversed(state["events"]) if event["kind"] == "model"), None)
    if newest and newest["failure"] and newest["failure"]["kind"] == "context":
        budget = min(budget, max(1, int(newest["request_tokens"] * SMALLER)))
    refs = [event["ref"] for event in state["events"] if event["kind"] == "call" and event["ref"]]
    journal = Journal.here()
    originals = (yield from load_results(journal.store, journal.thread, refs)) if journal and refs else {}
    material = material_for(wiring, settings, state, verdict, budget, originals)
    summary = SummaryCalls(wiring, settings)
    view = yield from _reflected(state, settings, summary)
    done = yield from compress(material, view, summary.ask if settings.memory.summary else None)
    reflected = view.get("reflections") != view_of(state).get("reflections")
    mark = stamp(run["id"], run["model_calls"], started)
    event: CompressionEvent = {
        "run": mark["run"],
        "step": mark["step"],
        "at": mark["at"],
        "seconds": mark["seconds"],
        "kind": "compression",
        "before": done.before,
        "after": done.after,
        "stage": "reflection" if reflected and done.stage == "none" else done.stage,
        "folded_through": done.view["folded_through"],
        "summary_tokens": done.summary_tokens,
        "summary": f"failed: {summary.problem}" if done.summary == "failed" else done.summary,
        "folded": done.folded,
        "dropped": done.dropped,
        "clipped": done.clipped,
        "tools": list(done.tools),
    }
    return {"view": done.view, "events": publish(summary.note(event))}


def _reflected(state: State, settings: Settings, calls: SummaryCalls) -> Core[View]:
    """The view, with a reflection on the newest step where one is wanted and the run goes on."""
    view = view_of(state)
    reply_id = unreflected(state["messages"], view, settings.memory)
    if not reply_id or state["verdict"]["closing"]:
        return view
    text = yield from calls.ask(reflection_request(state["messages"], reply_id))
    return with_reflection(view, reply_id, text)


def material_for(
    wiring: Wiring,
    settings: Settings,
    state: State,
    verdict: Verdict,
    budget: int,
    originals: Mapping[str, str],
) -> Material:
    """What a compression of the next request works on; `originals` are the whole results of shortened ones."""
    return Material(
        messages=state["messages"],
        system_prompt=wiring.system_prompt(settings, state["messages"]),
        nudge=verdict["nudge"],
        tools_tokens=_offered_after(wiring, settings, state, verdict, budget),
        budget=budget,
        target=int(budget * settings.memory.target),
        profile=wiring.profile(),
        settings=settings.memory,
        originals=originals,
    )


def _offered_after(wiring: Wiring, settings: Settings, state: State, verdict: Verdict, budget: int) -> int:
    """Tokens of the tools that are offered once something is out of sight: the built-in ones are among them then."""
    view = view_of(state)
    users = (m.id for m in state["messages"] if isinstance(m, HumanMessage) and m.id and len(text_of(m)) > budget // 2)
    clips = {**view["clips"], **{key: [0, 0] for key in users}}
    hiding: View = {**view, "clips": clips, "dropped": view["dropped"] or [["", ""]]}
    return offer_for(wiring, settings, cast("State", {**state, "view": hiding}), verdict).tokens
