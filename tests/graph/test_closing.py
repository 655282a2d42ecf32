"""The closing answer: a model call like any other, without tools; where it brings none, the report is the answer."""

from collections.abc import Sequence
from typing import Any

import pytest
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.tools import BaseTool, tool
from langchain_openai import ChatOpenAI
from pydantic import SecretStr

from loopwright import Agent, RunResult, Settings, Token, build_graph, tool_policy
from loopwright.settings import GuardSettings, MemorySettings, ModelSettings, ToolSettings
from loopwright.state import Event
from loopwright.testing import ModelEndpoint, ScriptedModel, Status, call, reply

CLOSING = "Seen: a. Missing: the rest, since the limit was reached."


def settings(**changes: Any) -> Settings:
    """One model call and then the closing one; nothing waits, nobody is asked."""
    given: dict[str, Any] = {
        "max_model_calls": 1,
        "model": ModelSettings(retry_delay=0, tries=3),
        "tools": ToolSettings(retry_delay=0),
        "guard": GuardSettings(ask=False),
    }
    return Settings(**{**given, **changes})


def looking(says: str = "saw {at}") -> BaseTool:
    """A reading tool."""

    @tool
    def look(at: str) -> str:
        """Look at a place. Use when asked what is there; do not use for anything else."""
        return says.format(at=at)

    return tool_policy(look, effect="read")


def look(at: str = "a") -> AIMessage:
    """A reply with one call."""
    return reply("", call("look", at=at))


def chat(endpoint: ModelEndpoint) -> BaseChatModel:
    """A model behind the endpoint."""
    return ChatOpenAI(model="scripted", base_url=endpoint.base_url, api_key=SecretStr("x"))


def played(model: BaseChatModel, *, says: str = "saw {at}", **changes: Any) -> tuple[RunResult, list[Event], str]:
    """The result of a run, its events, and the tokens that were streamed."""
    agent = Agent(model, [looking(says)], settings=settings(**changes))
    stream = agent.stream("What is there?")
    items = list(stream)
    text = "".join(item.text for item in items if isinstance(item, Token))
    return stream.result, [item for item in items if not isinstance(item, Token)], text


def reason_of(result: RunResult) -> str:
    """Why the run stopped."""
    assert result.stop is not None
    return result.stop["reason"]


def kinds(events: Sequence[Event], kind: str) -> int:
    """How many events of this kind there are."""
    return sum(event["kind"] == kind for event in events)


def test_it_is_told_why_and_offered_no_tools() -> None:
    """The request has no tools and says what is to be said; its reply is the answer: incomplete, counted, streamed."""
    model = ScriptedModel([look(), CLOSING])
    result, events, text = played(model)
    assert (result.answer, result.complete, reason_of(result)) == (CLOSING, False, "model_calls")
    assert result.usage.model_calls == kinds(events, "model") == 2
    assert CLOSING in text
    closing = model.requests[-1]
    assert closing.tools == []
    asked = "\n".join(message.text for message in closing.messages)
    assert "model_calls: 1 of 1" in asked
    assert "what was found" in asked
    assert "saw a" in asked


def test_nothing_of_ours_is_left_in_the_transcript() -> None:
    """The instruction stands in that one request alone."""
    result, _, _ = played(ScriptedModel([look(), CLOSING]))
    assert [message.type for message in result.messages] == ["human", "ai", "tool", "ai"]
    assert not any("The run ends now" in message.text for message in result.messages)


def test_it_is_retried_like_any_other() -> None:
    """A closing request that the server fails once is made again."""
    with ModelEndpoint([look(), Status(500), CLOSING]) as endpoint:
        result, _, _ = played(chat(endpoint))
        endpoint.assert_finished()
    assert (result.answer, reason_of(result)) == (CLOSING, "model_calls")


def test_it_is_compressed_like_any_other() -> None:
    """A closing request over the budget is brought under it first, and is still the closing one."""
    model = ScriptedModel([look("a"), look("b"), look("c"), CLOSING])
    long, memory = "{at} " + "many words " * 175, MemorySettings(summary=False)
    result, events, _ = played(model, says=long, memory=memory, max_model_calls=3, context_tokens=1_150)
    steps = [(event["kind"], event["step"]) for event in events if event["kind"] in ("model", "compression")]
    assert steps == [("model", 1), ("model", 2), ("model", 3), ("compression", 3), ("model", 4)]
    assert (result.answer, reason_of(result)) == (CLOSING, "model_calls")
    assert model.requests[-1].tools == []
    assert "The run ends now" in "".join(message.text for message in model.requests[-1].messages)


