"""tooling/descriptions.py: whether a description says when to use its tool, and when not."""

from pathlib import Path

import pytest

from loopwright.builtins import read_result_tool, recall_tool, remember_tool
from loopwright.tooling import policy_of
from loopwright.tooling.descriptions import gaps
from loopwright_tools import default_tools


@pytest.mark.parametrize(
    "description",
    [
        "Status of an order by its number. Use when a customer asks about an order; do not use for prices.",
        "Search the web. Use it for recent facts, not for arithmetic.",
        "Pay someone. Use only when the user asked for it.",
        "Reads a file.\n\nWhen you need its text, call this. Never call it for folders.",
        "Useful for unit conversion. Avoid it for currencies.",
        "Call this after the user confirmed. Don't use it unless a person agreed.",
        "查询订单状态。当用户询问订单时使用,不要用于查询价格。",
        "发送邮件。仅在用户明确要求时使用。",
        "适用于数学计算;不适用于日期。",
        "需要最新新闻时调用,请勿用于历史资料。",
    ],
)
def test_both_are_said(description: str) -> None:
    """In whatever order and in either language, nothing is missing."""
    assert gaps(description) == ()


@pytest.mark.parametrize(
    "description",
    [
        "",
        "Search the web.",
        "search(query: str) -> str",
        "Returns the time when the file was changed.",
        "It is not fast.",
        "查询订单状态。",
        "返回文件最后修改的时间。",
    ],
)
def test_neither_is_said(description: str) -> None:
    """What a tool does is not when it is wanted."""
    assert gaps(description) == ("when", "when_not")


def test_one_of_the_two() -> None:
    """Each is missed by itself."""
    assert gaps("Use when a customer asks about an order.") == ("when_not",)
    assert gaps("Order status. Do not use.") == ("when",)
    assert gaps("查询天气,用户询问天气时使用。") == ("when_not",)


def test_ours_say_both_and_declare_an_effect(tmp_path: Path) -> None:
    """The shipped tools and the loop's own do what we ask of others."""
    for tool in [*default_tools(tmp_path), read_result_tool(), recall_tool(), remember_tool()]:
        assert gaps(tool.description) == (), tool.name
        assert policy_of(tool).effect is not None, tool.name
