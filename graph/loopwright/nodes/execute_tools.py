"""Runs one call: journal, approval, tries, the cap on its result, one message and one event."""

import asyncio
import random
import time
from typing import Any

from langchain_core.messages import ToolCall
from langgraph.errors import GraphInterrupt

from loopwright.builtins import RECALL, with_transcript
from loopwright.effects import Found, Journal, Record
from loopwright.events import publish
from loopwright.framing import framed
from loopwright.language import Language
from loopwright.models.failures import retry_after
from loopwright.nodes.approving import decision_on, edit_note, instead_of
from loopwright.nodes.call_event import call_event
from loopwright.nodes.capping import capped
from loopwright.nodes.late_ends import ended, late_end
from loopwright.nodes.pending import unknown_tool
from loopwright.nodes.wiring import Wiring
from loopwright.policies import sure_to_fail
from loopwright.state import Effect, ToolTask, Update
from loopwright.steps import Core, Do
from loopwright.storage import still_claimed
from loopwright.tooling import Outcome, effect_of, result_message, signature
from loopwright.tooling.toolbox import Late


def execute_tools(wiring: Wiring, task: ToolTask) -> Core[Update]:
    """Run the call of this task.

    The order is the one that survives a kill: journal lookup, approval, `started` on disk, the effect, `done` on disk,
    the message.
    """
    started = time.perf_counter()
    call = task["call"]
    effect = effect_of(wiring.toolbox.policy(call["name"]))
    journal = Journal.here() if effect == "write" else None
    found: Found | None = None
    if journal is not None:
        mark = signature(call["name"], call["args"])
        found = yield from journal.lookup(call["id"] or "", mark, task["known"], task["repeats"])
    if found is not None and found.record is not None:
        outcome = wiring.journaled(found.record, task["language"], own=found.own)
        ran_with = found.record.get("edited_args") if found.own else None
        call = call if ran_with is None else _with_args(call, ran_with)
        return (yield from _answered(wiring, task, call, effect, outcome, 0, started, edited=ran_with is not None))
    gone = unknown_tool(wiring, call["name"], task["language"])
    if gone is not None:  # it was bound when the guard sent the call, and is not in this process
        return (
            yield from _answered(
                wiring, task, call, effect, Outcome("error", gone["text"], gone), 0, started, edited=False
            )
        )
    decision = decision_on(wiring, task)
    instead = instead_of(decision, task["language"])
    if instead is not None:
        return (yield from _answered(wiring, task, call, effect, instead, 0, started, edited=False))
    edited = decision is not None and decision["type"] == "edit"
    if decision is not None and edited:
        call = _with_args(call, decision["args"])
        if journal is not None:  # a person decided, so that what was done under these arguments before does not matter
            mark = signature(call["name"], call["args"])
            found = yield from journal.lookup(call["id"] or "", mark, task["known"], task["repeats"])
    started = time.perf_counter()  # what a person took is not working time
    record = _record(task, call, edited=edited)
    if journal is not None and found is not None:
        yield from still_claimed()
        yield from journal.start(record, found.ids)
    try:
        answer = None if edited else task.get("answer")
        outcome, retries = yield from _outcome(wiring, call, answer, task["language"], late_end(journal, record))
    except GraphInterrupt:  # the tool itself asks a person, and is run again from its start with the answer
        if journal is not None:
            yield from journal.forget(record)
        raise
    if journal is not None and outcome.status != "unknown":
        yield from journal.finish(ended(record, outcome))
    return (yield from _answered(wiring, task, call, effect, outcome, retries, started, edited=edited))


def _with_args(call: ToolCall, args: dict[str, Any]) -> ToolCall:
    return ToolCall(name=call["name"], args=args, id=call["id"], type="tool_call")


def _record(task: ToolTask, call: ToolCall, *, edited: bool) -> Record:
    record: Record = {
        "state": "started",
        "call_id": call["id"] or "",
        "signature": signature(call["name"], call["args"]),
        "tool": call["name"],
        "run": task["run"],
        "step": task["step"],
        "status": "unknown",
        "text": "",
        "repeats": task["repeats"],
    }
    if edited:
        record["edited_args"] = call["args"]
    return record


def _outcome(
    wiring: Wiring, call: ToolCall, answer: str | None, language: Language, late: Late | None
) -> Core[tuple[Outcome, int]]:
    """What the transcript answers, where it does; a search across threads brings what the tool finds as well."""
    if answer is None:
        return (yield from _tries(wiring, call, language, late))
    if call["name"] != RECALL or not wiring.settings.memory.long_term:
        return Outcome("ok", answer), 0
    kept, retries = yield from _tries(wiring, call, language, late)
    return with_transcript(answer, kept), retries


def _tries(wiring: Wiring, call: ToolCall, language: Language, late: Late | None) -> Core[tuple[Outcome, int]]:
    """The outcome after as many tries as the tool's policy allows; only transient failures are tried again."""
    box, waited = wiring.toolbox, 0.0
    retries = box.retries(call["name"])
    for attempt in range(retries + 1):
        outcome: Outcome = yield Do(box.run, box.arun, (call, late, language))
        if outcome.failure is None or outcome.failure["kind"] != "transient" or attempt == retries:
            return outcome, attempt
        asked = retry_after(outcome.cause) if outcome.cause else None
        delay = box.settings.retry_delay * 2.0**attempt * random.uniform(0.75, 1.25) if asked is None else asked
        waited += delay
        if waited > box.settings.retry_seconds:
            return outcome, attempt
        yield Do(time.sleep, asyncio.sleep, (delay,))
    raise AssertionError("a call has at least one try")


def _noted(content: str | list[Any], note: str) -> str | list[Any]:
    """The content with the guard's note behind it; digest and journal keep what the tool itself said."""
    return f"{content}\n{note}" if isinstance(content, str) else [*content, {"type": "text", "text": note}]


def _answered(
    wiring: Wiring,
    task: ToolTask,
    call: ToolCall,
    effect: Effect,
    outcome: Outcome,
    retries: int,
    started: float,
    *,
    edited: bool,
) -> Core[Update]:
    """The call's one message and one event."""
    name, call_id = call["name"], call["id"] or ""
    content, ref = yield from capped(wiring, task, call, outcome)
    if name in wiring.outside and outcome.status == "ok":  # an error is the tool's own word, and is to be heeded
        content = framed(content, name, call_id)
    if outcome.status == "error" and outcome.failure:
        sure = outcome.failure["kind"] not in ("transient", "timeout") and not wiring.toolbox.policy(name).repeatable
        content = f"Error: {content}" + (f" {sure_to_fail(task['language'])}" if sure else "")
    if task["judged"]["rung"] == "note" and outcome.status in ("ok", "error"):
        content = _noted(content, task["judged"]["text"])
    if edited:
        content = _noted(content, edit_note(call, task["language"]))
    event = call_event(
        task["run"],
        task["step"],
        started,
        call_id=call_id,
        tool=name,
        effect=effect,
        signature=signature(name, call["args"]),
        outcome=outcome,
        retries=retries,
        ref=ref,
        edited_args=call["args"] if edited else None,
    )
    return {"messages": [result_message(call_id, name, outcome, content)], "events": publish(event)}
