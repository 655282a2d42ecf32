"""Strict reading of a reply: chunks are joined here, and a call whose JSON is not whole never becomes a call."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal
from uuid import uuid4

from langchain_core.messages import AIMessage, AIMessageChunk, InvalidToolCall, ToolCall
from langchain_core.messages.ai import UsageMetadata, add_ai_message_chunks
from langchain_core.messages.tool import ToolCallChunk, invalid_tool_call, tool_call

from loopwright.models.json_text import read_object
from loopwright.models.thinking import thoughts_apart
from loopwright.sanitise import clean_text, sanitise, sanitise_message
from loopwright.state import Failure
from loopwright.transcript import call_id

PROTOCOL = "protocol"
"""Where a text protocol keeps in `response_metadata` what it has read; see `loopwright.models.protocols`."""
THOUGHTS = "reasoning_content"
"""Where servers and LangChain's clients keep, in `additional_kwargs`, what a model thought; no request holds it."""
_FINISH_KEYS = ("finish_reason", "stop_reason", "done_reason")
_DROPPED_KWARGS = frozenset({"tool_calls", "function_call", "parsed"})


@dataclass
class RawCall:
    """A call as the server sent it: the arguments are still text."""

    name: str = ""
    args: str = ""
    id: str = ""
    error: str = ""
    """Why it is no call, where that is known already."""


@dataclass(frozen=True)
class Reply:
    """What a model call brought: a message, or the failure that stands in its place."""

    message: AIMessage | None
    finish_reason: str = ""
    usage: UsageMetadata | None = None
    model: str = ""
    retries: int = 0
    failure: Failure | None = None
    raw: list[RawCall] = field(default_factory=list)
    rescued: int = 0
    """Calls that were written as text and became calls."""
    left_out: tuple[str, ...] = ()
    """Parts of the request that the server refused, so that it was made again without them."""


def finish_of(metadata: dict[str, Any]) -> str:
    """The reason a server gave for ending its reply; empty when it gave none."""
    for key in _FINISH_KEYS:
        if isinstance(metadata.get(key), str):
            return str(metadata[key])
    return ""


def join_calls(chunks: Sequence[AIMessageChunk]) -> list[RawCall]:
    """The calls of a streamed reply, pieces joined by index; another name and id under an old index is a new call."""
    calls: list[RawCall] = []
    slots: dict[int, RawCall] = {}
    for chunk in chunks:
        for part in chunk.tool_call_chunks:
            call = _slot(part, slots, calls)
            call.name += part["name"] or ""
            call.args += part["args"] or ""
            call.id = call.id or part["id"] or ""
    return calls


def _slot(part: ToolCallChunk, slots: dict[int, RawCall], calls: list[RawCall]) -> RawCall:
    index = part["index"]
    current = slots.get(index) if isinstance(index, int) else (calls[-1] if calls and not part["name"] else None)
    another = current is not None and part["name"] and part["id"] and current.id and part["id"] != current.id
    if current is None or another:
        current = RawCall()
        calls.append(current)
    if isinstance(index, int):
        slots[index] = current
    return current


def read_arguments(raw: str) -> dict[str, Any] | None:
    """The arguments when the text is one whole JSON object; `""` and `null` mean none; anything else is None."""
    try:
        return read_object(raw)
    except ValueError:
        return None


