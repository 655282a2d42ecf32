"""What a request costs: the table, the user's own prices, and a limit in USD that holds or says that it cannot."""

import warnings
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages.ai import UsageMetadata
from langchain_core.tools import tool

from loopwright import Agent, Settings, tool_policy
from loopwright.models.prices import PRICES, cost_of, price_of
from loopwright.settings import MemorySettings, ModelSettings, Price, ToolSettings
from loopwright.testing import ScriptedModel, call, reply

DEAR = Price(input=1_000_000, output=2_000_000)
"""One dollar a token in, two a token out."""


@tool
def look(at: str) -> str:
    """Look at something."""
    return f"saw {at}"


tool_policy(look, effect="read")


def settings(prices: dict[str, Price], **changes: Any) -> Settings:
    """Settings with these prices and no waiting."""
    model = ModelSettings(retry_delay=0, prices=prices)
    return Settings(model=model, tools=ToolSettings(retry_delay=0)).model_copy(update=changes)


@pytest.mark.parametrize(
    ("name", "known"),
    [
        ("gpt-4o", "gpt-4o"),
        ("gpt-4o-2024-08-06", "gpt-4o"),
        ("gpt-4o-2024-05-13", "gpt-4o-2024-05-13"),
        ("gpt-4o-mini-2024-07-18", "gpt-4o-mini"),
        ("gpt-3.5-turbo-0125", "gpt-3.5-turbo"),
        ("openai/gpt-4.1-mini", "gpt-4.1-mini"),
        ("gpt-5-chat-latest", "gpt-5"),
        ("gpt-4o-audio-preview", None),
        ("gpt-5-pro-max", None),
        ("gpt-4ox", None),
        ("my-model", None),
        ("", None),
    ],
)
def test_a_dated_name_has_the_price_of_its_model_and_nothing_else_has(name: str, known: str | None) -> None:
    """The table is matched by the longest name; what follows it may be a date, not another model."""
    assert price_of(name, {}) == (PRICES[known] if known else None)


def test_own_prices_come_first_and_the_longest_name_wins() -> None:
    """A user's price holds for every name that begins with it, before the table."""
    cheap, dear = Price(input=1, output=1), Price(input=9, output=9)
    own = {"gpt-4o": cheap, "gpt-4o-audio": dear, "house/": cheap}
    assert price_of("gpt-4o-mini", own) == cheap
    assert price_of("gpt-4o-audio-preview", own) == dear
    assert price_of("house/any", own) == cheap
    assert price_of("o3", own) == PRICES["o3"]


@given(st.integers(0, 10**6), st.integers(0, 10**6), st.integers(0, 2 * 10**6))
def test_cached_tokens_cost_their_own_price(tokens_in: int, tokens_out: int, cached: int) -> None:
    """The cost lies between that of all tokens cached and that of none, and is exact in both cases."""
    usage = UsageMetadata(
        input_tokens=tokens_in,
        output_tokens=tokens_out,
        total_tokens=tokens_in + tokens_out,
        input_token_details={"cache_read": cached},
    )
    price = Price(input=4, output=8, cached_input=1)
    cost = cost_of(price, usage, tokens_in, tokens_out)
    assert cost is not None
    read = min(cached, tokens_in)
    assert cost == pytest.approx((4 * (tokens_in - read) + read + 8 * tokens_out) / 1e6)
    assert cost_of(price, None, tokens_in, tokens_out) == pytest.approx((4 * tokens_in + 8 * tokens_out) / 1e6)
    assert cost_of(None, usage, tokens_in, tokens_out) is None


def test_each_call_has_its_cost_and_the_run_their_sum() -> None:
    """Model events, the run's usage and the report agree on the USD that were spent."""
    model = ScriptedModel([reply("", call("look", at="a"), usage=(10, 1)), reply("done", usage=(20, 2))])
    agent = Agent(model, [look], settings=settings({"scripted": DEAR}))
    result = agent.run("x", thread="t")
    report = agent.report("t")
    assert [each.model.cost_usd for each in report.runs[0].rounds if each.model] == [12, 24]
    assert (result.usage.cost_usd, report.totals.cost_usd) == (36, 36)


def test_a_limit_in_usd_closes_the_run() -> None:
    """Once the limit is used up the run closes with reason cost; nobody is warned."""
    model = ScriptedModel([reply("", call("look", at="a"), usage=(10, 1)), reply("so far", usage=(1, 1))])
    agent = Agent(model, [look], settings=settings({"scripted": DEAR}, max_cost_usd=12))
    result = agent.run("x", thread="t")
    assert result.stop is not None
    assert (result.stop["reason"], result.answer) == ("cost", "so far")
    assert not any(each.model.notices for each in agent.report("t").runs[0].rounds if each.model)


def test_a_limit_that_cannot_hold_is_told_when_the_agent_is_built() -> None:
    """Without a price the limit would never stop anything: a warning names the model and the setting."""
    with pytest.warns(UserWarning, match=r"scripted.*model\.prices"):
        Agent(ScriptedModel(["x"]), settings=settings({}, max_cost_usd=1))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Agent(ScriptedModel(["x"]), settings=settings({"scrip": DEAR}, max_cost_usd=1))


def test_a_limit_of_one_run_that_cannot_hold_is_told_once_in_its_report() -> None:
    """An override for one run comes too late for that warning: the run's first model call carries it, and no other."""
    model = ScriptedModel([reply("", call("look", at="a")), "done"])
    agent = Agent(model, [look], settings=settings({}))
    agent.run("x", thread="t", overrides={"max_cost_usd": 1})
    told = [each.model.notices for each in agent.report("t").runs[0].rounds if each.model]
    assert [len(notices) for notices in told] == [1, 0]
    assert "model.prices" in told[0][0]


def test_an_unknown_price_is_no_price() -> None:
    """Without a price the cost is None, not zero."""
    assert Agent(ScriptedModel(["x"]), settings=settings({})).run("x").usage.cost_usd is None


def test_the_requests_for_a_summary_cost_as_well() -> None:
    """Tokens and USD of the summary model are in the compression, in the run and in the report."""

    @tool
    def read(page: int) -> str:
        """Read a page."""
        return "\n".join(f"page {page} line {n}: value {page * 1000 + n}" for n in range(60))

    script = [reply("", call("read", page=n), usage=(10, 1)) for n in range(8)]
    writer = ScriptedModel(lambda _: reply("Pages were read.", usage=(100, 7)))
    agent = Agent(
        ScriptedModel([*script, reply("done", usage=(10, 1))]),
        [tool_policy(read, effect="read")],
        settings=settings({"scripted": DEAR}, context_tokens=2_000, memory=MemorySettings()),
        summary_model=writer,
    )
    result = agent.run("Read on", thread="t")
    report = agent.report("t").runs[0]
    written = len(writer.requests)
    assert written > 0
    assert sum(each.tokens_in for each in report.compressions) == 100 * written
    assert sum(each.cost_usd or 0 for each in report.compressions) == 114 * written
    assert result.usage.tokens_in == report.totals.tokens_in == 10 * 9 + 100 * written
    assert result.usage.cost_usd == report.totals.cost_usd == 12 * 9 + 114 * written
