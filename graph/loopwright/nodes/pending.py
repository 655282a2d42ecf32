"""The calls of the last reply that wait for an answer, as the policies see them."""

from collections.abc import Mapping, Sequence
from typing import Any

from langchain_core.messages import AnyMessage, InvalidToolCall, ToolCall

from loopwright.language import Language, language_of
from loopwright.nodes.origins import from_outside
from loopwright.nodes.wiring import Wiring
from loopwright.policies import PendingCall
from loopwright.state import CallEvent, Event, Failure
from loopwright.tooling import signature
from loopwright.tooling.wording import told
from loopwright.transcript import open_calls


def pending_calls(wiring: Wiring, messages: Sequence[AnyMessage]) -> list[PendingCall]:
    """The unanswered calls in order; one that cannot be read or names no tool carries its failure."""
    calls = open_calls(messages)
    language = language_of(messages) if calls else "en"
    return [_pending(wiring, call, messages, language) for call in calls]


def _pending(
    wiring: Wiring, call: ToolCall | InvalidToolCall, messages: Sequence[AnyMessage], language: Language
) -> PendingCall:
    name, args = call["name"] or "", call["args"]
    failure = _unreadable(call, language) if not isinstance(args, dict) else unknown_tool(wiring, name, language)
    shown: Mapping[str, Any] = args if isinstance(args, dict) else {"": args or ""}
    effect = None if failure else wiring.effect(name)
    policy = wiring.toolbox.policy(name)
    mark = signature(name, shown)
    outside = from_outside(wiring, messages, shown) if policy.effect == "write" and failure is None else []
    return PendingCall(call["id"] or "", name, shown, mark, effect, policy.effect, policy.repeatable, failure, outside)


def _unreadable(call: ToolCall | InvalidToolCall, language: Language) -> Failure:
    error = call.get("error")
    if error == "cut off":
        text = told("cut_off", language)
    elif error == "no tool name":
        text = told("nameless", language)
    elif error and not call["name"]:  # a text protocol's own reminder of its format
        text = str(error)
    else:
        text = told("unreadable", language, error=error)
    return {"kind": "invalid_reply", "text": text}


def unknown_tool(wiring: Wiring, name: str, language: Language) -> Failure | None:
    """The failure of a call that names no tool of this agent."""
    if name in wiring.toolbox.tools:
        return None
    known = ", ".join(sorted(wiring.toolbox.tools)) or "-"
    return {"kind": "unknown_tool", "text": told("no_tool", language, name=name, known=known)}


def histories(calls: Sequence[PendingCall], events: Sequence[Event]) -> dict[str, list[CallEvent]]:
    """For the signature of each pending call, the calls of this branch that had it, oldest first."""
    index: dict[str, list[CallEvent]] = {call.signature: [] for call in calls}
    if index:
        said = {event["call_id"]: event["happened"] for event in events if event["kind"] == "outcome"}
        for event in events:
            if event["kind"] == "call" and event["signature"] in index:
                index[event["signature"]].append(_settled(event, said.get(event["call_id"])))
    return index


def _settled(event: CallEvent, happened: str | None) -> CallEvent:
    """The call as a person who was asked about its unknown outcome says it ended."""
    if event["status"] != "unknown" or happened not in ("yes", "no"):
        return event
    return {**event, "status": "ok" if happened == "yes" else "not_run"}
