"""Fallback models: who takes over when, for how long, and what is told."""

import asyncio
from typing import Any

import pytest
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import HumanMessage
from langchain_core.runnables import RunnableLambda
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from pydantic import SecretStr

from loopwright import Agent, RunResult, Settings, tool_policy
from loopwright.errors import SettingsError, UnknownModel
from loopwright.settings import MemorySettings, ModelSettings, ToolSettings
from loopwright.testing import ModelEndpoint, ScriptedModel, Status, call, reply

FAST = Settings(model=ModelSettings(retry_delay=0, tries=2), tools=ToolSettings(retry_delay=0))
DOWN = Status(500, message="backend down")


@tool
def look(at: str) -> str:
    """Look at something."""
    return f"saw {at}"


tool_policy(look, effect="read")


def chat(endpoint: ModelEndpoint, name: str) -> ChatOpenAI:
    """A client of the endpoint for the model of this name."""
    return ChatOpenAI(model=name, base_url=endpoint.base_url, api_key=SecretStr("k"))


def answered_by(agent: Agent[Any], thread: str = "t") -> list[tuple[str, str | None]]:
    """Each model call of the newest run: which model, and the kind of its failure."""
    models = [each.model for each in agent.report(thread).runs[-1].rounds if each.model]
    return [(model.model, model.failure["kind"] if model.failure else None) for model in models]


def reason(result: RunResult[Any]) -> str:
    """Why the run stopped."""
    assert result.stop is not None
    return result.stop["reason"]


@pytest.mark.parametrize("awaited", [False, True])
@pytest.mark.parametrize(
    ("faults", "kind"),
    [([DOWN, DOWN], "transient"), ([Status(400, message="no such thing")], "permanent"), ([Status(401)], "auth")],
)
def test_the_next_model_takes_over_and_stays(faults: list[Any], kind: str, awaited: bool) -> None:
    """After tries, a bad request or a bad key the next model gets the request, with the tools, and the later ones."""
    with ModelEndpoint(faults) as first, ModelEndpoint([reply("", call("look", at="a")), "done"]) as second:
        agent = Agent(chat(first, "first"), [look], settings=FAST, fallback=[chat(second, "second")])
        result = asyncio.run(agent.arun("x", thread="t")) if awaited else agent.run("x", thread="t")
        assert (result.answer, result.complete) == ("done", True)
        assert answered_by(agent) == [("first", kind), ("second", None), ("second", None)]
        assert len(first.requests) == len(faults)
        assert second.rejected == []
        first.assert_finished()
        decisions = [d for each in agent.report("t").runs[0].rounds for d in each.decisions if d.policy == "fallback"]
    assert [decision.reason.startswith("first failed") for decision in decisions] == [True]


def test_the_next_run_begins_with_the_first_model_again() -> None:
    """The change lasts for the run: by the next one the first model may be well."""
    with ModelEndpoint([DOWN, DOWN, "well again"]) as first, ModelEndpoint(["from the second"]) as second:
        agent = Agent(chat(first, "first"), settings=FAST, fallback=[chat(second, "second")])
        assert agent.run("x", thread="t").answer == "from the second"
        assert agent.run("y", thread="t").answer == "well again"
        assert answered_by(agent) == [("first", None)]


def test_every_model_failed_and_the_run_is_resumed_with_the_first() -> None:
    """When the last one fails too the run fails with its reason; a resume begins with the first model."""
    with ModelEndpoint([DOWN, DOWN, "well again"]) as first, ModelEndpoint([Status(401)]) as second:
        agent = Agent(chat(first, "first"), settings=FAST, fallback=[chat(second, "second")])
        assert reason(agent.run("x", thread="t")) == "auth"
        assert agent.resume("t").answer == "well again"
        assert answered_by(agent) == [("first", "transient"), ("second", "auth"), ("first", None)]


@pytest.mark.parametrize(
    ("step", "why"),
    [
        (reply("no", finish_reason="content_filter"), "content_filter"),
        (Status(400, code="context_length_exceeded", message="maximum context length is 10 tokens"), "context"),
    ],
)
def test_what_lies_in_the_request_does_not_fall_back(step: Any, why: str) -> None:
    """A filtered reply and a request too long are no fault of the model: the next one is not asked."""
    with ModelEndpoint([step, step]) as first, ModelEndpoint([]) as second:
        agent = Agent(chat(first, "first"), settings=FAST, fallback=[chat(second, "second")])
        assert reason(agent.run("x")) == why
        assert second.requests == []


