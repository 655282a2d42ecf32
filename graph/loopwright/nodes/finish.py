"""Ends a run: the answer, the stop report, and nothing else; it makes no model call."""

import time
from collections.abc import Sequence

from langchain_core.messages import AIMessage, AnyMessage

from loopwright.events import publish, stamp
from loopwright.language import language_of
from loopwright.nodes.direct import direct_answer
from loopwright.nodes.stop_report import call_text, stop_report
from loopwright.nodes.wiring import Wiring
from loopwright.policies import render_report
from loopwright.state import AnswerEvent, Event, Run, State, Status, StopEvent, StopReport, Update
from loopwright.transcript import last_reply, text_of


def finish(wiring: Wiring, state: State) -> Update:
    """Write the answer and why the run stopped. A run that had ended before answers with what it ended with."""
    started = time.perf_counter()
    run, messages = state["run"], state["messages"]
    language = language_of(messages)
    if run["status"] != "running" and run["stop"] is not None:
        return {"answer": _answer(messages) or render_report(run["stop"], language), "stop": run["stop"]}
    events = state["events"]
    report = stop_report(state, language)
    reply = _final_reply(events, messages)
    update: Update = {}
    if reply is None or not text_of(reply).strip():
        direct = direct_answer(wiring, messages) if report["complete"] else ""
        reply = AIMessage(
            content=direct or render_report(report, language, call_text(messages, report["call_id"])),
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
