"""How an OpenAI-compatible server writes a reply: one completion, or the chunks of a stream."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from langchain_core.messages import AIMessage

from loopwright.testing.json_types import JSON, JSONObject
from loopwright.testing.replies import (
    TEXT_PIECES,
    RawCall,
    count_tokens,
    finish_reason_of,
    pieces,
    raw_calls,
    reply,
    reply_tokens,
    with_ids,
)
from loopwright.testing.steps import Answer, CallDict, ReplyDict

_EXTRA = ("refusal", "reasoning_content")
_REPLY_KEYS = ReplyDict.__annotations__.keys()


@dataclass(frozen=True)
class Written:
    """A reply in the words of the wire; `usage` holds only the token numbers that the script gives."""

    text: str | None
    calls: list[RawCall]
    finish_reason: str | None
    extra: Mapping[str, str]
    usage: Mapping[str, int]


def written(answer: Answer, number: int) -> Written:
    """The reply that a step stands for; calls without an id get one from the request's number.

    Raises TypeError for a step of another type, ValueError for keys that no reply has.
    """
    if not isinstance(answer, str | AIMessage | dict):
        raise TypeError(f"a script has no step of type {type(answer).__name__}: {answer!r:.100}")
    if isinstance(answer, str):
        answer = reply(answer)
    found = _of_message(answer) if isinstance(answer, AIMessage) else _of_dict(answer)
    return replace(found, calls=with_ids(found.calls, number))


def _of_message(message: AIMessage) -> Written:
    usage = message.usage_metadata
    extra = {key: str(message.additional_kwargs[key]) for key in _EXTRA if message.additional_kwargs.get(key)}
    numbers = {"prompt_tokens": usage["input_tokens"], "completion_tokens": usage["output_tokens"]} if usage else {}
    return Written(message.text, raw_calls(message), finish_reason_of(message), extra, numbers)


def _of_dict(answer: ReplyDict) -> Written:
    if unknown := answer.keys() - _REPLY_KEYS:
        raise ValueError(f"A reply has no {sorted(unknown)}: its keys are {sorted(_REPLY_KEYS)}.")
    calls = [_raw_call(given) for given in answer.get("tool_calls") or []]
    given = answer.get("usage") or {}
    numbers = {key: number for key, number in given.items() if isinstance(number, int)}
    extra = {"refusal": answer.get("refusal"), "reasoning_content": answer.get("reasoning_content")}
    finish = answer.get("finish_reason", "tool_calls" if calls else "stop")
    return Written(answer.get("content"), calls, finish, {key: text for key, text in extra.items() if text}, numbers)


def _raw_call(given: CallDict) -> RawCall:
    arguments = given.get("arguments", "{}")
    text = json.dumps(arguments, ensure_ascii=False) if isinstance(arguments, dict) else arguments
    return RawCall(given.get("name", ""), text, given.get("id"))


def completion(said: Written, head: JSONObject, asked: int) -> JSONObject:
    """The whole answer; `head` has the id and the model, `asked` the request's tokens."""
    message: JSONObject = {"role": "assistant", "content": said.text, "refusal": None, **said.extra}
    if said.calls:
        message["tool_calls"] = [
            {"id": c.id, "type": "function", "function": {"name": c.name, "arguments": c.arguments}} for c in said.calls
        ]
    choice: JSONObject = {"index": 0, "message": message, "finish_reason": said.finish_reason, "logprobs": None}
    return {**head, "object": "chat.completion", "choices": [choice], "usage": _usage(said, asked)}


def chunks(said: Written, head: JSONObject, asked: int, *, include_usage: bool) -> Iterator[JSONObject]:
    """The events of the stream, without the closing [DONE]; a reply cut off has neither finish nor usage."""
    head = {**head, "object": "chat.completion.chunk"}
    for delta in _deltas(said):
        yield {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
    if said.finish_reason is None:
        return
    yield {**head, "choices": [{"index": 0, "delta": {}, "finish_reason": said.finish_reason}]}
    if include_usage:
        yield {**head, "choices": [], "usage": _usage(said, asked)}


def _deltas(said: Written) -> Iterator[JSONObject]:
    yield {"role": "assistant", "content": None if said.text is None else ""}
    for name, value in said.extra.items():
        yield {name: value}
    if said.text:
        for piece in pieces(said.text, TEXT_PIECES):
            yield {"content": piece}
    for index, c in enumerate(said.calls):
        first, *rest = [None] if c.arguments is None else pieces(c.arguments, 2)
        begun: JSON = {
            "index": index,
            "id": c.id,
            "type": "function",
            "function": {"name": c.name, "arguments": first},
        }
        yield {"tool_calls": [begun]}
        for further in rest:
            yield {"tool_calls": [{"index": index, "function": {"arguments": further}}]}


def _usage(said: Written, asked: int) -> JSONObject:
    prompt = said.usage.get("prompt_tokens", asked)
    reply_ = said.usage.get("completion_tokens", reply_tokens(said.text or "", said.calls))
    return {"prompt_tokens": prompt, "completion_tokens": reply_, "total_tokens": prompt + reply_}


def request_tokens(request: JSONObject) -> int:
    """The tokens of a request by the rule: texts and calls of its messages, and the JSON of its tools."""
    tools = request.get("tools")
    messages = request.get("messages")
    texts = [json.dumps(tools, ensure_ascii=False)] if tools else []
    for message in messages if isinstance(messages, list) else []:
        if isinstance(message, dict):
            texts += _texts(message.get("content"))
            texts += _texts(message.get("tool_calls"))
    return count_tokens(texts)


def _texts(value: JSON) -> Iterator[str]:
    """What costs tokens in a content or in calls: the text of parts, names and arguments of functions."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for part in value:
            yield from _texts(part)
    elif isinstance(value, dict):
        yield from (text for key in ("text", "function", "name", "arguments") for text in _texts(value.get(key)))
