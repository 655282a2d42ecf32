"""Text protocols in the machine: guard, memory, tools and report notice no difference."""

import asyncio
import json
from collections.abc import Sequence
from typing import Any

import pytest
from langchain_core.callbacks import get_usage_metadata_callback
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.messages.tool import tool_call
from langchain_core.tools import BaseTool, tool
from pydantic import BaseModel

from loopwright import Agent, Settings, tool_policy
from loopwright.errors import LoopwrightError
from loopwright.memory import count_message
from loopwright.models.protocols import FORMS, FormName, ProtocolModel, text_tools
from loopwright.settings import ModelSettings, ProtocolName, ToolSettings
from loopwright.state import ModelEvent
from loopwright.testing import ScriptedModel, call, reply

EVERY_FORM: list[FormName] = ["json_flat", "json_nested", "json_schema"]


@tool
def add(a: int, b: int) -> str:
    """Add two numbers. Use for every sum."""
    return str(a + b)


@tool
def look(at: str) -> str:
    """Look at something."""
    return f"{at} is blue"


TOOLS: list[BaseTool] = [tool_policy(add, effect="pure"), tool_policy(look, effect="read")]


def settings(protocol: ProtocolName, **fields: Any) -> Settings:
    """Settings for this protocol, without waiting."""
    return Settings(protocol=protocol, model=ModelSettings(retry_delay=0), tools=ToolSettings(retry_delay=0), **fields)


def called(protocol: FormName, name: str, thought: str = "", **args: Any) -> str:
    """A call as this protocol's model writes it."""
    return FORMS[protocol].call(name, args, thought, {})


def answered(protocol: FormName, text: str) -> str:
    """An answer as this protocol's model writes it."""
    return FORMS[protocol].answer(text, {})


def texts(messages: Sequence[BaseMessage]) -> list[str]:
    """What messages say, each behind its type."""
    return [f"{message.type}: {message.text}" for message in messages]


def model_events(agent: Agent[Any], task: str) -> list[ModelEvent]:
    """The events of the model calls that a task on the thread `t` takes."""
    happened = list(agent.stream(task, thread="t"))
    return [item for item in happened if isinstance(item, dict) and item["kind"] == "model"]


@pytest.mark.parametrize("protocol", EVERY_FORM)
def test_a_run_is_like_any_other(protocol: FormName) -> None:
    """The transcript holds ordinary calls, results and the answer; no request holds a tool, a call or a result."""
    model = ScriptedModel([called(protocol, "add", a=1, b=2), answered(protocol, "It is 3.")])
    result = Agent(model, TOOLS, settings=settings(protocol)).run("What is 1 + 2?")
    assert (result.answer, result.complete) == ("It is 3.", True)
    _, asked, told, said = result.messages
    assert isinstance(asked, AIMessage)
    assert [(made["name"], made["args"]) for made in asked.tool_calls] == [("add", {"a": 1, "b": 2})]
    assert isinstance(told, ToolMessage)
    assert (told.text, said.text) == ("3", "It is 3.")
    for request in model.requests:
        assert request.tools == []
        assert {message.type for message in request.messages} <= {"system", "human", "ai"}
        assert "Use for every sum." in request.messages[0].text
    assert texts(model.requests[1].messages[1:]) == [
        "human: What is 1 + 2?",
        f"ai: {called(protocol, 'add', a=1, b=2)}",
        'human: Action=add({"a": 1, "b": 2}) | Observation=3',
    ]


@pytest.mark.parametrize("protocol", EVERY_FORM)
def test_async_is_the_same(protocol: FormName) -> None:
    """Awaited, the same messages come."""
    script = [called(protocol, "look", at="x"), "no JSON", answered(protocol, "blue")]
    result = Agent(ScriptedModel(script), TOOLS, settings=settings(protocol)).run("x?")
    again = asyncio.run(Agent(ScriptedModel(script), TOOLS, settings=settings(protocol)).arun("x?"))
    assert texts(again.messages) == texts(result.messages)


@pytest.mark.parametrize("protocol", EVERY_FORM)
def test_a_wrong_format_is_answered_with_the_format_and_then_forgotten(protocol: FormName) -> None:
    """The model gets the problem, the form and an example, no parser's words; a usable reply drops both."""
    good = called(protocol, "add", a=1, b=2)
    model = ScriptedModel([good[:-4], good, answered(protocol, "3")])
    result = Agent(model, TOOLS, settings=settings(protocol)).run("1 + 2?")
    assert result.answer == "3"
    *_, bad, reminder = model.requests[1].messages
    assert bad.text == good[:-4]
    assert "could not be used: the JSON object is cut off" in reminder.text
    assert FORMS[protocol].shape(text_tools(TOOLS)) in reminder.text
    assert "For example: {" in reminder.text
    assert "Expecting" not in reminder.text
    assert texts(model.requests[2].messages[1:]) == [
        "human: 1 + 2?", f"ai: {good}", 'human: Action=add({"a": 1, "b": 2}) | Observation=3',
    ]  # fmt: skip


