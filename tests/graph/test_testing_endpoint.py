"""ModelEndpoint: real clients get over HTTP what the script says, faults included, and illegal requests get a 400."""

import asyncio
import http.client
import json
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import openai
import pytest
from langchain_core.messages import AIMessage, AIMessageChunk, HumanMessage, ToolMessage
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from pydantic import SecretStr

from loopwright.models.failures import retry_after
from loopwright.testing import CutStream, Dropped, ModelEndpoint, Received, ReplyDict, Slow, Status, call, reply

HELLO: dict[str, Any] = {"model": "m", "messages": [{"role": "user", "content": "hello"}]}
FIELD_CASES = Path(__file__).parents[3] / "shared" / "field-cases.json"


@tool
def look(at: str) -> str:
    """Look at something."""
    return at


def client(endpoint: ModelEndpoint, **options: Any) -> ChatOpenAI:
    """A real client of the endpoint, with no retries of its own."""
    return ChatOpenAI(base_url=endpoint.base_url, api_key=SecretStr("x"), model="m", max_retries=0, **options)


def post(endpoint: ModelEndpoint, body: Any, **headers: str) -> httpx.Response:
    """One request without a client library; bytes are sent as they are."""
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    return httpx.post(f"{endpoint.base_url}/chat/completions", content=content, headers=headers)


def events(endpoint: ModelEndpoint, **options: Any) -> list[Any]:
    """The parsed events of a stream, "[DONE]" as it is."""
    lines = post(endpoint, HELLO | {"stream": True} | options).text.split("\n\n")
    data = [line.removeprefix("data: ") for line in lines if line]
    return [event if event == "[DONE]" else json.loads(event) for event in data]


def roles(request: Received) -> list[object]:
    """The roles of the messages that were received."""
    messages = request.body["messages"]
    assert isinstance(messages, list)
    return [message["role"] for message in messages if isinstance(message, dict)]


def joined(chunks: list[Any]) -> AIMessageChunk:
    """The chunks as one message."""
    whole: AIMessageChunk = chunks[0]
    for chunk in chunks[1:]:
        whole = whole + chunk
    return whole


def test_the_client_gets_text_and_calls_in_all_four_ways() -> None:
    """invoke, stream, ainvoke and astream of ChatOpenAI read the same reply."""
    said = reply("let me look", call("look", at="a"), call("look", {"at": "b"}, id="mine"), usage=(11, 5))

    async def asynchronously(endpoint: ModelEndpoint) -> list[AIMessage]:
        model = client(endpoint, stream_usage=True)
        return [await model.ainvoke("hello"), joined([chunk async for chunk in model.astream("hello")])]

    with ModelEndpoint([said] * 4) as endpoint:
        model = client(endpoint, stream_usage=True)
        replies = [model.invoke("hello"), joined(list(model.stream("hello"))), *asyncio.run(asynchronously(endpoint))]
        endpoint.assert_finished()
    for message in replies:
        assert message.text == "let me look"
        assert [(c["name"], c["args"]) for c in message.tool_calls] == [("look", {"at": "a"}), ("look", {"at": "b"})]
        assert message.tool_calls[1]["id"] == "mine"
        assert message.response_metadata["finish_reason"] == "tool_calls"
        assert message.usage_metadata is not None
        assert (message.usage_metadata["input_tokens"], message.usage_metadata["output_tokens"]) == (11, 5)
    assert len({message.tool_calls[0]["id"] for message in replies}) == 4


def test_a_round_with_tools_is_recorded_as_sent() -> None:
    """Bodies are kept parsed and in order; the key is not."""
    with ModelEndpoint([reply("", call("look", at="a")), "done"]) as endpoint:
        model = client(endpoint).bind_tools([look], strict=True)
        asked = model.invoke("hello")
        answer = model.invoke([HumanMessage("hello"), asked, ToolMessage("a", tool_call_id=asked.tool_calls[0]["id"])])
        assert answer.text == "done"
        first, second = endpoint.requests
    assert roles(second) == ["user", "assistant", "tool"]
    assert roles(first) == ["user"]
    assert first.headers["authorization"] == "REDACTED"
    assert "Bearer" not in repr(endpoint.requests)
    assert endpoint.rejected == []


