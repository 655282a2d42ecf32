"""Turns one reply of the inner model, as it comes or whole, into the message of a model that calls tools."""

from dataclasses import dataclass, field
from typing import Any, Literal

from langchain_core.messages import AIMessage, AIMessageChunk, InvalidToolCall, ToolCall
from langchain_core.messages.ai import add_ai_message_chunks
from langchain_core.messages.tool import invalid_tool_call, tool_call, tool_call_chunk

from loopwright.models.protocols.form import Form, dumped, format_reminder
from loopwright.models.protocols.reading import Answer, Call, Reading, WrongFormat, read_answer, read_step
from loopwright.models.protocols.showing import Showing
from loopwright.models.protocols.text_tools import TextTools
from loopwright.models.replies import PROTOCOL, finish_of

_CUT = ("length", "max_tokens")


@dataclass
class Translation:
    """One reply in the making.

    `asks` is what was asked for: a `step` (a call or the answer), an `answer` in the protocol's form, or a `text` in
    no form of ours. What streaming cannot take back stands in `response_metadata["protocol"]`: `content`, the text of
    the message once the reply is known; `problem` and `raw`, of a reply of the wrong format; `ignored`, how many
    objects of the reply counted nothing.
    """

    form: Form
    tools: TextTools
    asks: Literal["step", "answer", "text"]
    parts: list[AIMessage] = field(default_factory=list)
    shown: str = ""

    def __post_init__(self) -> None:
        self.showing = Showing(self.tools, plain=self.asks != "step")

    def take(self, part: AIMessage) -> AIMessageChunk | None:
        """What of the reply can be shown now that this part has come, if anything."""
        self.parts.append(part)
        text = self.showing.feed(part.text) if isinstance(part, AIMessageChunk) else ""
        self.shown += text
        return AIMessageChunk(content=text) if text else None

    def last_chunk(self) -> AIMessageChunk:
        """The rest of a streamed reply: what was not shown yet, its call, how it ended and what it took."""
        chunks = [part for part in self.parts if isinstance(part, AIMessageChunk)]
        if not chunks and not self.parts:
            return AIMessageChunk(content="")
        message = self.message(add_ai_message_chunks(chunks[0], *chunks[1:]) if chunks else self.parts[-1])
        text = message.text
        calls = [
            tool_call_chunk(name=call["name"], args=dumped(call["args"]), id=call["id"], index=place)
            for place, call in enumerate(message.tool_calls)
        ]
        return AIMessageChunk(
            content=text[len(self.shown) :] if text.startswith(self.shown) else "",
            tool_call_chunks=calls,
            additional_kwargs=message.additional_kwargs,
            response_metadata=message.response_metadata,
            usage_metadata=message.usage_metadata,
            chunk_position="last",
        )

    def message(self, whole: AIMessage) -> AIMessage:
        """The message for a whole reply. Calls that a server made although no tools were sent are taken as they are."""
        reading = Reading(Answer(whole.text)) if whole.tool_calls else self._reading(whole)
        step, calls, told = reading.step, list(whole.tool_calls), dict[str, Any]()
        content = step.text if isinstance(step, Answer) else reading.thought or self.showing.thought
        if isinstance(step, Call):
            calls = [_made(step)]
        elif isinstance(step, WrongFormat):
            told = {"problem": format_reminder(self.form, self.tools, step.problem), "raw": whole.text}
        if reading.ignored:
            told["ignored"] = reading.ignored
        metadata = {key: value for key, value in whole.response_metadata.items() if key != "model_name"}
        if "model_name" in whole.response_metadata:
            metadata["model"] = whole.response_metadata["model_name"]
        return AIMessage(
            content=content,
            tool_calls=calls,
            invalid_tool_calls=[_unread(told["raw"], told["problem"])] if "problem" in told else [],
            additional_kwargs={k: v for k, v in whole.additional_kwargs.items() if k not in ("tool_calls", "parsed")},
            response_metadata={**metadata, PROTOCOL: {"content": content, **told}},
            usage_metadata=whole.usage_metadata,
        )

    def _reading(self, whole: AIMessage) -> Reading:
        """What the text says. An empty, refused or filtered reply stays as it is, and of one cut off an answer."""
        finish, text = finish_of(whole.response_metadata), whole.text
        if finish in ("content_filter", "refusal") or whole.additional_kwargs.get("refusal") or not text.strip():
            return Reading(Answer(text))
        if finish in _CUT:
            following = Showing(self.tools, plain=self.asks != "step")
            following.feed(text)
            return Reading(Answer(following.answer) if following.answer else WrongFormat("it was cut off"))
        if self.asks == "step":
            return read_step(text, self.tools)
        reading = read_answer(text)
        if self.asks == "text" and not isinstance(reading.step, Answer):
            return Reading(Answer(text))
        return reading


def _made(call: Call) -> ToolCall:
    return tool_call(name=call.name, args=call.args, id=None)


def _unread(raw: str, problem: str) -> InvalidToolCall:
    return invalid_tool_call(name="", args=raw, id=None, error=problem)
