"""Strict schemas: legal on the wire, defaults kept, plain where a tool or an endpoint cannot have them."""

from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.tools import BaseTool, StructuredTool, tool
from langchain_core.utils.function_calling import convert_to_openai_tool
from langchain_openai import ChatOpenAI
from pydantic import BaseModel, Field, SecretStr, create_model

from loopwright import Agent, Settings, tool_policy
from loopwright.models import takes_strict_schemas
from loopwright.settings import ModelSettings, ToolSettings
from loopwright.strict_schema import strict_tool
from loopwright.testing import ModelEndpoint, RawCall, call, illegal, reply
from loopwright.tooling.arguments import fitted, properties_of

STRICT = Settings(model=ModelSettings(retry_delay=0), tools=ToolSettings(retry_delay=0, strict=True))


class Range(BaseModel):
    """A part with a default of its own."""

    first: int
    last: int = 9


def searching(log: list[Any]) -> BaseTool:
    """A tool with a default of every kind."""
    words_to_look_for: Any = Field(default_factory=lambda: ["any"], description="Words to look for")

    @tool
    def search(
        query: str,
        limit: int = 5,
        order: Literal["up", "down"] = "up",
        within: Range | None = None,
        parts: list[Range] = [],  # noqa: B006 (a default as tools have it)
        words: list[str] = words_to_look_for,
        label: str | None = "none yet",
    ) -> str:
        """Search for something."""
        log.append((query, limit, order, within, parts, words, label))
        return "found"

    return tool_policy(search, effect="read")


def chat(endpoint: ModelEndpoint) -> ChatOpenAI:
    """A client of the endpoint."""
    return ChatOpenAI(model="any", base_url=endpoint.base_url, api_key=SecretStr("k"))


def function(endpoint: ModelEndpoint, request: int = 0) -> dict[str, Any]:
    """The one function that a request offered."""
    tools: Any = endpoint.requests[request].body["tools"]
    offered: dict[str, Any] = tools[0]["function"]
    return offered


def test_an_optional_argument_is_nullable_on_the_wire_and_arrives_as_its_default() -> None:
    """`limit: int = 5` is required and nullable in the request; a null comes to the tool as 5, also inside a part."""
    log: list[Any] = []
    nothing: dict[str, Any] = dict.fromkeys(("limit", "order", "words"))
    args = {"query": "q", **nothing, "within": {"first": 1, "last": None}, "parts": [{"first": 2, "last": None}]}
    with ModelEndpoint([reply("", call("search", {**args, "label": None})), "done"]) as endpoint:
        assert Agent(chat(endpoint), [searching(log)], settings=STRICT).run("x").answer == "done"
        assert endpoint.rejected == []
        sent = function(endpoint)
    assert sent["strict"] is True
    assert sent["parameters"]["required"] == ["query", "limit", "order", "within", "parts", "words", "label"]
    limit = sent["parameters"]["properties"]["limit"]
    assert limit == {"type": ["integer", "null"], "description": "Null stands for the default, 5."}
    assert log == [("q", 5, "up", Range(first=1), [Range(first=2)], ["any"], None)]


def test_a_null_that_is_a_value_stays_one() -> None:
    """A null that is legal by itself is not taken for the default; one that stands for nothing the tool refuses."""
    log: list[Any] = []
    script: list[Any] = [
        reply("", call("search", query="q", label=None)),
        reply("", call("search", query=None)),
        "done",
    ]
    with ModelEndpoint(script) as endpoint:
        Agent(chat(endpoint), [searching(log)], settings=STRICT).run("x")
        messages: Any = endpoint.requests[-1].body["messages"]
    assert [entry[-1] for entry in log] == [None]
    assert "query" in messages[-1]["content"]


@pytest.mark.parametrize(
    "parameters",
    [
        {"type": "object", "properties": {"data": {"type": "object"}}},
        {"type": "object", "properties": {"data": {"type": "object", "additionalProperties": {"type": "string"}}}},
        {"type": "object", "properties": {"data": {}}},
        {"type": "object", "properties": {"data": {"type": "array", "items": {}}}},
        {"type": "object", "properties": {"data": {"type": "string", "minLength": 3}}},
        {"type": "object", "properties": {"data": {"oneOf": [{"type": "string"}, {"type": "integer"}]}}},
        {"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": True},
        {"type": "object", "properties": {"data": {"anyOf": [{"type": "object"}, {"type": "null"}]}}},
    ],
)
def test_a_tool_that_cannot_be_strict_is_sent_plain(parameters: dict[str, Any]) -> None:
    """Free keys, untyped parts and keywords beyond strict mode leave the tool as it is, beside strict ones."""
    loose = StructuredTool.from_function(lambda **_: "ok", name="loose", description="Loose.", args_schema=parameters)
    with ModelEndpoint(["done"]) as endpoint:
        Agent(chat(endpoint), [tool_policy(loose, effect="read"), searching([])], settings=STRICT).run("x")
        tools: Any = endpoint.requests[0].body["tools"]
        assert endpoint.rejected == []
    assert [each["function"].get("strict") for each in tools] == [None, True]


