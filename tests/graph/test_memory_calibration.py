"""Other tokenizers than tiktoken's: their size is learned from what a server reports, and requests really fit."""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages.utils import convert_to_messages
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from pydantic import SecretStr

from loopwright import Agent, Settings, tool_policy
from loopwright.memory import count_message, count_tools, token_ratio
from loopwright.report import RunReport
from loopwright.settings import MemorySettings, ModelSettings
from loopwright.state import Event, ModelEvent
from loopwright.testing import ModelEndpoint, call, reply
from loopwright.testing.json_types import JSONObject
from loopwright.testing.steps import EndpointStep

BUDGET = 3_000


def event(
    counted: int, reported: int, *, tools: int = 0, model: str = "qwen", estimated: bool = False, keeps: int = 0
) -> ModelEvent:
    """A model event with these tokens."""
    made: ModelEvent = {
        "run": "r", "step": 1, "at": 0.0, "seconds": 0.0, "kind": "model", "message_id": "m", "model": model,
        "finish_reason": "stop", "request_tokens": counted,
        "parts": {"system": 0, "tools": tools, "summary": 0, "pinned": 0, "recent": counted - tools},
        "tokens_in": reported, "tokens_out": 1, "cost_usd": None, "estimated": estimated, "retries": 0, "failure": None,
    }  # fmt: skip
    if keeps:
        made["keeps"] = keeps
    return made


def test_the_ratio_is_that_of_the_newest_calls() -> None:
    """The largest of the newest eight: a text that was denser once does not count for ever."""
    assert token_ratio([], "qwen") == 1.0
    assert token_ratio([event(1_000, 1_300)], "qwen") == 1.3
    assert token_ratio([event(1_000, 1_300), event(1_000, 1_100)], "qwen") == 1.3
    assert token_ratio([event(1_000, 1_300), *[event(1_000, 1_100)] * 8], "qwen") == 1.1


def test_long_requests_outweigh_short_ones() -> None:
    """What the template of the tools adds is much of a short request, and says little about one near the budget."""
    assert token_ratio([event(600, 1_000), event(2_000, 2_200)], "qwen") == 1.1
    assert token_ratio([event(1_200, 1_800), event(2_000, 2_200)], "qwen") == 1.5


def test_it_is_learned_model_by_model() -> None:
    """Each model by the name it was asked for, whatever the server calls it; tiktoken's own are exact."""
    renamed: ModelEvent = {**event(1_000, 1_500, model="/models/qwen-q4.gguf"), "counted_as": "qwen"}
    events: list[Event] = [event(1_000, 1_200, model="llama"), renamed, event(1_000, 1_100, model="gpt-4o-mini")]
    assert token_ratio(events, "llama") == 1.2
    assert token_ratio(events, "qwen") == 1.5
    assert token_ratio(events, "openai:gpt-4o-mini") == 1.0


@pytest.mark.parametrize(
    "said",
    [
        event(1_000, 1_500, estimated=True),
        event(400, 800),
        event(9_000, 2_048),
        event(5_000, 3_500, keeps=3_500),
        event(9_000, 200),
    ],
    ids=["our own estimate", "a short request", "a cut request", "the kept window", "cached tokens left out"],
)
def test_what_says_nothing_about_the_tokenizer(said: ModelEvent) -> None:
    """What something else than the tokenizer explains leaves the ratio as it was."""
    assert token_ratio([said], "qwen") == 1.0
    assert token_ratio([event(1_000, 1_250), said], "qwen") == 1.25


def test_a_server_that_leaves_the_tools_out_is_not_taken_for_a_small_tokenizer() -> None:
    """Below one the messages alone have to say so."""
    assert token_ratio([event(3_000, 2_000, tools=1_000)], "qwen") == 1.0
    assert token_ratio([event(3_000, 1_800, tools=1_000)], "qwen") == 0.9


@given(st.lists(st.tuples(st.integers(0, 30_000), st.integers(0, 30_000), st.integers(0, 90_000)), max_size=12))
def test_it_stays_within_its_bounds(calls: list[tuple[int, int, int]]) -> None:
    """Whatever a server reports, the budget changes by a factor of 0.8 to 2 at most."""
    events: list[Event] = [event(messages + tools, said, tools=tools) for messages, tools, said in calls]
    assert 0.8 <= token_ratio(events, "qwen") <= 2.0


def endless(factor: float, rounds: int) -> Callable[[JSONObject], EndpointStep]:
    """A server whose tokens are `factor` times ours; its model reads page after page."""
    pages = iter(range(1, rounds + 1))

    def step(body: JSONObject) -> EndpointStep:
        sent: Any = body
        messages = convert_to_messages(sent["messages"])
        counted = sum(count_message(message) for message in messages) + count_tools(sent.get("tools", []))
        usage = (int(counted * factor), 5)
        page = next(pages, None)
        return reply("done", usage=usage) if page is None else reply("", call("read", page=page), usage=usage)

    return step


def read_on(factor: float, model: str) -> RunReport:
    """The report of a run of twelve pages on such a server, under a budget of 3,000 tokens."""

    @tool
    def read(page: int) -> str:
        """Read a page."""
        return "\n".join(f"page {page} line {n}: value {page * 1000 + n}" for n in range(40))

    settings = Settings(context_tokens=BUDGET, memory=MemorySettings(summary=False), model=ModelSettings(retry_delay=0))
    with ModelEndpoint(endless(factor, 12)) as endpoint:
        client = ChatOpenAI(model=model, base_url=endpoint.base_url, api_key=SecretStr("k"))
        agent = Agent(client, [tool_policy(read, effect="read")], settings=settings)
        assert agent.run("Read on", thread="t").answer == "done"
        return agent.report("t")


def reported(report: RunReport) -> list[int]:
    """The tokens of every request, as the server counts them."""
    return [turn.model.tokens_in for turn in report.runs[0].rounds if turn.model]


def test_every_request_fits_as_the_server_counts() -> None:
    """Half as many tokens again as we count, and no request passes the budget; the report names the ratio."""
    report = read_on(1.5, "qwen")
    assert len(reported(report)) == 13
    assert max(reported(report)) <= BUDGET
    assert max(reported(report)) > BUDGET * 0.6  # it was not simply kept short
    assert report.token_ratios == {"qwen": pytest.approx(1.5, abs=0.01)}
    assert report.runs[0].totals.compressions > 1


def test_an_exact_model_is_counted_as_it_is() -> None:
    """A model that tiktoken knows keeps its own count, whatever stands in between reports."""
    report = read_on(1.5, "gpt-4o-mini")
    assert max(reported(report)) > BUDGET
    assert report.token_ratios == {}


def test_a_smaller_tokenizer_gets_more_room() -> None:
    """A budget of tokens that are worth more holds more of ours."""
    report = read_on(0.8, "qwen")
    counted = [turn.model.request_tokens for turn in report.runs[0].rounds if turn.model]
    assert max(counted) > BUDGET
    assert max(reported(report)) <= BUDGET
