"""Questions to a person: what asks one, how it is answered, and that nothing runs twice because of it."""

import asyncio
import time
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import HumanMessage, ToolMessage
from langchain_core.tools import BaseTool, StructuredTool, tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.store.memory import InMemoryStore
from langgraph.types import Command

from loopwright import Agent, RunResult, Settings, build_graph, tool_policy
from loopwright.effects import records
from loopwright.errors import BadDecision, SettingsError
from loopwright.nodes.questions import EXPIRED, Question, expired, question, read_decision, with_problem
from loopwright.settings import ModelSettings, ToolSettings
from loopwright.steps import drive
from loopwright.testing import ScriptedModel, call, reply
from loopwright.tooling.approval import argument_problem, asks_approval


def fast(**changes: Any) -> Settings:
    """Settings without delays; `changes` are of the tools."""
    return Settings(model=ModelSettings(retry_delay=0), tools=ToolSettings(retry_delay=0, **changes))


def paying(log: list[str], **policy: Any) -> BaseTool:
    """A writing tool that keeps what it did in `log`."""

    @tool
    def pay(to: str, amount: float = 5) -> str:
        """Pay someone."""
        log.append(f"{to} {amount:g}")
        return f"paid {amount:g} to {to}"

    return tool_policy(pay, effect="write", **policy)


def looking(log: list[str]) -> BaseTool:
    """A reading tool that keeps what it did in `log`."""

    @tool
    def look(at: str) -> str:
        """Look at something."""
        log.append(at)
        return f"saw {at}"

    return tool_policy(look, effect="read")


def results(result: RunResult) -> list[str]:
    """What the tool messages say."""
    return [message.text for message in result.messages if isinstance(message, ToolMessage)]


@pytest.mark.parametrize(
    ("args", "asked"),
    [
        ({"to": "bob"}, False),
        ({"to": "bob", "amount": 100}, False),
        ({"to": "bob", "amount": 101}, True),
        ({"to": "bob", "amount": "101"}, True),
        ({"to": "eve"}, True),
    ],
)
def test_a_rule_decides_which_calls_are_asked_about(args: dict[str, Any], asked: bool) -> None:
    """The rule sees the arguments as the tool gets them: defaults filled in, text converted."""
    log: list[str] = []
    rule = tool_policy(paying(log), approval=lambda given: given["amount"] > 100 or given["to"] == "eve")
    agent = Agent(ScriptedModel([reply("", call("pay", **args)), "ok"]), [rule], settings=fast())
    result = agent.run("x", thread="t")
    assert bool(result.pending) == asked
    assert bool(log) != asked


def test_a_rule_that_fails_asks() -> None:
    """What cannot judge the arguments does not let them through; the other ways of asking need no rule."""
    log: list[str] = []
    broken = paying(log, approval=lambda given: given["currency"] == "EUR")
    assert asks_approval(broken, ToolSettings(), {"to": "bob"})
    assert asks_approval(paying(log, approval=True), ToolSettings(), {})
    assert asks_approval(paying(log), ToolSettings(approve=("write",)), {})
    assert asks_approval(paying(log), ToolSettings(approve=("pay",)), {})
    assert not asks_approval(paying(log), ToolSettings(approve=("read", "idempotent")), {})


def test_a_rule_is_asked_once_a_call() -> None:
    """A rule that changes its mind does not lose the question it led to: what a person rejects is not done."""
    log: list[str] = []
    answers = iter([True, False, False, False])
    flickering = paying(log, approval=lambda _: next(answers))
    agent = Agent(ScriptedModel([reply("", call("pay", to="bob")), "ok"]), [flickering], settings=fast())
    (asked,) = agent.run("x", thread="t").pending
    agent.resume("t", decisions={asked.id: {"type": "reject"}})
    assert log == []
    assert next(answers) is False


