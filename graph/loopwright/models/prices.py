"""What a request costs in USD: a small table of well-known models, and the user's own prices before it.

OpenAI's list prices per million tokens, standard tier, as of December 2025 (https://platform.openai.com/docs/pricing);
compared with the tables that public projects keep of it up to March 2026. Only names whose price stays with the name
are here: a price that moves under one name (an alias such as DeepSeek's `deepseek-chat`) would be wrong in silence.
"""

import re
import warnings
from collections.abc import Mapping, Sequence

from langchain_core.language_models import BaseChatModel
from langchain_core.messages.ai import UsageMetadata

from loopwright.models.adapting import model_name
from loopwright.settings import Price, Settings

PRICES: dict[str, Price] = {
    name: Price(input=given, cached_input=cached, output=written)
    for name, given, cached, written in (
        ("gpt-3.5-turbo", 0.50, None, 1.50),
        ("gpt-4", 30.00, None, 60.00),
        ("gpt-4-turbo", 10.00, None, 30.00),
        ("gpt-4o", 2.50, 1.25, 10.00),
        ("gpt-4o-2024-05-13", 5.00, None, 15.00),
        ("gpt-4o-mini", 0.15, 0.075, 0.60),
        ("gpt-4.1", 2.00, 0.50, 8.00),
        ("gpt-4.1-mini", 0.40, 0.10, 1.60),
        ("gpt-4.1-nano", 0.10, 0.025, 0.40),
        ("gpt-5", 1.25, 0.125, 10.00),
        ("gpt-5-mini", 0.25, 0.025, 2.00),
        ("gpt-5-nano", 0.05, 0.005, 0.40),
        ("gpt-5-pro", 15.00, None, 120.00),
        ("gpt-5.1", 1.25, 0.125, 10.00),
        ("gpt-5.2", 1.75, 0.175, 14.00),
        ("gpt-5.2-pro", 21.00, None, 168.00),
        ("o1", 15.00, 7.50, 60.00),
        ("o3", 2.00, 0.50, 8.00),
        ("o3-mini", 1.10, 0.55, 4.40),
        ("o3-pro", 20.00, None, 80.00),
        ("o4-mini", 1.10, 0.275, 4.40),
    )
}
_DATED = re.compile(r"(-\d{4}(-\d{2}-\d{2})?|-(chat-)?latest)?")
"""What may follow a name of the table: `gpt-4o-2024-08-06` costs what `gpt-4o` does, `gpt-4o-audio` does not."""
_MILLION = 1_000_000


def price_of(name: str, own: Mapping[str, Price]) -> Price | None:
    """The price of a model, or None where it is not known.

    In `own`, the longest name that this one begins with; else in the table, where only a date may follow. A router's
    prefix (`openai/gpt-4o`) is looked past.
    """
    for known in sorted(own, key=len, reverse=True):
        if name.startswith(known):
            return own[known]
    bare = name.rpartition("/")[2]
    for known in sorted(PRICES, key=len, reverse=True):
        if bare.startswith(known) and _DATED.fullmatch(bare[len(known) :]):
            return PRICES[known]
    return None


def check_prices(models: Sequence[BaseChatModel], settings: Settings) -> None:
    """Warns (UserWarning) of a limit in USD that cannot count the calls of one of the models: its price is not known.

    A run under such a limit says so once more, in its first model event.
    """
    if settings.max_cost_usd is None:
        return
    names = [model_name(model) for model in models]
    unpriced = [name for name in names if price_of(name, settings.model.prices) is None]
    if unpriced:
        warnings.warn(
            f"max_cost_usd is set, but no price is known for {', '.join(unpriced)}, whose calls it cannot count: name "
            "it in the settings, model.prices.",
            UserWarning,
            stacklevel=4,
        )


def cost_of(price: Price | None, usage: UsageMetadata | None, tokens_in: int, tokens_out: int) -> float | None:
    """USD of one request with these tokens, those read from a cache at their own price; None without a price."""
    if price is None:
        return None
    read = usage.get("input_token_details", {}).get("cache_read", 0) if usage is not None else 0
    cached = min(max(0, read), tokens_in) if price.cached_input is not None else 0
    spent = (tokens_in - cached) * price.input + cached * (price.cached_input or 0.0) + tokens_out * price.output
    return round(spent / _MILLION, 9)
