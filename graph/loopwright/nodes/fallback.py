"""Which of the agent's models answers next: the first, or one behind it after those before failed for good."""

from collections.abc import Sequence

from loopwright.state import Event, ModelEvent

FALLS_BACK = frozenset({"transient", "permanent", "auth"})
"""Failures that another model may not share; one too long, filtered or refused lies in the request itself."""


def last_reply_of_run(events: Sequence[Event]) -> ModelEvent | None:
    """The newest model event of this run, if any: none before the last begin event."""
    run = (event for event in reversed(events) if event["kind"] in ("model", "begin"))
    newest = next(run, None)
    return newest if newest is not None and newest["kind"] == "model" else None


def falls_back(event: ModelEvent, models: int) -> bool:
    """Whether the request of this event goes to the next of so many models."""
    failure = event["failure"]
    return failure is not None and failure["kind"] in FALLS_BACK and event.get("place", 0) + 1 < models


def place_in_use(newest: ModelEvent | None, models: int) -> int:
    """The place of the model that answers next.

    It stays until the run ends or is extended: to try the failed one again in each round would cost each round all its
    tries and waiting. The next run begins with the first model.
    """
    if newest is None:
        return 0
    place = newest.get("place", 0) + falls_back(newest, models)
    return min(place, models - 1)  # an older thread may have had more fallbacks