def test_prose_alone_ends_with_an_answer_after_all() -> None:
    """Three replies of the wrong format close the run, and the closing reply may be plain text."""
    model = ScriptedModel(["It is 3."] * 4)
    result = Agent(model, TOOLS, settings=settings("json_flat")).run("1 + 2?")
    assert result.answer == "It is 3."
    assert result.stop is not None
    assert result.stop["reason"] == "invalid_replies"
    assert "No tools can be used now" in model.requests[-1].messages[0].text


@pytest.mark.parametrize("protocol", EVERY_FORM)
def test_streams_show_what_is_said_and_never_json(protocol: FormName) -> None:
    """Tokens are thoughts and answers; the inner request, which holds JSON, is hidden from the stream."""
    model = ScriptedModel([called(protocol, "add", "I add.", a=1, b=2), answered(protocol, "It is 3, I think.")])
    stream = Agent(model, TOOLS, settings=settings(protocol)).stream("1 + 2?")
    shown = [item.text for item in stream if not isinstance(item, dict)]
    thought = ["I add."] if protocol == "json_nested" else []
    assert "".join(shown) == "".join([*thought, "It is 3, I think."])
    assert len(shown) > 1
    assert stream.result.answer == "It is 3, I think."


def test_a_thought_beside_the_answer_is_shown_and_left_out_of_it() -> None:
    """The answer is the final answer alone."""
    model = ScriptedModel(['{"thought": "easy", "action": null, "finish": true, "final_answer": "3"}'])
    stream = Agent(model, TOOLS, settings=settings("json_nested")).stream("1 + 2?")
    assert "".join(item.text for item in stream if not isinstance(item, dict)) == "easy\n\n3"
    assert stream.result.answer == stream.result.messages[-1].text == "3"


def test_usage_is_counted_once() -> None:
    """The report, and LangChain's own handler, count what the server counted."""
    model = ScriptedModel(
        [
            reply(called("json_flat", "look", at="x"), usage=(100, 10)),
            reply(answered("json_flat", "x"), usage=(200, 20)),
        ]
    )
    with get_usage_metadata_callback() as counted:
        usage = Agent(model, TOOLS, settings=settings("json_flat")).run("x?").usage
    assert (usage.tokens_in, usage.tokens_out, usage.model_calls) == (300, 30, 2)
    assert counted.usage_metadata["scripted"]["total_tokens"] == 330


@pytest.mark.parametrize("protocol", EVERY_FORM)
def test_the_tools_in_the_prompt_are_measured(protocol: FormName) -> None:
    """What a request was measured as is what was sent, up to one in a hundred: the tools are text now."""
    steps = [called(protocol, "look", at=f"number {n}") for n in range(6)]
    model = ScriptedModel([*steps, answered(protocol, "all blue")])
    agent = Agent(model, TOOLS, settings=settings(protocol))
    measured = [event["request_tokens"] for event in model_events(agent, "Look at six things.")]
    sent = [sum(map(count_message, request.messages)) for request in model.requests]
    assert measured == pytest.approx(sent, rel=0.01)


def test_two_objects_are_reported() -> None:
    """The first counts; the model is told with its result, and the user in the report."""
    two = called("json_flat", "look", at="x") + called("json_flat", "look", at="y")
    model = ScriptedModel([two, answered("json_flat", "blue")])
    agent = Agent(model, TOOLS, settings=settings("json_flat"))
    (event, _) = model_events(agent, "x?")
    assert "1 more JSON objects" in model.requests[1].messages[-1].text
    assert "1 more JSON objects" in event.get("notices", [""])[0]


def test_a_reply_cut_off_at_its_limit_is_no_call() -> None:
    """Whole-looking JSON of a reply that broke off runs nothing; half an answer is kept for the closing reply."""
    cut = reply(called("json_flat", "add", a=1, b=2), finish_reason="length")
    half = reply('{"action": "final", "action_input": "The sum of', finish_reason="length")
    model = ScriptedModel([cut, cut, cut, half])
    result = Agent(model, TOOLS, settings=settings("json_flat")).run("1 + 2?")
    assert result.usage.tool_calls == 0
    assert result.answer == "The sum of"


class Total(BaseModel):
    """A sum."""

    amount: int


