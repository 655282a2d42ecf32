"""Makes what enters from outside (user, model, tool) safe to store: no lone surrogate, NUL, huge integer or NaN."""

import math
from typing import Any, TypeVar

from langchain_core.messages import AIMessage, BaseMessage

_M = TypeVar("_M", bound=BaseMessage)
_INT64 = 2**63


def clean_text(text: str) -> str:
    """The text with lone surrogates as U+FFFD and NUL as U+2400: both break checkpoint writes or stores."""
    if "\x00" in text:
        text = text.replace("\x00", "\u2400")
    if not text.isascii() and any("\ud800" <= c <= "\udfff" for c in text):
        text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def sanitise(value: Any) -> Any:
    """A JSON-like value with every text cleaned; integers over 64 bits and non-finite floats become their text."""
    if isinstance(value, str):
        return clean_text(value)
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, int):
        return value if -_INT64 <= value < _INT64 else str(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, dict):
        return {clean_text(str(key)): sanitise(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [sanitise(item) for item in value]
    return value


def sanitise_message(message: _M) -> _M:
    """The message, or a cleaned copy when something in it could not be stored."""
    content = sanitise(message.content)
    update: dict[str, object] = {} if content == message.content else {"content": content}
    if message.additional_kwargs:
        update["additional_kwargs"] = sanitise(message.additional_kwargs)
    if isinstance(message, AIMessage) and (message.tool_calls or message.invalid_tool_calls):
        update["tool_calls"] = sanitise(message.tool_calls)
        update["invalid_tool_calls"] = sanitise(message.invalid_tool_calls)
    return message.model_copy(update=update) if update else message