def test_usage_is_streamed_only_when_asked_for() -> None:
    """The usage chunk has no choices, comes last, and needs `stream_options.include_usage`."""
    with ModelEndpoint(lambda _: "12345678") as endpoint:
        plain = events(endpoint)
        counted = events(endpoint, stream_options={"include_usage": True})
    assert not any("usage" in event for event in plain[:-1])
    assert counted[-2]["choices"] == []
    assert counted[-2]["usage"] == {"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3}
    assert plain[-1] == counted[-1] == "[DONE]"


def test_replies_as_json_have_pieces_on_the_wire() -> None:
    """Raw arguments, arguments of null, ids, refusal, reasoning and partial usage come as the script has them."""
    step: ReplyDict = {
        "role": "assistant",
        "content": None,
        "reasoning_content": "think",
        "refusal": "no",
        "tool_calls": [
            {"id": "", "name": "f", "arguments": '{"a": '},
            {"name": "g", "arguments": None},
            {"name": "h", "arguments": {"b": 1}},
        ],
        "finish_reason": "length",
        "usage": {"completion_tokens": 300},
    }
    with ModelEndpoint([step, step]) as endpoint:
        whole = post(endpoint, HELLO).json()
        deltas = [event["choices"][0] for event in events(endpoint)[:-1]]
    message = whole["choices"][0]["message"]
    assert [c["function"]["arguments"] for c in message["tool_calls"]] == ['{"a": ', None, '{"b": 1}']
    assert [c["id"] for c in message["tool_calls"]] == ["", "call_1_1", "call_1_2"]
    assert (message["content"], message["refusal"], message["reasoning_content"]) == (None, "no", "think")
    assert whole["choices"][0]["finish_reason"] == deltas[-1]["finish_reason"] == "length"
    assert whole["usage"] == {"prompt_tokens": 1, "completion_tokens": 300, "total_tokens": 301}
    calls = [delta["delta"]["tool_calls"][0] for delta in deltas if "tool_calls" in delta["delta"]]
    assert [(c["index"], c["function"]["arguments"]) for c in calls] == [
        (0, '{"a'),
        (0, '": '),
        (1, None),
        (2, '{"b"'),
        (2, ": 1}"),
    ]


def test_a_reply_without_finish_reason_just_ends() -> None:
    """The stream closes cleanly, with no finish, no usage and no [DONE]."""
    with ModelEndpoint([{"content": "half", "finish_reason": None}, reply("half", finish_reason=None)]) as endpoint:
        for _ in range(2):
            got = events(endpoint, stream_options={"include_usage": True})
            assert [event["choices"][0]["finish_reason"] for event in got] == [None] * len(got)
            assert "".join(event["choices"][0]["delta"].get("content") or "" for event in got) == "half"


def test_lone_surrogates_can_be_answered() -> None:
    """A script read from JSON may hold them; they reach the client as a server would escape them."""
    with ModelEndpoint(["\ud800", {"tool_calls": [{"name": "f", "arguments": '{"a": "\ud800"}'}]}]) as endpoint:
        assert post(endpoint, HELLO).json()["choices"][0]["message"]["content"] == "\ud800"
        calls = post(endpoint, HELLO).json()["choices"][0]["message"]["tool_calls"]
    assert calls[0]["function"]["arguments"] == '{"a": "\ud800"}'


@pytest.mark.parametrize(
    ("fault", "error", "code"),
    [
        (Status(429, retry_after=3), openai.RateLimitError, "rate_limit_exceeded"),
        (Status(500), openai.InternalServerError, None),
        (Status(503, "overloaded"), openai.InternalServerError, None),
        (Status(400, code="context_length_exceeded"), openai.BadRequestError, "context_length_exceeded"),
        (Status(401), openai.AuthenticationError, "invalid_api_key"),
    ],
)
@pytest.mark.parametrize("stream", [False, True])
def test_statuses_raise_the_clients_own_errors(
    fault: Status, error: type[openai.APIStatusError], code: str | None, stream: bool
) -> None:
    """Each status arrives as the error class that the client has for it, with OpenAI's code."""
    with ModelEndpoint([fault]) as endpoint, pytest.raises(error) as raised:
        list(client(endpoint).stream("hello")) if stream else client(endpoint).invoke("hello")
    assert raised.value.code == code
    assert (fault.message or "e") in raised.value.message


@pytest.mark.parametrize(
    ("fault", "seconds"),
    [(Status(429, retry_after=3), 3), (Status(429, retry_after_ms=250), 0.25), (Status(429), None)],
)
def test_retry_after_is_sent(fault: Status, seconds: float | None) -> None:
    """The waiting time that the server asks for can be read from the client's error, in either unit."""
    with ModelEndpoint([fault]) as endpoint, pytest.raises(openai.RateLimitError) as raised:
        client(endpoint).invoke("hello")
    assert retry_after(raised.value) == seconds


def test_statuses_are_read_from_the_forms_of_field_cases() -> None:
    """The short written forms say the same as the dataclass."""
    assert Status.parse("HTTP 429 Retry-After: 3") == Status(429, retry_after=3.0)
    assert Status.parse("HTTP 500") == Status(500)
    assert Status.parse("HTTP 400 code=context_length_exceeded") == Status(400, code="context_length_exceeded")
    assert Status.parse("HTTP 500 (summary)") == Status(500, "(summary)")
    with pytest.raises(ValueError, match="is no server fault"):
        Status.parse("500")


def test_a_dropped_connection_has_no_answer() -> None:
    """The client sees a connection error, and the next request is served."""
    with ModelEndpoint([Dropped(), "fine"]) as endpoint:
        with pytest.raises(httpx.RemoteProtocolError):
            post(endpoint, HELLO)
        assert client(endpoint).invoke("hello").text == "fine"


def test_a_cut_stream_brings_half_a_call_and_an_error() -> None:
    """After the role and half a call the connection breaks; what came is the name and the first half."""
    cut = CutStream(reply("", call("read_file", path="a")), after=2)
    with ModelEndpoint([cut, cut]) as endpoint:
        got: list[AIMessageChunk] = []
        with pytest.raises(openai.APIConnectionError):
            got.extend(client(endpoint).stream("hello"))
        parts = [part for chunk in got for part in chunk.tool_call_chunks]
        assert [(part["name"], part["args"]) for part in parts] == [("read_file", '{"path"')]
        assert not any(chunk.response_metadata.get("finish_reason") for chunk in got)
        with pytest.raises(httpx.RemoteProtocolError):
            post(endpoint, HELLO)


class Waiting:
    """A step that never answers by itself, with an event that tells when its request came."""

    def __init__(self, text: str) -> None:
        self.slow = Slow(text)
        self.arrived = threading.Event()

    def __call__(self, request: object) -> Slow:
        self.arrived.set()
        return self.slow


def test_a_slow_answer_waits_for_its_event() -> None:
    """The answer comes when the event is set, other requests are served meanwhile."""
    step = Waiting("late")
    with ModelEndpoint([step, "at once"]) as endpoint, ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(lambda: client(endpoint).invoke("hello").text)
        assert step.arrived.wait(20)
        assert client(endpoint).invoke("hello").text == "at once"
        assert not waiting.done()
        step.slow.event.set()
        assert waiting.result(timeout=20) == "late"


def test_closing_ends_kept_connections() -> None:
    """A client that keeps its connection open sees it end with the block."""
    with ModelEndpoint() as endpoint:
        connection = http.client.HTTPConnection(endpoint.base_url.split("/")[2], timeout=20)
        connection.request("GET", "/v1/models")
        connection.getresponse().read()
        kept = connection.sock
    assert kept.recv(1) == b""
    connection.close()


def test_closing_ends_slow_answers() -> None:
    """Nothing hangs at the end: a waiting client gets an error, its thread ends, and the port is closed."""
    step = Waiting("never")
    with ThreadPoolExecutor(1) as pool:
        with ModelEndpoint([step]) as endpoint:
            url = endpoint.base_url
            waiting = pool.submit(lambda: post(endpoint, HELLO))
            assert step.arrived.wait(20)
        with pytest.raises(httpx.TransportError):
            waiting.result(timeout=20)
    serving = [thread for thread in threading.enumerate() if "process_request_thread" in thread.name]
    for thread in serving:
        thread.join(5)
    assert not any(thread.is_alive() for thread in serving)
    with pytest.raises(httpx.ConnectError):
        httpx.get(f"{url}/models")
    with pytest.raises(RuntimeError, match="not running"):
        _ = endpoint.base_url


def test_a_client_that_gives_up_is_no_fault(capfd: pytest.CaptureFixture[str]) -> None:
    """A client's timeout leaves no trace on stderr, and the script counts as played."""
    slow = Slow("x" * 1_000_000)
    with ModelEndpoint([slow, "fine"]) as endpoint:
        with pytest.raises(httpx.ReadTimeout):
            httpx.post(f"{endpoint.base_url}/chat/completions", json=HELLO, timeout=0.05)
        slow.event.set()
        assert post(endpoint, HELLO).status_code == 200
        endpoint.assert_finished()
    assert capfd.readouterr().err == ""


def test_functions_answer_by_the_request() -> None:
    """A function sees the parsed body; one in the list plays once, one in its place for ever."""

    def by_model(request: dict[str, Any]) -> Any:
        return Status(500) if request["model"] == "broken" else str(len(request["messages"]))

    with ModelEndpoint(by_model) as endpoint:
        assert [post(endpoint, HELLO | {"model": name}).status_code for name in ("m", "broken", "m")] == [200, 500, 200]
        endpoint.assert_finished()
    with ModelEndpoint([by_model, Slow(by_model, set_event())]) as endpoint:
        assert [post(endpoint, HELLO).json()["choices"][0]["message"]["content"] for _ in range(2)] == ["1", "1"]
        endpoint.assert_finished()


def set_event() -> threading.Event:
    """An event that nobody waits for."""
    event = threading.Event()
    event.set()
    return event


def test_an_exhausted_script_is_a_500_and_told_at_the_end() -> None:
    """The exit of the block stays silent; `assert_finished` tells of the request too many."""
    with ModelEndpoint(["one"]) as endpoint:
        post(endpoint, HELLO)
        answer = post(endpoint, HELLO)
    assert answer.status_code == 500
    assert "Request 2 came when all 1 steps" in answer.json()["error"]["message"]
    with pytest.raises(AssertionError, match="Request 2"):
        endpoint.assert_finished()
    with pytest.raises(AssertionError, match="1 of 1 steps were not played"):
        ModelEndpoint(["one"]).assert_finished()


@pytest.mark.parametrize(
    ("script", "said"),
    [
        pytest.param([lambda _: 1 / 0], "ZeroDivisionError", id="raises"),
        pytest.param([7], "no step of type int", id="no step"),
        pytest.param([{"contents": "x"}], "contents", id="unknown key"),
    ],
)
def test_a_script_that_fails_shows_in_the_test(script: Any, said: str, capfd: pytest.CaptureFixture[str]) -> None:
    """The client gets a 500 that says why, `assert_finished` repeats it, and stderr stays clean."""
    with ModelEndpoint(script) as endpoint:
        answer = post(endpoint, HELLO)
    assert answer.status_code == 500
    assert said in answer.json()["error"]["message"]
    with pytest.raises(AssertionError, match=said):
        endpoint.assert_finished()
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ({"model": "m", "messages": []}, "empty array"),
        (HELLO | {"messages": [{"role": "tool", "tool_call_id": "a", "content": "r"}]}, "preceding message"),
        (HELLO | {"tool_choice": "auto"}, "only allowed when 'tools'"),
        (b'{"model": "m", "messages": [{"role": "user", "content": "\\ud800"}]}', "lone surrogate"),
        (b'{"model": "m", "messages": [{"role": "user", "content": "\xff"}]}', "could not parse"),
        (b"{", "could not parse"),
        (b"[]", "could not parse"),
        (b"", "could not parse"),
        (b"[" * 100_000, "could not parse"),
    ],
)
def test_illegal_requests_get_openais_400_and_use_no_step(body: Any, reason: str) -> None:
    """The error has OpenAI's shape, is listed in `rejected`, and the script waits for a legal request."""
    with ModelEndpoint(["fine"]) as endpoint:
        answer = post(endpoint, body)
        assert answer.status_code == 400
        error = answer.json()["error"]
        assert (error["type"], error["param"], error["code"]) == ("invalid_request_error", None, None)
        assert reason in error["message"]
        assert endpoint.rejected == [error["message"]]
        assert post(endpoint, HELLO).status_code == 200
        endpoint.assert_finished()


