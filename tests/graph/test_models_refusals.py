"""What a server refuses is left out at once and for the rest of the process, whoever built the model."""

import asyncio
from typing import Any

import httpx
import pytest
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import BaseMessage, HumanMessage
from langchain_core.tools import BaseTool, tool
from langchain_openai import ChatOpenAI
from langchain_openai.chat_models.base import BaseChatOpenAI
from pydantic import SecretStr

from loopwright import Agent, Settings, tool_policy
from loopwright.models import BoundModel, ask_model, load_model
from loopwright.models.refusals import Part, refused_part
from loopwright.settings import ModelSettings, ToolSettings
from loopwright.steps import drive
from loopwright.testing import ModelEndpoint, Status, call, reply
from loopwright.testing.json_types import JSONObject

FAST = Settings(model=ModelSettings(retry_delay=0), tools=ToolSettings(retry_delay=0))


def pydantic_detail(*place: str) -> JSONObject:
    """A detail as FastAPI servers send it for a field they do not know."""
    return {"type": "extra_forbidden", "loc": [*place], "msg": "Extra inputs are not permitted", "input": 1}


SAID: list[tuple[str, int, JSONObject, Part | None]] = [
    ("OpenAI: name of the limit", 400, {"error": {
        "message": "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' "
        "instead.", "type": "invalid_request_error", "param": "max_tokens", "code": "unsupported_parameter"}},
     "max_tokens"),
    ("OpenAI: value", 400, {"error": {
        "message": "Unsupported value: 'temperature' does not support 0.2 with this model. Only the default (1) value "
        "is supported.", "type": "invalid_request_error", "param": "temperature", "code": "unsupported_value"}},
     "temperature"),
    ("OpenAI: strict schema", 400, {"error": {
        "message": "Invalid schema for function 'f': In context=(), 'additionalProperties' is required to be supplied "
        "and to be false.", "type": "invalid_request_error", "param": "tools[0].function.parameters",
        "code": "invalid_function_parameters"}}, "strict"),
    ("Azure: unrecognized", 400, {"error": {
        "message": "Unrecognized request argument supplied: parallel_tool_calls", "type": "invalid_request_error",
        "param": None, "code": None}}, "parallel_tool_calls"),
    ("Azure: unknown", 400, {"error": {
        "message": "Unknown parameter: 'stream_options'.", "type": "invalid_request_error", "param": "stream_options",
        "code": "unknown_parameter"}}, "stream_options"),
    ("Azure: strict", 400, {"error": {
        "message": "Unknown parameter: 'tools[0].function.strict'.", "type": "invalid_request_error",
        "param": "tools[0].function.strict", "code": "unknown_parameter"}}, "strict"),
    ("vLLM: details as text", 400, {
        "object": "error", "message": "[{'type': 'extra_forbidden', 'loc': ('body', 'max_completion_tokens'), 'msg': "
        "'Extra inputs are not permitted', 'input': 8192}]", "type": "BadRequestError", "param": None, "code": 400},
     "max_completion_tokens"),
    ("vLLM: details", 422, {"detail": [pydantic_detail("body", "stream_options")]}, "stream_options"),
    ("Mistral: details in a message", 422, {
        "object": "error", "message": {"detail": [pydantic_detail("body", "max_completion_tokens")]},
        "type": "invalid_request_error", "param": None, "code": None}, "max_completion_tokens"),
    ("Mistral: an unknown field first", 422, {
        "detail": [pydantic_detail("body", "store"), pydantic_detail("body", "max_completion_tokens")]},
     "max_completion_tokens"),
    ("Mistral: a field of a message", 422, {
        "detail": [pydantic_detail("body", "messages", "3", "assistant", "temperature")]}, None),
    ("LM Studio: kind of choice", 400, {
        "error": "Invalid tool_choice type: 'object'. Supported string values: none, auto, required"}, "tool_choice"),
    ("Ollama: Go's decoder", 400, {"error": {
        "message": "json: cannot unmarshal object into Go struct field ChatCompletionRequest.tool_choice of type "
        "string", "type": "invalid_request_error", "param": None, "code": None}}, "tool_choice"),
    ("Ollama: no tools at all", 400, {"error": {
        "message": "registry.ollama.ai/library/deepseek-r1:14b does not support tools", "type": "api_error"}}, "tools"),
    ("Cerebras: strict", 400, {
        "message": "Tools with strict=True are not supported by this model", "type": "invalid_request_error"},
     "strict"),
    ("Moonshot: one value", 400, {"error": {
        "message": "invalid temperature: only 1 is allowed for this model", "type": "invalid_request_error"}},
     "temperature"),
    ("LiteLLM: history", 400, {"error": {
        "message": "Anthropic expects the `tools=` param to be passed in when the conversation has tool calls."}},
     "history_without_tools"),
    ("Bedrock: history", 400, {
        "message": "The toolConfig field must be defined when using toolUse and toolResult content blocks."},
     "history_without_tools"),
    ("OpenAI: too large, not unknown", 400, {"error": {
        "message": "max_tokens is too large: 99999. This model supports at most 16384 completion tokens.",
        "type": "invalid_request_error", "param": "max_tokens", "code": "invalid_value"}}, None),
    ("OpenAI: a broken history", 400, {"error": {
        "message": "Invalid parameter: messages with role 'tool' must be a response to a preceding message with "
        "'tool_calls'.", "type": "invalid_request_error", "param": "messages.[1].role", "code": None}}, None),
    ("OpenAI: a rate limit", 429, {"error": {
        "message": "Unsupported parameter: 'temperature'", "param": "temperature", "code": "unsupported_parameter"}},
     None),
]  # fmt: skip
"""What servers answer to a part of the request that they do not know, and what is to be read from it."""


