"""Everything that knows a vendor: loading, calling and strictly reading chat models."""

from loopwright.models.adapting import known_refusals, model_name
from loopwright.models.binding import BoundModel, Offered
from loopwright.models.calling import ask_model
from loopwright.models.loading import (
    default_budget,
    demands_finish,
    keeps_retries,
    load_model,
    loaded,
    take_over_retries,
    takes_one_call,
    takes_response_format,
    takes_strict_schemas,
)
from loopwright.models.prices import check_prices, cost_of, price_of
from loopwright.models.replies import Reply, read_arguments, tokens_of
from loopwright.models.truncation import truncation_notice, window_kept

__all__ = [
    "BoundModel",
    "Offered",
    "Reply",
    "ask_model",
    "check_prices",
    "cost_of",
    "default_budget",
    "demands_finish",
    "keeps_retries",
    "known_refusals",
    "load_model",
    "loaded",
    "model_name",
    "price_of",
    "read_arguments",
    "take_over_retries",
    "takes_one_call",
    "takes_response_format",
    "takes_strict_schemas",
    "tokens_of",
    "truncation_notice",
    "window_kept",
]
