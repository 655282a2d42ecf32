"""The offline looper: one call for ever, and an honest word at the end."""

import pytest
from langchain_core.messages import (
    BaseMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
)

from loopwright.models.offline import OfflineLooper


def now(timezone: str = "UTC") -> str:
    """Tell the time."""
    return timezone


def list_files(path: str = ".", pattern: str = "*") -> str:
    """List a folder."""
    return f"{path}{pattern}"


def read_file(path: str, offset: int = 1) -> str:
    """Read a file."""
    return f"{path}{offset}"


def order(item: str, count: int, gift: bool, tags: list[str]) -> str:
    """Order something."""
    return f"{item}{count}{gift}{tags}"


def looped(task: str, rounds: int) -> list[BaseMessage]:
    """The transcript of that many rounds with every tool bound."""
    messages: list[BaseMessage] = [HumanMessage(task)]
    model = OfflineLooper().bind_tools([now, list_files, read_file])
    for _ in range(rounds):
        reply = model.invoke(messages)
        messages += [reply, ToolMessage("a.txt\t3", tool_call_id=reply.tool_calls[0]["id"])]
    return messages


@pytest.mark.parametrize(
    ("task", "call"),
    [
        ("look around", ("list_files", {})),
        ("what is in the data folder", ("list_files", {"path": "data"})),
        ("what does notes.txt say about tea", ("read_file", {"path": "notes.txt"})),
    ],
)
def test_the_same_call_for_ever(task: str, call: tuple[str, dict[str, str]]) -> None:
    """It reads what the task names, else lists files, with the same arguments in every round."""
    calls = [c for m in looped(task, 6) if m.type == "ai" for c in getattr(m, "tool_calls", [])]
    assert [(c["name"], c["args"]) for c in calls] == [call] * 6
    assert len({c["id"] for c in calls}) == 6


def test_a_foreign_tool_gets_plausible_arguments() -> None:
    """Without a reading tool the first one bound is called, its required arguments filled by their types."""
    [call] = OfflineLooper().bind_tools([order]).invoke("order two lamps").tool_calls
    assert call["args"] == {"item": "order two lamps", "count": 1, "gift": True, "tags": []}


def test_a_withheld_tool_does_not_stop_it() -> None:
    """Once begun it insists on its call even where only other tools are offered: that is what the guard is for."""
    messages = looped("look around", 2)
    assert OfflineLooper().bind_tools([now]).invoke(messages).tool_calls[0]["name"] == "list_files"


@pytest.mark.parametrize(("task", "expected"), [("look around", "3 times"), ("看看这里有什么", "3 次")])
def test_the_closing_answer_is_honest(task: str, expected: str) -> None:
    """Without tools it says which call it repeated, how often, and what that returned."""
    reply = OfflineLooper().invoke([SystemMessage("Call no more tools."), *looped(task, 3)])
    assert not reply.tool_calls
    for part in (expected, "list_files", "a.txt\t3", "offline:looper"):
        assert part in reply.text


def test_a_new_task_starts_a_new_loop() -> None:
    """The loop belongs to a task: the next message is looped on afresh."""
    messages = [*looped("look around", 2), HumanMessage("read notes.txt")]
    [call] = OfflineLooper().bind_tools([list_files, read_file]).invoke(messages).tool_calls
    assert call["name"] == "read_file"


def test_without_any_tool_it_says_so() -> None:
    """With nothing to repeat it names what it is and makes no claim."""
    assert "nothing to repeat" in OfflineLooper().invoke("hello").text
