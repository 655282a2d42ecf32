"""The event of one tool call, whoever answered it: the tool, the guard in its stead, or begin."""

from typing import Any

from loopwright.events import stamp
from loopwright.state import CallEvent, Effect
from loopwright.tooling import Outcome, digest


def call_event(
    run: str,
    step: int,
    started: float,
    *,
    call_id: str,
    tool: str,
    effect: Effect | None,
    signature: str,
    outcome: Outcome,
    retries: int = 0,
    ref: str | None = None,
    edited_args: dict[str, Any] | None = None,
) -> CallEvent:
    """What became of a call that began at `started` (of `time.perf_counter`); its digest is of the whole outcome."""
    return {
        **stamp(run, step, started),
        "kind": "call",
        "call_id": call_id,
        "tool": tool,
        "effect": effect,
        "signature": signature,
        "digest": digest(outcome.text),
        "status": outcome.status,
        "failure": outcome.failure,
        "retries": retries,
        "ref": ref,
        "edited_args": edited_args,
    }
