"""What the model is told of calls that did not simply run: in the user's language, the same facts in both."""

import re
import string
import threading
from collections.abc import Iterator
from typing import get_args

import pytest
from langchain_core.messages import ToolMessage
from langchain_core.tools import BaseTool, tool

from loopwright import Agent, Settings, tool_policy
from loopwright.effects import Record
from loopwright.graph import wiring_of
from loopwright.language import Language
from loopwright.settings import ToolSettings
from loopwright.testing import ScriptedModel, call, reply
from loopwright.testing.replies import RawCall
from loopwright.tooling.wording import SENTENCES, Sentence

FAST = Settings(tools=ToolSettings(timeout=0.05, retries=0))
LET_GO = threading.Event()
ENGLISH = re.compile(r"[A-Za-z]{3,}( [A-Za-z]{2,}){2,}")
"""Three English words in a row."""


@pytest.fixture(autouse=True)
def _let_go() -> Iterator[None]:
    """What hangs ends with the test."""
    LET_GO.clear()
    yield
    LET_GO.set()


def facts(text: str) -> set[str | None]:
    """The facts that a sentence names."""
    return {name for _, name, _, _ in string.Formatter().parse(text) if name is not None}


@pytest.mark.parametrize("sentence", get_args(Sentence))
def test_both_languages_name_the_same_facts(sentence: Sentence) -> None:
    """Nothing that one language says of a call is kept from the other."""
    said = SENTENCES[sentence]
    assert said.keys() == set(get_args(Language))
    assert facts(said["en"]) == facts(said["zh"])
    assert not ENGLISH.search(said["zh"])


def tools() -> list[BaseTool]:
    """A tool that returns nothing, a reading and a writing one that hang."""

    @tool
    def look(at: int) -> str:
        """Look."""
        return ""

    @tool
    def hang(at: int) -> None:
        """Hang."""
        LET_GO.wait(60)

    @tool
    def pay(at: int) -> None:
        """Hang in an effect."""
        LET_GO.wait(60)

    return [tool_policy(look, effect="pure"), tool_policy(hang, effect="read"), tool_policy(pay, effect="write")]


@pytest.mark.parametrize(
    ("wish", "said"),
    [
        (call("look", at=1), "没有返回任何内容"),
        (call("look", at="x"), "参数不符合该工具的要求"),
        (call("look", at=1, where=2), "该工具没有参数"),
        (call("fly", at=1), "没有名为 'fly' 的工具"),
        (call("hang", at=1), "未能在 0.05 秒内结束"),
        (call("pay", at=1), "OUTCOME UNKNOWN（结果未知）"),
    ],
)  # fmt: skip
def test_a_chinese_task_is_answered_in_chinese(wish: RawCall, said: str) -> None:
    """Whatever becomes of a call, what we say of it is Chinese where the user writes Chinese."""
    agent = Agent(ScriptedModel([reply("", wish), "完成"]), tools(), settings=FAST)
    result = agent.run("请看一下这里有什么", thread="t")
    (told,) = [message.text for message in result.messages if isinstance(message, ToolMessage)]
    assert said in told


def test_what_the_journal_says_is_chinese_too() -> None:
    """A write that was started and one that another branch has done."""
    wiring = wiring_of(Agent(ScriptedModel(["x"]), tools()).graph)
    record: Record = {
        "state": "started", "call_id": "c", "signature": "s", "tool": "pay", "run": "r", "step": 2, "status": "unknown",
        "text": "", "repeats": "",
    }  # fmt: skip
    assert "已在第 2 步启动" in wiring.journaled(record, "zh").text
    assert "另一分支" in wiring.journaled({**record, "state": "done", "status": "ok"}, "zh", own=False).text
