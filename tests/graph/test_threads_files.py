"""Threads as files, compacted, searched and deleted: what comes along, what is refused, what is gone."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.tools import BaseTool, tool

from loopwright import Agent, RunResult, Settings, tool_policy
from loopwright.errors import UnknownThread, UsageError
from loopwright.settings import MemorySettings, ModelSettings, ToolSettings
from loopwright.storage import Storage
from loopwright.testing import ScriptedModel, call, reply
from loopwright.threads import ThreadFile, delete, export_thread, import_thread, list_threads, prune, search
from loopwright.threads.stored import SPACES

FAST = Settings(model=ModelSettings(retry_delay=0), tools=ToolSettings(retry_delay=0, max_result_tokens=300))
LONG = "\n".join(f"line {n} of a long log" for n in range(2_000))


def tools(log: list[str], *, approval: bool = False) -> list[BaseTool]:
    """Reads that are short and long, and a payment that keeps in `log` what it did."""

    @tool
    def look(at: str) -> str:
        """Look at something."""
        return f"saw {at}"

    @tool
    def dump() -> str:
        """Dump a long log."""
        return LONG

    @tool
    def pay(to: str) -> str:
        """Pay someone."""
        log.append(to)
        return f"paid {to}"

    return [
        tool_policy(look, effect="read"),
        tool_policy(dump, effect="read"),
        tool_policy(pay, effect="write", approval=approval),
    ]


def agent_of(*script: Any, log: list[str] | None = None, url: str = "memory:", approval: bool = False) -> Agent[Any]:
    """An agent that plays this script with the tools above."""
    chosen = tools([] if log is None else log, approval=approval)
    return Agent(ScriptedModel(list(script)), chosen, settings=FAST, storage=url)


@contextmanager
def opened(agent: Agent[Any]) -> Iterator[Storage]:
    """The agent's storage."""
    with agent.place.open() as storage:
        yield storage


def values(agent: Agent[Any], thread: str) -> dict[str, Any]:
    """The newest state of a thread."""
    with opened(agent) as storage:
        graph = agent.graph.copy(update={"checkpointer": storage.saver, "store": storage.store})
        found: dict[str, Any] = graph.get_state({"configurable": {"thread_id": thread}}).values
        return found


def rich(url: str) -> Agent[Any]:
    """An agent whose thread `t` holds two runs, parallel results, a long one, a payment, and Chinese."""
    agent = agent_of(
        reply("looking", call("look", at="a"), call("dump"), call("look", at="b"), call("pay", to="鲍勃")),
        "付了钱",
        "and more",
        url=url,
    )
    agent.run("付钱给鲍勃", thread="t", run_id="r1")
    agent.run("More?", thread="t", run_id="r2")
    return agent


def test_a_file_brings_the_whole_thread(storage_url: str) -> None:
    """Exported, written, read and imported elsewhere, the state is equal; so is what is exported again."""
    agent = rich(storage_url)
    with opened(agent) as storage:
        file = export_thread(storage, "t")
    assert [message.text for message in file.messages if isinstance(message, ToolMessage)][0::2] == ["saw a", "saw b"]
    other = agent_of("go on")
    with opened(other) as storage:
        assert import_thread(storage, ThreadFile.loads(file.dumps())) == "t"
        assert export_thread(storage, "t") == file
    assert values(other, "t") == values(agent, "t")
    assert other.run("More?", thread="t", run_id="r2").answer == "and more"  # the delivery is known there
    assert other.run("And?", thread="t").answer == "go on"


def test_a_file_holds_no_metadata_but_the_run_id() -> None:
    """A caller's own metadata and the headers of the model's server stay behind."""
    agent = agent_of(AIMessage("hello", response_metadata={"headers": {"authorization": "key-1"}, "model_name": "m"}))
    agent.graph = agent.graph.with_config(metadata={"tenant_token": "key-2"})
    agent.run("x", thread="t", run_id="r1")
    with opened(agent) as storage:
        text = export_thread(storage, "t").dumps()
    assert "key-1" not in text
    assert "key-2" not in text
    assert json.loads(text)["run_id"] == "r1"


def test_the_journal_serves_after_an_import() -> None:
    """A payment of the old place is served in the new one, and a long result can be read on."""
    log: list[str] = []
    pay, look = reply("", call("pay", to="bob")), reply("", call("look", at="a"))
    agent = agent_of(pay, "first", log=log)
    agent.run("x", thread="t")
    begun = next(entry.checkpoint for entry in agent.history("t") if entry.node == "begin")
    agent.fork("t", begun)
    with opened(agent) as storage:
        file = export_thread(storage, "t")
    other = agent_of(look, pay, "second", log=log)
    with opened(other) as storage:
        import_thread(storage, file, "elsewhere")
    result = other.resume("elsewhere")
    assert result.answer == "second"
    assert "on another branch" in result.messages[-2].text
    assert log == ["bob"]


