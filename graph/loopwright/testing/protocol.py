"""What an OpenAI-compatible server refuses before any model sees it: one pure function of the request."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from loopwright.testing.json_types import JSON, JSONObject
from loopwright.testing.schemas import TOOL_NAME, tool_problems

LONGEST_CALL_ID = 40
"""Characters of a tool call's id that OpenAI takes."""
_PARTICIPANT = re.compile(r"[^\s<|\\/>]{1,64}")
_PARTS = {
    "system": {"text"},
    "developer": {"text"},
    "user": {"text", "image_url", "input_audio", "file"},
    "assistant": {"text", "refusal"},
    "tool": {"text"},
}
"""The types of content parts that each role may have; its keys are all roles there are."""


def illegal(request: Mapping[str, Any]) -> str | None:
    """Why a strict server answers this request body with 400, or None when the body is legal.

    The body is what is sent to /v1/chat/completions: `model`, `messages`, `tools` and so on. Call ids may come back
    in a later turn, as with OpenAI; within one turn they are unique.
    """
    return next(_problems(dict(request)), None)


def _problems(request: JSONObject) -> Iterator[str]:
    """Every problem in turn; only the first one is sure to be meant, what follows may stem from it."""
    if _lone_surrogate(request):
        yield "We could not parse the JSON body of your request: it holds a lone surrogate, which is no Unicode text."
    if not isinstance(request.get("model"), str):
        yield "You must provide a model parameter."
    messages = request.get("messages")
    if not isinstance(messages, list):
        yield "Missing required parameter: 'messages', a list."
        return
    if not messages:
        yield "Invalid 'messages': empty array. Expected an array with minimum length 1."
    for position, message in enumerate(messages):
        yield from _message_problems(message, f"messages[{position}]")
    yield from _history_problems([message for message in messages if isinstance(message, dict)])
    yield from tool_problems(request)
    yield from _option_problems(request, messages)


def _lone_surrogate(value: JSON) -> bool:
    if isinstance(value, str):
        return not value.isascii() and any("\ud800" <= c <= "\udfff" for c in value)
    if isinstance(value, dict):
        return any(_lone_surrogate(part) for item in value.items() for part in item)
    return isinstance(value, list) and any(map(_lone_surrogate, value))


def _message_problems(message: JSON, where: str) -> Iterator[str]:
    if not isinstance(message, dict):
        yield f"Invalid type for '{where}': expected an object."
        return
    role = message.get("role")
    if not isinstance(role, str) or role not in _PARTS:
        yield f"Invalid value: {role!r} for '{where}.role'. Supported values are: {', '.join(map(repr, _PARTS))}."
        return
    name = message.get("name")
    if name is not None and not (isinstance(name, str) and _PARTICIPANT.fullmatch(name)):
        yield f"Invalid '{where}.name': string does not match pattern. Expected '^[^\\s<|\\\\/>]+$'."
    if role == "tool" and not isinstance(message.get("tool_call_id"), str):
        yield f"Missing required parameter: '{where}.tool_call_id'."
    calls = message.get("tool_calls")
    if calls is not None and role != "assistant":
        yield f"Unknown parameter: '{where}.tool_calls': only messages with role 'assistant' have it."
    if calls is not None:
        yield from _call_problems(calls, f"{where}.tool_calls")
    content = message.get("content")
    if content is not None:
        yield from _content_problems(content, role, f"{where}.content")
    elif role != "assistant" or not (calls or message.get("refusal")):
        yield f"Invalid value for 'content': expected a string, got null ('{where}.content', role {role!r})."


def _content_problems(content: JSON, role: str, where: str) -> Iterator[str]:
    if isinstance(content, str):
        return
    if not isinstance(content, list) or not content:
        yield f"Invalid type for '{where}': expected a string or a list of at least one part."
        return
    for position, part in enumerate(content):
        kind = part.get("type") if isinstance(part, dict) else None
        if not isinstance(part, dict) or not isinstance(kind, str) or kind not in _PARTS[role]:
            yield f"Invalid value: {kind!r} for '{where}[{position}].type': role {role!r} takes {sorted(_PARTS[role])}."
        elif kind == "text" and not isinstance(part.get("text"), str):
            yield f"Missing required parameter: '{where}[{position}].text'."


def _call_problems(calls: JSON, where: str) -> Iterator[str]:
    if not isinstance(calls, list) or not calls:
        yield f"Invalid '{where}': expected a list of at least one call."
        return
    for position, call in enumerate(calls):
        at = f"{where}[{position}]"
        function = call.get("function") if isinstance(call, dict) else None
        if not isinstance(call, dict) or call.get("type") != "function" or not isinstance(function, dict):
            yield f"Invalid value for '{at}': expected an object of type 'function' with a 'function'."
            continue
        id_, name = call.get("id"), function.get("name")
        if not isinstance(id_, str) or not 0 < len(id_) <= LONGEST_CALL_ID:
            yield f"Invalid '{at}.id': expected a string of 1 to {LONGEST_CALL_ID} characters."
        if not isinstance(name, str) or not TOOL_NAME.fullmatch(name):
            yield f"Invalid '{at}.function.name': string does not match pattern. Expected '^[a-zA-Z0-9_-]{{1,64}}$'."
        if not isinstance(function.get("arguments"), str):
            yield f"Invalid type for '{at}.function.arguments': expected a string."


def _history_problems(messages: list[JSONObject]) -> Iterator[str]:
    """Every call answered once, right behind the message that made it, and nothing answered that was not called."""
    called: set[str] = set()
    missing: list[str] = []
    for position, message in enumerate(messages):
        if message["role"] != "tool":
            yield from _unanswered(missing)
            missing = _ids(message.get("tool_calls"))
            called = set(missing)
            if len(called) < len(missing):
                yield f"Duplicate value for 'tool_call_id' among the 'tool_calls' of messages[{position}]."
            continue
        id_ = str(message.get("tool_call_id"))
        if not called:
            yield (
                "Invalid parameter: messages with role 'tool' must be a response to a preceding message with "
                f"'tool_calls' (messages[{position}])."
            )
        elif id_ not in called:
            yield f"Invalid parameter: 'tool_call_id' {id_!r} of messages[{position}] is not found in 'tool_calls'."
        elif id_ not in missing:
            yield f"Duplicate value for 'tool_call_id': {id_!r} is answered again by messages[{position}]."
        missing = [open_id for open_id in missing if open_id != id_]
    yield from _unanswered(missing)


def _ids(calls: JSON) -> list[str]:
    return [str(call["id"]) for call in calls if isinstance(call, dict)] if isinstance(calls, list) else []


def _unanswered(missing: list[str]) -> Iterator[str]:
    if missing:
        yield (
            "An assistant message with 'tool_calls' must be followed by tool messages responding to each "
            f"'tool_call_id'. The following tool_call_ids did not have response messages: {', '.join(missing)}"
        )


def _option_problems(request: JSONObject, messages: list[JSON]) -> Iterator[str]:
    if request.get("stream_options") is not None and not request.get("stream"):
        yield "The 'stream_options' parameter is only allowed when 'stream' is enabled."
    form = request.get("response_format")
    if isinstance(form, dict) and form.get("type") == "json_object" and "json" not in str(messages).lower():
        yield "'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'."
