"""A chat model that wraps another and speaks a text protocol with it: tools go in and calls come out as with any."""

from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from typing import Any, Literal

from langchain_core.callbacks import (
    AsyncCallbackManagerForLLMRun,
    CallbackManagerForLLMRun,
)
from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.runnables import Runnable, RunnableConfig
from langchain_core.tools import BaseTool
from langchain_core.utils.function_calling import convert_to_openai_tool

from loopwright.models.protocols.flat import Flat
from loopwright.models.protocols.form import Form, FormName, instructions
from loopwright.models.protocols.history import as_text, texts_of
from loopwright.models.protocols.nested import Nested
from loopwright.models.protocols.text_tools import TextTools, text_tools
from loopwright.models.protocols.translating import Translation

FORMS: Mapping[FormName, Form] = {
    "json_flat": Flat(),
    "json_nested": Nested(),
    "json_schema": Flat(enforced=True),
}
"""The forms by the name of the setting."""
_INNER: RunnableConfig = {"tags": ["nostream"]}
"""How the inner request is run: with the callbacks of whatever runs this model, hidden from the message stream."""


class ProtocolModel(BaseChatModel):
    """A chat model for models that cannot call tools: `ProtocolModel(inner=model).bind_tools(tools)`.

    The tools stand in the system message, past calls and results are text, and the reply, one JSON object, becomes an
    ordinary message: a call with the thought as its text, or the answer. One of the wrong format has a call that could
    not be read, with the reminder that the model is to get (see `Translation`). Streamed, the thought and the answer
    come as they are written. The inner request is a run of its own, tagged `nostream`, beside this one; the model's
    name stands in `response_metadata["model"]`, not `model_name`, so that LangChain's usage handlers count the inner
    one alone.
    """

    inner: Runnable[LanguageModelInput, AIMessage]
    """The model that is asked, with whatever is bound to it."""
    protocol: FormName = "json_flat"
    tools: tuple[dict[str, Any], ...] = ()
    """The tools in OpenAI's form; without any, each reply is an answer."""
    unasked: bool = False
    """Whether a request without tools leaves the form of the answer to others, who demand one of their own."""

    @property
    def _llm_type(self) -> str:
        return f"loopwright-{self.protocol}"

    def bind_tools(
        self,
        tools: Sequence[dict[str, Any] | type | Callable[..., Any] | BaseTool],
        *,
        tool_choice: str | dict[str, Any] | bool | None = None,  # noqa: ARG002 (LangChain's signature)
        **kwargs: Any,
    ) -> Runnable[LanguageModelInput, AIMessage]:
        """The model with these tools; `tool_choice` is left to the model."""
        bound = self.model_copy(update={"tools": tuple(map(convert_to_openai_tool, tools))})
        return bound.bind(**kwargs) if kwargs else bound

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,  # noqa: ARG002 (LangChain's signature)
        **kwargs: Any,
    ) -> ChatResult:
        translation, request = self._opened(messages)
        whole = self.inner.invoke(request, _INNER, **_stopping(stop), **kwargs)
        return _result(translation.message(whole))

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,  # noqa: ARG002 (LangChain's signature)
        **kwargs: Any,
    ) -> ChatResult:
        translation, request = self._opened(messages)
        whole = await self.inner.ainvoke(request, _INNER, **_stopping(stop), **kwargs)
        return _result(translation.message(whole))

    def _stream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,  # noqa: ARG002 (LangChain's signature)
        **kwargs: Any,
    ) -> Iterator[ChatGenerationChunk]:
        translation, request = self._opened(messages)
        for part in self.inner.stream(request, _INNER, **_stopping(stop), **kwargs):
            if (chunk := translation.take(part)) is not None:
                yield ChatGenerationChunk(message=chunk)
        yield ChatGenerationChunk(message=translation.last_chunk())

    async def _astream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,  # noqa: ARG002 (LangChain's signature)
        **kwargs: Any,
    ) -> AsyncIterator[ChatGenerationChunk]:
        translation, request = self._opened(messages)
        async for part in self.inner.astream(request, _INNER, **_stopping(stop), **kwargs):
            if (chunk := translation.take(part)) is not None:
                yield ChatGenerationChunk(message=chunk)
        yield ChatGenerationChunk(message=translation.last_chunk())

    def _opened(self, messages: Sequence[BaseMessage]) -> tuple[Translation, list[BaseMessage]]:
        """What reads the reply, and the request that asks for it."""
        form, tools = FORMS[self.protocol], text_tools(self.tools)
        told = "" if self.unasked and not tools else instructions(form, tools)
        asks: Literal["step", "answer", "text"] = "step" if tools else "text" if self.unasked else "answer"
        return Translation(form, tools, asks), as_text(messages, told, form, tools)


def prompt_of(protocol: FormName, tools: TextTools) -> str:
    """What a request has more of in its system message than without the protocol."""
    return instructions(FORMS[protocol], tools)


def rewritten(message: AIMessage, protocol: FormName, tools: TextTools) -> list[str]:
    """The texts of the messages that an assistant message becomes in a request: its own, and its results' frames."""
    return texts_of(message, FORMS[protocol], tools)


def _stopping(stop: list[str] | None) -> dict[str, Any]:
    return {"stop": stop} if stop else {}


def _result(message: AIMessage) -> ChatResult:
    return ChatResult(generations=[ChatGeneration(message=message)])