def test_a_long_result_can_be_read_on_after_an_import() -> None:
    """The whole of a shortened result comes along under its ref."""
    agent = agent_of(reply("", call("dump")), "first")
    agent.run("x", thread="t")
    with opened(agent) as storage:
        file = export_thread(storage, "t")
    ((ref, text),) = file.results.items()
    assert text == LONG
    other = agent_of(reply("", call("read_result", ref=ref, offset=40_000)), "read")
    with opened(other) as storage:
        import_thread(storage, file)
    assert "line 1800 of" in other.run("read on", thread="t").messages[-2].text


def test_a_paused_thread_asks_again_after_an_import(storage_url: str) -> None:
    """The open question is put anew under another id, and its answer is obeyed."""
    log: list[str] = []
    agent = agent_of(reply("", call("look", at="a"), call("pay", to="bob")), approval=True, url=storage_url)
    (question,) = agent.run("x", thread="t", run_id="r1").pending
    with opened(agent) as storage:
        file = export_thread(storage, "t")
    other = agent_of("done", log=log, approval=True)
    with opened(other) as storage:
        import_thread(storage, file)
    (again,) = other.resume("t").pending
    assert again.id != question.id
    assert again.call == question.call
    result = other.resume("t", decisions={again.id: {"type": "approve"}})
    assert (result.answer, result.run_id, log) == ("done", "r1", ["bob"])


def stopping(log: list[str]) -> BaseTool:
    """A payment after which the process is interrupted, the first time."""

    @tool
    def pay(to: str) -> str:
        """Pay someone."""
        log.append(to)
        if len(log) == 1:
            raise KeyboardInterrupt
        return f"paid {to}"

    return tool_policy(pay, effect="write")


def test_an_unfinished_thread_goes_on_after_an_import() -> None:
    """What a crash left open is told as unknown in the new place too, and is not done again."""
    log: list[str] = []
    script: list[Any] = [reply("", call("look", at="a"), call("pay", to="bob")), "done"]
    agent = Agent(ScriptedModel(script), [tools([])[0], stopping(log)], settings=FAST)
    with pytest.raises(KeyboardInterrupt):
        agent.run("x", thread="t", run_id="r1")
    with opened(agent) as storage:
        file = export_thread(storage, "t")
    other = Agent(ScriptedModel(["done"]), [tools([])[0], stopping(log)], settings=FAST)
    with opened(other) as storage:
        import_thread(storage, file)
    result = other.run("x", thread="t", run_id="r1")
    assert [message.text for message in result.messages][2] == "saw a"
    assert "OUTCOME UNKNOWN" in result.messages[3].text
    assert (result.answer, log) == ("done", ["bob"])


def test_a_thread_is_not_written_over() -> None:
    """Importing under the name of a thread that exists is refused, and so is compacting into one."""
    agent = agent_of("one", "two")
    agent.run("x", thread="t")
    agent.run("y", thread="u")
    with opened(agent) as storage:
        file = export_thread(storage, "t")
        with pytest.raises(UsageError, match="'t' exists already"):
            import_thread(storage, file)
        with pytest.raises(UsageError, match="'u' exists already"):
            prune(storage, "t", "u")


def test_files_that_are_none_are_refused() -> None:
    """Broken, foreign, newer and damaged files each give one sentence that says what to do."""
    agent = agent_of("one")
    agent.run("x", thread="t")
    with opened(agent) as storage:
        good = json.loads(export_thread(storage, "t").dumps())
    for text, words in (
        ("{", "cannot be read as JSON"),
        ("[]", "no thread file of Loopwright"),
        ('{"messages": []}', "no thread file of Loopwright"),
        (json.dumps({**good, "version": 99}), "newer Loopwright"),
        (json.dumps({**good, "run": {**good["run"], "format": 99}}), "newer Loopwright"),
        (json.dumps({**good, "surprise": 1}), "damaged at surprise"),
        (json.dumps({**good, "events": [{**good["events"][0], "surprise": 1}]}), r"damaged at events\.0.*surprise"),
        (json.dumps({key: value for key, value in good.items() if key != "journal"}), "damaged at journal"),
        (json.dumps({**good, "messages": [{"type": "nothing"}]}), r"damaged at messages\.0"),
    ):
        with pytest.raises(UsageError, match=words) as told:
            ThreadFile.loads(text)
        assert "\n" not in str(told.value)


@given(st.binary(max_size=60) | st.text(max_size=60))
def test_whatever_is_read_as_a_file_is_refused_in_one_sentence(text: str | bytes) -> None:
    """No text that is not a thread file raises anything but UsageError."""
    with pytest.raises(UsageError):
        ThreadFile.loads(text)