def test_an_endpoint_that_refuses_strict_schemas_gets_plain_ones_from_then_on() -> None:
    """One 400 in the process; then the plain schema goes out, with its default and its one required name."""
    log: list[Any] = []
    script: list[Any] = [reply("", call("search", query="q")), "done", "again"]
    with ModelEndpoint(script, reject=frozenset({"strict"})) as endpoint:
        agent = Agent(chat(endpoint), [searching(log)], settings=STRICT)
        assert agent.run("x").answer == "done"
        assert Agent(chat(endpoint), [searching(log)], settings=STRICT).run("y").answer == "again"
        assert len(endpoint.rejected) == 1
        assert function(endpoint, -1)["parameters"]["required"] == ["query"]
    assert [entry[1] for entry in log] == [5]


def test_strict_is_for_openais_own_endpoint_unless_it_is_asked_for() -> None:
    """Without the setting no other endpoint meets a strict schema; OpenAI's own does."""
    with ModelEndpoint(["done"]) as endpoint:
        Agent(chat(endpoint), [searching([])]).run("x")
        assert "strict" not in function(endpoint)
        assert not takes_strict_schemas(chat(endpoint))
    assert takes_strict_schemas(
        ChatOpenAI(model="gpt-4o", api_key=SecretStr("k"), base_url="https://api.openai.com/v1")
    )


KINDS: list[tuple[Any, st.SearchStrategy[Any]]] = [
    (int, st.integers(-5, 5)),
    (str, st.text(max_size=3)),
    (bool, st.booleans()),
    (float, st.floats(allow_nan=False, allow_infinity=False, width=16)),
    (Literal["a", "b"], st.sampled_from(["a", "b"])),
    (list[int], st.lists(st.integers(-5, 5), max_size=2)),
    (int | str, st.integers(-5, 5)),
    (str | None, st.none() | st.text(max_size=3)),
    (Range, st.builds(Range, first=st.integers(0, 3))),
    (list[Range], st.lists(st.builds(Range, first=st.integers(0, 3)), max_size=2)),
]


EXAMPLES: dict[Any, Any] = {
    int: 1, str: "s", bool: True, float: 0.5, Literal["a", "b"]: "a", list[int]: [1], int | str: "t",
    str | None: None, Range: {"first": 1, "last": None}, list[Range]: [{"first": 1, "last": None}],
}  # fmt: skip
"""What a model sends for an argument of each kind."""


@st.composite
def fields(draw: st.DrawFn) -> dict[str, Any]:
    """Parameters of a tool by name, some with a default."""
    made: dict[str, Any] = {}
    for number in range(draw(st.integers(0, 5))):
        kind, values = draw(st.sampled_from(KINDS))
        default = draw(st.just(...) | values)
        made[f"p{number}"] = (kind, default)
    return made


@given(fields())
def test_any_tool_is_legal_on_the_wire_and_its_nulls_come_back_as_defaults(
    made: dict[str, Any],
) -> None:
    """For any set of parameters: the strict schema is legal, and null for each optional one gives its default."""
    schema = create_model("Arguments", **made)
    one = StructuredTool.from_function(lambda **_: "ok", name="one", description="One.", args_schema=schema)
    strict = strict_tool(convert_to_openai_tool(one))
    assert strict is not None
    request = {"model": "m", "messages": [{"role": "user", "content": "x"}], "tools": [strict]}
    assert illegal(request) is None
    required = {name for name, (_, default) in made.items() if default is ...}
    names = strict["function"]["parameters"]["properties"]
    sent = {name: EXAMPLES[made[name][0]] if name in required else None for name in names}
    read = schema.model_validate(fitted(sent, properties_of(one)[0]))
    for name, (kind, default) in made.items():
        if name not in required:
            assert getattr(read, name) == (None if kind == (str | None) else default)
        if kind is Range and name in required:
            assert getattr(read, name) == Range(first=1)


def test_an_argument_list_that_is_not_whole_never_runs_strict_or_not() -> None:
    """A strict schema changes nothing about strict reading: a broken call is answered, not run."""
    log: list[Any] = []
    broken = RawCall("search", '{"query": "q", "limit": nul')
    with ModelEndpoint([reply("", broken), "done"]) as endpoint:
        assert Agent(chat(endpoint), [searching(log)], settings=STRICT).run("x").answer == "done"
    assert log == []