def test_effects_and_names_are_asked_about_by_settings() -> None:
    """`tools.approve` names effects or tools; an undeclared tool is a write; what is neither is refused by name."""

    @tool
    def undeclared() -> str:
        """Do something."""
        return "did"

    script: list[Any] = [reply("", call("look", at="a"), call("undeclared"), call("pay", to="bob")), "ok"]
    tools = [looking([]), undeclared, paying([])]
    result = Agent(ScriptedModel(script), tools, settings=fast(approve=("look",))).run("x", thread="t")
    assert [each.call["name"] for each in result.pending] == ["look"]
    agent = Agent(ScriptedModel(script), tools, settings=fast(approve=("write",)))
    result = agent.run("x", thread="t")
    names = []
    while result.pending:
        names += [each.call["name"] for each in result.pending]
        result = agent.resume("t", decisions={each.id: {"type": "approve"} for each in result.pending})
    assert names == ["undeclared", "pay"]
    with pytest.raises(SettingsError, match="'wirte', which is neither an effect"):
        Agent(ScriptedModel([]), tools, settings=fast(approve=("wirte",)))


@pytest.mark.parametrize("storage", ["memory:", "sqlite:///{}/runs.db"])
def test_several_questions_are_answered_one_by_one_or_together(storage: str, tmp_path: Path) -> None:
    """Each answered call runs once; the others keep waiting, and what needs nobody ran already, once."""
    log: list[str] = []
    script: list[Any] = [reply("", *(call("look", at=at) for at in "abc")), "ok"]
    look = tool_policy(looking(log), approval=lambda args: args["at"] != "b")
    agent = Agent(ScriptedModel(script), [look], settings=fast(), storage=storage.format(tmp_path))
    first = agent.run("x", thread="t")
    assert log == ["b"]
    a, c = first.pending
    assert [a.call["args"], c.call["args"]] == [{"at": "a"}, {"at": "c"}]
    second = agent.resume("t", decisions={a.id: {"type": "approve"}})
    assert (log, [each.id for each in second.pending]) == (["b", "a"], [c.id])
    assert agent.resume("t").pending == second.pending
    with pytest.raises(BadDecision, match="No question"):
        agent.resume("t", decisions={a.id: {"type": "approve"}})
    third = agent.resume("t", decisions={c.id: {"type": "reject", "message": "not c"}})
    assert (log, third.answer) == (["b", "a"], "ok")
    assert results(third)[:2] == ["saw a", "saw b"]
    assert "not c" in results(third)[2]


def test_answers_in_async_and_together() -> None:
    """The same through arun and aresume: both questions in one answer."""
    log: list[str] = []
    look = tool_policy(looking(log), approval=True)
    agent = Agent(ScriptedModel([reply("", call("look", at="a"), call("look", at="b")), "ok"]), [look], settings=fast())

    async def both() -> RunResult:
        paused = await agent.arun("x", thread="t")
        assert await agent.apending("t") == list(paused.pending)
        assert await agent.awaiting() == list(paused.pending)
        return await agent.aresume("t", decisions={each.id: {"type": "approve"} for each in paused.pending})

    result = asyncio.run(both())
    assert (sorted(log), result.answer) == (["a", "b"], "ok")


def test_an_edit_is_checked_against_the_tool() -> None:
    """All that is wrong with edited arguments is told at once, nothing runs, and the question stays open."""
    log: list[str] = []
    agent = Agent(
        ScriptedModel([reply("", call("pay", to="bob", amount=500)), "ok"]),
        [paying(log, approval=True)],
        settings=fast(),
    )
    (asked,) = agent.run("x", thread="t").pending
    for args, problems in (
        ({"amount": "much"}, ["to: Field required", "amount: Input should be a valid number"]),
        ({"to": "bob", "currency": "EUR"}, ["no argument 'currency'"]),
    ):
        result = agent.resume("t", decisions={agent.pending("t")[0].id: {"type": "edit", "args": args}})
        (again,) = result.pending
        assert all(problem in again.problem for problem in problems)
        assert again.description.startswith(again.problem)
        assert (again.call, again.about, log) == (asked.call, asked.about, [])
    result = agent.resume("t", decisions={again.id: {"type": "edit", "args": {"to": "bob", "amount": 50}}})
    assert (log, result.answer) == (["bob 50"], "ok")
    assert "paid 50 to bob" in results(result)[0]
    assert "changed the arguments" in results(result)[0]


