"""Reads from a server's 400 which part of the request it does not know, in the words of the servers in use."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Literal, TypeAlias, get_args

Part: TypeAlias = Literal[
    "max_completion_tokens", "max_tokens", "temperature", "top_p", "seed", "presence_penalty", "frequency_penalty",
    "parallel_tool_calls", "stream_options", "tool_choice", "response_format", "strict", "history_without_tools",
    "tools",
]  # fmt: skip
"""What a request can go without: parameters by name; `strict`, the strict schemas of tools; `history_without_tools`,
calls and results in a request that offers no tools; `tools`, all tools, of a model that cannot call any."""

PARAMETERS = tuple(part for part in get_args(Part) if part not in ("history_without_tools", "tools"))
_READ = 1_000
"""Characters of an error text that are looked at: what follows is mostly the request itself, sent back."""

_REFUSAL = re.compile(
    r"not supported|unsupported|does(?:n't| not) support|only supports?|only [^.]{0,40}(?:allowed|supported)"
    r"|unrecogni[sz]ed|unknown (?:parameter|argument|field|name|property)|not (?:permitted|allowed|recogni[sz]ed)"
    r"|extra_forbidden|invalid parameter|unexpected (?:parameter|argument|field|keyword|property)"
    r"|cannot unmarshal|supported (?:string )?values",
    re.IGNORECASE,
)
_NAMES = re.compile(rf"(?<!\w)({'|'.join(PARAMETERS)})(?!\w)")
_PLACE = re.compile(r"""['"]?loc['"]?\s*:\s*[\[(]([^\])]*)[\])]""")
_SCHEMA = re.compile(r"invalid schema for function|invalid_function_parameters", re.IGNORECASE)
_NEEDS_TOOLS = re.compile(
    r"must (?:also )?define ['\"`]?tools|toolConfig field must be defined"
    r"|expects? the [`'\"]?tools=?[`'\"]? param|tools[`'\"]? must be (?:set|provided|specified)",
    re.IGNORECASE,
)

_NO_TOOLS = re.compile(
    r"(?:does not|doesn't) support (?:tools|tool use|tool calling|function calling)"
    r"|endpoints found that support tool use|requires --enable-auto-tool-choice|tools param requires",
    re.IGNORECASE,
)
"""Ollama, OpenRouter, vLLM and llama.cpp about a model or a server without tool calling."""
_NO_FORM = re.compile(r"json[ _]schema|schema for response_format|failed to parse grammar", re.IGNORECASE)
"""OpenAI, vLLM and llama.cpp about a `response_format` that they cannot enforce."""


def refused_part(error: BaseException) -> Part | None:
    """What this error says the server does not take, or None: another status than 400 or 422, or another problem."""
    code, text = str(getattr(error, "code", None) or ""), _text(error)[:_READ]
    if _status(error) in (400, 404, 422, 500, 501) and _NO_TOOLS.search(text):
        return "tools"
    if _status(error) not in (400, 422):
        return None
    if _SCHEMA.search(text) or code == "invalid_function_parameters":
        return "strict"
    if _NEEDS_TOOLS.search(text):
        return "history_without_tools"
    named = _last(str(getattr(error, "param", None) or ""))
    if named and (_REFUSAL.search(text) or code.startswith(("unsupported", "unknown"))):
        return named
    if named == "response_format" or _NO_FORM.search(text):
        return "response_format"
    if not _REFUSAL.search(text):
        return None
    places = list(_places(text))
    if places:  # pydantic's details: what stands elsewhere in them is the request, sent back
        return next((part for part in map(_last, places) if part), None)
    found = _NAMES.search(text)
    return _as_part(found[1]) if found else None


def _status(error: BaseException) -> int | None:
    response = getattr(error, "response", None)
    status = getattr(error, "status_code", None) or getattr(response, "status_code", None)
    return status if isinstance(status, int) else None


def _text(error: BaseException) -> str:
    """The server's own words: the body where there is one, else the error's text."""
    body = getattr(error, "body", None)
    if isinstance(body, Mapping):
        return json.dumps(body, ensure_ascii=False, default=str).replace('\\"', '"')
    return str(body or getattr(getattr(error, "response", None), "text", "") or error)


def _places(text: str) -> Iterator[str]:
    """The locations in pydantic's details, as dotted paths, whether the details came as JSON or as Python's text."""
    for found in _PLACE.finditer(text):
        yield ".".join(piece.strip(" '\"") for piece in found[1].split(","))


def _last(path: str) -> Part | None:
    """The part that a dotted path ends in; none for what lies in a message."""
    inside = "messages" in path
    return None if inside else _as_part(path.replace("[", ".").rstrip(".]").rpartition(".")[2])


def _as_part(name: str) -> Any:
    return name if name in PARAMETERS else None
