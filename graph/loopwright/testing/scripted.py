"""A chat model that plays a script in this process: no server, no network, the same stream as a real one."""

import json
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.messages.tool import tool_call_chunk
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.runnables import Runnable
from langchain_core.tools import BaseTool
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import PrivateAttr

from loopwright.testing.replies import (
    TEXT_PIECES,
    RawCall,
    call_texts,
    count_tokens,
    finish_reason_of,
    parsed,
    pieces,
    raw_calls,
    reply_tokens,
    tokens,
    with_ids,
)
from loopwright.testing.script import Script

ModelStep: TypeAlias = "str | AIMessage | Exception | Callable[[list[BaseMessage]], ModelStep]"


@dataclass(frozen=True)
class ModelRequest:
    """What the model was asked: `tools` in OpenAI's form, `kwargs` all else that was bound or passed."""

    messages: list[BaseMessage]
    tools: list[dict[str, Any]]
    tool_choice: str | dict[str, Any] | bool | None
    strict: bool | None
    parallel_tool_calls: bool | None
    streamed: bool
    kwargs: dict[str, Any]

    @property
    def tool_names(self) -> list[str]:
        """The names of the offered tools, in order."""
        return [tool["function"]["name"] for tool in self.tools]


class ScriptedModel(BaseChatModel):
    """A chat model whose replies are given: `ScriptedModel([reply("", call("add", a=1, b=2)), "3"])`.

    A step is a text, a message (`reply(...)` builds one), an exception, which is raised, or a function of the messages
    that gives one of these; a single function in place of the list answers every request. Functions run in the calling
    thread, with async calls on the event loop. Copies (`bind`, `bind_tools`, `with_config`, `model_copy`) share the
    script and the record. A request too many raises UnexpectedCall.
    """

    model_name: str = "scripted"
    _script: Script[ModelRequest, ModelStep] = PrivateAttr()

    def __init__(
        self, script: Iterable[ModelStep] | Callable[[list[BaseMessage]], ModelStep] = (), **fields: Any
    ) -> None:
        super().__init__(**fields)
        self._script = Script(endless=script) if callable(script) else Script(script)

    @property
    def _llm_type(self) -> str:
        return "loopwright-scripted"

    @property
    def requests(self) -> list[ModelRequest]:
        """Every request in the order it came, those of all copies among them."""
        return self._script.requests

    def assert_finished(self) -> None:
        """Raise AssertionError when steps are unused or a request came too many, even if that error was swallowed."""
        self._script.assert_finished()

    def bind_tools(
        self,
        tools: Sequence[dict[str, Any] | type | Callable[..., Any] | BaseTool],
        *,
        tool_choice: str | dict[str, Any] | bool | None = None,
        strict: bool | None = None,
        parallel_tool_calls: bool | None = None,
        **kwargs: Any,
    ) -> Runnable[LanguageModelInput, AIMessage]:
        """The model with these tools; they and the other arguments stand in each request's record."""
        offered = {"tool_choice": tool_choice, "strict": strict, "parallel_tool_calls": parallel_tool_calls}
        formatted = [convert_to_openai_tool(tool, strict=strict) for tool in tools]
        return self.bind(tools=formatted, **{k: v for k, v in offered.items() if v is not None}, **kwargs)

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,  # noqa: ARG002 (LangChain's signature)
        **kwargs: Any,
    ) -> ChatResult:
        message, calls = self._play(messages, kwargs | {"stop": stop}, streamed=False)
        valid, invalid = parsed(calls)
        whole = message.model_copy(update={"tool_calls": valid, "invalid_tool_calls": invalid})
        return ChatResult(generations=[ChatGeneration(message=whole)])

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,  # noqa: ARG002 (LangChain's signature)
        **kwargs: Any,
    ) -> ChatResult:
        return self._generate(messages, stop, **kwargs)

    def _stream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,  # noqa: ARG002 (LangChain's signature)
        **kwargs: Any,
    ) -> Iterator[ChatGenerationChunk]:
        message, calls = self._play(messages, kwargs | {"stop": stop}, streamed=True)
        for chunk in _chunks(message, calls):
            yield ChatGenerationChunk(message=chunk)

    async def _astream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,  # noqa: ARG002 (LangChain's signature)
        **kwargs: Any,
    ) -> AsyncIterator[ChatGenerationChunk]:
        for chunk in self._stream(messages, stop, **kwargs):
            yield chunk

    def _play(
        self, messages: list[BaseMessage], kwargs: dict[str, Any], *, streamed: bool
    ) -> tuple[AIMessage, list[RawCall]]:
        """The next reply, with its calls apart, as they were written."""
        request = _request(messages, kwargs, streamed)
        number, step = self._script.take(request)
        while callable(step):
            step = step(list(messages))
        if isinstance(step, Exception):
            raise step
        message = AIMessage(step) if isinstance(step, str) else step
        calls = with_ids(raw_calls(message), number)
        return _completed(message, calls, request, self.model_name), calls


def _request(messages: list[BaseMessage], kwargs: dict[str, Any], streamed: bool) -> ModelRequest:
    return ModelRequest(
        messages=list(messages),
        tools=kwargs.get("tools") or [],
        tool_choice=kwargs.get("tool_choice"),
        strict=kwargs.get("strict"),
        parallel_tool_calls=kwargs.get("parallel_tool_calls"),
        streamed=streamed,
        kwargs={
            name: value
            for name, value in kwargs.items()
            if value is not None and name not in ("tools", "tool_choice", "strict", "parallel_tool_calls")
        },
    )


def _completed(message: AIMessage, calls: list[RawCall], request: ModelRequest, model_name: str) -> AIMessage:
    """A copy of the message without calls, with the finish reason and usage it is to be played with."""
    finish = finish_reason_of(message)
    metadata = {"model_name": model_name, **message.response_metadata, "finish_reason": finish}
    if finish is None:
        del metadata["finish_reason"]
    return AIMessage(
        content=message.content,
        id=message.id,
        name=message.name,
        additional_kwargs={k: v for k, v in message.additional_kwargs.items() if k != "tool_calls"},
        response_metadata=metadata,
        usage_metadata=message.usage_metadata or tokens(_asked(request), reply_tokens(message.text, calls)),
    )


def _asked(request: ModelRequest) -> int:
    calls = [c for message in request.messages if isinstance(message, AIMessage) for c in raw_calls(message)]
    schemas = [json.dumps(tool) for tool in request.tools]
    return count_tokens([*(message.text for message in request.messages), *call_texts(calls), *schemas])


def _chunks(message: AIMessage, calls: Sequence[RawCall]) -> Iterator[AIMessageChunk]:
    """The message as a server streams it: text, each call in two pieces, and the finish unless it is cut off."""
    contents = pieces(message.content, TEXT_PIECES) if isinstance(message.content, str) else [message.content]
    extra = message.additional_kwargs  # on the first chunk alone: merging would join their texts
    for content in contents:
        yield AIMessageChunk(content=content, id=message.id, name=message.name, additional_kwargs=extra)
        extra = {}
    for position, c in enumerate(calls):
        name: str | None = c.name
        id_: str | None = c.id
        for piece in pieces(c.arguments or "", 2):
            part = tool_call_chunk(name=name, args=piece, id=id_, index=position)
            yield AIMessageChunk(content="", id=message.id, tool_call_chunks=[part])
            name = id_ = None
    if "finish_reason" in message.response_metadata:
        yield AIMessageChunk(
            content="",
            id=message.id,
            response_metadata=message.response_metadata,
            usage_metadata=message.usage_metadata,
            chunk_position="last",
        )
