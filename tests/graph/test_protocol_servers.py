"""Protocols on servers that behave as llama.cpp, Ollama and vLLM do: each ends with the answer."""

import json
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from langchain_core.tools import BaseTool, tool
from pydantic import BaseModel

from loopwright import Agent, Settings, tool_policy
from loopwright.models import load_model
from loopwright.models.protocols import FORMS, FormName, text_tools
from loopwright.models.refusals import Part, refused_part
from loopwright.nodes.protocol import text_protocol
from loopwright.settings import MemorySettings, ModelSettings, ProtocolName, ToolSettings
from loopwright.testing import Manner, ModelEndpoint, ReplyDict, call, reply
from loopwright.testing.json_types import JSON, JSONObject
from loopwright.testing.steps import EndpointStep
from loopwright.testing.wire import request_tokens

EVERY: list[ProtocolName] = ["native", "json_flat", "json_nested", "json_schema", "auto"]
PAGES = [f"Page {number}: {'nothing here. ' * 30}" for number in range(3)] + ["Page 3: the word is blue."]


@tool
def read_page(number: int) -> str:
    """Read one page. Use for every page."""
    return PAGES[number]


TOOLS: list[BaseTool] = [tool_policy(read_page, effect="pure")]


def talks(body: JSONObject) -> EndpointStep:
    """A model that reads the first page it does not see, as the request wants calls to be made, then answers."""
    told = json.dumps(body["messages"])
    shapes = {json.dumps(form.shape(text_tools(tools)))[1:-1]: form for form in FORMS.values() for tools in (TOOLS, [])}
    form = next((form for shape, form in shapes.items() if shape in told), None)
    missing = [number for number in range(4) if f"Page {number}:" not in told]
    can_call = bool(body.get("tools")) and body.get("tool_choice") != "none"
    if missing and (can_call or (form and "Read one page" in told)):
        if form is None:
            return reply("", *[call("read_page", number=number) for number in missing])
        return form.call("read_page", {"number": missing[0]}, "I read on.", {})
    answer = "The word is blue." if not missing else "I do not know."
    return form.answer(answer, {}) if form else answer


SERVERS: dict[str, Callable[..., ModelEndpoint]] = {
    "plain": lambda talk: ModelEndpoint(talk),
    "content null": lambda talk: ModelEndpoint(talk, manner=Manner(null_content=True)),
    "one call a reply": lambda talk: ModelEndpoint(talk, manner=Manner(parallel_calls=False)),
    "ids missing": lambda talk: ModelEndpoint(talk, manner=Manner(call_ids="missing")),
    "ids repeated": lambda talk: ModelEndpoint(talk, manner=Manner(call_ids="repeated")),
    "calls as text": lambda talk: ModelEndpoint(talk, manner=Manner(calls_as_text=True)),
    "one system message": lambda talk: ModelEndpoint(talk, second_system=False),
    "no tool_choice": lambda talk: ModelEndpoint(talk, reject=frozenset({"tool_choice"})),
    "no parallel_tool_calls, no response_format": lambda talk: ModelEndpoint(
        talk, reject=frozenset({"parallel_tool_calls", "response_format", "stream_options"})
    ),
    "no tool history without tools": lambda talk: ModelEndpoint(talk, tool_history_without_tools=False),
}


def settings(protocol: ProtocolName, **fields: Any) -> Settings:
    """Settings for this protocol, without waiting."""
    return Settings(protocol=protocol, model=ModelSettings(retry_delay=0), tools=ToolSettings(retry_delay=0), **fields)


def agent_of(endpoint: ModelEndpoint, protocol: ProtocolName, **fields: Any) -> Agent[Any]:
    """An agent on this endpoint; the name keeps what was learned of one server from the others."""
    model = load_model(f"openai:{protocol}", base_url=endpoint.base_url)
    return Agent(model, TOOLS, settings=settings(protocol, **fields))


@pytest.mark.parametrize("protocol", EVERY)
@pytest.mark.parametrize("server", SERVERS)
def test_every_protocol_ends_with_the_answer(server: str, protocol: ProtocolName) -> None:
    """Whatever the server's habits, the pages are read and the answer is the model's own; nothing is refused twice."""
    with SERVERS[server](talks) as endpoint:
        result = agent_of(endpoint, protocol).run("Read the pages and tell the word.")
        assert (result.answer, result.complete) == ("The word is blue.", True)
        assert len(endpoint.rejected) == len(set(endpoint.rejected))


