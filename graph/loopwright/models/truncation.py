"""Tells a server that cuts long requests in silence by the prompt tokens it reports: a pure fold of model events."""

from collections.abc import Iterator, Sequence

from loopwright.state import Event, ModelEvent

LEAST_REQUEST = 1_500
"""Tokens from which on a request says anything: below, templates and another tokenizer weigh too much."""
SHARE = 0.5
"""Reported tokens below this share of the counted ones are too few: tokenizers differ by a factor of 0.8 to 2."""
GROWN, LEVEL = 1.25, 1.05
"""A request this much longer that is reported as at most this much more was cut: no tokenizer varies so from text to
text."""
LEAST_WINDOW = 1_000
"""Fewer reported tokens are no window but a server that leaves cached tokens out: the smallest default is 2,048."""


def falls_short(event: ModelEvent) -> bool:
    """Whether the server reports far fewer prompt tokens than were sent; one that leaves out the tools cuts nothing."""
    short = LEAST_WINDOW <= event["tokens_in"] < SHARE * _messages(event)
    return short and not event["estimated"] and event["request_tokens"] > LEAST_REQUEST


def window_kept(events: Sequence[Event], newest: ModelEvent) -> int | None:
    """Tokens of a request that the server seems to keep, after `newest`; None while there is no sign that it cuts.

    A window shows as a plateau: two requests of a run with the same model fell short, one of them a quarter longer than
    the other, and both were reported as about the most that ever was. (A tokenizer that makes fewer tokens than ours
    reports more as the request grows.) From then on the most that was reported is taken for the window, and requests
    are kept below it for the rest of the run.
    """
    before = next(_earlier(events, newest), None)
    known = before.get("keeps") if before is not None else None
    if not falls_short(newest):
        return known
    if known is not None:
        return max(known, newest["tokens_in"])
    earlier = list(_earlier(events, newest))
    top = max(event["tokens_in"] for event in (*earlier, newest) if not event["estimated"])
    flat = [event for event in (*earlier, newest) if falls_short(event) and event["tokens_in"] * LEVEL >= top]
    lengths = [_messages(event) for event in flat]
    return top if newest in flat and max(lengths) >= GROWN * min(lengths) else None


def _earlier(events: Sequence[Event], newest: ModelEvent) -> Iterator[ModelEvent]:
    """The run's earlier calls of the same model, the last one first; `events` is the thread's log."""
    for event in reversed(events):
        if event["kind"] == "begin":
            return
        if event["kind"] == "model" and event.get("place", 0) == newest.get("place", 0):
            yield event


def _messages(event: ModelEvent) -> int:
    """Counted tokens of the request without its tools."""
    return event["request_tokens"] - event["parts"]["tools"]


def truncation_notice(newest: ModelEvent, keeps: int) -> str:
    """What the report says about a server that cuts requests."""
    return (
        f"The server reports {newest['tokens_in']} prompt tokens where about {newest['request_tokens']} were sent, and "
        "no more for a request a quarter longer than another: it seems to cut requests in silence. The requests of "
        f"this run are kept within {keeps} "
        "tokens; give the server a larger window (num_ctx with Ollama, --max-model-len with vLLM), or set "
        "context_tokens."
    )
