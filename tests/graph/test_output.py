"""Structured output: an answer in the demanded form, asked for once more where it has not that form."""

from typing import Any

import pytest
from langchain_core.messages import HumanMessage
from langchain_core.tools import BaseTool, tool
from pydantic import BaseModel, Field, SecretStr

from loopwright import Agent, Settings, build_graph, tool_policy
from loopwright.errors import SettingsError
from loopwright.models import load_model
from loopwright.models.structured import OutputFormat
from loopwright.settings import ModelSettings
from loopwright.testing import ModelEndpoint, ScriptedModel, call, reply


class Total(BaseModel):
    """A sum."""

    total: float = Field(ge=0)
    currency: str = "EUR"


GOOD = '{"total": 12.5, "currency": "USD"}'


def _look() -> BaseTool:
    @tool
    def look(at: str) -> str:
        """Look at something."""
        return f"saw {at}"

    return tool_policy(look, effect="read")


def test_an_answer_in_the_form_is_taken_as_it_is() -> None:
    """One request, and the instance in the result; the schema stands in the system prompt."""
    model = ScriptedModel([GOOD])
    result = Agent(model, output=Total).run("add")
    assert result.output == Total(total=12.5, currency="USD")
    assert (result.complete, result.usage.model_calls) == (True, 1)
    assert '"total"' in model.requests[0].messages[0].text


def test_prose_is_asked_for_once_more_and_told_why() -> None:
    """The second request offers no tools and names what was wrong."""
    model = ScriptedModel(["The total is 12.5 dollars.", GOOD])
    result = Agent(model, [_look()], output=Total).run("add")
    assert result.output == Total(total=12.5, currency="USD")
    assert result.complete
    assert model.requests[1].tools == []
    assert "Invalid JSON" in model.requests[1].messages[0].text


def test_a_second_failure_ends_the_run_without_an_output() -> None:
    """The text stays as the answer, marked incomplete, with the reason invalid_replies and no third request."""
    model = ScriptedModel(["twelve", "I said twelve."])
    result = Agent(model, output=Total).run("add")
    assert result.output is None
    assert result.answer == "I said twelve."
    assert result.stop is not None
    assert (result.stop["reason"], result.stop["policy"], result.complete) == ("invalid_replies", "output", False)


def test_at_a_limit_the_closing_answer_has_the_form_too() -> None:
    """The closing request is repaired once like any other; the limit stays the reason."""
    wish = reply("", call("look", at="a"))
    model = ScriptedModel([wish, "so far 12.5", GOOD])
    result = Agent(model, [_look()], settings=Settings(max_model_calls=1), output=Total).run("add")
    assert result.output == Total(total=12.5, currency="USD")
    assert result.stop is not None
    assert (result.stop["reason"], result.complete) == ("model_calls", False)


def test_a_closing_answer_that_stays_without_form_keeps_the_limit_as_the_reason() -> None:
    """Two closing replies in prose: no output, no further request."""
    wish = reply("", call("look", at="a"))
    model = ScriptedModel([wish, "so far 12.5", "still 12.5"])
    result = Agent(model, [_look()], settings=Settings(max_model_calls=1), output=Total).run("add")
    assert result.output is None
    assert result.stop is not None
    assert result.stop["reason"] == "model_calls"


def test_forgiving_in_form_and_strict_in_content() -> None:
    """A fence or prose around the object is form; a value that does not fit is not."""
    form = OutputFormat(Total)
    for text in (GOOD, f"```json\n{GOOD}\n```", f"Here it is: {GOOD} - done."):
        assert form.read(text) == Total(total=12.5, currency="USD")
    assert form.read('{"total": -1}') is None
    assert form.problem('{"total": -1}').startswith("total: ")
    assert form.read('{"total": 12.5') is None


def test_a_schema_with_free_keys_is_not_sent_as_a_strict_one() -> None:
    """Strict structured outputs know named properties only."""

    class Free(BaseModel):
        """Counts by word."""

        counts: dict[str, int]

    assert OutputFormat(Free).response_format is None
    strict = OutputFormat(Total).response_format
    assert strict is not None
    assert strict["json_schema"]["schema"]["required"] == ["total", "currency"]


class Part(BaseModel):
    """A part of an order."""

    name: str
    count: int = 1
    note: str | None = "none given"


class Order(BaseModel):
    """An order."""

    parts: list[Part]
    main: Part | None = None
    pay: Part = Part(name="cash", count=3)


def test_a_null_of_the_strict_schema_is_the_default_at_any_depth() -> None:
    """What strict mode makes a model write for an optional field reads as if it were left out; a real null stays."""
    form = OutputFormat(Order)
    assert form.response_format is not None
    schema = form.response_format["json_schema"]["schema"]
    assert schema["required"] == ["parts", "main", "pay"]
    assert schema["properties"]["parts"]["items"]["required"] == ["name", "count", "note"]
    written = '{"parts": [{"name": "bolt", "count": null, "note": null}], "main": null, "pay": null}'
    assert form.read(written) == Order(parts=[Part(name="bolt", count=1, note=None)])
    assert form.read(f"```json\n{written}\n```") is not None
    assert form.read('{"parts": null, "main": null, "pay": null}') is None
    assert form.problem('{"parts": [{"name": null}]}').startswith("parts.0.name")


def test_the_schema_mode_of_the_server_is_used_for_the_answer_asked_again() -> None:
    """The request for the form carries a strict schema in the body; the requests before it carry none."""
    with ModelEndpoint(["twelve and a half", GOOD]) as endpoint:
        model = load_model("openai:any", base_url=endpoint.base_url, api_key=SecretStr("x"))
        result = Agent(model, [_look()], output=Total).run("add")
        first, second = (request.body for request in endpoint.requests)
    assert result.output == Total(total=12.5, currency="USD")
    assert "response_format" not in first
    form = second["response_format"]
    assert isinstance(form, dict)
    assert form["type"] == "json_schema"


def test_a_server_without_schema_mode_is_asked_in_words() -> None:
    """It refuses the parameter with 400 once; the same request goes without it, and later ones do too."""
    fast = Settings(model=ModelSettings(retry_delay=0))
    with ModelEndpoint(["twelve", GOOD, "thirteen", GOOD], reject=frozenset({"response_format"})) as endpoint:
        model = load_model("openai:no-schema", base_url=endpoint.base_url, api_key=SecretStr("x"))
        agent = Agent(model, settings=fast, output=Total)
        assert agent.run("add").output == Total(total=12.5, currency="USD")
        assert agent.run("again").output == Total(total=12.5, currency="USD")
        assert len(endpoint.rejected) == 1


@pytest.mark.parametrize("limit", range(6, 16))
def test_any_recursion_limit_from_six_ends_with_an_answer(limit: int) -> None:
    """A model that never gives the form: the run ends by itself, however few steps the caller leaves."""
    model = ScriptedModel(lambda messages: "prose" if len(messages) > 5 else reply("", call("look", at="a")))
    graph = build_graph(model, [_look()], output=Total)
    state = graph.invoke({"messages": [HumanMessage("add")]}, {"recursion_limit": limit})
    assert state["answer"]
    assert state["stop"]["reason"] in ("invalid_replies", "steps", "repeat")


@pytest.mark.parametrize("output", [dict, list[Total], BaseModel, Total(total=1), "Total"])
def test_an_output_that_is_no_model_is_refused_when_the_agent_is_made(output: Any) -> None:
    """One sentence at once, and no error in the middle of a run."""
    with pytest.raises(SettingsError, match="is no pydantic model: give a class derived from BaseModel"):
        Agent(ScriptedModel([]), output=output)