@pytest.mark.parametrize(("status", "body", "part"), [row[1:] for row in SAID], ids=[row[0] for row in SAID])
def test_the_refused_part_is_read_from_what_servers_say(status: int, body: JSONObject, part: Part | None) -> None:
    """Each server names the part in its own way; texts about something else name none."""
    with ModelEndpoint([Status(status, body=body)]) as endpoint, pytest.raises(Exception) as raised:  # noqa: PT011
        theirs(endpoint.base_url, max_retries=0).invoke("x")
    assert refused_part(raised.value) == part
    response = httpx.Response(status, json=body, request=httpx.Request("POST", "http://x/v1/chat/completions"))
    assert refused_part(httpx.HTTPStatusError("refused", request=response.request, response=response)) == part


def test_an_error_without_a_status_names_nothing() -> None:
    """What a client raises by itself is no server's refusal."""
    assert refused_part(ValueError("Unsupported parameter: 'temperature'")) is None


def looking() -> BaseTool:
    """A reading tool with a default."""

    @tool
    def look(at: str, limit: int = 5) -> str:
        """Look at something."""
        return f"saw {at} {limit}"

    return tool_policy(look, effect="read")


def ours(base_url: str, **fields: Any) -> BaseChatModel:
    """A model that we build."""
    settings = ModelSettings(**fields)
    return load_model("openai:any", base_url=base_url, api_key=SecretStr("k"), settings=settings)


def theirs(base_url: str, **fields: Any) -> BaseChatModel:
    """A model that a user builds."""
    return ChatOpenAI(model="any", base_url=base_url, api_key=SecretStr("k"), **fields)


