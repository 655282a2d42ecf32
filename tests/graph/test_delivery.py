"""What the same and another run id mean, over every storage, sync and async: go on, nothing, refused, a new turn."""

import asyncio
import time
from collections.abc import Callable
from typing import Any, TypeAlias

import pytest
from langchain_core.messages import HumanMessage
from langchain_core.tools import tool

from loopwright import Agent, RunResult, tool_policy
from loopwright.errors import DeliveryConflict, SettingsError, UnknownThread, UsageError
from loopwright.layout import check_format
from loopwright.state import FORMAT, Run
from loopwright.testing import ScriptedModel, call, reply

Door: TypeAlias = Callable[..., RunResult]


def _awaited(agent: Agent, task: str, **options: Any) -> RunResult:
    return asyncio.run(agent.arun(task, **options))


def _plain(agent: Agent, task: str, **options: Any) -> RunResult:
    return agent.run(task, **options)


@pytest.fixture(params=[_plain, _awaited], ids=["sync", "async"])
def run(request: pytest.FixtureRequest) -> Door:
    """`Agent.run`, once plainly and once awaited."""
    door: Door = request.param
    return door


class Crash(BaseException):
    """What ends a process: no part of the loop may catch it."""


def crashing(url: str, paid: list[str]) -> Agent:
    """An agent whose process ends in its second model call, after it paid; the next call answers."""

    @tool
    def pay(to: str) -> str:
        """Pay someone."""
        paid.append(to)
        return f"paid {to}"

    def play(messages: list[Any]) -> Any:
        if len(tries) == 1:
            tries.append("crashed")
            raise Crash
        tries.append("answered")
        return "all done" if len(tries) > 1 else reply("", call("pay", to="bob"))

    tries: list[str] = []
    return Agent(ScriptedModel(play), [tool_policy(pay, effect="write")], storage=url)


def test_the_same_delivery_goes_on_after_a_crash(storage_url: str, run: Door) -> None:
    """The same run id and input end the run that a crash left; its finished payment is not made again."""
    paid: list[str] = []
    agent = crashing(storage_url, paid)
    with pytest.raises(Crash):
        run(agent, "pay bob", thread="t", run_id="r1")
    result = run(agent, "pay bob", thread="t", run_id="r1")
    assert (result.answer, paid) == ("all done", ["bob"])
    assert [message.type for message in result.messages] == ["human", "ai", "tool", "ai"]


def test_the_same_delivery_after_success_does_nothing(storage_url: str, run: Door) -> None:
    """The stored result comes back, no model is asked, and the transcript does not grow."""
    agent = Agent(ScriptedModel(["one", "two"]), storage=storage_url)
    first = run(agent, "x", thread="t", run_id="r1")
    again = run(agent, "x", thread="t", run_id="r1")
    assert (again.answer, again.run_id, again.usage) == (first.answer, "r1", first.usage)
    assert len(again.messages) == len(first.messages) == 2


def test_an_old_delivery_after_a_newer_one_does_nothing(storage_url: str, run: Door) -> None:
    """An old run id sent late is known, also when newer turns followed it."""
    agent = Agent(ScriptedModel(["one", "two", "three"]), storage=storage_url)
    run(agent, "x", thread="t", run_id="r1")
    run(agent, "y", thread="t", run_id="r2")
    late = run(agent, "x", thread="t", run_id="r1")
    assert [message.text for message in late.messages] == ["x", "one", "y", "two"]


def test_a_used_run_id_with_another_input_is_refused(storage_url: str, run: Door) -> None:
    """LangGraph would drop the new input silently; the error names the run id, and nothing is written."""
    agent = Agent(ScriptedModel(["one", "two"]), storage=storage_url)
    run(agent, "x", thread="t", run_id="r1")
    with pytest.raises(DeliveryConflict, match="'r1'"):
        run(agent, "something else", thread="t", run_id="r1")
    assert len(run(agent, "x", thread="t", run_id="r1").messages) == 2


def test_another_run_id_is_a_new_turn(storage_url: str, run: Door) -> None:
    """The same text under a new run id is asked anew, with the first turn before it."""
    agent = Agent(ScriptedModel(["one", "two"]), storage=storage_url)
    run(agent, "x", thread="t", run_id="r1")
    second = run(agent, "x", thread="t", run_id="r2")
    assert [message.text for message in second.messages] == ["x", "one", "x", "two"]
    assert second.run_id == "r2"


def test_a_new_turn_after_a_crash_closes_the_old_one(storage_url: str, run: Door) -> None:
    """Another run id after a crash begins anew: the old turn is left as it stands, no call in it unanswered."""
    paid: list[str] = []
    agent = crashing(storage_url, paid)
    with pytest.raises(Crash):
        run(agent, "pay bob", thread="t", run_id="r1")
    result = run(agent, "how far are you?", thread="t", run_id="r2")
    assert (result.answer, result.run_id, paid) == ("all done", "r2", ["bob"])
    assert [message.type for message in result.messages] == ["human", "ai", "tool", "human", "ai"]


