"""Tools as the machine runs them: policies, signatures, waves, outcomes."""

import asyncio
import threading
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import ToolCall, ToolMessage
from langchain_core.tools import BaseTool, ToolException, tool
from langgraph.graph import START, StateGraph
from langgraph.types import Command
from typing_extensions import TypedDict

from loopwright.errors import SettingsError
from loopwright.node import Node
from loopwright.settings import ToolSettings
from loopwright.state import Effect
from loopwright.steps import Core, Do
from loopwright.tooling import Outcome, Toolbox, policy_of, signature, tool_policy
from loopwright.tooling.waves import first_wave


class Nothing(TypedDict):
    """A graph without state."""

    x: int


def outcomes(box: Toolbox, call: ToolCall) -> tuple[Outcome, Outcome]:
    """What a call comes to inside a graph, sync and async."""
    seen: list[Outcome] = []

    def step(state: Nothing) -> Core[dict[str, Any]]:
        seen.append((yield Do(box.run, box.arun, (call,))))
        return {}

    graph = StateGraph(Nothing).add_node("step", Node(step)).add_edge(START, "step").compile()
    graph.invoke({"x": 1})
    asyncio.run(graph.ainvoke({"x": 1}))
    return seen[0], seen[1]


def call(name: str, /, **args: Any) -> ToolCall:
    """A call as the model makes it."""
    return {"name": name, "args": args, "id": "c1", "type": "tool_call"}


def test_a_policy_is_kept_in_the_tools_own_metadata() -> None:
    """Declaring twice adds up; what is not given stays; values out of range are refused."""

    @tool
    def look() -> str:
        """Look."""
        return "x"

    tool_policy(tool_policy(look, effect="read"), timeout=3)
    assert policy_of(look).effect == "read"
    assert policy_of(look).timeout == 3
    with pytest.raises(SettingsError, match="look"):
        tool_policy(look, timeout=-1)


def test_signatures_ignore_form_and_keep_content() -> None:
    """Key order and 1 against 1.0 are form; values, nesting and types are content."""
    assert signature("f", {"a": 1, "b": 2}) == signature("f", {"b": 2.0, "a": 1})
    different: list[dict[str, Any]] = [{"a": 1}, {"a": 2}, {"a": "1"}, {"a": [1]}, {"a": {"b": 1}}, {"a": True}, {}]
    assert len({signature("f", args) for args in different}) == len(different)
    assert signature("f", {}) != signature("g", {})


@dataclass(frozen=True)
class Fake:
    """A call with nothing but an effect."""

    effect: Effect | None


@given(st.lists(st.sampled_from(["pure", "read", "idempotent", "write", None])))
def test_waves_keep_order_and_writes_go_alone(effects: list[Effect | None]) -> None:
    """Wave after wave covers all calls in order; a wave with a write holds nothing else."""
    rest = [Fake(effect) for effect in effects]
    seen: list[Fake] = []
    while rest:
        wave = first_wave(rest)
        assert wave
        assert len(wave) == 1 or all(one.effect != "write" for one in wave)
        seen += wave
        rest = rest[len(wave) :]
    assert [one.effect for one in seen] == effects


@pytest.mark.parametrize(
    ("raised", "kind"),
    [
        (ConnectionError("down"), "transient"),
        (TimeoutError("slow"), "transient"),
        (PermissionError("no"), "denied"),
        (ValueError("bad"), "permanent"),
        (ToolException("told"), "permanent"),
        (SystemExit(3), "permanent"),
        (KeyError("k"), "permanent"),
    ],
)
def test_whatever_a_tool_raises_becomes_one_error(raised: BaseException, kind: str) -> None:
    """Every exception is classified and told in one short text, sync and async."""

    @tool
    def fail() -> str:
        """Fail."""
        raise raised

    for outcome in outcomes(Toolbox([fail], ToolSettings()), call("fail")):
        assert outcome.status == "error"
        assert outcome.failure is not None
        assert outcome.failure["kind"] == kind
        assert "Traceback" not in outcome.text


def test_argument_errors_are_told_at_once_with_their_schema() -> None:
    """Two bad arguments are both named, with what was expected, and not the good one."""

    @tool
    def book(day: int, seats: int, name: str) -> str:
        """Book."""
        return "booked"

    for outcome in outcomes(Toolbox([book], ToolSettings()), call("book", day="x", seats="y", name="n")):
        assert outcome.failure is not None
        assert outcome.failure["kind"] == "bad_arguments"
        assert "day" in outcome.text
        assert "seats" in outcome.text
        assert '"name":' not in outcome.text


def test_a_hung_tool_is_left_behind() -> None:
    """The call ends at its timeout while the tool still hangs: error for a read, unknown for a write."""
    release = threading.Event()

    @tool
    def hang() -> str:
        """Hang."""
        release.wait()
        return "late"

    try:
        for effect, status in (("read", "error"), ("write", "unknown")):
            box = Toolbox([tool_policy(hang.model_copy(), effect=effect, timeout=0.05)], ToolSettings())  # type: ignore[arg-type]
            for outcome in outcomes(box, call("hang")):
                assert outcome.status == status
                assert outcome.failure is not None
                assert outcome.failure["kind"] == "timeout"
    finally:
        release.set()


def test_async_only_and_sync_only_tools_run_in_both() -> None:
    """An async tool runs in a sync run, and a sync tool in an async run."""

    async def afetch(x: int) -> str:
        """Fetch."""
        return f"a{x}"

    def fetch(x: int) -> str:
        """Fetch."""
        return f"s{x}"

    for function, text in ((afetch, "a1"), (fetch, "s1")):
        for outcome in outcomes(Toolbox([function], ToolSettings()), call(function.__name__, x=1)):
            assert (outcome.status, outcome.content) == ("ok", text)


def test_odd_results_become_text() -> None:
    """None and empty results are said to be empty; a command that steers the graph is refused."""

    def nothing() -> None:
        """Return nothing."""

    def empty() -> str:
        """Return an empty text."""
        return ""

    @tool
    def steer() -> Command[Any]:
        """Steer."""
        return Command(goto="finish", update={"messages": [ToolMessage("x", tool_call_id="c1")]})

    box = Toolbox([nothing, empty, steer], ToolSettings())
    assert [o.content for o in outcomes(box, call("empty"))] == ["(the tool returned nothing)"] * 2
    assert all(o.status == "ok" for o in outcomes(box, call("nothing")))
    assert [o.status for o in outcomes(box, call("steer"))] == ["error"] * 2


def test_what_cannot_carry_a_policy_is_refused() -> None:
    """A plain function would lose its approval in silence; a bad value is one line, without a link."""

    def pay(to: str) -> str:
        """Pay someone."""
        return to

    with pytest.raises(SettingsError, match=r"^pay is a function and no tool yet: put @tool "):
        tool_policy(pay, approval=True)  # type: ignore[type-var]  # pyright: ignore[reportArgumentType]
    with pytest.raises(
        SettingsError, match=r"^The policy of tool 'pay' is not valid: effect: input should be [^\n]+\.$"
    ):
        tool_policy(tool(pay), effect="writes")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize("given", ["pay", {"type": "web_search"}, None, BaseTool])
def test_what_is_no_tool_is_refused_in_one_sentence(given: Any) -> None:
    """A name, a server's own tool as LangChain writes it, a class in place of its instance."""
    with pytest.raises(SettingsError, match="is no tool: give an instance of a LangChain tool, or a function"):
        Toolbox([given], ToolSettings())