def test_a_budget_that_nothing_reaches_ends_with_the_report() -> None:
    """Where no compression brings the closing request under it none is made; the reason stays, and the run ends."""
    tight = settings(
        system_prompt="Be kind.", context_tokens=70, max_model_calls=9, memory=MemorySettings(summary=False)
    )
    model = ScriptedModel([""] * 3)
    result = Agent(model, settings=tight).run("hi")
    assert reason_of(result) == "empty_reply"
    assert result.answer.startswith("Stopped: Several replies in a row were empty.")
    assert "step 3)" in result.answer
    model.assert_finished()


@pytest.mark.parametrize(
    ("closing", "error"),
    [
        ([Status(500)] * 3, "500"),
        ([reply("one more", call("look", at="b"))], None),
        ([""], "empty"),
        ([reply("", finish_reason="content_filter")], "content filter"),
    ],
    ids=["fails", "calls a tool", "is empty", "is filtered"],
)
def test_the_report_is_the_answer_where_it_brings_none(closing: list[Any], error: str | None) -> None:
    """A closing call that fails, calls a tool, or says nothing: the rendered report is the answer, the reason stays."""
    with ModelEndpoint([look(), *closing]) as endpoint:
        result, _, _ = played(chat(endpoint))
        endpoint.assert_finished()
    assert reason_of(result) == "model_calls"
    assert result.answer.startswith("Stopped: The limit of model calls was reached.")
    assert "step 1)" in result.answer
    assert "Extend model_calls" in result.answer
    assert not result.complete
    assert result.stop is not None
    assert error is None or error in (result.stop["last_error"] or "")
    assert isinstance(result.messages[-1], AIMessage)
    assert result.messages[-1].text == result.answer


def test_a_call_made_in_spite_of_it_is_answered_and_does_not_run() -> None:
    """The transcript stays legal: the call has a result that says that the run was ending."""
    result, events, _ = played(ScriptedModel([look(), look("b")]))
    answers = [message for message in result.messages if isinstance(message, ToolMessage)]
    assert [message.text.startswith("Not run: the run is ending") for message in answers] == [False, True]
    assert [event["status"] for event in events if event["kind"] == "call"] == ["ok", "not_run"]
    assert result.usage.tool_calls == 1


def test_a_server_that_finds_it_too_long_gets_a_shorter_one_once() -> None:
    """The server's own context error has the closing request compressed and made again; a second one ends the run."""
    too_long = Status(400, code="context_length_exceeded")
    for script, answer in (([too_long, CLOSING], CLOSING), ([too_long, too_long], "Stopped: ")):
        with ModelEndpoint([look(), *script]) as endpoint:
            result, events, _ = played(chat(endpoint), memory=MemorySettings(summary=False))
            endpoint.assert_finished()
        assert kinds(events, "compression") == 1
        assert result.answer.startswith(answer)
        assert reason_of(result) == "model_calls"


@pytest.mark.parametrize("limit", range(6, 22))
def test_it_fits_every_recursion_limit(limit: int) -> None:
    """Also a server that finds each request too long never makes the caller's recursion limit overflow."""
    with ModelEndpoint(lambda body: Status(400, code="context_length_exceeded") if limit % 2 else look()) as endpoint:
        graph = build_graph(chat(endpoint), [looking()], settings(max_model_calls=50))
        state = graph.invoke({"messages": [HumanMessage("x")]}, {"recursion_limit": limit})
    assert state["answer"]
    assert state["stop"]["reason"] in ("context", "steps", "repeat")


def test_it_is_asked_for_in_the_users_language() -> None:
    """A user who writes Chinese gets a Chinese closing request, and a Chinese report where it fails."""
    model = ScriptedModel([look(), ""])
    result = Agent(model, [looking()], settings=settings()).run("那里有什么？")
    assert any("不要再调用工具" in message.text for message in model.requests[-1].messages)
    assert result.answer.startswith("已停止：已达模型调用次数上限。")


def test_it_does_not_count_as_a_repeat() -> None:
    """After a closing answer the run goes on under a larger limit as if nothing had been."""
    agent = Agent(ScriptedModel([look(), CLOSING, look("b"), "all of it"]), [looking()], settings=settings())
    agent.run("What is there?", thread="t")
    result = agent.resume("t", extend={"model_calls": 9})
    assert (result.answer, result.complete) == ("all of it", True)


@pytest.mark.parametrize(
    "written",
    [
        '{"name": "look", "arguments": {"at": "b"}}',
        '{"thought": "next", "action": {"name": "look", "args": {"at": "b"}}, "finish": false}',
        '<tool_call>{"name": "look", "arguments": {"at": "b"}}</tool_call>',
    ],
)
def test_a_call_written_as_text_is_no_closing_answer(written: str) -> None:
    """It is a call made although none was offered: the report is the answer, and the call is answered as not run."""
    result, _, _ = played(ScriptedModel([look(), written]))
    assert result.answer.startswith("Stopped:")
    assert written not in result.answer
    assert isinstance(result.messages[-2], ToolMessage)
