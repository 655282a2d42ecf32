"""Sums over events: calls, tokens, USD and seconds."""

from collections.abc import Iterable
from typing import Any

from loopwright.events import executed
from loopwright.report.data import Totals
from loopwright.state import Event


def totals_of(events: Iterable[Event]) -> Totals:
    """The sums over these events."""
    sums: dict[str, Any] = {name: info.default for name, info in Totals.model_fields.items()}
    for event in events:
        if event["kind"] == "model":
            sums["model_calls"] += 1
            sums["tokens_in"] += event["tokens_in"]
            sums["tokens_out"] += event["tokens_out"]
            sums["model_seconds"] += event["seconds"]
            if event["cost_usd"] is not None:
                sums["cost_usd"] = (sums["cost_usd"] or 0.0) + event["cost_usd"]
        elif event["kind"] == "call":
            sums["tool_calls"] += executed(event)
            sums["failed_calls"] += event["status"] in ("error", "unknown")
            sums["refused_calls"] += event["status"] in ("refused", "rejected", "not_run")
            sums["tool_seconds"] += event["seconds"]
        elif event["kind"] == "compression":
            sums["compressions"] += 1
            sums["compression_seconds"] += event["seconds"]
    return Totals(**sums)
