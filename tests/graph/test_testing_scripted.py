"""ScriptedModel: what a script says is what a model gives, streamed or whole, and nothing goes by unrecorded."""

import asyncio
import copy
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, HumanMessage
from langchain_core.tools import tool

from loopwright import testing
from loopwright.testing import ScriptedModel, UnexpectedCall, call, reply


@tool
def look(at: str) -> str:
    """Look at something."""
    return at


def streamed(model: ScriptedModel) -> list[AIMessageChunk]:
    """The chunks of one reply."""
    return list(model.stream("hi"))


def raw_arguments(chunks: list[AIMessageChunk]) -> str:
    """The arguments of all calls as they were streamed."""
    return "".join(part["args"] or "" for chunk in chunks for part in chunk.tool_call_chunks)


def joined(chunks: list[AIMessageChunk]) -> AIMessageChunk:
    """The chunks as one message."""
    whole = chunks[0]
    for chunk in chunks[1:]:
        whole = whole + chunk
    return whole


def test_public_names_are_sorted_and_there() -> None:
    """`__all__` is in order and every name can be imported."""
    assert testing.__all__ == sorted(testing.__all__)
    assert all(hasattr(testing, name) for name in testing.__all__)


def test_steps_are_played_in_order_in_all_four_ways() -> None:
    """invoke, ainvoke, stream and astream take the next step each, whatever came before."""
    model = ScriptedModel(["one", "two", "three", "four"])

    async def two_more() -> list[str]:
        second = await model.ainvoke("hi")
        return [second.text, "".join([chunk.text async for chunk in model.astream("hi")])]

    assert model.invoke("hi").text == "one"
    assert asyncio.run(two_more()) == ["two", "three"]
    assert joined(streamed(model)).text == "four"
    model.assert_finished()
    assert [request.streamed for request in model.requests] == [False, False, True, True]


def test_a_stream_comes_in_pieces_with_the_finish_last() -> None:
    """Text in several chunks, arguments in two, then one chunk with finish reason and usage."""
    chunks = streamed(ScriptedModel([reply("let me look", call("look", at="a"), call("look", at="b"), usage=(7, 3))]))
    assert len([chunk for chunk in chunks if chunk.text]) == 4
    assert [len(chunk.tool_call_chunks) for chunk in chunks[4:-1]] == [1, 1, 1, 1]
    assert [chunk.response_metadata.get("finish_reason") for chunk in chunks] == [None] * 8 + ["tool_calls"]
    whole = joined(chunks)
    assert [(c["name"], c["args"]) for c in whole.tool_calls] == [("look", {"at": "a"}), ("look", {"at": "b"})]
    assert whole.usage_metadata == {"input_tokens": 7, "output_tokens": 3, "total_tokens": 10}
    assert len({c["id"] for c in whole.tool_calls}) == 2


