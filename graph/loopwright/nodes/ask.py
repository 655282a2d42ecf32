"""Pauses the run until a person extends its budget, lets it close, or says what became of a call."""

import time

from loopwright.errors import UsageError
from loopwright.events import publish, stamp
from loopwright.nodes.questions import Decision, put, question
from loopwright.nodes.unsettled import ask_outcome
from loopwright.nodes.wiring import Wiring
from loopwright.policies.limits import check_extension, used
from loopwright.state import PauseEvent, Run, State, Update
from loopwright.steps import Core


def ask(_: Wiring, state: State) -> Core[Update]:
    """Ask about the call that the verdict names, or else whether the run may go on."""
    calls = state["verdict"]["calls"]
    if calls:
        return (yield from ask_outcome(state, calls[0]["call_id"]))
    return _ask_budget(state)


def _ask_budget(state: State) -> Update:
    """Ask for a larger budget, as an editable `extend_budget` action: approve, edit the new limits, or reject."""
    started = time.perf_counter()
    run, verdict = state["run"], state["verdict"]
    limit: str = verdict["stop"] or "model_calls"
    bound = run["limits"].get(limit, 0)
    proposed = {limit: 2 * max(bound, used(run, limit))}
    about = f"budget:{limit}:{bound:g}"
    asked = question("budget", about, "extend_budget", proposed, verdict["question"])
    decision = put(asked, lambda given: extension_problem(run, given))
    extend = proposed if decision["type"] == "approve" else limits_in(decision) if decision["type"] == "edit" else None
    event: PauseEvent = {
        **stamp(run["id"], run["model_calls"], started),
        "kind": "pause",
        "question": verdict["question"],
        "extend": extend,
    }
    return {"events": publish(event)}


def limits_in(decision: Decision) -> dict[str, float]:
    """The new limits that an edit names, those that are numbers."""
    args = decision["args"].items()
    return {name: bound for name, bound in args if isinstance(bound, int | float) and not isinstance(bound, bool)}


def extension_problem(run: Run, decision: Decision) -> str:
    """Why the run cannot go on under these limits; empty when it can."""
    if decision["type"] != "edit":
        return ""
    limits = limits_in(decision)
    if len(limits) < len(decision["args"]):
        return "A limit has to be a number, as in model_calls=70."
    try:
        check_extension(run, limits)
    except UsageError as error:
        return str(error)
    return ""
