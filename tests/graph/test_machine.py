"""The machine as a whole, with a scripted model: what runs, what is refused, how every run ends."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.tools import BaseTool, tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.prebuilt import ToolRuntime
from langgraph.store.memory import InMemoryStore

from loopwright import Agent, RunResult, Settings, build_graph, tool_policy
from loopwright.context import Context
from loopwright.errors import BadDecision, DeliveryConflict, SettingsError, UnknownThread, UsageError
from loopwright.settings import ModelSettings, ToolSettings
from loopwright.state import State
from loopwright.testing import ScriptedModel, call, reply

FAST = Settings(model=ModelSettings(retry_delay=0), tools=ToolSettings(retry_delay=0))


def looking(log: list[str] | None = None) -> BaseTool:
    """A reading tool that answers with its argument."""

    @tool
    def look(at: str) -> str:
        """Look at something."""
        if log is not None:
            log.append(at)
        return f"saw {at}"

    return tool_policy(look, effect="read")


def paying(log: list[str], *, approval: bool = False) -> BaseTool:
    """A writing tool that keeps what it did in `log`."""

    @tool
    def pay(to: str) -> str:
        """Pay someone."""
        log.append(to)
        return f"paid {to}"

    return tool_policy(pay, effect="write", approval=approval)


def statuses(result: RunResult) -> list[str]:
    """What each tool message says, shortened."""
    return [message.text for message in result.messages if isinstance(message, ToolMessage)]


def test_a_task_is_answered_with_what_tools_said() -> None:
    """Two calls in one reply run as one round, then the model answers; nothing of ours is in the transcript."""
    model = ScriptedModel([reply("let me look", call("look", at="a"), call("look", at="b")), "a and b"])
    result = Agent(model, [looking()], settings=FAST).run("what is there?")
    assert (result.answer, result.complete) == ("a and b", True)
    assert [message.type for message in result.messages] == ["human", "ai", "tool", "tool", "ai"]
    assert result.usage.model_calls == 2
    assert result.usage.tool_calls == 2
    model.assert_finished()


@pytest.mark.parametrize("storage", ["memory:", "sqlite:///{}/runs.db"])
def test_sync_and_async_do_the_same(storage: str, tmp_path: Path) -> None:
    """The same script gives the same transcript through run, arun, stream and astream, on memory and on SQLite."""
    script: list[Any] = [reply("", call("look", at="a")), reply("", call("nothing_like_this", x=1)), "done"]

    def fresh() -> Agent:
        return Agent(ScriptedModel(list(script)), [looking()], settings=FAST, storage=storage.format(tmp_path))

    async def streamed() -> RunResult:
        stream = fresh().astream("x")
        async for _ in stream:
            pass
        return stream.result

    live = fresh().stream("x")
    kinds = [item["kind"] if isinstance(item, dict) else "token" for item in live]
    results = [fresh().run("x"), asyncio.run(fresh().arun("x")), live.result, asyncio.run(streamed())]
    texts = [[message.text for message in result.messages] for result in results]
    assert texts == [texts[0]] * 4
    assert len(texts[0]) == 6
    assert [kinds.count(kind) for kind in ("begin", "model", "call", "stop")] == [1, 3, 2, 1]
    assert "token" in kinds


def test_writes_go_alone_and_reads_together() -> None:
    """A batch of read, write, read runs in three waves; every call is answered in call order."""
    log: list[str] = []
    model = ScriptedModel([reply("", call("look", at="a"), call("pay", to="bob"), call("look", at="b")), "ok"])
    agent = Agent(model, [looking(log), paying(log)], settings=FAST)
    result = agent.run("x", thread="t")
    assert log == ["a", "bob", "b"]
    assert statuses(result) == ["saw a", "paid bob", "saw b"]


def test_a_cut_call_is_answered_and_never_runs() -> None:
    """Broken arguments are told to the model under the call's id; the tool is not touched; the next call works."""
    log: list[str] = []
    model = ScriptedModel([reply("", call("pay", raw='{"to": "bo')), reply("", call("pay", to="bob")), "ok"])
    result = Agent(model, [paying(log)], settings=FAST).run("x")
    assert log == ["bob"]
    assert "not one whole JSON object" in statuses(result)[0]


def test_a_failed_call_is_told_once_and_refused_the_second_time() -> None:
    """The first error says that the same call will fail again; the second identical call does not run."""
    ran: list[int] = []

    @tool
    def load(path: str) -> str:
        """Load a file."""
        ran.append(1)
        raise FileNotFoundError(path)

    script: list[Any] = [reply("", call("load", path="x")), reply("", call("load", path="x")), "gave up"]
    result = Agent(ScriptedModel(script), [tool_policy(load, effect="read")], settings=FAST).run("x")
    assert len(ran) == 1
    assert "fail again unchanged" in statuses(result)[0]
    assert statuses(result)[1].startswith("Not run: load")
    assert "step 1" in statuses(result)[1]


