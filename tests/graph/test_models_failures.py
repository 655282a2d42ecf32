"""A run that a model's failure ended keeps what it reached, says what to do, and goes on when that was done."""

import asyncio
from typing import Any

import pytest
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.tools import BaseTool, tool
from langchain_openai import ChatOpenAI
from pydantic import SecretStr

from loopwright import Agent, Settings, tool_policy
from loopwright.settings import ModelSettings, ToolSettings
from loopwright.testing import Dropped, ModelEndpoint, Status, call, reply

FAST = Settings(model=ModelSettings(retry_delay=0, tries=2), tools=ToolSettings(retry_delay=0))
KEY = "sk-abcdefghijklmnopqrstuvwxyz0123456789"


def paying(log: list[str]) -> BaseTool:
    """A tool whose effect must not come twice."""

    @tool
    def pay(to: str) -> str:
        """Pay someone."""
        log.append(to)
        return f"paid {to}"

    return tool_policy(pay, effect="write")


def agent_on(endpoint: ModelEndpoint, log: list[str]) -> Agent[Any]:
    """An agent whose model is the endpoint."""
    return Agent(
        ChatOpenAI(model="m", base_url=endpoint.base_url, api_key=SecretStr(KEY)), [paying(log)], settings=FAST
    )


FAILED: list[tuple[str, list[Any], str]] = [
    ("outage", [Status(503, message="overloaded")] * 2, "model_error"),
    ("dropped", [Dropped()] * 2, "model_error"),
    ("bad request", [Status(400, message="no such thing")], "model_error"),
    ("no such model", [Status(404, message="the model does not exist")], "model_error"),
    ("no key", [Status(401)], "auth"),
    ("no access", [Status(403, message="no access to this model")], "auth"),
    ("no money", [Status(429, code="insufficient_quota", message="quota exceeded")], "auth"),
]


@pytest.mark.parametrize("awaited", [False, True])
@pytest.mark.parametrize(("faults", "why"), [row[1:] for row in FAILED], ids=[row[0] for row in FAILED])
def test_a_failed_run_goes_on_where_it_was(faults: list[Any], why: str, awaited: bool) -> None:
    """What was reached is kept, the report names the failure, and a resume goes on without making a write twice."""
    log: list[str] = []
    with ModelEndpoint([reply("", call("pay", to="bob")), *faults, "all paid"]) as endpoint:
        agent = agent_on(endpoint, log)
        result = agent.run("Pay bob", thread="t")
        assert result.stop is not None
        assert (result.stop["reason"], result.complete) == (why, False)
        assert [m.text for m in result.messages if isinstance(m, ToolMessage)] == ["paid bob"]
        failure = agent.report("t").runs[0].rounds[-1].model
        assert failure is not None
        assert failure.failure is not None
        assert failure.failure["text"][:100] in result.answer
        again = asyncio.run(agent.aresume("t")) if awaited else agent.resume("t")
        assert (again.answer, again.complete, again.run_id) == ("all paid", True, result.run_id)
        assert endpoint.rejected == []
        endpoint.assert_finished()
    assert log == ["bob"]


@pytest.mark.parametrize("fault", [Status(401, message=f"Incorrect API key provided: {KEY}."), Status(403)])
def test_a_refused_key_is_told_in_one_sentence_without_the_key(fault: Status) -> None:
    """One request, one stop, one clear sentence in answer and report with what to do; the key stands nowhere."""
    with ModelEndpoint([fault]) as endpoint:
        agent = agent_on(endpoint, [])
        result = agent.run("x", thread="t")
        assert len(endpoint.requests) == 1
    report = agent.report("t").model_dump_json()
    assert result.stop is not None
    assert result.stop["reason"] == "auth"
    assert "key" in result.answer.splitlines()[0]
    assert result.stop["advice"] in result.answer
    assert KEY not in result.answer + report
    assert str(fault.status) in (result.stop["last_error"] or "")


ENDED: list[tuple[str, list[Any], str]] = [
    ("filter", [reply("no", finish_reason="content_filter")], "content_filter"),
    ("refusal", [reply("", refusal="I will not.")] * 2, "refusal"),
    (
        "context",
        [Status(400, code="context_length_exceeded", message="maximum context length is 9 tokens")] * 2,
        "context",
    ),
]


@pytest.mark.parametrize(("faults", "why"), [row[1:] for row in ENDED], ids=[row[0] for row in ENDED])
def test_a_run_that_its_own_request_ended_is_not_made_again_by_itself(faults: list[Any], why: str) -> None:
    """A filtered, refused or overlong request would end so again: a resume does nothing, a new message goes on."""
    log: list[str] = []
    with ModelEndpoint([reply("", call("pay", to="bob")), *faults, "another way"]) as endpoint:
        agent = agent_on(endpoint, log)
        result = agent.run("Pay bob", thread="t")
        assert result.stop is not None
        assert result.stop["reason"] == why
        made = len(endpoint.requests)
        assert agent.resume("t").stop == result.stop
        assert len(endpoint.requests) == made
        later = agent.run("Then differently", thread="t")
        assert later.answer == "another way"
        assert endpoint.rejected == []
    assert log == ["bob"]
    assert isinstance(later.messages[-1], AIMessage)