def test_an_edited_call_is_not_judged_again() -> None:
    """A person decided: the edit to what was done before runs, and is journaled under what it did."""
    log: list[str] = []
    pay = paying(log, approval=lambda args: args["amount"] > 100)
    script: list[Any] = [reply("", call("pay", to="bob", amount=5)), reply("", call("pay", to="bob", amount=500)), "ok"]
    agent = Agent(ScriptedModel(script), [pay], settings=fast())
    (asked,) = agent.run("x", thread="t").pending
    agent.resume("t", decisions={asked.id: {"type": "edit", "args": {"to": "bob", "amount": 5}}})
    assert log == ["bob 5", "bob 5"]
    with agent.place.open() as storage:
        journal = drive(records(storage.store, "t"))
    assert [(each["state"], each["tool"]) for each in journal] == [("done", "pay")] * 2
    assert journal[0]["signature"] == journal[1]["signature"]


@pytest.mark.parametrize(
    ("decision", "sentence"),
    [
        ({"type": "perhaps"}, "could not be read"),
        ({}, "could not be read"),
        ({"type": "edit"}, "holds no arguments"),
        ({"type": "edit", "args": {}}, "holds no arguments"),
        ("perhaps", "could not be read"),
        (None, "could not be read"),
        ([{"type": "approve"}, {"type": "approve"}], "could not be read"),
    ],
)
def test_what_is_no_answer_is_refused(decision: Any, sentence: str) -> None:
    """A decision that cannot be read is refused before anything is written; the question stays as it was."""
    agent = Agent(ScriptedModel([reply("", call("pay", to="bob")), "ok"]), [paying([], approval=True)], settings=fast())
    (asked,) = agent.run("x", thread="t").pending
    with pytest.raises(BadDecision, match=sentence):
        agent.resume("t", decisions={asked.id: decision})
    assert agent.pending("t") == [asked]


APPROVALS = [
    {"decisions": [{"type": "approve"}]},
    {"type": "accept"},
    [{"type": "approve", "args": None}],
    True,
    "approve",
]


@pytest.mark.parametrize("answer", APPROVALS)
def test_our_door_takes_the_same_shapes(answer: Any) -> None:
    """What approves a call over the graph does so by `resume(decisions=...)` as well."""
    log: list[str] = []
    pay = paying(log, approval=True)
    agent = Agent(ScriptedModel([reply("", call("pay", to="bob")), "ok"]), [pay], settings=fast())
    (asked,) = agent.run("x", thread="t").pending
    assert agent.resume("t", decisions={asked.id: answer}).answer == "ok"
    assert log == ["bob 5"]


@pytest.mark.parametrize("decisions", [[{"type": "approve"}], "approve", True])
def test_decisions_without_their_questions_are_refused(decisions: Any) -> None:
    """LangChain gives a list; ours name the question, since several may wait."""
    agent = Agent(ScriptedModel([reply("", call("pay", to="bob")), "ok"]), [paying([], approval=True)], settings=fast())
    (asked,) = agent.run("x", thread="t").pending
    with pytest.raises(BadDecision, match="by the ids of their questions"):
        agent.resume("t", decisions=decisions)
    assert agent.pending("t") == [asked]


