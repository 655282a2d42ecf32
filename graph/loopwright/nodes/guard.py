"""The hub: looks at what happened, asks the policies, answers the calls that will not run, says what is next."""

from typing import Any

from loopwright.nodes.direct import direct_answer
from loopwright.nodes.ruling import Ruling, rule, will_not_run
from loopwright.nodes.settling import Entry, has_room, settle
from loopwright.nodes.unsettled import outcome_question, unsettled
from loopwright.nodes.visit import Visit
from loopwright.nodes.wiring import Wiring
from loopwright.policies import Finding, budget_question, closing_instruction, not_run, output_instruction, say
from loopwright.state import CallEvent, Judged, ModelEvent, Rung, State, StopReason, Update, Verdict
from loopwright.tooling.waves import first_wave

_ENDS: dict[str, StopReason] = {
    "auth": "auth",
    "refusal": "refusal",
    "content_filter": "content_filter",
    "context": "context",
    "transient": "model_error",
    "permanent": "model_error",
}
"""The stop reason of a model call's failure that no further request can mend."""


def guard(wiring: Wiring, state: State) -> Update:
    """Decide what happens next. Every decision is an event and, with the node's update, a checkpoint."""
    visit = Visit.of(wiring, state)
    if visit.run["status"] != "running":
        return visit.go("finish", **_kept(state["verdict"]))
    last = visit.newest()
    if last is not None and last["kind"] == "model":
        ended = _reply_ends(visit, last)
        if ended is not None:
            return ended
    if last is not None and last["kind"] == "call" and direct_answer(wiring, state["messages"]):
        return visit.go("finish", stop="answered", policy="return_direct", reason="the tool's result is the answer")
    if last is not None and last["kind"] == "compression" and visit.before["closing"]:
        return _next_request(visit, None)  # it is decided that the run ends: judging it again would not end
    if last is not None and last["kind"] == "pause" and not last["extend"]:
        return _close(visit, _declined(visit.before))
    lost = unsettled(wiring, state) if visit.may_ask() else None
    if lost is not None:
        return _ask_outcome(visit, lost)
    ruling = rule(wiring.policies, visit.view())
    if ruling.run is not None and ruling.run.rung in ("close", "ask"):
        return _close(visit, ruling.run) if ruling.run.rung == "close" else _ask(visit, ruling.run)
    wave = first_wave(_runnable(visit, ruling))
    if wave:
        rungs: dict[str, Rung] = {entry.judged["call_id"]: entry.judged["rung"] for entry in wave}
        return visit.go("execute_tools", rungs, calls=[entry.judged for entry in wave])
    return _next_request(visit, ruling.run if not visit.pending else None)


def _runnable(visit: Visit, ruling: Ruling) -> list[Entry]:
    """The calls that run next. Those in front of them that will not run are answered now, those behind them later.

    So the transcript holds the answers in the order of the calls, and a call is judged by what those before it brought.
    """
    entries: list[Entry] = []
    for call, found in ruling.calls:
        if entries and (will_not_run(call, found) or not has_room(visit, entries, call)):
            break
        entry = settle(visit, call, found)
        if entry is not None:
            entries.append(entry)
    return entries


def _reply_ends(visit: Visit, reply: ModelEvent) -> Update | None:
    """The end that a reply brings: the closing answer, a failure for good, or an answer without a call."""
    if visit.may_shorten(reply):
        why = {"policy": "context", "reason": "the server says the request is too long"}
        return visit.go("compress_memory", **{**_kept(visit.before), **({} if visit.before["closing"] else why)})
    if visit.falls_back(reply):
        return visit.request(**_kept(visit.before)) if visit.before["closing"] else None
    if visit.before["closing"]:
        visit.answer_all(not_run(visit.language()))
        return _reshaped(visit, reply) or visit.go("finish", **_kept(visit.before))
    if reply["failure"] is not None and reply["failure"]["kind"] in _ENDS:
        return _model_failed(visit, reply)
    if reply["failure"] is None and not visit.pending:
        ended = _reshaped(visit, reply)
        return ended or visit.go("finish", stop="answered", policy="answer", reason="the model answered without a call")
    return None