def read_reply(parts: Sequence[AIMessage], used_ids: frozenset[str] | set[str], max_tokens: int | None = None) -> Reply:
    """The reply that these chunks (or this one message) make, with our own call ids.

    A reply cut off by its length keeps no runnable call: its calls become invalid ones, which the guard answers.
    So it is when it broke off at `max_tokens`.
    `used_ids` are the transcript's message ids; LangChain's id is kept unless it is missing or taken.
    """
    chunks = [part for part in parts if isinstance(part, AIMessageChunk)]
    whole: AIMessage = add_ai_message_chunks(chunks[0], *chunks[1:]) if chunks else parts[-1]
    raw = join_calls(chunks) if chunks else []
    told = whole.response_metadata.get(PROTOCOL) or {}
    if "problem" in told:
        raw = [RawCall("", told["raw"], error=told["problem"])]
    finish = finish_of(whole.response_metadata)
    message_id = whole.id if whole.id and whole.id not in used_ids else f"lc_run--{uuid4()}"
    spent = whole.usage_metadata["output_tokens"] if whole.usage_metadata else 0
    calls, invalid = _calls(whole, raw, message_id, cut=finish in ("length", "max_tokens"))
    if invalid and max_tokens is not None and spent >= max_tokens:  # servers that give another reason for the same end
        calls, invalid = _calls(whole, raw, message_id, cut=True)
    content, thoughts = told.get("content"), ""
    if content is None:
        content, thoughts = _content(whole.content)
    message = AIMessage(
        content=content,
        id=message_id,
        tool_calls=calls,
        invalid_tool_calls=invalid,
        usage_metadata=whole.usage_metadata,
        response_metadata={"finish_reason": finish, "model_name": _model_of(whole), **_kept(told)},
        additional_kwargs={
            **({THOUGHTS: thoughts} if thoughts else {}),
            **{k: v for k, v in whole.additional_kwargs.items() if k not in _DROPPED_KWARGS and v},
        },
    )
    return Reply(
        sanitise_message(message),
        finish,
        whole.usage_metadata,
        _model_of(whole),
        raw=raw,
    )


def _model_of(whole: AIMessage) -> str:
    return str(whole.response_metadata.get("model_name") or whole.response_metadata.get("model") or "")


def _kept(told: dict[str, Any]) -> dict[str, Any]:
    """What a text protocol tells that later requests need."""
    return {PROTOCOL: {"ignored": told["ignored"]}} if "ignored" in told else {}


def _content(content: str | list[str | dict[str, Any]]) -> tuple[str | list[str | dict[str, Any]], str]:
    """The content, and the thoughts that stood in front of its text.

    Calls that some providers repeat in it are left out: they live in `tool_calls` alone.
    """
    if isinstance(content, str):
        thoughts, text = thoughts_apart(content)
        return text, thoughts
    kept = [
        block
        for block in content
        if isinstance(block, str)
        or block.get("type") not in ("tool_use", "tool_call", "function_call", "input_json_delta")
    ]
    return kept if any(not isinstance(b, str) for b in kept) else "".join(str(b) for b in kept), ""


def _calls(
    whole: AIMessage, raw: list[RawCall], message_id: str, *, cut: bool
) -> tuple[list[ToolCall], list[InvalidToolCall]]:
    calls: list[ToolCall] = []
    invalid: list[InvalidToolCall] = []
    if not raw:
        raw = [RawCall(call["name"], _written(call["args"])) for call in whole.tool_calls]
        raw += [RawCall(bad["name"] or "", bad["args"] or "") for bad in whole.invalid_tool_calls]
    for position, piece in enumerate(raw):
        own_id, name = call_id(message_id, position), clean_text(piece.name)
        try:
            if cut or piece.error or not name:
                raise ValueError("cut off" if cut else piece.error or "no tool name")
            calls.append(tool_call(name=name, args=sanitise(read_object(piece.args)), id=own_id))
        except ValueError as error:
            why = clean_text(str(error))
            invalid.append(invalid_tool_call(name=name, args=clean_text(piece.args), id=own_id, error=why))
    return calls, invalid


def _written(args: dict[str, Any]) -> str:
    """Arguments that came parsed, as text again; those nested too deep to be written are no object."""
    try:
        return json.dumps(args, ensure_ascii=False)
    except RecursionError:
        return "[...]"


def tokens_of(usage: UsageMetadata | None, side: Literal["input_tokens", "output_tokens"]) -> int | None:
    """Reported tokens of one side; None when the server reported nothing."""
    return usage[side] if usage and (usage["input_tokens"] or usage["output_tokens"]) else None
