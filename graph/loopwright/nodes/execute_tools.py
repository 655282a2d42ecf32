"""Runs one call: journal, approval, tries, the cap on its result, one message and one event."""

import asyncio
import random
import time
from typing import Any

from langchain_core.messages import ToolCall
from langgraph.runtime import get_runtime

from loopwright.builtin import READ_RESULT, store_result
from loopwright.effects import Found, Journal, Record
from loopwright.events import publish, stamp
from loopwright.memory import clip, count_text
from loopwright.nodes.questions import Decision, put, question
from loopwright.nodes.wiring import Wiring
from loopwright.state import CallEvent, Effect, Failure, ToolTask, Update
from loopwright.steps import Core, Do
from loopwright.tooling import Outcome, digest, effect_of, result_message, signature
from loopwright.tooling.framing import framed

_SURE_TO_FAIL = " The same call will fail again unchanged: change the arguments, or go another way."


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
        found = yield from journal.lookup(call["id"] or "", mark, task["known"])
    if found is not None and found.record is not None:
        outcome = wiring.journaled(found.record, own=found.own)
        return (yield from _answered(wiring, task, call, effect, outcome, 0, started, edited=False))
    decision = _decision(wiring, task)
    edited = decision is not None and decision["type"] == "edit"
    if decision is not None and decision["type"] in ("reject", "respond"):
        return (yield from _answered(wiring, task, call, effect, _person(decision), 0, started, edited=False))
    if decision is not None and edited:
        call = ToolCall(name=call["name"], args=decision["args"], id=call["id"], type="tool_call")
    started = time.perf_counter()  # what a person took is not working time
    record = _record(task, call)
    if journal is not None and found is not None:
        yield from journal.start(record, found.ids)
    outcome, retries = yield from _tries(wiring, call)
    if journal is not None and outcome.status != "unknown":
        done: Record = {**record, "state": "done", "status": outcome.status, "text": outcome.text}
        yield from journal.finish(done)
    return (yield from _answered(wiring, task, call, effect, outcome, retries, started, edited=edited))


def _decision(wiring: Wiring, task: ToolTask) -> Decision | None:
    """What a person says about the call; None where nobody has to be asked."""
    call, judged = task["call"], task["judged"]
    if judged["rung"] != "ask" and not wiring.toolbox.policy(call["name"]).approval:
        return None
    info = get_runtime().execution_info
    if info is None or info.thread_id is None:
        text = "It needs a person's approval, and without a checkpointer nobody can be asked."
        return {"type": "reject", "args": {}, "message": text}
    description = judged["text"] or f"{call['name']} asks for approval."
    return put(question("approval", call["id"] or "", call["name"], call["args"], description))


def _person(decision: Decision) -> Outcome:
    """The outcome that a person put in the tool's stead."""
    if decision["type"] == "respond":
        return Outcome("served", decision["message"] or "(no text)")
    because = f" {decision['message']}" if decision["message"] else ""
    text = f"Rejected: a person decided that this call must not run.{because}"
    return Outcome("rejected", text, {"kind": "denied", "text": text})


def _record(task: ToolTask, call: ToolCall) -> Record:
    return {
        "state": "started",
        "call_id": call["id"] or "",
        "signature": signature(call["name"], call["args"]),
        "tool": call["name"],
        "run": task["run"],
        "step": task["step"],
        "status": "unknown",
        "text": "",
    }


def _tries(wiring: Wiring, call: ToolCall) -> Core[tuple[Outcome, int]]:
    """The outcome after as many tries as the tool's policy allows; only transient failures are tried again."""
    box = wiring.toolbox
    retries = box.retries(call["name"])
    for attempt in range(retries + 1):
        outcome: Outcome = yield Do(box.run, box.arun, (call,))
        if outcome.failure is None or outcome.failure["kind"] != "transient" or attempt == retries:
            return outcome, attempt
        delay = box.settings.retry_delay * 2.0**attempt * random.uniform(0.75, 1.25)
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
    content, ref = yield from _capped(wiring, task, call, outcome)
    if name in wiring.outside and outcome.status == "ok":  # an error is the tool's own word, and is to be heeded
        content = framed(content, name, call_id)
    if outcome.status == "error" and outcome.failure:
        content = _error_text(outcome.failure, str(content))
    if task["judged"]["text"] and outcome.status == "ok":
        content = _noted(content, task["judged"]["text"])
    event: CallEvent = {
        **stamp(task["run"], task["step"], started),
        "kind": "call",
        "call_id": call_id,
        "tool": name,
        "effect": effect,
        "signature": signature(name, call["args"]),
        "digest": digest(outcome.text),
        "status": outcome.status,
        "failure": outcome.failure,
        "retries": retries,
        "ref": ref,
        "edited_args": call["args"] if edited else None,
    }
    return {"messages": [result_message(call_id, name, outcome, content)], "events": publish(event)}


def _error_text(failure: Failure, content: str) -> str:
    if failure["kind"] in ("transient", "timeout"):
        return f"Error: {content}"
    return f"Error: {content}{_SURE_TO_FAIL}"


def _capped(
    wiring: Wiring, task: ToolTask, call: ToolCall, outcome: Outcome
) -> Core[tuple[str | list[Any], str | None]]:
    """The content as the model sees it: over the cap it keeps head, matching lines and tail; the whole is stored."""
    policy = wiring.toolbox.policy(call["name"])
    cap = policy.max_result_tokens or wiring.toolbox.settings.max_result_tokens
    text = outcome.content
    if not isinstance(text, str) or call["name"] == READ_RESULT or len(text) <= cap or count_text(text) <= cap:
        return text, None
    ref: str | None = None
    runtime = get_runtime()
    thread = runtime.execution_info.thread_id if runtime.execution_info else None
    if runtime.store is not None and thread is not None:
        ref = call["id"] or ""
        yield from store_result(runtime.store, thread, ref, text)
    size = max(1, len(text) * cap // count_text(text))
    hint = f"read on with read_result(ref={ref!r}, offset=N)" if ref else "the rest is not stored"
    return clip(text, size // 2, size // 4, frozenset(task["words"]), hint=hint), ref