def test_a_refusal_does_not_fall_back() -> None:
    """Another model is not asked until one agrees."""
    refused = reply("", refusal="I will not.")
    with ModelEndpoint([refused, refused]) as first, ModelEndpoint([]) as second:
        agent = Agent(chat(first, "first"), settings=FAST, fallback=[chat(second, "second")])
        assert reason(agent.run("x")) == "refusal"
        assert second.requests == []


def test_limits_hold_for_a_run_that_fell_back() -> None:
    """A failed call counts; at the limit the closing answer comes from the next model, and no more than that."""
    with ModelEndpoint([DOWN, DOWN]) as first, ModelEndpoint(["what was found"]) as second:
        settings = FAST.model_copy(update={"max_model_calls": 1})
        agent = Agent(chat(first, "first"), [look], settings=settings, fallback=[chat(second, "second")])
        result = agent.run("x", thread="t")
        assert (reason(result), result.answer) == ("model_calls", "what was found")
        assert "tools" not in second.requests[0].body


def test_a_closing_request_that_fails_goes_to_the_next_model() -> None:
    """The closing answer too is tried with the next model before the report stands in its place."""
    with ModelEndpoint([reply("", call("look", at="a")), DOWN, DOWN]) as first, ModelEndpoint(["so far"]) as second:
        settings = FAST.model_copy(update={"max_model_calls": 1})
        agent = Agent(chat(first, "first"), [look], settings=settings, fallback=[chat(second, "second")])
        result = agent.run("x", thread="t")
        assert (reason(result), result.answer) == ("model_calls", "so far")
        assert answered_by(agent) == [("first", None), ("first", "transient"), ("second", None)]


def test_any_recursion_limit_ends_with_an_answer() -> None:
    """Falling back takes steps: where they are not left the run ends with its report, never with an error."""
    for limit in range(6, 20):
        models: list[BaseChatModel] = [ScriptedModel([ValueError("broken")]), ScriptedModel([ValueError("too")])]
        agent = Agent(ScriptedModel([ValueError("first")]), settings=FAST, fallback=[*models, ScriptedModel(["well"])])
        state = agent.graph.invoke({"messages": [HumanMessage("x")]}, {"recursion_limit": limit})
        assert state["answer"]
        assert state["stop"]["reason"] in ("answered", "model_error", "steps")


def test_a_smaller_window_is_compressed_for() -> None:
    """The request is brought within the fallback's own window before it is sent, also where the settings allow more."""
    long = "\n".join(f"line {n} with some words in it" for n in range(300))

    @tool
    def read(page: int) -> str:
        """Read a page."""
        return f"{page}\n{long}"

    script: list[Any] = [reply("", call("read", page=1)), reply("", call("read", page=2)), DOWN, DOWN]
    with ModelEndpoint(script) as first, ModelEndpoint(["short enough"]) as second:
        small = chat(second, "second")
        small.profile = {"max_input_tokens": 3_000}
        settings = FAST.model_copy(update={"context_tokens": 30_000, "memory": MemorySettings(summary=False)})
        agent = Agent(chat(first, "first"), [tool_policy(read, effect="read")], settings=settings, fallback=[small])
        assert agent.run("x", thread="t").answer == "short enough"
        sizes = [len(str(each.body["messages"])) for each in (first.requests[-1], second.requests[-1])]
        last = agent.report("t").runs[0].rounds[-1].model
    assert last is not None
    assert last.request_tokens <= 3_000 - 1_024
    assert sizes[1] < sizes[0]


def test_a_name_that_is_not_known_is_refused_when_the_agent_is_built() -> None:
    """A fallback is loaded at once, like the model itself."""
    with pytest.raises(UnknownModel):
        Agent("offline:demo", fallback=["nothing"])
    assert (
        Agent(ScriptedModel([ValueError("x")]), settings=FAST, fallback=["offline:demo"]).run("What is 6*7?").complete
    )


def test_one_name_is_no_list_of_fallbacks() -> None:
    """A text is a sequence of texts too, and its letters are no models."""
    with pytest.raises(SettingsError, match="'openai:gpt-4o-mini' is a text: give a list of models"):
        Agent(ScriptedModel([]), fallback="openai:gpt-4o-mini")


@pytest.mark.parametrize("given", [None, 5, RunnableLambda(str)])
def test_what_is_no_model_is_refused_at_once(given: Any) -> None:
    """A chain, or nothing, as main model or as fallback."""
    with pytest.raises(UnknownModel, match="is no model: give a name, or a LangChain chat model"):
        Agent(given)
    with pytest.raises(UnknownModel, match="is no model"):
        Agent(ScriptedModel([]), fallback=[given])