@pytest.mark.parametrize("make", [ours, theirs])
@pytest.mark.parametrize(
    ("refused", "fields", "absent", "instead"),
    [
        ("temperature", {"temperature": 0.2}, "temperature", {}),
        ("stream_options", {}, "stream_options", {}),
        ("max_completion_tokens", {"max_tokens": 77}, "max_completion_tokens", {"max_tokens": 77}),
    ],
)
@pytest.mark.parametrize("awaited", [False, True])
def test_a_refused_parameter_is_left_out_at_once_and_remembered(
    make: Any, refused: str, fields: dict[str, Any], absent: str, instead: dict[str, int], awaited: bool
) -> None:
    """One 400 in the process: the request is made again without the parameter, and no later one brings it."""
    with ModelEndpoint(["one", "two", "three"], reject=frozenset({refused})) as endpoint:
        if make is theirs and refused == "stream_options":
            fields = {"stream_usage": True}
        agent = Agent(make(endpoint.base_url, **fields), settings=FAST)
        first = asyncio.run(agent.arun("x", thread="t")) if awaited else agent.run("x", thread="t")
        assert (first.answer, len(endpoint.rejected)) == ("one", 1)
        assert agent.run("y").answer == "two"
        assert Agent(make(endpoint.base_url, **fields), settings=FAST).run("z").answer == "three"
        assert len(endpoint.rejected) == 1
        body = endpoint.requests[-1].body
        told = agent.report("t").runs[0].rounds[0].model
    assert absent not in body
    assert {name: body.get(name) for name in instead} == instead
    assert told is not None
    assert [refused in notice for notice in told.notices] == [True]
    assert told.retries == 0


def test_the_old_name_of_the_limit_gives_way_to_the_new_one() -> None:
    """A class that still sends max_tokens sends max_completion_tokens to a server that wants that."""
    with ModelEndpoint(["one"], reject=frozenset({"max_tokens"})) as endpoint:
        model = BaseChatOpenAI(model="any", base_url=endpoint.base_url, api_key=SecretStr("k"), max_tokens=55)
        assert Agent(model, settings=FAST).run("x").answer == "one"
        assert endpoint.requests[-1].body["max_completion_tokens"] == 55
        assert "max_tokens" not in endpoint.requests[-1].body


def test_a_server_that_refuses_several_parts_is_asked_once_for_each() -> None:
    """Both names of the limit, the temperature and the usage: four refusals, then a request that is taken."""
    refused = frozenset({"temperature", "max_tokens", "max_completion_tokens", "stream_options"})
    with ModelEndpoint(["one"], reject=refused) as endpoint:
        result = Agent(ours(endpoint.base_url, temperature=0.1, max_tokens=9), settings=FAST).run("x")
        assert (result.answer, len(endpoint.rejected)) == ("one", 4)
        assert not refused & endpoint.requests[-1].body.keys()


def test_what_was_not_sent_is_not_left_out() -> None:
    """A server that complains about a parameter which the request does not hold gets no second request."""
    refusal = Status(400, "Unsupported parameter: 'temperature' is not supported with this model.")
    with ModelEndpoint([refusal, "never"]) as endpoint:
        result = Agent(theirs(endpoint.base_url), settings=FAST).run("x")
        assert len(endpoint.requests) == 1
    assert result.stop is not None
    assert result.stop["reason"] == "model_error"


def test_a_server_that_goes_on_complaining_is_left_after_one_try_more() -> None:
    """A refusal that stays the same without the parameter ends the run; it is not asked for ever."""
    refusal = Status(400, "Unsupported parameter: 'temperature' is not supported with this model.")
    with ModelEndpoint([refusal, refusal, "never"]) as endpoint:
        result = Agent(ours(endpoint.base_url, temperature=0.5), settings=FAST).run("x")
        assert len(endpoint.requests) == 2
    assert result.stop is not None
    assert result.stop["reason"] == "model_error"


def test_parameters_that_a_user_put_aside_are_left_out_too() -> None:
    """`model_kwargs` and `extra_body` are looked through as well, and keep what was not refused."""
    with ModelEndpoint(
        [reply("", call("look", at="a")), "done"], reject=frozenset({"parallel_tool_calls", "seed"})
    ) as endpoint:
        model = theirs(
            endpoint.base_url, model_kwargs={"parallel_tool_calls": False}, extra_body={"seed": 3, "top_k": 5}
        )
        assert Agent(model, [looking()], settings=FAST).run("x").answer == "done"
        assert endpoint.requests[-1].body["top_k"] == 5
        assert not {"parallel_tool_calls", "seed"} & endpoint.requests[-1].body.keys()


