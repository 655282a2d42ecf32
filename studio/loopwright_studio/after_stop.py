"""What a person needs after a stop: what the stuck call gave, and a limit that would do."""

from math import ceil

from loopwright.report import CallReport, RunEntry
from loopwright.shapes import StopReport


def outcome_of(run: RunEntry, call: CallReport) -> str:
    """What this call gave when it last really ran; where it never did, what the model was told instead."""
    same = [each for turn in run.rounds for each in turn.calls if (each.tool, each.args) == (call.tool, call.args)]
    ran = next((each for each in reversed(same) if each.status in ("ok", "error", "unknown")), call)
    return ran.result or ""


def larger(stop: StopReport) -> str:
    """Twice what was used of the limit that was reached, as `--extend` takes it."""
    limit, used = stop["reason"], stop["counters"].get(stop["reason"], 0.0)
    return f"{limit}={2 * used:.2g}" if limit == "cost" and used else f"{limit}={max(1, ceil(2 * used))}"
