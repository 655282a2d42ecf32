"""Pins, remembered facts, earlier work found again, and the request that would be sent next: through the agent."""

import asyncio
import re
from typing import Any

import pytest
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage
from langchain_core.messages.tool import tool_call
from langchain_core.tools import BaseTool, tool

from loopwright import Agent, Settings, tool_policy
from loopwright.builtins import recall
from loopwright.errors import UnknownThread, UsageError
from loopwright.memory import count_message, pinned, with_remembered
from loopwright.settings import MemorySettings, ModelSettings
from loopwright.state import EMPTY_VIEW, Event
from loopwright.testing import ScriptedModel, call, reply

FILLER = "nothing of interest stands in this line\n"


def read_file() -> BaseTool:
    """A tool whose results are long, each with a value of its own."""

    @tool
    def read_file(path: str) -> str:
        """Read a file."""
        return f"{FILLER * 20}{path} holds the value {sum(map(ord, path))}\n{FILLER * 20}"

    return tool_policy(read_file, effect="read")


def settings(budget: int, **memory: Any) -> Settings:
    """A small budget, nothing that waits, no summary unless it is asked for."""
    kept = MemorySettings(**{"summary": False, **memory})
    return Settings(context_tokens=budget, memory=kept, model=ModelSettings(retry_delay=0, max_tokens=100))


def reads(count: int) -> list[Any]:
    """So many rounds, each of one file."""
    return [reply("", call("read_file", path=f"file{number}.txt")) for number in range(count)]


def said(request: Any) -> str:
    """All text of a request."""
    return "\n".join(str(message.content) for message in request)


def test_a_pin_stands_word_for_word_in_every_later_request() -> None:
    """Also behind a compression, as the user's; a run that is delivered again still gets its answer."""
    model = ScriptedModel(["hello", *reads(12), "done"])
    agent = Agent(model, [read_file()], settings=settings(1_500))
    first = agent.run("hi", thread="t", run_id="r1")
    agent.pin("t", "Never use\n the old server.")
    agent.pin("t", "Never use the old server.")
    again = agent.run("hi", thread="t", run_id="r1")
    assert (again.answer, again.stop) == (first.answer, first.stop)
    result = agent.run("read them all", thread="t")
    assert result.answer == "done"
    later = model.requests[1:]
    assert all(said(request.messages).count("- Never use the old server.") == 1 for request in later)


def test_what_cannot_be_pinned_is_said() -> None:
    """An unknown thread, an empty text, and more than what every request can carry."""
    agent = Agent(ScriptedModel(["hello"]))
    with pytest.raises(UnknownThread):
        agent.pin("t", "x")
    agent.run("hi", thread="t")
    with pytest.raises(UsageError, match="give a sentence"):
        agent.pin("t", " ")
    with pytest.raises(UsageError, match="pin shorter sentences"):
        agent.pin("t", "long " * 500)


def test_pins_and_previews_can_be_awaited() -> None:
    """The awaited doors do the same."""

    async def awaited() -> str:
        agent = Agent(ScriptedModel(["hello"]))
        await agent.arun("hi", thread="t")
        await agent.apin("t", "Answer in German.")
        return said((await agent.apreview("t")).messages)

    assert "Answer in German." in asyncio.run(awaited())


def test_a_remembered_fact_stays_in_sight_marked_as_the_models() -> None:
    """It is offered once something is out of sight, and stands in the data block, not beside the system prompt."""
    fact = "The old total was 4711."
    model = ScriptedModel([*reads(8), reply("", call("remember", fact=fact)), *reads(20), "done"])
    agent = Agent(model, [read_file()], settings=settings(1_500))
    assert agent.run("read them all", thread="t").answer == "done"
    last = model.requests[-1].messages
    block = next(message for message in last if message.text.startswith("[Memory of earlier work"))
    assert f"Noted by the assistant:\n- {fact}" in block.text
    assert fact not in last[0].text
    offered = [{tool["function"]["name"] for tool in request.tools} for request in model.requests]
    assert "remember" not in offered[0]
    assert {"remember", "recall"} <= offered[8]


def test_of_the_models_facts_the_newest_stay() -> None:
    """They have a size of their own, so that they never crowd out the rest; the user's are never dropped."""
    view = pinned(EMPTY_VIEW, "mind the gap", "user")
    for number in range(20):
        view = pinned(view, f"{number} " + "x" * 250, "model")
    kept = [pin["text"].split()[0] for pin in view["pins"]]
    assert kept[0] == "mind"
    assert kept[-1] == "19"
    assert "0" not in kept