def test_usage_is_a_quarter_of_the_characters() -> None:
    """Numbers that are not given follow the stated rule, calls counted by name and arguments."""
    message = ScriptedModel([reply("12345678", call("look"))]).invoke([HumanMessage("x" * 10), AIMessage("x" * 10)])
    assert message.usage_metadata == {"input_tokens": 5, "output_tokens": (8 + 4 + 2) // 4, "total_tokens": 8}


@given(raw=st.text(max_size=20))
def test_raw_arguments_reach_the_stream_unchanged(raw: str) -> None:
    """What the server wrote is streamed to the letter, whether it is JSON or not."""
    assert raw_arguments(streamed(ScriptedModel([reply("", call("x", raw=raw))]))) == raw


def test_malformed_arguments_are_an_invalid_call_when_whole() -> None:
    """Without a stream a call that is no JSON object stands among the invalid ones, the others run."""
    script = [reply("", call("x", raw='{"a": '), call("y", b=1), call("z", raw="[1]"), call("w", raw='{"a":1}'))]
    message = ScriptedModel(script).invoke("hi")
    assert [c["name"] for c in message.tool_calls] == ["y", "w"]
    assert [(c["name"], c["args"]) for c in message.invalid_tool_calls] == [("x", '{"a": '), ("z", "[1]")]
    assert "tool_calls" not in message.additional_kwargs


def test_calls_keep_their_order_in_the_stream() -> None:
    """A malformed call in front of a good one stays in front."""
    chunks = streamed(ScriptedModel([reply("", call("x", raw="{"), call("y"))]))
    assert [part["name"] for chunk in chunks for part in chunk.tool_call_chunks if part["name"]] == ["x", "y"]


def test_a_reply_can_be_cut_off() -> None:
    """A finish reason of None is a stream that ends without one, and without usage."""
    whole = joined(streamed(ScriptedModel([reply("half an ans", finish_reason=None)])))
    assert whole.text == "half an ans"
    assert "finish_reason" not in whole.response_metadata
    assert whole.usage_metadata is None
    assert "finish_reason" not in ScriptedModel([reply("half", finish_reason=None)]).invoke("x").response_metadata


@pytest.mark.parametrize("reason", ["length", "content_filter", "stop"])
def test_finish_reasons_and_refusals_are_played(reason: str) -> None:
    """The given finish reason and the refusal arrive on both ways."""
    model = ScriptedModel([reply("no", finish_reason=reason, refusal="I will not")] * 2)
    for message in (model.invoke("x"), joined(streamed(model))):
        assert message.response_metadata["finish_reason"] == reason
        assert message.additional_kwargs["refusal"] == "I will not"


def test_ids_are_langchains_unless_given() -> None:
    """A message id and a call id that the script gives are kept; others are made by LangChain and by the fake."""
    model = ScriptedModel(["a", reply("b", call("x", id="mine"), call("x", id=""), id="message-1")])
    assert (model.invoke("x").id or "").startswith("lc_run-")
    message = model.invoke("x")
    assert message.id == "message-1"
    assert [c["id"] for c in message.tool_calls] == ["mine", ""]


def test_exceptions_are_raised_and_functions_are_asked() -> None:
    """A function sees the messages and may give any step, another function or an exception among them."""

    def echo(messages: list[BaseMessage]) -> str:
        return messages[-1].text.upper()

    model = ScriptedModel([TimeoutError("late"), echo, lambda _: echo, lambda _: ValueError("bad")])
    with pytest.raises(TimeoutError, match="late"):
        model.invoke("x")
    assert [model.invoke("x").text, model.invoke("y").text] == ["X", "Y"]
    with pytest.raises(ValueError, match="bad"):
        list(model.stream("x"))
    model.assert_finished()


def test_one_function_answers_for_ever() -> None:
    """A function in place of the list never runs out and leaves nothing unused."""
    model = ScriptedModel(lambda messages: str(len(messages)))
    assert [model.invoke("x").text for _ in range(3)] == ["1", "1", "1"]
    model.assert_finished()


def test_an_unexpected_call_fails_and_is_remembered() -> None:
    """A request too many raises, and is told again at the end, since an agent may swallow the error."""
    model = ScriptedModel(["one"])
    model.invoke("x")
    with pytest.raises(UnexpectedCall, match="Request 2 came when all 1 steps"):
        model.invoke("x")
    with pytest.raises(AssertionError, match="Request 2"):
        model.assert_finished()
    assert issubclass(UnexpectedCall, AssertionError)


def test_unused_steps_are_told() -> None:
    """What the script still holds at the end fails the test, with the next step named."""
    model = ScriptedModel(["one", "two", "three"])
    model.invoke("x")
    with pytest.raises(AssertionError, match=r"2 of 3 steps were not played, the next is 'two'"):
        model.assert_finished()


def test_one_text_is_no_script() -> None:
    """A bare text would be played letter by letter, so it is refused."""
    with pytest.raises(TypeError, match="write a list of steps"):
        ScriptedModel("hello")


def test_raw_and_named_arguments_exclude_each_other() -> None:
    """A call has either raw text or arguments."""
    with pytest.raises(ValueError, match="both raw and other arguments"):
        call("x", raw="{}", a=1)
    assert call("x", {"id": 7, "raw": 8}, b=1).arguments == '{"id": 7, "raw": 8, "b": 1}'


def test_bound_tools_and_options_are_recorded() -> None:
    """Tools, tool_choice, strict and parallel_tool_calls stand in the request, everything else in kwargs."""
    model = ScriptedModel(["a", "b"])
    bound = model.bind_tools([look], tool_choice="none", strict=True, parallel_tool_calls=False)
    bound.invoke("x", temperature=0, stop=["END"])
    request = model.requests[0]
    assert request.tool_names == ["look"]
    assert request.tools[0]["function"]["strict"] is True
    assert (request.tool_choice, request.strict, request.parallel_tool_calls) == ("none", True, False)
    assert request.kwargs == {"temperature": 0, "stop": ["END"]}
    model.invoke("y")
    assert (model.requests[1].tools, model.requests[1].strict) == ([], None)


def test_copies_share_script_and_record() -> None:
    """Bound, configured, shallow and deep copies all take from one script and write to one record."""
    model = ScriptedModel(["1", "2", "3", "4", "5"])
    bound = model.bind_tools([look]).with_config(tags=["x"])
    copies = [bound, model.bind(a=1), model.model_copy(), model.model_copy(deep=True), copy.deepcopy(model)]
    assert [one.invoke("x").text for one in copies] == ["1", "2", "3", "4", "5"]
    assert len(model.requests) == 5
    model.assert_finished()


def test_threads_get_each_step_once() -> None:
    """Many threads at once play every step exactly once, and each request is recorded."""
    model = ScriptedModel([str(n) for n in range(200)])
    with ThreadPoolExecutor(8) as pool:
        texts = list(pool.map(lambda _: model.invoke("x").text, range(200)))
    assert sorted(texts, key=int) == [str(n) for n in range(200)]
    assert len(model.requests) == 200


def test_the_script_may_hold_lone_surrogates() -> None:
    """What a broken server sends can be played, so that cleaning can be tested."""
    model = ScriptedModel(["\ud800", reply("", call("x", a="\udfff"))])
    assert model.invoke("x").text == "\ud800"
    assert raw_arguments(streamed(model)) == '{"a": "\udfff"}'