def test_transient_failures_are_tried_again_but_never_a_write() -> None:
    """A reading tool that fails twice by a dropped connection succeeds in one call; a write is tried once."""
    tries = {"read": 0, "write": 0}

    def make(effect: str) -> BaseTool:
        @tool(effect)
        def flaky() -> str:
            """Fail at first."""
            tries[effect] += 1
            if tries[effect] < 3:
                raise ConnectionError("dropped")
            return "fine"

        return tool_policy(flaky, effect=effect)  # type: ignore[arg-type]

    model = ScriptedModel([reply("", call("read"), call("write")), "ok"])
    result = Agent(model, [make("read"), make("write")], settings=FAST).run("x")
    assert tries == {"read": 3, "write": 1}
    assert statuses(result)[0] == "fine"


def test_a_stuck_model_is_stopped_with_an_answer_and_a_report() -> None:
    """One call for ever: two results, then refusals, then a closing answer; the report names call and steps."""
    n = 0

    def step(messages: Any) -> Any:
        nonlocal n
        n += 1
        return reply("", call("look", at="x")) if n < 6 else "what I found"

    log: list[str] = []
    result = Agent(ScriptedModel([step] * 6), [looking(log), paying([])], settings=FAST).run("x")
    assert log == ["x", "x"]
    assert result.answer == "what I found"
    assert not result.complete
    assert result.stop is not None
    assert result.stop["reason"] == "repeat"
    assert result.stop["call_id"]
    assert result.stop["earlier_steps"]


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"max_model_calls": 2}, "model_calls"),
        ({"max_tool_calls": 2}, "tool_calls"),
        ({"max_tokens": 30}, "tokens"),
    ],
)
def test_every_limit_ends_with_an_answer(changes: dict[str, Any], reason: str) -> None:
    """At a limit the model is asked once more, without tools, and the result says which limit it was."""
    script: list[Any] = [reply("", call("look", at=str(n))) for n in range(2)]
    if reason == "tokens":
        script = script[:1]
    model = ScriptedModel([*script, "partial answer"])
    result = Agent(model, [looking()], settings=FAST.model_copy(update=changes)).run("x")
    assert result.answer == "partial answer"
    assert result.stop is not None
    assert (result.stop["reason"], result.complete) == (reason, False)
    assert not model.requests[-1].tools


def test_extending_goes_on_with_the_same_run() -> None:
    """After a limit the same run goes on under the larger one, counters kept; a limit that is used up is refused."""
    script: list[Any] = [reply("", call("look", at="1")), "partial", reply("", call("look", at="2")), "all of it"]
    agent = Agent(ScriptedModel(script), [looking()], settings=FAST.model_copy(update={"max_model_calls": 1}))
    first = agent.run("x", thread="t")
    with pytest.raises(UsageError, match="already used up"):
        agent.resume("t", extend={"model_calls": 2})
    second = agent.resume("t", extend={"model_calls": 9})
    assert (first.complete, second.complete, second.answer) == (False, True, "all of it")
    assert second.usage.model_calls == 4
    assert second.run_id == first.run_id


def test_asking_at_a_limit_pauses_and_goes_on() -> None:
    """`on_limit="ask"` leaves a budget question; approving it doubles the limit, rejecting it closes the run."""
    for decision, answer in (("approve", "all"), ("reject", "all")):
        script: list[Any] = [reply("", call("look", at="1")), "all"]
        settings = FAST.model_copy(update={"max_model_calls": 1, "on_limit": "ask"})
        agent = Agent(ScriptedModel(script), [looking()], settings=settings)
        paused = agent.run("x", thread="t")
        (question,) = paused.pending
        assert (question.kind, paused.stop, agent.pending("t")) == ("budget", None, [question])
        result = agent.resume("t", decisions={question.id: {"type": decision}})
        assert result.answer == answer
        assert result.complete == (decision == "approve")