def test_the_client_sees_an_illegal_history_as_a_bad_request() -> None:
    """ChatOpenAI sends an unanswered call as it is, and raises what the real API would make it raise."""
    history = [
        HumanMessage("x"),
        reply("", call("look", at="a", id=None), call("look", at="b", id=None)),
        HumanMessage("y"),
    ]
    with ModelEndpoint(["never"]) as endpoint, pytest.raises(openai.BadRequestError):
        client(endpoint).invoke(history)
    assert len(endpoint.requests) == len(endpoint.rejected) == 1


TOOL_HISTORY = [
    *HELLO["messages"],
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}}],
    },
    {"role": "tool", "tool_call_id": "a", "content": "r"},
]
TWO_SYSTEM = [{"role": "system", "content": "a"}, {"role": "system", "content": "b"}, *HELLO["messages"]]


@pytest.mark.parametrize(
    ("switch", "body", "reason", "code"),
    [
        (
            {"context_tokens": 9},
            {"messages": [{"role": "user", "content": "x" * 40}]},
            "9 tokens",
            "context_length_exceeded",
        ),
        ({"reject": frozenset({"seed"})}, {"seed": 1}, "Unsupported parameter: 'seed'", None),
        ({"second_system": False}, {"messages": TWO_SYSTEM}, "only one is supported", None),
        ({"tool_history_without_tools": False}, {"messages": TOOL_HISTORY}, "must define 'tools'", None),
    ],
)
def test_switches_make_a_stricter_server(switch: Any, body: Any, reason: str, code: str | None) -> None:
    """Each switch refuses its one kind of request; the default server takes it."""
    with ModelEndpoint(["a", "b"], **switch) as strict, ModelEndpoint(["a"]) as usual:
        refused = post(strict, HELLO | body)
        assert refused.status_code == 400
        assert reason in refused.json()["error"]["message"]
        assert refused.json()["error"]["code"] == code
        assert post(usual, HELLO | body).status_code == 200
        assert post(strict, HELLO).status_code == 200


