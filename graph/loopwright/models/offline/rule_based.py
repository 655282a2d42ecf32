"""The chat-model side of both offline models: binding tools, streaming, usage; what to say is left to `answer`."""

import json
from abc import abstractmethod
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from typing import Any

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.messages.ai import UsageMetadata
from langchain_core.messages.tool import tool_call, tool_call_chunk
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.runnables import Runnable
from langchain_core.tools import BaseTool
from langchain_core.utils.function_calling import convert_to_openai_tool
from typing_extensions import override

from loopwright.models.offline.bound import Bound, bound_tools
from loopwright.models.offline.history import Said

CHARACTERS_PER_TOKEN = 4
"""The stated rule of the usage numbers: characters of the texts and call arguments, divided by four."""
TEXT_CHUNKS = 4
"""A streamed answer comes in at most this many pieces of text."""


class RuleBasedModel(BaseChatModel):
    """A chat model whose replies follow from messages and bound tools alone: no language model, network or state."""

    @property
    @abstractmethod
    def model_name(self) -> str:
        """The name under which `load_model` knows it."""

    @property
    @override
    def _llm_type(self) -> str:
        return self.model_name.replace(":", "-")

    @abstractmethod
    def answer(self, messages: Sequence[BaseMessage], tools: Bound) -> Said:
        """What this model says to the messages: a text, calls of bound tools, or both."""

    @override
    def bind_tools(
        self,
        tools: Sequence[dict[str, Any] | type | Callable[..., Any] | BaseTool],
        *,
        tool_choice: str | dict[str, Any] | bool | None = None,
        **kwargs: Any,
    ) -> Runnable[LanguageModelInput, AIMessage]:
        """The model with these tools; `strict` and `parallel_tool_calls` are taken and change nothing in its rules."""
        strict = kwargs.get("strict")
        formatted = [convert_to_openai_tool(tool, strict=strict) for tool in tools]
        return self.bind(tools=formatted, tool_choice=tool_choice, **kwargs)

    @override
    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        said = self._said(messages, kwargs)
        calls = [
            tool_call(name=call.tool, args=dict(call.args), id=_call_id(messages, position))
            for position, call in enumerate(said.calls)
        ]
        message = AIMessage(
            content=said.text,
            tool_calls=calls,
            response_metadata=self._metadata(said),
            usage_metadata=_usage(messages, said),
        )
        return ChatResult(generations=[ChatGeneration(message=message)])

    @override
    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        return self._generate(messages, stop, **kwargs)

    @override
    def _stream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> Iterator[ChatGenerationChunk]:
        for chunk in self._chunks(messages, kwargs):
            if run_manager:
                run_manager.on_llm_new_token(chunk.text, chunk=chunk)
            yield chunk

    @override
    async def _astream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> AsyncIterator[ChatGenerationChunk]:
        for chunk in self._chunks(messages, kwargs):
            if run_manager:
                await run_manager.on_llm_new_token(chunk.text, chunk=chunk)
            yield chunk

    def _chunks(self, messages: list[BaseMessage], kwargs: dict[str, Any]) -> Iterator[ChatGenerationChunk]:
        said = self._said(messages, kwargs)
        for piece in _pieces(said.text, TEXT_CHUNKS):
            yield ChatGenerationChunk(message=AIMessageChunk(content=piece))
        for position, call in enumerate(said.calls):
            first, *rest = _pieces(json.dumps(call.args, ensure_ascii=False), 2)
            begun = tool_call_chunk(name=call.tool, args=first, id=_call_id(messages, position), index=position)
            further = [tool_call_chunk(name=None, args=piece, id=None, index=position) for piece in rest]
            for part in (begun, *further):
                yield ChatGenerationChunk(message=AIMessageChunk(content="", tool_call_chunks=[part]))
        last = AIMessageChunk(
            content="",
            response_metadata=self._metadata(said),
            usage_metadata=_usage(messages, said),
            chunk_position="last",
        )
        yield ChatGenerationChunk(message=last)

    def _said(self, messages: list[BaseMessage], kwargs: dict[str, Any]) -> Said:
        return self.answer(messages, bound_tools(kwargs.get("tools"), kwargs.get("tool_choice")))

    def _metadata(self, said: Said) -> dict[str, str]:
        return {"finish_reason": "tool_calls" if said.calls else "stop", "model_name": self.model_name}


def _call_id(messages: Sequence[BaseMessage], position: int) -> str:
    """An id that no earlier call of this transcript has: it counts messages and calls."""
    return f"offline_{len(messages)}_{position}"


def _pieces(text: str, count: int) -> list[str]:
    size = max(1, -(-len(text) // count))
    return [text[start : start + size] for start in range(0, len(text), size)]


def _usage(messages: Sequence[BaseMessage], said: Said) -> UsageMetadata:
    asked = sum(len(message.text) for message in messages)
    asked += sum(len(json.dumps(c["args"])) for m in messages if isinstance(m, AIMessage) for c in m.tool_calls)
    replied = len(said.text) + sum(len(json.dumps(dict(call.args))) for call in said.calls)
    tokens_in, tokens_out = -(-asked // CHARACTERS_PER_TOKEN), -(-replied // CHARACTERS_PER_TOKEN)
    return UsageMetadata(input_tokens=tokens_in, output_tokens=tokens_out, total_tokens=tokens_in + tokens_out)