def test_only_facts_that_were_taken_are_remembered() -> None:
    """A call that was refused keeps nothing, and the same call twice keeps one."""
    made = [tool_call(name="remember", args={"fact": text}, id=text) for text in ("good", "bad")]
    answers = [ToolMessage("Kept.", tool_call_id="good"), ToolMessage("no", tool_call_id="bad", status="error")]
    messages = [HumanMessage("x"), AIMessage("", tool_calls=made), *answers]
    view = with_remembered(EMPTY_VIEW, messages)
    assert view["pins"] == [{"text": "good", "by": "model"}]
    assert with_remembered(view, messages) is view


def test_recall_finds_what_was_folded() -> None:
    """The result names the step and holds the line; it is an ordinary call in the log."""
    asked = reply("", call("recall", query="value file1.txt"))
    model = ScriptedModel([*reads(12), asked, "done"])
    events: list[Event] = []
    agent = Agent(model, [read_file()], settings=settings(1_500))
    stream = agent.stream("read them all", thread="t")
    events.extend(item for item in stream if isinstance(item, dict))
    found = next(
        message for message in stream.result.messages if isinstance(message, ToolMessage) and message.name == "recall"
    )
    assert "[step 2] read_file(file1.txt)" in found.text
    assert f"file1.txt holds the value {sum(map(ord, 'file1.txt'))}" in found.text
    (event,) = (event for event in events if event["kind"] == "call" and event["tool"] == "recall")
    assert event["status"] == "ok"


WORDS = [
    "预算", "合同", "发票", "客户", "库存", "物流", "关税", "税率", "利润", "审计",
    "工资", "社保", "租金", "折旧", "采购", "订单", "退款", "保险", "汇率", "贷款",
]  # fmt: skip


@pytest.mark.parametrize("word", WORDS)
def test_chinese_words_of_two_characters_are_found(word: str) -> None:
    """Each stands in one group among many, without a space around it."""
    messages: list[AnyMessage] = [HumanMessage("请核对所有文件", id="u")]
    for number, other in enumerate(WORDS):
        made = tool_call(name="read_file", args={"path": f"{number}.txt"}, id=f"c{number}")
        text = f"这一页没有别的内容\n本年度的{other}共计{7000 + number}元\n这一页没有别的内容"
        messages += [AIMessage("", id=f"a{number}", tool_calls=[made]), ToolMessage(text, tool_call_id=f"c{number}")]
    found = recall(messages, word)
    number = WORDS.index(word)
    assert found.startswith(f"[step {number + 1}] read_file({number}.txt)")
    assert f"{word}共计{7000 + number}元" in found
    assert found.count("[step") == 1


def test_recall_says_when_it_finds_nothing() -> None:
    """Also for a query without any word; earlier searches are not found again."""
    asked = AIMessage("", tool_calls=[tool_call(name="recall", args={"query": "zebra"}, id="c")])
    messages: list[AnyMessage] = [
        HumanMessage("hello"),
        asked,
        ToolMessage("about a zebra", tool_call_id="c", name="recall"),
    ]
    assert recall(messages, "zebra").startswith("Nothing in this conversation matches 'zebra'")
    assert recall(messages, "?!").startswith("Nothing in this conversation matches")


def test_a_clipped_user_message_can_be_read_on() -> None:
    """The request shows its beginning and how to go on; `read_result` pages through the transcript itself."""
    task = "Sum these up.\n" + "".join(f"row {number} is {number * 7}\n" for number in range(3_000))

    def reading(messages: Any) -> Any:
        named = re.search(r"read_result\(ref='([^']+)', offset=(\d+)\)", said(messages))
        assert named is not None
        return reply("", call("read_result", ref=named[1], offset=int(named[2])))

    result = Agent(ScriptedModel([reading, "done"]), settings=settings(4_000)).run(task, thread="t")
    assert result.answer == "done"
    page = next(message for message in result.messages if isinstance(message, ToolMessage))
    assert page.status == "success"
    assert "row 300 is 2100\n" in page.text


def test_a_preview_is_the_request_that_is_sent_next() -> None:
    """Word for word, with its tokens by part, which add up; a thread over its budget is shown shortened."""
    model = ScriptedModel(["hello", "again"])
    agent = Agent(model, [read_file()], settings=settings(4_000))
    agent.run("hi", thread="t")
    shown = agent.preview("t")
    assert [message.text for message in shown.messages[1:3]] == ["hi", "hello"]
    assert shown.tokens == sum(shown.parts[part] for part in ("system", "tools", "summary", "pinned", "recent"))
    assert shown.parts["tools"] > 0
    assert not shown.shortened
    small = Agent(ScriptedModel([*reads(10), "done"]), [read_file()], settings=settings(100_000))
    small.run("read", thread="t")
    whole = small.preview("t")
    assert whole.tokens - whole.parts["tools"] == sum(map(count_message, whole.messages))
    with pytest.raises(UnknownThread):
        agent.preview("nobody")