def test_the_context_counts_a_quarter_of_the_characters() -> None:
    """Texts, calls and tools count; the limit itself still passes."""
    exactly = HELLO | {"messages": [{"role": "user", "content": [{"type": "text", "text": "x" * 39}]}]}
    tools = [{"type": "function", "function": {"name": "f"}}]
    with ModelEndpoint(lambda _: "a", context_tokens=9) as endpoint:
        assert post(endpoint, exactly).json()["usage"]["prompt_tokens"] == 9
        assert post(endpoint, exactly | {"tools": tools}).status_code == 400


def test_a_wrong_key_is_a_401_on_both_paths() -> None:
    """With a key set, requests without it or with another are refused, and it never shows in the record."""
    with ModelEndpoint(["fine"], api_key="secret") as endpoint:
        assert post(endpoint, HELLO).status_code == 401
        assert post(endpoint, HELLO, authorization="Bearer other").json()["error"]["code"] == "invalid_api_key"
        assert httpx.get(f"{endpoint.base_url}/models").status_code == 401
        assert post(endpoint, HELLO, authorization="Bearer secret").status_code == 200
        assert "secret" not in repr(endpoint.requests)


def test_models_are_listed_and_other_paths_are_not_found() -> None:
    """The list names the one model; a client that has the wrong path is told so."""
    with ModelEndpoint(model="tiny") as endpoint:
        listed = openai.OpenAI(base_url=endpoint.base_url, api_key="x", max_retries=0)
        assert [model.id for model in listed.models.list()] == ["tiny"]
        listed.close()
        assert httpx.get(f"{endpoint.base_url}/nothing").status_code == 404
        assert httpx.post(f"{endpoint.base_url}/completions", json={}).status_code == 404


