"""Building replies in few words, and reading what a reply sends over the wire: its calls as raw text."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from langchain_core.messages import AIMessage, InvalidToolCall, ToolCall
from langchain_core.messages.ai import UsageMetadata
from langchain_core.messages.tool import invalid_tool_call, tool_call

AUTOMATIC = "automatic"
"""The finish reason that is "tool_calls" when the reply has calls, and "stop" when it has none."""
CHARACTERS_PER_TOKEN = 4
"""The rule of all token numbers that a script does not give: characters divided by four, rounded down."""
TEXT_PIECES = 4
"""A streamed text comes in at most this many chunks; the arguments of a call come in two."""


@dataclass(frozen=True)
class RawCall:
    """A tool call as a server writes it: `arguments` is text, whole JSON or not.

    An id of None is filled in when the call is played; arguments of None are null on the wire.
    """

    name: str
    arguments: str | None
    id: str | None = None


def call(
    name: str,
    args: Mapping[str, object] | None = None,
    /,
    *,
    id: str | None = None,
    raw: str | None = None,
    **named: object,
) -> RawCall:
    """A call for `reply`: `call("read_file", path="a")`, or `call("x", raw='{"a": ')` for arguments that are no JSON.

    Arguments called `id` or `raw` go into the mapping: `call("find", {"id": 7})`. Raises ValueError for `raw` beside
    other arguments.
    """
    if raw is not None and (args or named):
        raise ValueError(f"call({name!r}) has both raw and other arguments: give one of them.")
    arguments = json.dumps({**(args or {}), **named}, ensure_ascii=False) if raw is None else raw
    return RawCall(name, arguments, id)


def reply(
    text: str = "",
    *calls: RawCall,
    finish_reason: str | None = AUTOMATIC,
    refusal: str | None = None,
    usage: tuple[int, int] | None = None,
    id: str | None = None,
) -> AIMessage:
    """A model's reply: `reply("let me look", call("read_file", path="a"))`.

    A finish reason of None is a reply cut off on the way: its stream ends without one. `usage` is tokens in and out.
    The message is also good as history; where `tool_calls` cannot say what the server wrote, the raw calls stand in
    `additional_kwargs["tool_calls"]`, in OpenAI's form.
    """
    valid, invalid = parsed(calls)
    message = AIMessage(
        content=text,
        id=id,
        tool_calls=valid,
        invalid_tool_calls=invalid,
        additional_kwargs={} if refusal is None else {"refusal": refusal},
        response_metadata={} if finish_reason == AUTOMATIC else {"finish_reason": finish_reason},
        usage_metadata=usage and tokens(*usage),
    )
    if raw_calls(message) != [*calls]:
        message.additional_kwargs["tool_calls"] = [
            {"id": c.id, "type": "function", "function": {"name": c.name, "arguments": c.arguments}} for c in calls
        ]
    return message


def parsed(calls: Sequence[RawCall]) -> tuple[list[ToolCall], list[InvalidToolCall]]:
    """The calls whose arguments are one JSON object, and the others."""
    valid: list[ToolCall] = []
    invalid: list[InvalidToolCall] = []
    for c in calls:
        try:
            args = json.loads(c.arguments or "")
        except (ValueError, RecursionError):
            args = None
        if isinstance(args, dict):
            valid.append(tool_call(name=c.name, args=args, id=c.id))
        else:
            invalid.append(invalid_tool_call(name=c.name, args=c.arguments, id=c.id, error="not one JSON object"))
    return valid, invalid


def raw_calls(message: AIMessage) -> list[RawCall]:
    """The calls of a message as a server would have written them."""
    written = message.additional_kwargs.get("tool_calls")
    if written:
        return [RawCall(c["function"]["name"], c["function"]["arguments"], c.get("id")) for c in written]
    calls = [RawCall(c["name"], json.dumps(c["args"], ensure_ascii=False), c["id"]) for c in message.tool_calls]
    return calls + [RawCall(c["name"] or "", c["args"], c["id"]) for c in message.invalid_tool_calls]


def finish_reason_of(message: AIMessage) -> str | None:
    """The finish reason this reply is played with; None when it is to be cut off."""
    given = message.response_metadata.get("finish_reason", AUTOMATIC)
    if given == AUTOMATIC:
        return "tool_calls" if raw_calls(message) else "stop"
    return None if given is None else str(given)


def tokens(asked: int, replied: int) -> UsageMetadata:
    """Usage in LangChain's form."""
    return UsageMetadata(input_tokens=asked, output_tokens=replied, total_tokens=asked + replied)


def count_tokens(texts: Iterable[str]) -> int:
    """The tokens of the texts by the rule."""
    return sum(map(len, texts)) // CHARACTERS_PER_TOKEN


def call_texts(calls: Iterable[RawCall]) -> list[str]:
    """What counts of calls: their names and arguments."""
    return [text for c in calls for text in (c.name, c.arguments or "")]


def reply_tokens(text: str, calls: Sequence[RawCall]) -> int:
    """The tokens of a reply by the rule."""
    return count_tokens([text, *call_texts(calls)])


def with_ids(calls: Sequence[RawCall], number: int) -> list[RawCall]:
    """The calls, those without an id given one from the number of their request."""
    return [c if c.id is not None else replace(c, id=f"call_{number}_{place}") for place, c in enumerate(calls)]


def pieces(text: str, count: int) -> list[str]:
    """The text in at most `count` pieces of about one size; an empty text is one empty piece."""
    size = max(1, -(-len(text) // count))
    return [text[start : start + size] for start in range(0, len(text), size)] or [""]
