"""The chat-model side of the offline models: binding, streaming, usage, async."""

import asyncio
from functools import reduce
from operator import add

import pytest
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessageChunk, HumanMessage
from langchain_core.tools import tool
from langchain_core.utils.function_calling import convert_to_openai_tool

from loopwright.models import load_model
from loopwright.models.offline import OfflineDemo, OfflineLooper


@tool
def calculator(expression: str) -> str:
    """Compute an expression."""
    return f"{expression} = 4"


def list_files(path: str = ".", pattern: str = "*") -> str:
    """List a folder."""
    return f"{path}/{pattern}"


TASK = [HumanMessage("what is 12*(3+4)? Then list the files.")]


def joined(chunks: list[AIMessageChunk]) -> AIMessageChunk:
    """The message that the chunks make."""
    return reduce(add, chunks)


def test_load_model_knows_both() -> None:
    """The offline models have names for `load_model`, and say in their type that they are offline."""
    assert isinstance(load_model("offline:demo"), OfflineDemo)
    assert isinstance(load_model("offline:looper"), OfflineLooper)
    assert OfflineDemo()._llm_type == "offline-demo"
    assert OfflineLooper()._llm_type == "offline-looper"


@pytest.mark.parametrize("form", [calculator, convert_to_openai_tool(calculator)], ids=["tool", "dict"])
def test_tools_of_every_form_are_bound(form: object) -> None:
    """Tools, dicts and functions are taken beside `strict`, `tool_choice` and `parallel_tool_calls`."""
    model = OfflineDemo().bind_tools(
        [form, list_files],  # type: ignore[list-item]  # pytest hands over an object
        tool_choice="auto",
        strict=True,
        parallel_tool_calls=True,
    )
    assert [call["name"] for call in model.invoke(TASK).tool_calls] == ["calculator", "list_files"]


@pytest.mark.parametrize("model", [OfflineDemo(), OfflineLooper()], ids=["demo", "looper"])
def test_a_stream_joins_to_what_invoke_returns(model: BaseChatModel) -> None:
    """Chunks carry the calls' arguments in pieces; the last has the finish reason, the model's name and the usage."""
    bound = model.bind_tools([calculator, list_files])
    whole = bound.invoke(TASK)
    chunks = [chunk for chunk in bound.stream(TASK) if isinstance(chunk, AIMessageChunk)]
    assert [(c["name"], c["args"]) for c in joined(chunks).tool_calls] == [
        (c["name"], c["args"]) for c in whole.tool_calls
    ]
    assert sum(bool(chunk.tool_call_chunks) for chunk in chunks) > len(whole.tool_calls)
    assert chunks[-1].response_metadata["finish_reason"] == "tool_calls"
    assert chunks[-1].response_metadata["model_name"] in ("offline:demo", "offline:looper")
    assert joined(chunks).usage_metadata == whole.usage_metadata


def test_an_answer_is_streamed_in_pieces() -> None:
    """A text comes in more than one chunk and ends with the reason "stop"."""
    chunks = list(OfflineDemo().stream("hello"))
    assert sum(bool(chunk.text) for chunk in chunks) > 1
    assert joined(chunks).text == OfflineDemo().invoke("hello").text
    assert chunks[-1].response_metadata == {"finish_reason": "stop", "model_name": "offline:demo"}


def test_usage_is_characters_by_four() -> None:
    """The usage numbers follow the stated rule, rounded up."""
    reply = OfflineDemo().invoke("hello")
    assert reply.usage_metadata is not None
    assert reply.usage_metadata["input_tokens"] == 2
    assert reply.usage_metadata["output_tokens"] == -(-len(reply.text) // 4)


def test_async_gives_the_same() -> None:
    """The asynchronous doors return what the synchronous ones do."""

    async def both() -> tuple[object, object]:
        bound = OfflineDemo().bind_tools([calculator, list_files])
        chunks = [chunk async for chunk in bound.astream(TASK) if isinstance(chunk, AIMessageChunk)]
        return (await bound.ainvoke(TASK)).tool_calls, joined(chunks).tool_calls

    invoked, streamed = asyncio.run(both())
    assert invoked == streamed == OfflineDemo().bind_tools([calculator, list_files]).invoke(TASK).tool_calls
