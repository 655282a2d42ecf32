"""Masks what looks like a secret in error texts, before they reach a log, a checkpoint or a prompt."""

import re

_MASK = "***"
_PATTERNS = (
    re.compile(r"(?<=://)[^\s/@:]+:[^\s/@]+(?=@)"),  # user and password in a URL
    re.compile(r"\bsk-[A-Za-z0-9_-]{12,}"),
    re.compile(r"(?i)(?<=bearer )[A-Za-z0-9._~+/-]{8,}=*"),
    re.compile(r"(?i)(?<=password[=:])\s?\S+|(?<=passwd[=:])\s?\S+|(?<=secret[=:])\s?\S+|(?<=token[=:])\s?\S+"),
    re.compile(r"(?i)(?<=api_key[=:])\s?\S+|(?<=api-key[=:])\s?\S+|(?<=apikey[=:])\s?\S+"),
)


def redact(text: str) -> str:
    """The text with credentials of URLs, keys, bearer tokens and `password=...` replaced by three stars."""
    for pattern in _PATTERNS:
        text = pattern.sub(_MASK, text)
    return text