def test_structured_output_goes_through() -> None:
    """The demanded object may be the input of `final`; asked for again without tools, it stands alone."""
    inside = json.dumps({"action": "final", "action_input": {"amount": 3}})
    for script in (
        [inside],
        [answered("json_flat", "three"), '{"amount": 3}'],
        [answered("json_flat", "three"), inside],
    ):
        result = Agent(ScriptedModel(script), TOOLS, settings=settings("json_flat"), output=Total).run("1 + 2?")
        assert result.output == Total(amount=3)


def test_a_transcript_of_native_calls_becomes_text() -> None:
    """Parallel calls are told one after the other, and neighbours of one role are joined."""
    inner = ScriptedModel([answered("json_nested", "done")])
    model = ProtocolModel(inner=inner, protocol="json_nested").bind_tools(TOOLS)
    calls = [tool_call(name="look", args={"at": at}, id=at) for at in "xy"]
    asked = AIMessage("Both.", tool_calls=calls)
    one, two = ToolMessage("1", tool_call_id="x"), ToolMessage("2", tool_call_id="y")
    said = model.invoke([SystemMessage("Be kind."), HumanMessage("Hi."), HumanMessage("Look."), asked, one, two])
    assert said.text == "done"
    system, *rest = inner.requests[0].messages
    assert system.text.startswith("Be kind.\n\nYou use tools")
    assert texts(rest) == [
        "human: Hi.\n\nLook.",
        f"ai: {called('json_nested', 'look', 'Both.', at='x')}",
        'human: Action=look({"at": "x"}) | Observation=1',
        f"ai: {called('json_nested', 'look', at='y')}",
        'human: Action=look({"at": "y"}) | Observation=2',
    ]


TEXT_CALL = '{"name": "look", "arguments": {"at": "%s"}}'


def test_auto_turns_after_two_calls_written_as_text() -> None:
    """Native requests at first; from the second such reply on JSON, for the rest of the thread, told once."""
    flat = [called("json_schema", "look", at="z"), answered("json_schema", "blue"), answered("json_schema", "again")]
    model = ScriptedModel([TEXT_CALL % "x", TEXT_CALL % "y", *flat])
    agent = Agent(model, TOOLS, settings=settings("auto"))
    events = [*model_events(agent, "x, y, z?"), *model_events(agent, "And again?")]
    assert [len(request.tools) for request in model.requests] == [2, 2, 0, 0, 0]
    assert [event.get("protocol") for event in events] == [None, None, "json_schema", "json_schema", "json_schema"]
    notices = [notice for event in events for notice in event.get("notices", [])]
    assert len([notice for notice in notices if "wrote its calls as text twice" in notice]) == 1


def test_auto_stays_native_with_a_model_that_calls() -> None:
    """One call written as text may be a slip."""
    model = ScriptedModel([TEXT_CALL % "x", reply("", call("look", at="y")), "blue"])
    Agent(model, TOOLS, settings=settings("auto")).run("x, y?")
    assert [len(request.tools) for request in model.requests] == [2, 2, 2]


def test_a_long_thread_is_shortened_as_any_other() -> None:
    """Compression works on the same transcript, and the requests stay within the budget as they are sent."""
    page = "blue " * 300

    @tool
    def read(page_number: int) -> str:
        """Read a page."""
        return f"page {page_number}: {page}"

    steps = [called("json_flat", "read", page_number=n) for n in range(12)]
    model = ScriptedModel([*steps, answered("json_flat", "blue")])
    limits = settings("json_flat", context_tokens=2_500)
    limits = limits.model_copy(update={"memory": limits.memory.model_copy(update={"summary": False})})
    result = Agent(model, [tool_policy(read, effect="pure")], settings=limits).run("Read twelve pages.")
    assert result.answer == "blue"
    assert max(sum(map(count_message, request.messages)) for request in model.requests) < 2_600


def test_one_run_may_be_made_in_another_protocol() -> None:
    """The Context of a run names its protocol; the thread's next run, without one, calls tools again as it did."""
    script: list[Any] = [
        called("json_flat", "add", a=1, b=2),
        answered("json_flat", "3"),
        reply("", call("add", a=2, b=2)),
        "4",
    ]
    model = ScriptedModel(script)
    agent = Agent(model, TOOLS, settings=settings("native"))
    first = agent.run("1 + 2?", thread="t", overrides={"protocol": "json_flat"})
    assert (first.answer, model.requests[0].tools) == ("3", [])
    second = agent.run("2 + 2?", thread="t")
    assert second.answer == "4"
    assert model.requests[-1].tools
    with pytest.raises(LoopwrightError, match="protocol"):
        agent.run("x", overrides={"protocol": "morse"})