def test_options_of_tools_are_not_sent_without_tools() -> None:
    """A closing request offers no tools, so `parallel_tool_calls` of the user's model is not sent with it."""
    with ModelEndpoint([reply("", call("look", at="a")), "closed"]) as endpoint:
        model = theirs(endpoint.base_url, model_kwargs={"parallel_tool_calls": False})
        settings = FAST.model_copy(update={"max_model_calls": 1})
        assert Agent(model, [looking()], settings=settings).run("x").answer == "closed"
        assert endpoint.rejected == []
        assert endpoint.requests[0].body["parallel_tool_calls"] is False


def test_a_server_that_wants_tools_beside_a_tool_history_gets_them() -> None:
    """The closing request is made again with the tools and `tool_choice` none, and later ones at once."""
    script: list[Any] = [reply("", call("look", at="a")), "closed", reply("", call("look", at="b")), "closed again"]
    with ModelEndpoint(script, tool_history_without_tools=False) as endpoint:
        settings = FAST.model_copy(update={"max_model_calls": 1})
        agent = Agent(theirs(endpoint.base_url), [looking()], settings=settings)
        assert agent.run("x", thread="t").answer == "closed"
        assert (len(endpoint.rejected), endpoint.requests[-1].body["tool_choice"]) == (1, "none")
        assert agent.run("y", thread="t").answer == "closed again"
        assert len(endpoint.rejected) == 1


def test_an_option_of_the_request_is_left_out_as_well() -> None:
    """What is bound beside the tools, as `response_format`, goes the same way; the rest of the request stays."""
    form = {"type": "json_object"}
    with ModelEndpoint(['{"a": 1}'], reject=frozenset({"response_format"})) as endpoint:
        model = BoundModel(theirs(endpoint.base_url, temperature=0.3), options={"response_format": form})
        request: list[BaseMessage] = [HumanMessage("JSON, please")]
        asked = ask_model(model, request, FAST.model, used_ids=set(), demands_finish=True, on_retry=lambda *_: None)
        reply_ = drive(asked)
        assert (reply_.message and reply_.message.text, reply_.left_out) == ('{"a": 1}', ("response_format",))
        assert endpoint.requests[0].body["response_format"] == form
        assert endpoint.requests[1].body == {
            name: value for name, value in endpoint.requests[0].body.items() if name != "response_format"
        }


def test_the_summary_is_asked_for_in_the_same_way() -> None:
    """A summary model whose server refuses the temperature writes its summary all the same."""

    @tool
    def read(page: int) -> str:
        """Read a page."""
        return "\n".join(f"page {page} line {n}: value {page * 1000 + n}" for n in range(60))

    def play(body: JSONObject) -> Any:
        messages = body["messages"]
        assert isinstance(messages, list)
        return "done" if len(messages) > 12 else reply("", call("read", page=len(messages)))

    with (
        ModelEndpoint(play) as endpoint,
        ModelEndpoint(lambda _: "Pages were read.", reject=frozenset({"temperature"})) as writer,
    ):
        settings = FAST.model_copy(
            update={"context_tokens": 1_900, "max_model_calls": 12, "model": ModelSettings(stream=False)}
        )
        agent = Agent(
            theirs(endpoint.base_url),
            [tool_policy(read, effect="read")],
            settings=settings,
            summary_model=ours(writer.base_url, temperature=0.3),
        )
        agent.run("Read on", thread="t")
        assert len(writer.rejected) == 1
        assert len(writer.requests) > 1
        assert not any(request.body.get("stream") for request in writer.requests)
        compressions = agent.report("t").runs[0].compressions
    assert sum(each.tokens_in for each in compressions) > 0
    assert sum(each.tokens_out for each in compressions) > 0
