"""What each endpoint of this process is known not to take, and a model without it."""

from collections.abc import Collection, Mapping
from typing import Any

from langchain_core.language_models import BaseChatModel

from loopwright.models.loading import as_openai
from loopwright.models.refusals import Part

_known: dict[tuple[str, str, str], frozenset[Part]] = {}
"""By class, model name and base URL. Two threads that learn at once may lose one entry: it is learned again."""
_LENGTH: tuple[Part, Part] = ("max_completion_tokens", "max_tokens")
_ONLY_WITH_TOOLS: tuple[Part, ...] = ("parallel_tool_calls", "tool_choice")
_EXTRA = ("model_kwargs", "extra_body")
"""Fields in which a user may have put parameters by name."""


def known_refusals(model: BaseChatModel) -> frozenset[Part]:
    """What the model's endpoint has refused in this process."""
    return _known.get(_endpoint(model), frozenset())


def remember_refusal(model: BaseChatModel, part: Part) -> None:
    """Keep in mind that the model's endpoint does not take this."""
    more: frozenset[Part] = frozenset({part})
    _known[_endpoint(model)] = known_refusals(model) | more


def _endpoint(model: BaseChatModel) -> tuple[str, str, str]:
    return type(model).__qualname__, model_name(model), base_url(model)


def base_url(model: BaseChatModel) -> str:
    """Where the model is reached; empty where that is its vendor's own address and its class says nothing."""
    openai = as_openai(model)
    if openai is not None and openai.root_client is not None:
        return str(openai.root_client.base_url)
    for attribute in ("openai_api_base", "base_url", "endpoint"):
        if value := getattr(model, attribute, None):
            return str(value)
    return ""


def model_name(model: Any) -> str:
    """The model's own name, for counting and for the log; its class when it has none."""
    for attribute in ("model_name", "model"):
        name = getattr(model, attribute, None)
        if isinstance(name, str) and name:
            return name
    return str(getattr(model, "_llm_type", type(model).__name__))


def without(model: BaseChatModel, parts: Collection[Part], *, has_tools: bool) -> BaseChatModel:
    """A copy of the model that does not send these parts; the model itself where it sends none of them.

    The limit of a reply goes under its other name as long as that one was not refused as well.
    """
    parts = {*parts, *(() if has_tools else _ONLY_WITH_TOOLS)}
    update: dict[str, Any] = {}
    for field in _EXTRA:
        given = getattr(model, field, None)
        if isinstance(given, Mapping) and given.keys() & parts:
            update[field] = {name: value for name, value in given.items() if name not in parts}
    for part in parts.intersection(type(model).model_fields).difference(_LENGTH):
        if getattr(model, part) is not None:
            update[part] = None
    if "stream_options" in parts and getattr(model, "stream_usage", None):
        update["stream_usage"] = False
    limit = getattr(model, "max_tokens", None)
    if limit is not None and parts.intersection(_LENGTH):
        update["max_tokens"] = None
        other = next((name for name in _LENGTH if name not in parts), None)
        if other and "extra_body" in type(model).model_fields:
            body = update.get("extra_body", getattr(model, "extra_body", None)) or {}
            update["extra_body"] = {other: limit, **body}
    return model.model_copy(update=update) if update else model
