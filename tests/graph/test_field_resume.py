"""Failures of resuming that people reported in public: each must end the way a user needs, by its id."""

import json
import os
import sqlite3
import subprocess
import sys
import threading
from contextlib import closing
from pathlib import Path
from typing import Annotated, Any

import pytest
from langchain_core.messages import AIMessage, AnyMessage, BaseMessage, HumanMessage, ToolMessage
from langchain_core.tools import BaseTool, tool
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import START, StateGraph
from langgraph.graph.message import add_messages
from tests.graph.field_adapter import FIELD_CASES, field_cases
from typing_extensions import TypedDict

from loopwright import Agent, RunResult, Settings, tool_policy
from loopwright.errors import StorageError, ThreadBusy, UsageError
from loopwright.storage import SqlitePlace
from loopwright.testing import ScriptedModel, call, reply

CHECKED = {"F01", "F02", "F05", "F07", "F09", "F11", "F12", "F13", "F15"}


def clock() -> BaseTool:
    """A clock that stands."""

    @tool
    def clock() -> str:
        """Tell the time."""
        return "noon"

    return tool_policy(clock, effect="read", repeatable=True)


def sending(log: list[str], *, approval: bool = False) -> BaseTool:
    """A note that is sent, and counted."""

    @tool
    def send_note(text: str) -> str:
        """Send a note."""
        log.append(text)
        return f"sent {text}"

    return tool_policy(send_note, effect="write", approval=approval)


def paired(result: RunResult) -> bool:
    """Whether every call of the transcript is answered once."""
    asked = [made["id"] for message in result.messages if isinstance(message, AIMessage) for made in message.tool_calls]
    told = [message.tool_call_id for message in result.messages if isinstance(message, ToolMessage)]
    return sorted(map(str, asked)) == sorted(told)


@pytest.mark.skipif(not FIELD_CASES.exists(), reason="the field cases are not beside this repository")
def test_every_case_has_its_check() -> None:
    """No case of this kind is left out in silence."""
    assert {case.id for case in field_cases("F")} == CHECKED


F01 = """
import os, sys
from langchain_core.tools import tool
from loopwright import Agent, tool_policy
from loopwright.testing import ScriptedModel, call, reply

folder = sys.argv[1]

def count(what):
    with open(folder + "/log.txt", "a") as file:
        file.write(what + "\\n"); file.flush(); os.fsync(file.fileno())

@tool
def send_note(text: str) -> str:
    "Send a note."
    count("note"); return "sent"

@tool
def db_write(v: int) -> str:
    "Write a row."
    count("row"); return "written"

@tool
def http_get(url: str) -> str:
    "Get a page."
    if not os.path.exists(folder + "/died"):
        open(folder + "/died", "w").close(); os._exit(1)
    return "page"

calls = [call("send_note", text="x"), call("db_write", v=1), call("http_get", url="http://x.test")]
script = [reply("", *calls)] if not os.path.exists(folder + "/died") else []
tools = [tool_policy(send_note, effect="write"), tool_policy(db_write, effect="write"),
         tool_policy(http_get, effect="read")]
agent = Agent(ScriptedModel([*script, "done"]), tools, storage=f"sqlite:///{folder}/runs.db")
print((agent.resume("t") if not script else agent.run("x", thread="t")).answer)
"""


def test_f01_writes_before_a_crash_are_not_repeated(tmp_path: Path) -> None:
    """The third call of a reply ends the process; on resume the note and the row are not made again."""
    command = [sys.executable, "-c", F01, str(tmp_path)]
    first = subprocess.run(command, capture_output=True, text=True, check=False)
    assert first.returncode == 1, first.stderr
    second = subprocess.run(command, capture_output=True, text=True, check=False, env=os.environ.copy())
    assert second.stdout.strip() == "done", second.stderr
    assert (tmp_path / "log.txt").read_text().split() == ["note", "row"]


def test_f02_of_two_approvals_each_is_its_own() -> None:
    """The first is approved and runs once, the second is rejected and never runs; both calls are answered."""
    log: list[str] = []
    wish = reply("", call("send_note", text="1"), call("send_note", text="2"))
    agent = Agent(ScriptedModel([wish, "done"]), [sending(log, approval=True)])
    result = agent.run("x", thread="t")
    decided = []
    while result.pending:
        question = result.pending[0]
        decided.append(question.call["args"]["text"])
        answer = {"type": "approve"} if decided[-1] == "1" else {"type": "reject"}
        result = agent.resume("t", decisions={question.id: answer})
    assert (sorted(decided), log) == (["1", "2"], ["1"])
    assert paired(result)
    assert result.answer == "done"


def test_f05_the_same_delivery_twice_leaves_one_message() -> None:
    """A run that died after the model's step goes on when a queue sends the same input and run id again."""

    class Died(BaseException):
        """Ends the process in the test's stead."""

    def dying(_: list[BaseMessage]) -> str:
        raise Died

    model = ScriptedModel([reply("", call("clock")), dying, "noon"])
    agent = Agent(model, [clock()])
    with pytest.raises(Died):
        agent.run("x", thread="t", run_id="job-1")
    result = agent.run("x", thread="t", run_id="job-1")
    assert result.answer == "noon"
    assert [message.type for message in result.messages] == ["human", "ai", "tool", "ai"]
    assert agent.run("x", thread="t", run_id="job-1").messages == result.messages