@pytest.mark.parametrize("protocol", EVERY)
def test_a_limit_ends_with_an_answer_too(protocol: ProtocolName) -> None:
    """The closing request holds a tool history, or its text, and no tools: a server that refuses that is satisfied."""
    with ModelEndpoint(talks, tool_history_without_tools=False, manner=Manner(parallel_calls=False)) as endpoint:
        result = agent_of(endpoint, protocol, max_model_calls=2).run("Read the pages and tell the word.")
        assert result.answer == "I do not know."


@pytest.mark.parametrize("protocol", EVERY)
def test_a_server_that_cuts_in_silence_is_found_out(protocol: ProtocolName) -> None:
    """By the tokens it reports: later requests are kept below its window, and the run ends with its answer."""
    spoken = text_protocol(protocol)
    asked = iter(range(24))

    @tool
    def read_on(number: int) -> str:
        """Read on in a long text."""
        return f"Part {number}: {'more and more of it, ' * 60}"

    def reads(body: JSONObject) -> EndpointStep:
        number = next(asked, None)
        form = FORMS[spoken] if spoken else None
        if number is None:
            return form.answer("That was all.", {}) if form else "That was all."
        args = {"number": number}
        return form.call("read_on", args, "", {}) if form else reply("", call("read_on", args))

    with ModelEndpoint(reads, silent_window=2_000) as endpoint:
        model = load_model(f"openai:{protocol}", base_url=endpoint.base_url)
        chosen = settings(protocol, context_tokens=30_000, memory=MemorySettings(summary=False))
        agent = Agent(model, [tool_policy(read_on, effect="pure")], settings=chosen)
        stream = agent.stream("Read it all.")
        events = [item for item in stream if isinstance(item, dict) and item["kind"] == "model"]
        assert stream.result.answer == "That was all."
        assert any("cut requests in silence" in notice for event in events for notice in event.get("notices", []))
        assert request_tokens(endpoint.requests[-1].body) < 1.4 * 2_000


@pytest.mark.parametrize("protocol", EVERY[1:4])
def test_text_protocols_take_turns(protocol: ProtocolName) -> None:
    """Templates that demand user and assistant in turn accept every request, the reminder of the format among them."""

    def stumbles(body: JSONObject) -> EndpointStep:
        messages = body["messages"]
        assert isinstance(messages, list)
        return "Let me think." if len(messages) == 4 else talks(body)

    with ModelEndpoint(stumbles, alternate=True, second_system=False, tools=False) as endpoint:
        assert agent_of(endpoint, protocol).run("Read the pages and tell the word.").answer == "The word is blue."
        assert endpoint.rejected == []


def test_auto_turns_at_once_where_tools_are_refused() -> None:
    """Ollama's refusal of a model without tools costs one request, and the thread stays with JSON."""
    with ModelEndpoint(talks, tools=False) as endpoint:
        agent = agent_of(endpoint, "auto")
        happened = [item for item in agent.stream("Read the pages.", thread="t") if isinstance(item, dict)]
        assert agent.run("And again?", thread="t").answer == "The word is blue."
        assert len(endpoint.rejected) == 1
        events = [event for event in happened if event["kind"] == "model"]
        assert {event.get("protocol") for event in events} == {"json_schema"}
        assert any("The server takes no tools" in notice for event in events for notice in event.get("notices", []))


def test_the_schema_of_the_choice_is_sent() -> None:
    """One possibility a tool on offer and one that ends; in a closing request the end alone."""
    with ModelEndpoint(talks) as endpoint:
        agent_of(endpoint, "json_schema", max_model_calls=2).run("Read the pages and tell the word.")
        sent = [request.body["response_format"] for request in endpoint.requests]
    assert [_choices(form) for form in sent] == [["read_page", "final"], ["read_page", "final"], ["final"]]
    assert "number" in json.dumps(sent[0])


