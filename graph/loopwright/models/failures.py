"""Which class a model call's error belongs to, and how long the server asked us to wait."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from langchain_core.exceptions import (
    ContextOverflowError,
    ModelAuthenticationError,
    ModelError,
    ModelPermissionDeniedError,
    ModelRefusalError,
)

from loopwright.redaction import redact
from loopwright.sanitise import clean_text
from loopwright.state import Failure, FailureKind

MAX_TEXT = 500
"""Characters of a server's error text that are kept."""


class CutOff(Exception):
    """The stream ended without a finish reason: what came may be half of what was meant."""


def model_failure(error: BaseException) -> Failure:
    """The failure class of what a model call raised: transient is worth another try, everything else is not."""
    return {"kind": _kind(error), "text": redact(clean_text(f"{type(error).__name__}: {_text(error)}"))[:MAX_TEXT]}


def _kind(error: BaseException) -> FailureKind:
    if isinstance(error, ContextOverflowError) or _code(error) == "context_length_exceeded":
        return "context"
    if isinstance(error, ModelAuthenticationError | ModelPermissionDeniedError) or _code(error) == "insufficient_quota":
        return "auth"
    if isinstance(error, ModelRefusalError):
        return "refusal"
    if _code(error) == "content_filter":
        return "content_filter"
    if isinstance(error, ModelError):
        return "transient" if error.is_retryable else "permanent"
    if isinstance(error, CutOff | ConnectionError | TimeoutError | json.JSONDecodeError):
        return "transient"
    status = getattr(error, "status_code", None)
    if isinstance(status, int):
        return "transient" if status in (408, 409, 425, 429) or status >= 500 else "permanent"
    # a stream that breaks in its body raises the HTTP client's own error, which no integration wraps
    if any(parent.__name__ in ("TransportError", "APIConnectionError", "APIError") for parent in type(error).__mro__):
        return "transient"
    return "permanent"


def _code(error: BaseException) -> str | None:
    code = getattr(error, "code", None)
    return code if isinstance(code, str) else None


def _text(error: BaseException) -> str:
    return str(getattr(error, "message", None) or error) or "no text"


def retry_after(error: BaseException) -> float | None:
    """Seconds the server asked to wait (`retry-after-ms`, `retry-after` in seconds or as a date), or None."""
    headers = getattr(getattr(error, "response", None), "headers", None)
    if not isinstance(headers, Mapping):
        return None
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        try:
            return max(0.0, float(headers[name]) * unit)
        except (KeyError, ValueError):
            continue
    try:
        until = parsedate_to_datetime(headers.get("retry-after", ""))
        return max(0.0, (until - datetime.now(UTC)).total_seconds())
    except (TypeError, ValueError):
        return None
