"""How many tokens a server reports for one that we count: a pure fold of model events."""

from collections.abc import Sequence
from itertools import islice

from loopwright.event_shapes import Event, ModelEvent
from loopwright.memory.encodings import is_exact

SMALLEST, LARGEST = 0.8, 2.0
"""Between these lie the tokenizers of today's models, compared with o200k_base on English, Chinese, code and JSON."""
LEAST_REQUEST = 500
"""Tokens from which on a request says anything: below, the template around it weighs more than the tokenizer."""
LEAST_SHARE = 0.5
"""A report below this share of the messages is no tokenizer's: the request was cut, or cached tokens were left out."""
NEWEST = 8
"""Model calls that are looked at: the request changes as it grows, and so does what its tokens are worth."""


def token_ratio(events: Sequence[Event], model: str) -> float:
    """Reported tokens for each one that is counted for this model; 1 where it is exact, and while nothing is known."""
    return calibrated_ratio(events, model) or 1.0


def calibrated_ratio(events: Sequence[Event], model: str) -> float | None:
    """The ratio that the log tells, between 0.8 and 2; None where it tells nothing, and for models of tiktoken's own.

    The largest of the model's newest eight calls, so that a request fits also where its text is denser than the last;
    but only of those at least half as long as the longest, since what a template adds weighs less as requests grow.
    """
    if is_exact(model):
        return None
    calls = (e for e in reversed(events) if e["kind"] == "model" and e.get("counted_as", e["model"]) == model)
    found = [(call["request_tokens"], ratio) for call in islice(calls, NEWEST) if (ratio := _ratio(call)) is not None]
    longest = max((counted for counted, _ in found), default=0)
    ratios = [ratio for counted, ratio in found if counted >= longest / 2]
    return min(max(*ratios, SMALLEST), LARGEST) if ratios else None


def _ratio(call: ModelEvent) -> float | None:
    """What one call says; None where something else than the tokenizer explains what was reported.

    Below 1 only as far as the messages alone are: a server that leaves the tools out reports fewer tokens, too.
    """
    reported, counted = call["tokens_in"], call["request_tokens"]
    messages = counted - call["parts"]["tools"]
    if call["estimated"] or counted < LEAST_REQUEST or reported < LEAST_SHARE * messages:
        return None
    if "keeps" in call and reported >= call["keeps"]:
        return None
    return reported / counted if reported >= counted else min(1.0, reported / max(1, messages))