def test_a_new_turn_keeps_what_the_left_step_had_finished(storage_url: str, run: Door) -> None:
    """A call that had its result when the process ended beside another one keeps it; the other one did not run."""
    agents: list[Agent] = []

    @tool
    def look(at: str) -> str:
        """Look at something."""
        end = time.monotonic() + 20
        while at == "b" and time.monotonic() < end:
            if any(each.status == "ok" for each in agents[0].report("t").runs[0].rounds[0].calls):
                raise KeyboardInterrupt
        return f"saw {at}"

    wishes = reply("I look.", call("look", at="a"), call("look", at="b"))
    model = ScriptedModel([wishes, "done"])
    agents.append(Agent(model, [tool_policy(look, effect="read")], storage=storage_url))
    with pytest.raises(KeyboardInterrupt):
        run(agents[0], "look", thread="t")
    result = run(agents[0], "and now?", thread="t")
    assert result.answer == "done"
    assert [message.type for message in result.messages] == ["human", "ai", "tool", "tool", "human", "ai"]
    (left, _) = agents[0].report("t").runs
    assert [(each.status, each.tool) for each in left.rounds[0].calls] == [("ok", "look"), ("not_run", "look")]
    assert left.rounds[0].calls[0].result == "saw a"
    assert "nobody knows whether it did" in (left.rounds[0].calls[1].result or "")  # it had begun, and has no journal
    assert left.forks == ()


def test_threads_do_not_meet(storage_url: str, run: Door) -> None:
    """The same run id on two threads is two runs."""
    agent = Agent(ScriptedModel(["one", "two"]), storage=storage_url)
    assert run(agent, "x", thread="a", run_id="r1").answer == "one"
    assert run(agent, "y", thread="b", run_id="r1").answer == "two"


def test_a_thread_of_a_newer_version_is_refused(storage_url: str, run: Door) -> None:
    """A run whose format is above ours is not gone on with, by a new task, the same one or a resume."""
    agent = Agent(ScriptedModel(["one", "two"]), storage=storage_url)
    run(agent, "x", thread="t", run_id="r1")
    with agent.place.open() as storage:
        graph = agent.graph.copy(update={"checkpointer": storage.saver, "store": storage.store})
        config: Any = {"configurable": {"thread_id": "t"}}
        run_now: Run = graph.get_state(config).values["run"]
        newer: Run = {**run_now, "format": FORMAT + 1}
        graph.update_state(config, {"run": newer}, as_node="finish")
        refusal = f"newer Loopwright .format {FORMAT + 1}"
        with pytest.raises(UsageError, match=refusal):  # as a server runs the graph, without our doors
            graph.invoke({"messages": [HumanMessage("y")]}, config)
        graph.update_state(config, {"run": {**newer, "status": "running"}}, as_node="begin")
        with pytest.raises(UsageError, match=refusal):
            graph.invoke(None, config)
    with pytest.raises(UsageError, match=refusal):
        run(agent, "y", thread="t")
    with pytest.raises(UsageError, match=refusal):
        run(agent, "x", thread="t", run_id="r1")
    with pytest.raises(UsageError, match=refusal):
        agent.resume("t")
    check_format(run_now, "t")


def test_no_text_is_in_the_metadata(storage_url: str, run: Door) -> None:
    """Metadata is never encrypted: it holds ids and counters, no word of what was asked, called or answered."""
    paid: list[str] = []
    agent = crashing(storage_url, paid)
    with pytest.raises(Crash):
        run(agent, "pay bob", thread="t", run_id="r1")
    run(agent, "pay bob", thread="t", run_id="r1", user={"secret": "userword"})
    known = {"source", "step", "parents", "run_id", "counters_since_delta_snapshot"}
    with agent.place.open() as storage:
        found = [each.metadata for each in storage.saver.list({"configurable": {"thread_id": "t"}})]
    assert found
    assert {key for each in found for key in each} <= known
    assert not any(word in str(found) for word in ("bob", "all done", "userword"))


@pytest.mark.parametrize(
    "task",
    [
        "hello",
        HumanMessage("hello"),
        [HumanMessage("hello")],
        {"role": "user", "content": "hello"},
        [{"role": "user", "content": "hello"}],
        [("user", "hello")],
    ],
)
def test_a_task_is_given_in_any_form_that_langchain_reads(task: Any, run: Door) -> None:
    """As a front end sends it, too; each is the run's input, so that the same run id does it once."""
    model = ScriptedModel(["hi", "hi again"])
    agent = Agent(model)
    for _ in range(2):
        assert run(agent, task, thread="t", run_id="r").answer == "hi"
    assert [message.text for message in model.requests[0].messages[1:]] == ["hello"]
    assert len(model.requests) == 1


@pytest.mark.parametrize("task", [5, {"messages": ["sesame"]}, [{"text": "sesame"}], [("wizard", "sesame")], [None]])
def test_a_task_that_is_no_message_is_refused(task: Any, run: Door) -> None:
    """One sentence that does not repeat what was given; the thread is not begun."""
    agent = Agent(ScriptedModel([]))
    with pytest.raises(UsageError, match=r"^The task is no message: give ") as refused:
        run(agent, task, thread="t")
    assert "sesame" not in str(refused.value)
    with pytest.raises(UnknownThread):
        agent.pending("t")


@pytest.mark.parametrize("user", ["ada", ["ada"], 7])
def test_a_user_that_is_no_mapping_is_refused(user: Any, run: Door) -> None:
    """One sentence, as for every other value of a context."""
    with pytest.raises(SettingsError, match=r"^The override 'user' has a bad value: "):
        run(Agent(ScriptedModel([])), "hello", user=user)
