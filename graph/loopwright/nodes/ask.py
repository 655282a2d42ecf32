"""Pauses the run until a person extends its budget or lets it close."""

import time

from loopwright.events import publish, stamp
from loopwright.nodes.questions import put, question
from loopwright.nodes.wiring import Wiring
from loopwright.state import PauseEvent, State, Update


def ask(_: Wiring, state: State) -> Update:
    """Ask whether the run may go on, as an editable `extend_budget` action: approve, edit the new limits, or reject."""
    started = time.perf_counter()
    run, verdict = state["run"], state["verdict"]
    limit: str = verdict["stop"] or "model_calls"
    proposed = {limit: run["limits"].get(limit, 0) * 2}
    about = f"budget:{limit}:{run['limits'].get(limit, 0):g}"
    decision = put(question("budget", about, "extend_budget", proposed, verdict["question"]))
    extend: dict[str, float] | None = None
    if decision["type"] == "approve":
        extend = proposed
    elif decision["type"] == "edit":
        extend = {name: float(bound) for name, bound in decision["args"].items() if isinstance(bound, int | float)}
    event: PauseEvent = {
        **stamp(run["id"], run["model_calls"], started),
        "kind": "pause",
        "question": verdict["question"],
        "extend": extend or None,
    }
    return {"events": publish(event)}
