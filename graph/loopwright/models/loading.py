"""From a model's name to a chat model, and one owner of its retries."""

import os
import sys
from typing import TYPE_CHECKING

from langchain_core.language_models import BaseChatModel
from pydantic import SecretStr

from loopwright.errors import ModelFailure, UnknownModel
from loopwright.settings import ModelSettings

if TYPE_CHECKING:
    from langchain_openai.chat_models.base import BaseChatOpenAI

LARGEST_BUDGET = 32_000
"""Tokens of a request by default even where the model's window is larger: long requests cost more than they help."""
UNKNOWN_LOCAL_BUDGET = 8_000
"""Tokens of a request to an unknown model behind an own base URL: local servers often load models with 8k windows."""


def load_model(
    spec: str,
    *,
    base_url: str | None = None,
    api_key: SecretStr | None = None,
    settings: ModelSettings | None = None,
) -> BaseChatModel:
    """The chat model of this name: `openai:NAME` for any OpenAI-compatible endpoint, `offline:demo`, `offline:looper`.

    Raises UnknownModel for a name of another form, and ModelFailure when the endpoint needs a key and there is none.
    """
    provider, _, name = spec.partition(":")
    if provider == "offline" and name in ("demo", "looper"):
        from loopwright.models.offline import OfflineDemo, OfflineLooper

        return OfflineDemo() if name == "demo" else OfflineLooper()
    if provider != "openai" or not name:
        raise UnknownModel(
            f"Model {spec!r} is not known: write openai:NAME (for instance openai:gpt-4o-mini, any OpenAI-compatible "
            "endpoint by its base URL), offline:demo or offline:looper; from Python also any LangChain chat model."
        )
    return _openai(name, base_url, api_key, settings or ModelSettings())


def _openai(name: str, base_url: str | None, api_key: SecretStr | None, settings: ModelSettings) -> BaseChatModel:
    base_url = base_url or os.environ.get("OPENAI_BASE_URL") or os.environ.get("OPENAI_API_BASE")
    if api_key is None and os.environ.get("OPENAI_API_KEY"):
        api_key = SecretStr(os.environ["OPENAI_API_KEY"])
    if api_key is None:
        if not base_url:
            raise ModelFailure(
                f"Model openai:{name} needs a key: set OPENAI_API_KEY, or name a base URL that needs none."
            )
        api_key = SecretStr("none")  # local servers take any key, the client insists on one
    from loopwright.models.openai_chat import OpenAIChat

    return OpenAIChat(
        model=name,
        api_key=api_key,
        base_url=base_url,
        temperature=settings.temperature,
        max_completion_tokens=settings.max_tokens,
        timeout=settings.timeout,
        max_retries=0,
        stream_usage=True,
    )


def as_openai(model: BaseChatModel) -> "BaseChatOpenAI | None":
    """The model as langchain-openai's class, without importing that package for models that are not of it."""
    if "langchain_openai.chat_models.base" not in sys.modules:
        return None
    from langchain_openai.chat_models.base import BaseChatOpenAI

    return model if isinstance(model, BaseChatOpenAI) else None


def take_over_retries(model: BaseChatModel) -> BaseChatModel:
    """The model with its client's retries off where its author left them unset, and usage asked for in streams.

    An instance whose `max_retries` was set to a positive number keeps its own (`keeps_retries`).
    """
    openai = as_openai(model)
    if openai is None:
        return model
    update: dict[str, object] = {}
    if openai.stream_usage is None:
        update["stream_usage"] = True
    if openai.max_retries is None and openai.root_client and openai.root_async_client:
        client = openai.root_client.with_options(max_retries=0)
        async_client = openai.root_async_client.with_options(max_retries=0)
        update |= {
            "max_retries": 0,
            "root_client": client,
            "client": client.chat.completions,
            "root_async_client": async_client,
            "async_client": async_client.chat.completions,
        }
    return model.model_copy(update=update) if update else model


def loaded(model: str | BaseChatModel, settings: ModelSettings) -> BaseChatModel:
    """The model itself or the one of this name, its retries taken over. Raises UnknownModel for what is neither."""
    if not isinstance(model, str) and not hasattr(model, "bind_tools"):  # a chain, or nothing; a bound model has it
        raise UnknownModel(f"A {type(model).__name__} is no model: give a name, or a LangChain chat model.")
    return take_over_retries(load_model(model, settings=settings) if isinstance(model, str) else model)


def keeps_retries(model: BaseChatModel) -> bool:
    """Whether the model's client makes its own retries, so that ours must not multiply them."""
    return bool(getattr(model, "max_retries", None))


def demands_finish(model: BaseChatModel) -> bool:
    """Whether a reply of this model must carry a finish reason: every OpenAI-compatible server sends one."""
    return as_openai(model) is not None


def takes_response_format(model: BaseChatModel) -> bool:
    """Whether the model's class knows the parameter of structured outputs; a server that does not is found out."""
    return as_openai(model) is not None


def takes_one_call(model: BaseChatModel) -> bool:
    """Whether the model's class knows the parameter that turns parallel calls off; a server that does not is found."""
    return as_openai(model) is not None


def takes_strict_schemas(model: BaseChatModel) -> bool:
    """Whether the endpoint is OpenAI's own, which holds its models to strict tool schemas."""
    openai = as_openai(model)
    client = openai.root_client if openai is not None else None
    return client is not None and str(client.base_url.host).endswith("api.openai.com")


def default_budget(model: BaseChatModel, settings: ModelSettings) -> int:
    """Tokens a request may have when the settings say nothing: the model's window without the reply, at most 32,000."""
    window = (model.profile or {}).get("max_input_tokens")
    if isinstance(window, int):
        return max(1, min(LARGEST_BUDGET, window - settings.max_tokens))
    openai = as_openai(model)
    return UNKNOWN_LOCAL_BUDGET if openai is not None and openai.openai_api_base else LARGEST_BUDGET
