"""What becomes of each judged call: it is sent, or answered in the tool's stead."""

from collections.abc import Sequence
from dataclasses import dataclass

from langchain_core.messages import ToolMessage

from loopwright.nodes.visit import Visit
from loopwright.policies import Finding, PendingCall, say
from loopwright.state import Effect, Judged, Rung
from loopwright.tooling.approval import asks_approval


@dataclass(frozen=True)
class Entry:
    """A call that will be sent, with the effect that the waves need."""

    judged: Judged
    effect: Effect | None


def settle(visit: Visit, call: PendingCall, found: Finding | None) -> Entry | None:
    """The call as it will be sent, or None after it was answered here: refused, served, unreadable, unknown."""
    if found is not None and found.withhold:
        visit.withheld.append(call.tool)
    if found is not None:
        visit.why.append((found.policy, found.reason))
    elif call.failure is not None:
        visit.why.append(("call", call.failure["kind"].replace("_", " ")))
    earlier = _served(visit, found) if found is not None and found.rung == "serve" else None
    if found is not None and found.rung == "block":
        visit.answer(call, "not_run" if found.later else "refused", say(found, visit.language()), None)
    elif earlier is not None:
        visit.answer(call, "served", earlier, None)
    elif call.failure is not None:
        visit.answer(call, "error", f"Error: {call.failure['text']}", call.failure)
    else:
        rung = _rung(visit, call, found)
        text = say(found, visit.language()) if found else ""
        policy = found.policy if found else ""
        return Entry({"call_id": call.id, "rung": rung, "policy": policy, "text": text}, call.effect)
    return None


def _served(visit: Visit, found: Finding) -> str | None:
    """The stored result with the note behind it; None where there is none, so that the call has to run."""
    source = found.facts.get("served_from")
    for message in reversed(visit.state["messages"]):
        if isinstance(message, ToolMessage) and message.tool_call_id == source:
            return f"{message.text}\n{say(found, visit.language())}"
    return None


def has_room(visit: Visit, entries: Sequence[Entry], call: PendingCall) -> bool:
    """Whether one call more fits beside those that are about to run: no wave runs past a limit of tool calls."""
    bound = visit.run["limits"].get("tool_calls")
    if bound is not None and visit.run["tool_calls"] + len(entries) >= bound:
        return False
    most = visit.settings.tools.max_calls.get(call.tool)
    if most is None:
        return True
    sent = {entry.judged["call_id"] for entry in entries}
    beside = sum(other.id in sent and other.tool == call.tool for other in visit.pending)
    return visit.tool_counts()[call.tool] + beside < most


def _rung(visit: Visit, call: PendingCall, found: Finding | None) -> Rung:
    """How the call is sent: a person is asked where a policy or the tool wants it, which is decided here once."""
    if found is not None and found.rung == "ask":
        return "ask"
    box = visit.wiring.toolbox
    if asks_approval(box.tools[call.tool], box.settings, call.args):
        return "ask"
    return "note" if found is not None and found.rung == "note" else "run"