def _choices(form: JSON) -> list[str]:
    """The actions that a response format allows."""
    schema: Any = form
    schema = schema["json_schema"]["schema"]
    return [option["properties"]["action"]["enum"][0] for option in schema.get("anyOf", [schema])]


def test_openai_gets_the_choice_inside_of_an_object() -> None:
    """Strict mode takes no choice at the root of a schema."""
    form = FORMS["json_schema"].response_format(text_tools(TOOLS), strict=True)
    assert form is not None
    schema = form["json_schema"]["schema"]
    assert (schema["type"], schema["required"]) == ("object", ["step"])
    assert len(schema["properties"]["step"]["anyOf"]) == 2


class Word(BaseModel):
    """A word."""

    word: str


@pytest.mark.parametrize("protocol", list(FORMS))
def test_a_demanded_form_replaces_that_of_the_protocol(protocol: FormName) -> None:
    """Where the answer is asked for again in its own schema, the protocol asks for none, and reads one all the same."""
    form = FORMS[protocol]
    for again in ('{"word": "blue"}', form.answer('{"word": "blue"}', {})):
        with ModelEndpoint([form.answer("It is blue.", {}), again]) as endpoint:
            model = load_model(f"openai:{protocol}", base_url=endpoint.base_url)
            agent = Agent(model, TOOLS, settings=settings(protocol), output=Word)
            assert agent.run("Read the pages and tell the word.").output == Word(word="blue")
            last = endpoint.requests[-1].body
        assert "Word" in json.dumps(last["response_format"])
        assert "No tools can be used now" not in json.dumps(last["messages"])


def test_nested_asks_for_json_mode_and_flat_for_nothing() -> None:
    """JSON mode goes to the server as long as it takes it."""
    sent: dict[str, list[JSON]] = {}
    for protocol in ("json_nested", "json_flat"):
        with ModelEndpoint(talks) as endpoint:
            agent_of(endpoint, protocol).run("Read the pages and tell the word.")
            sent[protocol] = [request.body.get("response_format") for request in endpoint.requests]
    assert sent["json_nested"] == [{"type": "json_object"}] * 5
    assert sent["json_flat"] == [None] * 5


class Refused(Exception):
    """A server's error as its client raises it."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status_code, self.body = status, {"message": message}


@pytest.mark.parametrize(
    ("status", "message", "part"),
    [
        (400, "registry.ollama.ai/library/gemma:2b does not support tools", "tools"),
        (400, '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set', "tools"),
        (500, "tools param requires --jinja flag", "tools"),
        (404, "No endpoints found that support tool use.", "tools"),
        (400, "Invalid schema for response_format 'step': schema must be of type object.", "response_format"),
        (400, "The provided JSON schema contains features not supported by xgrammar.", "response_format"),
        (400, "Failed to parse grammar", "response_format"),
        (400, "The model `gemma` does not exist.", None),
        (500, "Internal error", None),
    ],
)  # fmt: skip
def test_refusals_in_the_words_of_servers(status: int, message: str, part: Part | None) -> None:
    """What a server cannot do with tools or a form is known by its own words."""
    assert refused_part(Refused(status, message)) == part


def test_manners_are_what_they_say() -> None:
    """A scripted server writes its replies as it was told to."""
    two: ReplyDict = {
        "tool_calls": [{"name": "a", "arguments": {}}, {"name": "b", "arguments": {"x": 1}}],
        "content": "",
    }

    def message(manner: Manner) -> Any:
        with ModelEndpoint([two], manner=manner) as endpoint:
            body = {"model": "m", "messages": [{"role": "user", "content": "x"}]}
            return httpx.post(f"{endpoint.base_url}/chat/completions", json=body).json()["choices"][0]["message"]

    assert [made["id"] for made in message(Manner(call_ids="missing"))["tool_calls"]] == [None, None]
    assert [made["id"] for made in message(Manner(call_ids="repeated"))["tool_calls"]] == ["call_0", "call_0"]
    assert len(message(Manner(parallel_calls=False))["tool_calls"]) == 1
    assert message(Manner(null_content=True))["content"] is None
    written = message(Manner(calls_as_text=True))
    assert "tool_calls" not in written
    assert written["content"] == '{"name": "a", "arguments": {}}\n{"name": "b", "arguments": {"x": 1}}'