def test_f07_a_file_that_stays_locked_is_named(tmp_path: Path) -> None:
    """WAL is set, a writer that lets go in time is waited for, and one that does not is told with the file's name."""
    path = tmp_path / "runs.db"
    agent = Agent(ScriptedModel(["ok"] * 9), storage=f"sqlite:///{path}")
    agent.run("x", thread="a")
    with closing(sqlite3.connect(path, isolation_level=None, check_same_thread=False)) as other:
        assert other.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        other.execute("BEGIN IMMEDIATE")
        waiting = threading.Thread(target=agent.run, args=("x",), kwargs={"thread": "b"})
        waiting.start()
        other.execute("COMMIT")
        waiting.join()
        assert agent.report("b").runs[0].stop is not None
        other.execute("BEGIN IMMEDIATE")
        agent.place = SqlitePlace(path, busy_seconds=0.05)
        with pytest.raises(StorageError, match=r"runs\.db stayed locked"):
            agent.run("x", thread="c")


def test_f09_a_second_run_on_a_thread_is_refused() -> None:
    """While the first run's tool works the second is refused; what is stored is well paired afterwards."""
    inside, go_on = threading.Event(), threading.Event()

    @tool
    def look() -> str:
        """Take long."""
        inside.set()
        go_on.wait(10)
        return "seen"

    agent = Agent(ScriptedModel([reply("", call("look")), "A", "B"]), [tool_policy(look, effect="read")])
    first = threading.Thread(target=agent.run, args=("a",), kwargs={"thread": "t"})
    first.start()
    assert inside.wait(10)
    with pytest.raises(ThreadBusy, match="'t'"):
        agent.run("b", thread="t")
    go_on.set()
    first.join()
    result = agent.run("b", thread="t")
    assert result.answer == "B"
    assert paired(result)


class Older(TypedDict):
    """What another version of a graph may have kept."""

    messages: Annotated[list[AnyMessage], add_messages]
    gone: str


def answering(state: Older) -> dict[str, list[AIMessage]]:
    """The one node of that graph."""
    return {"messages": [AIMessage("I am Ada.", id="m2")]}


def test_f11_a_thread_with_missing_and_unknown_keys_loads(tmp_path: Path) -> None:
    """Missing channels get their defaults, a channel that is no more is left out, the conversation goes on."""
    path = tmp_path / "runs.db"
    with SqliteSaver.from_conn_string(str(path)) as saver:
        builder = StateGraph(Older)
        builder.add_node("answer", answering)
        builder.add_edge(START, "answer")
        older = builder.compile(checkpointer=saver)
        start: Any = {"messages": [HumanMessage("Who are you?", id="m1")], "gone": "x"}
        older.invoke(start, {"configurable": {"thread_id": "t"}})
    model = ScriptedModel(["Still Ada."])
    result = Agent(model, storage=f"sqlite:///{path}").run("And now?", thread="t")
    assert result.answer == "Still Ada."
    assert [message.text for message in model.requests[0].messages[1:]] == ["Who are you?", "I am Ada.", "And now?"]


def test_f12_nothing_named_in_a_checkpoint_is_imported(tmp_path: Path) -> None:
    """A value that names a module of somebody else is not built: the module is never imported, the thread is kept."""
    path, module = tmp_path / "runs.db", tmp_path / "planted.py"
    module.write_text("from dataclasses import dataclass\n@dataclass\nclass Trap:\n    x: int = 1\n")
    agent = Agent(ScriptedModel(["ok"]), storage=f"sqlite:///{path}")
    agent.run("x", thread="t")
    sys.path.insert(0, str(tmp_path))
    try:
        import planted  # type: ignore[import-not-found] # pyright: ignore[reportMissingImports]

        kind, payload = JsonPlusSerializer().dumps_typed({"planted": planted.Trap()})
        del sys.modules["planted"]
        with closing(sqlite3.connect(path)) as connection:
            (stored,) = connection.execute("SELECT checkpoint FROM checkpoints ORDER BY checkpoint_id DESC").fetchone()
            assert stored is not None
            connection.execute("UPDATE writes SET type = ?, value = ? WHERE channel = 'verdict'", (kind, payload))
            connection.commit()
        assert len(agent.history("t")) > 2
        assert agent.report("t").runs[0].answer == "ok"
        assert "planted" not in sys.modules
    finally:
        sys.path.remove(str(tmp_path))


def test_f13_a_missing_thread_is_made_and_a_bad_one_refused() -> None:
    """Without a thread one is made and named in the result; an empty or numeric one is refused in a sentence."""
    agent = Agent(ScriptedModel(["ok", "ok"]))
    assert agent.run("x").thread
    number: Any = 123
    for bad in ("", "  ", number):
        with pytest.raises(UsageError, match="thread"):
            agent.run("x", thread=bad)
        with pytest.raises(UsageError, match="thread"):
            agent.resume(bad)


def test_f15_limits_belong_to_a_run() -> None:
    """Ten turns of two model calls each, under a limit of six: none is stopped."""
    steps = [step for turn in range(10) for step in (reply("", call("clock")), f"t{turn}")]
    agent = Agent(ScriptedModel(steps), [clock()], settings=Settings(max_model_calls=6))
    for turn in range(10):
        result = agent.run(f"turn {turn}", thread="t")
        assert (result.answer, result.complete) == (f"t{turn}", True)
        assert json.dumps(result.stop)