@pytest.mark.parametrize("answer", APPROVALS)
def test_chat_front_ends_answer_in_their_own_shapes(answer: object) -> None:
    """LangChain's HITLResponse, Agent Inbox's list, a bare word: what existing front ends send approves the call.

    The question has LangChain's HITLRequest shape, which they draw as a form.
    """
    log: list[str] = []
    graph = build_graph(
        ScriptedModel([reply("", call("pay", to="bob")), "ok"]), [paying(log, approval=True)], fast(),
        checkpointer=InMemorySaver(), store=InMemoryStore(),
    )  # fmt: skip
    config: Any = {"configurable": {"thread_id": "t"}}
    paused = graph.invoke({"messages": [HumanMessage("x")]}, config, durability="sync")
    (interrupt,) = paused["__interrupt__"]
    assert interrupt.value["action_requests"] == [
        {"name": "pay", "args": {"to": "bob"}, "description": "pay asks for approval."}
    ]
    assert interrupt.value["review_configs"] == [
        {"action_name": "pay", "allowed_decisions": ["approve", "edit", "reject", "respond"]}
    ]
    assert graph.invoke(Command(resume=answer), config, durability="sync")["answer"] == "ok"
    assert log == ["bob 5"]


def test_an_unreadable_answer_over_the_graph_asks_again() -> None:
    """A front end that sends nonsense, or an answer to something else, is asked once more and told why."""
    log: list[str] = []
    graph = build_graph(
        ScriptedModel([reply("", call("pay", to="bob")), "ok"]), [paying(log, approval=True)], fast(),
        checkpointer=InMemorySaver(),
    )  # fmt: skip
    config: Any = {"configurable": {"thread_id": "t"}}
    graph.invoke({"messages": [HumanMessage("x")]}, config, durability="sync")
    for answer in ("what?", {"about": "another", "decisions": [{"type": "approve"}]}):
        again = graph.invoke(Command(resume=answer), config, durability="sync")
        assert "__interrupt__" in again
        assert log == []
    assert "could not be read" in graph.get_state(config).interrupts[0].value["problem"]
    assert graph.invoke(Command(resume={"type": "approve"}), config, durability="sync")["answer"] == "ok"


def test_answers_are_read_leniently() -> None:
    """An edit in both spellings, a reason, an answer; what holds two decisions is none."""
    assert read_decision({"type": "edit", "edited_action": {"name": "pay", "args": {"to": "eve"}}}) == {
        "type": "edit", "args": {"to": "eve"}, "message": "",
    }  # fmt: skip
    assert read_decision({"type": "edit", "args": {"to": "eve"}}) == {
        "type": "edit",
        "args": {"to": "eve"},
        "message": "",
    }
    assert read_decision([{"type": "response", "args": "cash"}]) == {"type": "respond", "args": {}, "message": "cash"}
    assert read_decision(False) == {"type": "reject", "args": {}, "message": ""}
    assert read_decision({"decisions": [{"type": "approve"}, {"type": "approve"}]}) is None
    assert read_decision(None) is None


def test_a_problem_is_said_once() -> None:
    """A second bad answer replaces what was said about the first."""
    asked: Question = with_problem(question("approval", "c", "pay", {}, "pay asks."), "First.")
    again = with_problem(asked, "Second.")
    assert again["action_requests"][0]["description"] == "Second.\npay asks."


def test_a_question_that_nobody_answered_in_time_is_rejected_at_the_next_resume() -> None:
    """`approval_seconds` after it was put a question counts as rejected, also when it is approved too late."""
    for decisions in (None, "approve"):
        log: list[str] = []
        agent = Agent(
            ScriptedModel([reply("", call("pay", to="bob")), "ok"]),
            [paying(log, approval=True)],
            settings=fast(approval_seconds=1e-6),
        )
        (asked,) = agent.run("x", thread="t").pending
        assert asked.expires_at is not None
        assert asked.expires_at <= time.time()
        result = agent.resume("t", decisions={asked.id: {"type": decisions}} if decisions else None)
        assert (log, result.answer) == ([], "ok")
        assert EXPIRED in results(result)[0]


