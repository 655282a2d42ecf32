"""What makes two calls the same call and two results the same result."""

import json
from collections.abc import Mapping
from hashlib import blake2b


def _canonical(value: object) -> object:
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return int(value)
    if isinstance(value, Mapping):
        return {str(key): _canonical(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_canonical(item) for item in value]
    return value


def signature(tool: str, args: Mapping[str, object]) -> str:
    """Twelve hex digits for the tool's name and canonical arguments: key order and 1 against 1.0 make no difference."""
    text = json.dumps([tool, _canonical(args)], sort_keys=True, ensure_ascii=True, default=repr)
    return blake2b(text.encode(), digest_size=6).hexdigest()


def digest(text: str) -> str:
    """Twelve hex digits that are equal for equal results."""
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=6).hexdigest()