def test_connections_are_kept_alive() -> None:
    """One connection serves answers, streams and errors one after the other."""
    with ModelEndpoint(lambda _: "x") as endpoint, httpx.Client() as web:
        ports = set()
        for body in (HELLO, HELLO | {"stream": True}, {}, HELLO):
            with web.stream("POST", f"{endpoint.base_url}/chat/completions", json=body) as answer:
                answer.read()
                ports.add(answer.extensions["network_stream"].get_extra_info("client_addr"))
    assert len(ports) == 1


def test_many_clients_at_once_get_each_step_once() -> None:
    """Eight threads play every step exactly once."""
    with ModelEndpoint([str(n) for n in range(80)]) as endpoint, ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: post(endpoint, HELLO).json(), range(80)))
        endpoint.assert_finished()
    texts = [answer["choices"][0]["message"]["content"] for answer in answers]
    assert sorted(texts, key=int) == [str(n) for n in range(80)]


@pytest.mark.skipif(not FIELD_CASES.exists(), reason="the recorded field cases are not part of the repository")
def test_every_scripted_reply_of_the_field_cases_can_be_played() -> None:
    """Whatever those scripts let a model say comes through whole and streamed, raw arguments to the letter."""
    cases = json.loads(FIELD_CASES.read_text("utf-8", errors="surrogatepass"))
    steps: list[Any] = [s for case in cases for s in case["input"].get("script", []) if isinstance(s, dict)]
    with ModelEndpoint([copy for step in steps for copy in (step, step)]) as endpoint, httpx.Client() as web:
        for step in steps:
            url = f"{endpoint.base_url}/chat/completions"
            whole = web.post(url, json=HELLO).json()["choices"][0]
            lines = web.post(url, json=HELLO | {"stream": True}).text.split("\n\n")
            chunks = [json.loads(line.removeprefix("data: ")) for line in lines if line and "[DONE]" not in line]
            streamed = "".join(
                part["function"]["arguments"] or ""
                for chunk in chunks
                for part in chunk["choices"][0]["delta"].get("tool_calls", [])
            )
            wanted = [c["arguments"] for c in step.get("tool_calls") or []]
            assert [c["function"]["arguments"] for c in whole["message"].get("tool_calls", [])] == wanted
            assert streamed == "".join(raw or "" for raw in wanted)
            assert whole["message"]["content"] == step["content"]
            assert whole["finish_reason"] == step["finish_reason"]
        endpoint.assert_finished()