def test_an_answer_in_time_holds() -> None:
    """Within its time a question is answered as ever, and a plain resume leaves it open; without one it never ends."""
    log: list[str] = []
    agent = Agent(
        ScriptedModel([reply("", call("pay", to="bob")), "ok"]),
        [paying(log, approval=True)],
        settings=fast(approval_seconds=3600),
    )
    (asked,) = agent.run("x", thread="t").pending
    assert agent.resume("t").pending == (asked,)
    agent.resume("t", decisions={asked.id: {"type": "approve"}})
    assert log == ["bob 5"]
    assert not expired(question("approval", "c", "pay", {}, ""), time.time() * 2)
    assert expired(question("approval", "c", "pay", {}, "", 10.0), 11.0)


def test_an_expired_question_over_the_graph_is_rejected() -> None:
    """A late approval that comes through LangGraph itself is not obeyed either; one that was given in time is."""
    for at, done in ((None, []), (0.0, ["bob 5"])):
        log: list[str] = []
        graph = build_graph(
            ScriptedModel([reply("", call("pay", to="bob")), "ok"]), [paying(log, approval=True)],
            fast(approval_seconds=1e-6), checkpointer=InMemorySaver(),
        )  # fmt: skip
        config: Any = {"configurable": {"thread_id": "t"}}
        graph.invoke({"messages": [HumanMessage("x")]}, config, durability="sync")
        given = {"decisions": [{"type": "approve"}], **({} if at is None else {"answered_at": at})}
        graph.invoke(Command(resume=given), config, durability="sync")
        assert log == done


def test_without_a_checkpointer_nothing_that_needs_a_person_runs() -> None:
    """Where no one can be asked the call is rejected and says why; the run goes on."""
    log: list[str] = []
    graph = build_graph(ScriptedModel([reply("", call("pay", to="bob")), "ok"]), [paying(log, approval=True)], fast())
    out = graph.invoke({"messages": [HumanMessage("x")]})
    assert (log, out["answer"]) == ([], "ok")
    assert "without a checkpointer nobody can be asked" in out["messages"][2].text


def test_all_threads_that_wait_are_listed() -> None:
    """`waiting` holds the questions of every thread, those of the newest thread first; answered ones are gone."""
    model = ScriptedModel([reply("", call("pay", to="a")), reply("", call("pay", to="b")), "fine", "ok"])
    agent = Agent(model, [paying([], approval=True)], settings=fast())
    (first,) = agent.run("x", thread="one").pending
    (second,) = agent.run("x", thread="two").pending
    agent.run("x", thread="three")
    assert agent.waiting() == [second, first]
    agent.resume("two", decisions={second.id: {"type": "reject"}})
    assert agent.waiting() == [first]


def test_a_new_task_leaves_the_question_behind() -> None:
    """A thread that waits takes a new task: the call is answered as not run, and the old answer fits nothing."""
    log: list[str] = []
    agent = Agent(
        ScriptedModel([reply("", call("pay", to="bob")), "as you like"]), [paying(log, approval=True)], settings=fast()
    )
    (asked,) = agent.run("x", thread="t").pending
    result = agent.run("never mind", thread="t")
    assert (result.answer, result.pending, log) == ("as you like", (), [])
    assert "Not run" in results(result)[0]
    with pytest.raises(BadDecision):
        agent.resume("t", decisions={asked.id: {"type": "approve"}})


def test_argument_problems_of_a_json_schema() -> None:
    """A tool whose schema is plain JSON (as MCP's are) is checked for names."""
    schema = {"type": "object", "properties": {"to": {"type": "string"}}, "required": ["to"]}
    plain = StructuredTool(name="pay", description="Pay.", func=lambda **_: "paid", args_schema=schema)
    assert argument_problem(plain, {"to": "bob"}) == ""
    assert argument_problem(plain, {}) == "Arguments are missing: to."
    assert "no argument 'too'" in argument_problem(plain, {"too": 1})
