"""Why a run ended, from its events: the step, the call it was stuck at, the last error, what it used."""

from collections.abc import Sequence
from itertools import groupby

from langchain_core.messages import AIMessage, AnyMessage

from loopwright.events import since_begin
from loopwright.language import Language
from loopwright.policies import advice, shown_call
from loopwright.policies.limits import LIMITS
from loopwright.state import CallEvent, Event, ModelEvent, Run, State, StopReason, StopReport, Verdict
from loopwright.transcript import all_calls

IDLE = ("refused", "served", "error", "unknown", "rejected")
"""What became of a call that brought nothing."""
STUCK_ROUNDS = 2
"""Rounds in a row without news from which on a run that reached a limit was stuck; one error is no rut."""
MOST_STEPS = 8
"""Earlier steps that a report names at most, the newest ones."""
MOST_CHARACTERS = 300
"""Characters of the last error."""


def stop_report(state: State, language: Language) -> StopReport:
    """The report of a run that ends now.

    `step` is the last step before the closing answer. `call_id` names a call only where one is known to be stuck: the
    one that the policy found; where calls were refused or failed round after round, the last of them; where replies
    could not be read, the call that could not. At a plain limit it is the last call only if the last two rounds brought
    nothing new, else None. `earlier_steps` are those of the same call, or of the rounds that failed like it.
    `last_error` is left out when something succeeded at a later step; the closing call's own failure stands in it only
    where nothing else went wrong. `counters` are those of the whole run, closing call and earlier extensions included;
    `cost` is in USD and there only where the model's price is known.
    """
    run, verdict = state["run"], state["verdict"]
    events = since_begin(state["events"])
    reason: StopReason = verdict["stop"] or "answered"
    closing = _closing(events, verdict)
    calls = [event for event in events if event["kind"] == "call"]
    step = run["model_calls"] - (closing is not None and reason != "answered")
    stuck = _stuck(reason, step, calls, verdict.get("call_id"))
    error = None if reason == "answered" else _last_error(events, closing)
    if reason == "context" and error is None:
        error = verdict["reason"]  # by how many tokens the request is over
    return {
        "reason": reason,
        "complete": reason == "answered",
        "policy": verdict["policy"],
        "step": step,
        "call_id": stuck["call_id"] if stuck else None,
        "earlier_steps": _earlier(calls, stuck) if stuck else [],
        "last_error": error,
        "counters": counters_of(run),
        "advice": advice(reason, language, error or ""),
    }


def call_text(messages: Sequence[AnyMessage], call_id: str | None) -> str:
    """The call as the model wrote it, on one line; empty where the transcript has no such call."""
    for message in reversed(messages):
        if isinstance(message, AIMessage):
            for call in all_calls(message):
                if call["id"] == call_id:
                    args = call["args"] if isinstance(call["args"], dict) else {"": call["args"] or ""}
                    return shown_call(call["name"] or "?", args)
    return ""


def _closing(events: Sequence[Event], verdict: Verdict) -> ModelEvent | None:
    """The closing call, where one was made."""
    if not verdict["closing"]:
        return None
    for event in reversed(events):
        if event["kind"] == "model":
            closing: ModelEvent = event
            return closing
        if event["kind"] != "decision" and not (event["kind"] == "call" and event["status"] == "not_run"):
            return None  # a compression that did not help: no closing call followed
    return None


def _stuck(reason: StopReason, step: int, calls: Sequence[CallEvent], named: str | None) -> CallEvent | None:
    if reason == "answered":
        return None
    if named is not None:
        return next((call for call in reversed(calls) if call["call_id"] == named), None)
    if reason in ("repeat", "cycle", "no_progress", "errors", "invalid_replies", "length"):
        newest = next((call for call in reversed(calls) if call["status"] in IDLE), None)
        is_reply = reason in ("invalid_replies", "length")  # which may hold no call: then none is to blame
        return None if newest is None or (is_reply and newest["step"] != step) else newest
    if reason in (*LIMITS, "steps"):
        idle = _idle_rounds(calls)
        return idle[-1][-1] if len(idle) >= STUCK_ROUNDS else None
    return None


def _idle_rounds(calls: Sequence[CallEvent]) -> list[list[CallEvent]]:
    """The newest rounds in a row that brought nothing new, oldest first; calls that were not run belong to none."""
    seen: set[tuple[str, str]] = set()
    idle: list[list[CallEvent]] = []
    for _, group in groupby((call for call in calls if call["status"] != "not_run"), key=lambda call: call["step"]):
        turn = list(group)
        news = {(call["signature"], call["digest"]) for call in turn if call["status"] not in IDLE} - seen
        seen |= news
        idle = [] if news else [*idle, turn]
    return idle


def _earlier(calls: Sequence[CallEvent], stuck: CallEvent) -> list[int]:
    before = calls[: calls.index(stuck)]
    same = [call for call in before if call["signature"] == stuck["signature"]]
    like = same or [call for turn in _idle_rounds(before) for call in turn if call["step"] < stuck["step"]]
    return sorted({call["step"] for call in like})[-MOST_STEPS:]


def _last_error(events: Sequence[Event], closing: ModelEvent | None) -> str | None:
    for event in reversed(events):
        if event["kind"] == "call" and event["status"] == "ok":
            step = event["step"]
            failures = [e for e in events if e["kind"] == "call" and e["step"] >= step and e["failure"]]
            return _text(failures[-1]) if failures else _text(closing)
        if (event["kind"] == "call" or event["kind"] == "model") and event is not closing and event["failure"]:
            return _text(event)
    return _text(closing)


def _text(event: CallEvent | ModelEvent | None) -> str | None:
    return event["failure"]["text"][:MOST_CHARACTERS] if event is not None and event["failure"] else None


def counters_of(run: Run) -> dict[str, float]:
    """What the run has used of each limit by name; `cost` only where the model's price is known."""
    counters: dict[str, float] = {
        "model_calls": run["model_calls"],
        "tool_calls": run["tool_calls"],
        "tokens": run["tokens_in"] + run["tokens_out"],
        "seconds": run["working_seconds"],
    }
    return counters if run["cost_usd"] is None else {**counters, "cost": run["cost_usd"]}