def test_artifacts_are_kept_as_far_as_json_can_say_them() -> None:
    """Bytes and objects beside a result do not keep a thread from being exported."""

    @tool(response_format="content_and_artifact")
    def picture() -> tuple[str, dict[str, Any]]:
        """Take a picture."""
        return "a picture", {"size": (2, 3), "pixels": b"\xff\x00"}

    agent = Agent(ScriptedModel([reply("", call("picture")), "done"]), [picture], settings=FAST)
    agent.run("x", thread="t")
    with opened(agent) as storage:
        file = ThreadFile.loads(export_thread(storage, "t").dumps())
    assert file.messages[2].text == "a picture"


def test_a_pruned_thread_goes_on(storage_url: str) -> None:
    """The copy holds the same state, journal and results in one checkpoint; the old thread is left as it was."""
    agent = rich(storage_url)
    before = agent.history("t")
    with opened(agent) as storage:
        prune(storage, "t", "slim")
        assert export_thread(storage, "slim") == export_thread(storage, "t").model_copy(update={"thread": "slim"})
    assert len(agent.history("slim")) == 1
    assert agent.history("t") == before
    assert agent.resume("slim").answer == "and more"
    with opened(agent) as storage, pytest.raises(UnknownThread):
        prune(storage, "nowhere", "x")


def test_a_pruned_thread_keeps_what_was_compressed() -> None:
    """Summary, clips and pins come along: the next request is the one that the old thread would have made."""

    @tool
    def read(part: int) -> str:
        """Read a part."""
        return f"part {part}: " + " ".join(f"word{part}x{n}" for n in range(120))

    memory = MemorySettings(summary=False)
    tight = Settings(model=ModelSettings(retry_delay=0), context_tokens=1_500, memory=memory)
    script: list[Any] = [*(reply("", call("read", part=n)) for n in range(6)), "first", "second", "second"]
    model = ScriptedModel(script)
    agent = Agent(model, [tool_policy(read, effect="read")], settings=tight)
    agent.run("x", thread="t")
    assert values(agent, "t")["view"]["clips"]
    with opened(agent) as storage:
        prune(storage, "t", "slim")
    agent.run("go on", thread="t")
    agent.run("go on", thread="slim")
    texts = [[message.text for message in request.messages] for request in model.requests[-2:]]
    assert texts[0] == texts[1]


def test_deleting_leaves_nothing(storage_url: str) -> None:
    """Checkpoints, journal and results of the thread are gone, those of others stay, and the name is free again."""
    agent = rich(storage_url)
    with opened(agent) as storage:
        prune(storage, "t", "t2")
        delete(storage, "t")
        assert [info.thread for info in list_threads(agent.place)] == ["t2"]
        assert [item for space in SPACES for item in storage.store.search((space, "t"))] == []
        assert all(storage.store.search((space, "t2")) for space in SPACES)
        with pytest.raises(UnknownThread, match="'t'"):
            delete(storage, "t")
    with pytest.raises(UnknownThread):
        agent.resume("t")


def test_threads_are_found_by_what_was_said() -> None:
    """User messages and answers are searched, whatever the case and width; tool results and calls are not."""
    agent = agent_of(reply("thinking aloud", call("look", at="a")), "It is RED", "蓝色的天空", "nothing")
    agent.run("Which Colour?", thread="one")
    agent.run("天空是什么颜色?", thread="two")
    agent.run("hm", thread="three")
    for text, found in (
        ("colour", {"one"}), ("red", {"one"}), ("ＲＥＤ", {"one"}), ("天空", {"two"}), ("蓝", {"two"}),
        ("saw a", set()), ("thinking", set()), ("h", {"one", "three"}), ("absent", set()),
    ):  # fmt: skip
        assert {info.thread for info in search(agent.place, text)} == found
    with pytest.raises(UsageError, match="nothing to search for"):
        search(agent.place, "  ")


_TEXT = st.text(max_size=12)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(_TEXT.filter(lambda text: bool(text.strip())), _TEXT), min_size=1, max_size=3))
def test_any_thread_makes_the_round_trip(turns: list[tuple[str, str]]) -> None:
    """Whatever users and models say, the imported state equals the exported one."""
    agent = agent_of(*(said for _, answer in turns for said in (answer, "fine", "fine", "fine")))
    results: list[RunResult[Any]] = [agent.run(task, thread="t") for task, _ in turns]
    assert results[-1].stop is not None
    other = agent_of()
    with opened(agent) as storage:
        file = export_thread(storage, "t")
    with opened(other) as storage:
        import_thread(storage, ThreadFile.loads(file.dumps()))
    assert values(other, "t") == values(agent, "t")
