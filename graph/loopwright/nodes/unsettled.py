"""A call whose outcome nobody knows and whose tool asks for approval: a person is asked whether it happened."""

import time
from collections.abc import Sequence
from typing import Any, Literal

from langchain_core.messages import AIMessage, AnyMessage, ToolMessage

from loopwright.effects import Journal, Record
from loopwright.events import publish, stamp
from loopwright.language import Language, language_of
from loopwright.nodes.questions import Decision, put, question
from loopwright.nodes.wiring import Wiring
from loopwright.state import CallEvent, OutcomeEvent, State, Update
from loopwright.steps import Core
from loopwright.tooling.approval import asks_approval

WINDOW = 64
"""Newest events among which a call of unknown outcome is looked for: it is asked about at once or not at all."""
_SAID: dict[Language, dict[str, str]] = {
    "en": {
        "asked": "{tool} was started at step {step} and nobody knows whether it happened. Did it?",
        "yes": "(A person was asked: it did happen.)",
        "no": "(A person was asked: it did not happen. It may be done now if it is still needed.)",
        "unknown": "(A person was asked and does not know either. It must not be done again.)",
        "late": "(It ended after all; this is its result.)",
    },
    "zh": {
        "asked": "{tool} 已在第 {step} 步启动，但无人知道是否生效。它生效了吗？",
        "yes": "（已询问用户：该操作已经生效。）",
        "no": "（已询问用户：该操作没有生效。如仍需要，可以现在执行。）",
        "unknown": "（已询问用户，用户也不清楚结果。不得再次执行。）",
        "late": "（该操作后来已结束；这是它的结果。）",
    },
}


def unsettled(wiring: Wiring, state: State) -> CallEvent | None:
    """The oldest of the newest calls of unknown outcome that a person has to be asked about."""
    recent = state["events"][-WINDOW:]
    asked = {event["call_id"] for event in recent if event["kind"] == "outcome"}
    for event in recent:
        if event["kind"] == "call" and event["status"] == "unknown" and event["call_id"] not in asked:
            tool = wiring.toolbox.tools.get(event["tool"])
            args = arguments_of(state["messages"], event)
            if tool is not None and asks_approval(tool, wiring.toolbox.settings, args):
                return event
    return None


def outcome_question(call: CallEvent, language: Language) -> str:
    """The question whether a call happened."""
    return _SAID[language]["asked"].format(tool=call["tool"], step=call["step"])


def arguments_of(messages: Sequence[AnyMessage], event: CallEvent) -> dict[str, Any]:
    """The arguments a call was run with: the model's, or those that a person put in their stead."""
    if event["edited_args"] is not None:
        return event["edited_args"]
    for message in reversed(messages):
        if isinstance(message, AIMessage):
            for call in message.tool_calls:
                if call["id"] == event["call_id"]:
                    return call["args"]
    return {}


def ask_outcome(state: State, call_id: str) -> Core[Update]:
    """Ask whether the call happened, and write the answer into the journal and behind the call's result.

    Nobody is asked when the journal holds the call's end by now.
    """
    started = time.perf_counter()
    event = next(e for e in reversed(state["events"]) if e["kind"] == "call" and e["call_id"] == call_id)
    journal = Journal.here()
    record = (yield from journal.lookup(call_id, event["signature"], ())).own_record if journal else None
    if record is not None and record["state"] == "done":
        said, result = "late", record["text"]
    else:
        action = {"tool": event["tool"], "args": arguments_of(state["messages"], event)}
        asked = question("unknown", f"outcome:{call_id}", "confirm_it_happened", action, state["verdict"]["question"])
        said, result = _read(put(asked, _fits))
        started = time.perf_counter()  # what a person took is not working time
        if journal is not None and record is not None:
            yield from _journal(journal, record, said, result)
    happened: Literal["yes", "no", "unknown"] = "no" if said == "no" else "unknown" if said == "unknown" else "yes"
    outcome: OutcomeEvent = {
        **stamp(state["run"]["id"], state["run"]["model_calls"], started),
        "kind": "outcome",
        "call_id": call_id,
        "question": state["verdict"]["question"],
        "happened": happened,
    }
    return {"messages": _told(state["messages"], call_id, said, result), "events": publish(outcome)}


def _fits(_: Decision) -> str:
    return ""


def _read(decision: Decision) -> tuple[str, str]:
    """Whether it happened, and its result where the person gave one."""
    if decision["type"] == "reject":
        return "no", decision["message"]
    if decision["type"] == "respond" and not decision["message"].strip():
        return "unknown", ""
    return "yes", decision["message"]


def _journal(journal: Journal, record: Record, said: str, result: str) -> Core[None]:
    if said == "yes":
        yield from journal.finish({**record, "status": "ok", "text": result or "A person says that this was done."})
    elif said == "no":
        yield from journal.forget(record)
    return None


def _told(messages: Sequence[AnyMessage], call_id: str, said: str, result: str) -> list[AnyMessage]:
    """The call's result with what is known now behind it: what was said before stays."""
    words = _SAID[language_of(messages)][said]
    for message in reversed(messages):
        if isinstance(message, ToolMessage) and message.tool_call_id == call_id:
            parts = [message.text, words, *([result] if result else [])]
            return [message.model_copy(update={"content": "\n".join(parts)})]
    return []
