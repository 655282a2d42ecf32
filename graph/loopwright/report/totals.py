"""Sums over events: calls, tokens, USD and seconds; and what each model's tokens are worth."""

from collections.abc import Sequence
from typing import Any

from loopwright.event_shapes import Event
from loopwright.events import executed
from loopwright.memory import calibrated_ratio
from loopwright.report.data import Totals
from loopwright.report.waiting import waits


def totals_of(events: Sequence[Event]) -> Totals:
    """The sums over these events."""
    sums: dict[str, Any] = {name: info.default for name, info in Totals.model_fields.items()}
    for event in events:
        if event["kind"] in ("model", "compression"):
            sums["tokens_in"] += event.get("tokens_in", 0)
            sums["tokens_out"] += event.get("tokens_out", 0)
            if (cost := event.get("cost_usd")) is not None:
                sums["cost_usd"] = (sums["cost_usd"] or 0.0) + cost
        if event["kind"] == "model":
            sums["model_calls"] += 1
            sums["model_seconds"] += event["seconds"]
        elif event["kind"] == "call":
            ran = executed(event)
            sums["tool_calls"] += ran
            sums["failed_calls"] += ran and event["status"] != "ok"
            sums["refused_calls"] += not ran and event["status"] != "served"
            sums["tool_seconds"] += event["seconds"]
        elif event["kind"] == "compression":
            sums["compressions"] += 1
            sums["compression_seconds"] += event["seconds"]
    return Totals(**{**sums, "waiting_seconds": sum(span.end - span.start for span in waits(events))})


def ratios_of(events: Sequence[Event]) -> dict[str, float]:
    """By model, the tokens that its server reports for each one that we count; only of models that were calibrated."""
    models = dict.fromkeys(event.get("counted_as", event["model"]) for event in events if event["kind"] == "model")
    ratios = {model: calibrated_ratio(events, model) for model in models}
    return {model: ratio for model, ratio in ratios.items() if ratio is not None}