def test_approvals_are_asked_once_and_obeyed() -> None:
    """Approve runs the call, edit runs other arguments, reject and respond do not run it; an unknown id is refused."""
    for decision, done, said in (
        ({"type": "approve"}, ["bob"], "paid bob"),
        ({"type": "edit", "edited_action": {"name": "pay", "args": {"to": "eve"}}}, ["eve"], "paid eve"),
        ({"type": "reject", "message": "too much"}, [], "too much"),
        ({"type": "respond", "message": "I paid in cash"}, [], "I paid in cash"),
    ):
        log: list[str] = []
        model = ScriptedModel([reply("", call("pay", to="bob"), call("look", at="a")), "ok"])
        agent = Agent(model, [paying(log, approval=True), looking()], settings=FAST)
        (question,) = agent.run("x", thread="t").pending
        assert log == []
        with pytest.raises(BadDecision):
            agent.resume("t", decisions={"nope": {"type": "approve"}})
        result = agent.resume("t", decisions={question.id: decision})
        assert result.answer == "ok"
        assert log == done
        assert said in statuses(result)[0]


def test_deliveries() -> None:
    """The same run id and text do nothing after success; another text under it is refused; a new id is a new run."""
    agent = Agent(ScriptedModel(["one", "two"]), settings=FAST)
    first = agent.run("x", thread="t", run_id="r1")
    again = agent.run("x", thread="t", run_id="r1")
    assert (again.answer, len(again.messages)) == (first.answer, 2)
    with pytest.raises(DeliveryConflict):
        agent.run("y", thread="t", run_id="r1")
    assert agent.run("y", thread="t", run_id="r2").answer == "two"


def test_empty_replies_are_nudged_and_end_with_a_report() -> None:
    """One empty reply is nudged, three in a row close the run; an empty closing one is replaced by the report."""
    assert Agent(ScriptedModel(["", "fine"]), settings=FAST).run("x").answer == "fine"
    result = Agent(ScriptedModel(["", "", "", ""]), settings=FAST).run("x")
    assert result.stop is not None
    assert result.stop["reason"] == "empty_reply"
    assert "empty_reply" in result.answer


def test_a_failing_model_ends_the_run_and_can_be_resumed() -> None:
    """An error of the model's server ends the run with its report; resuming makes the request again."""
    agent = Agent(ScriptedModel([RuntimeError("out of order"), "fine now"]), settings=FAST)
    result = agent.run("x", thread="t")
    assert result.stop is not None
    assert result.stop["reason"] == "model_error"
    assert "out of order" in result.answer
    assert agent.resume("t").answer == "fine now"


def test_long_results_are_cut_and_can_be_read_on() -> None:
    """A result over the cap names a ref; read_result is offered from then on and pages through the whole."""

    @tool
    def dump() -> str:
        """Dump much."""
        return "\n".join(f"line {n} of a long log" for n in range(3000))

    settings = FAST.model_copy(update={"tools": ToolSettings(max_result_tokens=300)})

    def page(messages: Any) -> Any:
        text = next(m.text for m in reversed(messages) if isinstance(m, ToolMessage))
        ref = text.split("ref='")[1].split("'")[0]
        return reply("", call("read_result", ref=ref, offset=20_000))

    model = ScriptedModel([reply("", call("dump")), page, "ok"])
    result = Agent(model, [tool_policy(dump, effect="read")], settings=settings).run("x")
    first, second = statuses(result)
    assert len(first) < 3_000
    assert "line 900 of" in second
    assert "offset=" in second
    assert "read_result" not in str(model.requests[0].tools)
    assert "read_result" in str(model.requests[1].tools)


def test_a_plain_graph_and_a_node_of_another() -> None:
    """build_graph is an ordinary compiled graph: invoke, get_state, stream, and as a node in a parent."""
    from langgraph.graph import START, MessagesState, StateGraph

    graph = build_graph(
        ScriptedModel(["hi"] * 3), [looking()], FAST, checkpointer=InMemorySaver(), store=InMemoryStore()
    )
    config: Any = {"configurable": {"thread_id": "t"}}
    out = graph.invoke({"messages": [HumanMessage("x")]}, config, durability="sync")
    assert out["answer"] == "hi"
    assert out["stop"]["reason"] == "answered"
    assert graph.get_state(config).values["run"]["status"] == "completed"

    child = build_graph(ScriptedModel(["from the child"]), [], FAST)
    parent = StateGraph(MessagesState).add_node("agent", child).add_edge(START, "agent").compile()
    assert parent.invoke({"messages": [HumanMessage("x")]})["messages"][-1].text == "from the child"


@pytest.mark.parametrize("limit", [6, 7, 8, 10, 12, 25])
def test_any_recursion_limit_from_six_ends_with_an_answer(limit: int) -> None:
    """The guard closes while steps are left; LangGraph's GraphRecursionError is never seen."""

    def step(messages: Any) -> Any:
        step.count += 1  # type: ignore[attr-defined]
        return reply("", call("look", at=str(step.count)))  # type: ignore[attr-defined]

    step.count = 0  # type: ignore[attr-defined]
    graph = build_graph(ScriptedModel([step] * 40), [looking()], FAST)
    out = graph.invoke({"messages": [HumanMessage("x")]}, {"recursion_limit": limit})
    assert out["answer"]
    assert out["stop"]["reason"] == "steps"