def _reshaped(visit: Visit, reply: ModelEvent) -> Update | None:
    """Ask once more for an answer that has not the demanded form, also at a limit; then the run ends without it."""
    problem = visit.misshapen() if reply["failure"] is None else ""
    if not problem:
        return None
    before = visit.before
    if before["reshaping"] or not visit.steps_left.fit_another_answer:
        if before["closing"] and before["stop"] != "answered":
            return None  # a limit stays the reason
        return visit.go("finish", stop="invalid_replies", policy="output", reason=problem)
    nudge = output_instruction(problem, visit.language())
    why = _kept(before) if before["closing"] else {"stop": "answered", "policy": "output", "reason": problem}
    return visit.request(**{**why, "closing": True, "reshaping": True, "nudge": nudge})


def _next_request(visit: Visit, judged: Finding | None) -> Update:
    """Every call is answered: judge the run as a whole, then the model's turn, after a compression if need be.

    `judged` is what was found about the run where no call was pending, so that nothing has changed since.
    """
    last = visit.newest()
    if last is not None and last["kind"] == "compression":
        if last["after"] > visit.budget():
            why = {"stop": "context", "policy": "budget", "reason": visit.over_budget(last["after"])}
            return visit.go("finish", None, **(_kept(visit.before) if visit.before["closing"] else why))
        return visit.go("call_model", **_kept(visit.before))
    found = judged if not visit.pending else rule(visit.wiring.policies, visit.view(pending=())).run
    if found is not None and found.rung in ("close", "ask"):
        return _close(visit, found) if found.rung == "close" else _ask(visit, found)
    if found is None and last is not None and last["kind"] == "model" and last["failure"] and visit.falls_back(last):
        return visit.request(policy="fallback", reason=f"{last['model']} failed: {last['failure']['text']}")
    nudge = say(found, visit.language()) if found else ""
    return visit.request(nudge=nudge, policy=found.policy if found else "", reason=found.reason if found else "")


def _close(visit: Visit, found: Finding) -> Update:
    """Answer what is open as not run, and make the closing request: no tools, what was found, why it stops."""
    visit.answer_all(not_run(visit.language()))
    reason: StopReason = found.stop or "no_progress"
    nudge = closing_instruction(found, reason, visit.language())
    why = {"stop": reason, "policy": found.policy, "reason": found.reason, "call_id": found.call_id}
    return visit.request(nudge=nudge, closing=True, **why)


def _ask(visit: Visit, found: Finding) -> Update:
    question = budget_question(found, visit.language())
    return visit.go("ask", stop=found.stop, policy=found.policy, reason=found.reason, question=question)


def _ask_outcome(visit: Visit, call: CallEvent) -> Update:
    """Ask whether a call of unknown outcome happened, where its tool asks for approval."""
    question = outcome_question(call, visit.language())
    about: Judged = {"call_id": call["call_id"], "rung": "ask", "policy": "unknown_outcome", "text": ""}
    reason = f"{call['tool']}: its outcome is not known"
    return visit.go("ask", calls=[about], policy="unknown_outcome", reason=reason, question=question)


def _declined(before: Verdict) -> Finding:
    return Finding("close", before["policy"], f"{before['reason']}; not extended", stop=before["stop"])


def _model_failed(visit: Visit, event: ModelEvent) -> Update:
    """A model call failed for good: the run ends with what it has."""
    failure = event["failure"]
    assert failure is not None
    visit.answer_all(not_run(visit.language()))
    return visit.go("finish", stop=_ENDS[failure["kind"]], policy="model", reason=failure["text"])


def _kept(before: Verdict) -> dict[str, Any]:
    """What of a verdict still holds after the compression or the closing call that it led to."""
    return {
        "closing": before["closing"],
        "reshaping": before["reshaping"],
        "call_id": before.get("call_id"),  # threads of an earlier version have none
        "withheld": before["withheld"],
        "nudge": before["nudge"],
        "stop": before["stop"],
        "policy": before["policy"],
        "reason": before["reason"],
    }
