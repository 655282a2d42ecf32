"""Ends a run: the answer, the stop report, and nothing else; it makes no model call."""

import time
from collections.abc import Sequence

from langchain_core.messages import AIMessage, AnyMessage

from loopwright.events import publish, since_begin, stamp
from loopwright.memory import language_of
from loopwright.nodes.wiring import Wiring
from loopwright.policies import render_report
from loopwright.policies.wording import advice
from loopwright.state import AnswerEvent, CallEvent, Event, Failure, Run, State, Status, StopEvent, StopReport, Update
from loopwright.transcript import last_reply, text_of


def finish(_: Wiring, state: State) -> Update:
    """Write the answer and why the run stopped. A run that had ended before answers with what it ended with."""
    started = time.perf_counter()
    run, messages = state["run"], state["messages"]
    language = language_of(messages)
    if run["status"] != "running" and run["stop"] is not None:
        return {"answer": _answer(messages) or render_report(run["stop"], language), "stop": run["stop"]}
    events = state["events"]
    report = _report(state, language)
    reply = _final_reply(events, messages)
    update: Update = {}
    if reply is None or not text_of(reply).strip():
        reply = AIMessage(
            content=render_report(report, language, _call_text(messages, report["call_id"])),
            id=f"answer-{run['id']}-{len(messages)}",
        )
        update["messages"] = [reply]
    mark = stamp(run["id"], run["model_calls"], started)
    answer: AnswerEvent = {**mark, "kind": "answer", "message_id": reply.id or "", "complete": report["complete"]}
    stop: StopEvent = {**mark, "kind": "stop", "report": report}
    ended: Run = {
        **run,
        "status": _status(report),
        "stop": report,
        "seen": len(events) + 2,
        "length": len(messages) + len(update.get("messages", [])),
    }
    return {**update, "events": publish(answer, stop), "run": ended, "answer": text_of(reply), "stop": report}


def _status(report: StopReport) -> Status:
    if report["reason"] == "answered":
        return "completed"
    return "failed" if report["reason"] in ("auth", "model_error") else "stopped"


def _answer(messages: Sequence[AnyMessage]) -> str:
    reply = last_reply(messages)
    return text_of(reply) if reply else ""


def _final_reply(events: Sequence[Event], messages: Sequence[AnyMessage]) -> AIMessage | None:
    """The run's last reply, if it is an answer: a whole text without calls."""
    newest = next((event for event in reversed(events) if event["kind"] == "model"), None)
    reply = last_reply(messages)
    if newest is None or reply is None or newest["message_id"] != reply.id:
        return None
    failure = newest["failure"]
    readable = failure is None or failure["kind"] == "refusal" or failure["text"].startswith("cut off")
    return reply if readable and not reply.tool_calls and not reply.invalid_tool_calls else None


def _report(state: State, language: str) -> StopReport:
    run, verdict = state["run"], state["verdict"]
    window = since_begin(state["events"])
    reason = verdict["stop"] or "answered"
    stuck = None if reason == "answered" else _stuck(window)
    same = [e["step"] for e in window if e["kind"] == "call" and stuck and e["signature"] == stuck["signature"]]
    return {
        "reason": reason,
        "complete": reason == "answered",
        "policy": verdict["policy"],
        "step": run["model_calls"],
        "call_id": stuck["call_id"] if stuck else None,
        "earlier_steps": sorted(set(same))[-8:-1] if stuck else [],
        "last_error": None if reason == "answered" else _last_error(window),
        "counters": {
            "model_calls": run["model_calls"],
            "tool_calls": run["tool_calls"],
            "tokens": run["tokens_in"] + run["tokens_out"],
            "seconds": run["working_seconds"],
        },
        "advice": advice(reason, "zh" if language == "zh" else "en", _last_error(window) or ""),
    }


def _stuck(window: Sequence[Event]) -> CallEvent | None:
    """The call the run was stuck at: the last one that brought nothing, else the last one."""
    calls = [event for event in window if event["kind"] == "call"]
    return next((call for call in reversed(calls) if call["status"] in ("refused", "error", "unknown")), None) or (
        calls[-1] if calls else None
    )


def _last_error(window: Sequence[Event]) -> str | None:
    for event in reversed(window):
        if event["kind"] == "call" or event["kind"] == "model":
            failure: Failure | None = event["failure"]
            if failure is not None:
                return failure["text"][:300]
    return None


def _call_text(messages: Sequence[AnyMessage], call_id: str | None) -> str:
    """The stuck call as the model wrote it: its tool and arguments."""
    for message in reversed(messages):
        if isinstance(message, AIMessage):
            for call in [*message.tool_calls, *message.invalid_tool_calls]:
                if call["id"] == call_id:
                    return f"{call['name']}({call['args']})"
    return ""
