"""The calls of the last reply that wait for an answer, as the policies see them."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from langchain_core.messages import AnyMessage, InvalidToolCall, ToolCall

from loopwright.nodes.origins import from_outside
from loopwright.nodes.wiring import Wiring
from loopwright.policies import PendingCall
from loopwright.state import CallEvent, Event, Failure
from loopwright.tooling import signature
from loopwright.transcript import open_calls


def pending_calls(wiring: Wiring, messages: Sequence[AnyMessage]) -> list[PendingCall]:
    """The unanswered calls in order; one that cannot be read or names no tool carries its failure."""
    return [_pending(wiring, call, messages) for call in open_calls(messages)]


def _pending(wiring: Wiring, call: ToolCall | InvalidToolCall, messages: Sequence[AnyMessage]) -> PendingCall:
    name, args = call["name"] or "", call["args"]
    failure = _unreadable(call) if not isinstance(args, dict) else _unknown(wiring, name)
    shown: Mapping[str, Any] = args if isinstance(args, dict) else {"": args or ""}
    effect = None if failure else wiring.effect(name)
    policy = wiring.toolbox.policy(name)
    mark = signature(name, shown)
    outside = from_outside(wiring, messages, shown) if policy.effect == "write" and failure is None else []
    return PendingCall(call["id"] or "", name, shown, mark, effect, policy.effect, policy.repeatable, failure, outside)


def _unreadable(call: ToolCall | InvalidToolCall) -> Failure:
    error = call.get("error")
    raw = call["args"] if isinstance(call["args"], str) else ""
    if error == "cut off":
        text = "The reply was cut off before this call was whole, so it did not run. Make the call again, shorter."
    elif error == "no tool name":
        text = "The call names no tool, so it did not run. Name one of the tools."
    else:
        text = f"The arguments are not one whole JSON object, so the call did not run: {_where(raw)}. Send valid JSON."
    return {"kind": "invalid_reply", "text": text}


def _where(raw: str) -> str:
    try:
        json.loads(raw, strict=False)
    except ValueError as error:
        return str(error)
    return "another JSON value stands where an object must be"


def _unknown(wiring: Wiring, name: str) -> Failure | None:
    if name in wiring.toolbox.tools:
        return None
    known = ", ".join(sorted(wiring.toolbox.tools)) or "none"
    return {"kind": "unknown_tool", "text": f"There is no tool called {name!r}. Available tools: {known}."}


def histories(calls: Sequence[PendingCall], events: Sequence[Event]) -> dict[str, list[CallEvent]]:
    """For the signature of each pending call, the calls of this branch that had it, oldest first."""
    index: dict[str, list[CallEvent]] = {call.signature: [] for call in calls}
    if index:
        for event in events:
            if event["kind"] == "call" and event["signature"] in index:
                index[event["signature"]].append(event)
    return index
