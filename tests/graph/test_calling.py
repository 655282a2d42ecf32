"""The model over real HTTP: what is tried again, what is not, and that no half reply is ever acted on."""

import asyncio
from typing import Any

import pytest
from langchain_core.tools import BaseTool, tool
from langchain_openai import ChatOpenAI
from pydantic import SecretStr

from loopwright import Agent, RunResult, Settings, tool_policy
from loopwright.models import take_over_retries
from loopwright.settings import MemorySettings, ModelSettings, ToolSettings
from loopwright.testing import CutStream, Dropped, ModelEndpoint, Status, call, reply

FAST = Settings(model=ModelSettings(retry_delay=0), tools=ToolSettings(retry_delay=0))


def chat(endpoint: ModelEndpoint, **fields: Any) -> ChatOpenAI:
    """A client of the endpoint, as a user makes one."""
    return ChatOpenAI(model="test", base_url=endpoint.base_url, api_key=SecretStr("k"), **fields)


def paying(log: list[str]) -> BaseTool:
    """A tool that must never run on half a call."""

    @tool
    def pay(to: str, amount: int) -> str:
        """Pay someone."""
        log.append(f"{amount} to {to}")
        return "paid"

    return tool_policy(pay, effect="write")


def run(script: list[Any], *, awaited: bool = False, log: list[str] | None = None, **settings: Any) -> RunResult:
    """A run against an endpoint that plays the script."""
    with ModelEndpoint(script) as endpoint:
        agent = Agent(
            chat(endpoint), [paying(log if log is not None else [])], settings=FAST.model_copy(update=settings)
        )
        result = asyncio.run(agent.arun("go")) if awaited else agent.run("go")
        assert endpoint.rejected == []
        return result


@pytest.mark.parametrize("awaited", [False, True])
@pytest.mark.parametrize(
    "fault",
    [Status(429, retry_after=0), Status(500), Status(503), Dropped(), CutStream("half an answer", after=2)],
    ids=["429", "500", "503", "dropped", "cut"],
)
def test_outages_of_five_requests_are_survived(fault: Any, awaited: bool) -> None:
    """Six tries: five faults in a row are waited out, and nothing of them is in the transcript."""
    result = run([*[fault] * 5, "fine"], awaited=awaited)
    assert (result.answer, result.usage.model_calls) == ("fine", 1)
    assert [message.text for message in result.messages] == ["go", "fine"]


def test_the_sixth_fault_ends_the_run_with_its_report() -> None:
    """After six tries the run fails with reason model_error, an answer that says so, and can be resumed."""
    result = run([Status(500, message="backend down")] * 6)
    assert result.stop is not None
    assert result.stop["reason"] == "model_error"
    assert "backend down" in result.answer


def test_a_stream_cut_inside_a_call_pays_nobody() -> None:
    """A stream that breaks between the halves of the arguments is asked for again; the payment happens once, whole."""
    log: list[str] = []
    paid = reply("", call("pay", to="bob", amount=100))
    for after in range(1, 5):
        assert run([CutStream(paid, after=after), paid, "done"], log=log).answer == "done"
    assert log == ["100 to bob"] * 4


def test_a_reply_without_a_finish_reason_is_asked_for_again() -> None:
    """A stream that just ends, as behind a broken proxy, is not taken for an answer."""
    assert run([reply("half of an ans", finish_reason=None), "the whole answer"]).answer == "the whole answer"


@pytest.mark.parametrize("status", [401, 403])
def test_a_refused_key_stops_at_once(status: int) -> None:
    """Authentication errors are not tried again."""
    with ModelEndpoint([Status(status, message="bad key")]) as endpoint:
        result = Agent(chat(endpoint), settings=FAST).run("go")
        assert len(endpoint.requests) == 1
    assert result.stop is not None
    assert result.stop["reason"] == "auth"


@pytest.mark.parametrize(
    ("step", "reason"),
    [
        (reply("no", finish_reason="content_filter"), "content_filter"),
        (reply("", refusal="I will not."), "refusal"),
        (Status(400, message="bad request"), "model_error"),
    ],
)
def test_filters_refusals_and_bad_requests_are_not_repeated(step: Any, reason: str) -> None:
    """Each is a stop reason of its own, with an answer."""
    result = run(
        [step, step] if reason == "refusal" else [step]
    )  # a streamed refusal looks empty, so it is asked plainly
    assert result.stop is not None
    assert result.stop["reason"] == reason
    assert result.answer.strip()


def test_a_request_that_is_too_long_for_the_server_is_compressed_once() -> None:
    """A context-length error sends the run to compress_memory, and the shorter request is answered."""
    long = "\n".join(f"line {n} with some words in it" for n in range(400))

    @tool
    def read(page: int) -> str:
        """Read a page."""
        return f"{page}\n{long}"

    script: list[Any] = [
        reply("", call("read", page=1)),
        reply("", call("read", page=2)),
        Status(400, code="context_length_exceeded", message="maximum context length is 4000 tokens"),
        "short enough",
    ]
    with ModelEndpoint(script) as endpoint:
        settings = FAST.model_copy(update={"context_tokens": 30_000, "memory": MemorySettings(summary=False)})
        result = Agent(chat(endpoint), [tool_policy(read, effect="read")], settings=settings).run("go")
        sizes = [len(str(request.body["messages"])) for request in endpoint.requests]
    assert result.answer == "short enough"
    assert sizes[3] < sizes[2]


def test_retries_have_one_owner() -> None:
    """An instance whose max_retries was left unset gets the client's retries turned off; a set one keeps its own."""
    with ModelEndpoint(["x"]) as endpoint:
        assert take_over_retries(chat(endpoint)).root_client.max_retries == 0  # type: ignore[attr-defined]
        assert take_over_retries(chat(endpoint, max_retries=4)).root_client.max_retries == 4  # type: ignore[attr-defined]


def test_usage_is_asked_for_and_counted() -> None:
    """Streams carry usage even with an own base URL; where a server sends none, tokens are estimated."""
    result = run([reply("hello there", usage=(70, 5))])
    assert (result.usage.tokens_in, result.usage.tokens_out) == (70, 5)


def test_no_streaming_for_servers_that_break_it() -> None:
    """With `model.stream=false` the request is plain."""
    with ModelEndpoint(["plain"]) as endpoint:
        settings = Settings(model=ModelSettings(stream=False))
        assert Agent(chat(endpoint), settings=settings).run("go").answer == "plain"
        assert not endpoint.requests[0].body.get("stream")


def test_a_small_budget_is_kept_over_many_rounds() -> None:
    """Forty rounds of long results at 2,000 tokens: every request is legal and within the budget, the goal in each."""
    sizes: list[int] = []

    @tool
    def read(page: int) -> str:
        """Read a page."""
        return "\n".join(f"page {page} line {n}: value {page * 1000 + n}" for n in range(60))

    def play(request: dict[str, Any]) -> Any:
        texts = [str(message.get("content")) for message in request["messages"]]
        if "tools" not in request:
            return "Summary: pages were read."
        assert any("the unmistakable goal" in text for text in texts)
        sizes.append(len("".join(texts)))
        return reply("", call("read", page=len(sizes))) if len(sizes) < 40 else "done"

    with ModelEndpoint(play) as endpoint:
        settings = FAST.model_copy(update={"context_tokens": 2_000})
        agent = Agent(chat(endpoint), [tool_policy(read, effect="read")], settings=settings)
        result = agent.run("Keep the unmistakable goal in mind", thread="t")
        assert endpoint.rejected == []
        assert len(agent.report("t").runs) == 1
    assert result.answer == "done"
    assert max(sizes) < 2_000 * 5