def test_overrides_hold_for_one_run() -> None:
    """A run's overrides change its settings, not the agent's; an unknown one is refused by name."""
    model = ScriptedModel(["a", "b"])
    agent = Agent(model, settings=FAST)
    agent.run("x", overrides={"system_prompt": "Be a pirate."})
    agent.run("x")
    assert "pirate" in model.requests[0].messages[0].text
    assert "pirate" not in model.requests[1].messages[0].text
    with pytest.raises(SettingsError, match="'colour' cannot be overridden for one run"):
        agent.run("x", overrides={"colour": "red"})


def test_user_data_may_stand_among_the_overrides() -> None:
    """It is a field of Context like any other, and is not dropped where it is not given by its own name."""
    seen: list[Any] = []

    @tool
    def look(runtime: ToolRuntime[Context, State]) -> str:
        """Look."""
        seen.append(runtime.context.user)
        return "saw"

    Agent(ScriptedModel([reply("", call("look")), "done"]), [look]).run("x", overrides={"user": {"name": "Ada"}})
    assert seen == [{"name": "Ada"}]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"max_model_calls": 0}, "The override 'max_model_calls' has a bad value: input should be greater than"),
        ({"on_limit": "sk-secret"}, "The override 'on_limit' has a bad value: input should be 'close' or 'ask'."),
        ({"max_calls": 3}, "'max_calls' cannot be overridden for one run: the settings that can are context_tokens"),
    ],
)
def test_a_bad_context_is_one_sentence(given: dict[str, Any], said: str) -> None:
    """Whoever calls the graph, also over a server, reads what was wrong with the context, and no value of it."""
    graph: Any = build_graph(ScriptedModel(["a"]), checkpointer=InMemorySaver())
    with pytest.raises(SettingsError) as raised:
        graph.invoke({"messages": [HumanMessage("x")]}, {"configurable": {"thread_id": "t"}}, context=given)
    assert str(raised.value).startswith(said)
    assert "\n" not in str(raised.value)
    assert "secret" not in str(raised.value)


def test_unknown_threads_are_refused(tmp_path: Path) -> None:
    """Resuming, reporting and asking for what is pending name the thread and the storage."""
    agent = Agent(ScriptedModel([]), storage=f"sqlite:///{tmp_path}/runs.db", settings=FAST)
    for door in (agent.resume, agent.report, agent.pending):
        with pytest.raises(UnknownThread, match="nowhere"):
            door("nowhere")


@st.composite
def steps(draw: st.DrawFn) -> Any:
    """Any reply a model may give."""
    kind = draw(st.sampled_from(["text", "call", "calls", "raw", "unknown", "error", "length", "filter", "refusal"]))
    if kind == "text":
        return draw(st.sampled_from(["", "  ", "an answer", "\ud800", "中文"]))
    if kind == "call":
        return reply("", call("look", at=draw(st.sampled_from(["a", "b"]))))
    if kind == "calls":
        many = draw(st.integers(min_value=1, max_value=3))
        return reply("x", *[call(draw(st.sampled_from(["look", "pay"])), at="a", to="b") for _ in range(many)])
    if kind == "raw":
        return reply("", call("look", raw=draw(st.text(max_size=12))))
    if kind == "unknown":
        return reply("", call("lo ok", at="a"))
    if kind == "error":
        return draw(st.sampled_from([RuntimeError("x"), ConnectionError("y")]))
    reason = {"length": "length", "filter": "content_filter", "refusal": "stop"}[kind]
    return reply("half", finish_reason=reason)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(steps(), max_size=25), st.data())
def test_whatever_the_model_does_the_run_ends(script: list[Any], data: st.DataObject) -> None:
    """For any replies the run ends within its limits, with a stop reason and an answer, and nothing raises."""
    padding: list[Any] = [AIMessage("the end")] * 60
    limits = FAST.model_copy(update={"max_model_calls": 10, "max_tool_calls": 8})
    agent = Agent(ScriptedModel([*script, *padding]), [looking(), paying([])], settings=limits)
    result = agent.run("x", thread="t")
    while result.pending:
        decision = data.draw(st.sampled_from(["approve", "reject"]))
        result = agent.resume("t", decisions={question.id: {"type": decision} for question in result.pending})
    assert result.stop is not None
    assert result.answer.strip()
    assert result.usage.model_calls <= 11
