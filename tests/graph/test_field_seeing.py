"""Failures that people reported with schemas, pictures, Studio and servers (field cases of kind H), by id."""

import json
import subprocess
import sys
from typing import Annotated, Any

import pytest
from langchain_core.messages import HumanMessage
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.prebuilt import InjectedState
from langgraph.store.memory import InMemoryStore
from langgraph.types import Command
from pydantic import SecretStr
from tests.graph.field_adapter import FIELD_CASES, field_cases

from loopwright import build_graph, tool_policy
from loopwright.testing import ModelEndpoint, ScriptedModel, call, reply

CONFIG: Any = {"configurable": {"thread_id": "t"}}


def test_h02_only_finish_leads_to_the_end() -> None:
    """The drawing has exactly the machine's edges: no phantom edge to END, whatever LangGraph version is installed."""
    drawn = build_graph("offline:demo").get_graph().edges
    assert {(edge.source, edge.target) for edge in drawn if edge.target == "__end__"} == {("finish", "__end__")}
    assert {(edge.source, edge.target) for edge in drawn if edge.conditional} == {
        ("guard", goal) for goal in ("call_model", "compress_memory", "execute_tools", "ask", "finish")
    }
    assert len(drawn) == 12


BLOCKING = """
import asyncio, os
from blockbuster import blockbuster_ctx
from langgraph.checkpoint.memory import InMemorySaver
from loopwright import Settings, build_graph
from loopwright.testing import ScriptedModel

graph = build_graph(ScriptedModel(["ok"]), settings=Settings(context_tokens=2_000), checkpointer=InMemorySaver())

async def run():
    return await graph.ainvoke({"messages": [("user", "hi")]}, {"configurable": {"thread_id": "t"}}, durability="sync")

with blockbuster_ctx():
    print(asyncio.run(run())["answer"], flush=True)
    os._exit(0)  # blockbuster changes built-in types in place: to undo that while Python ends crashes it now and then
"""


def test_h05_the_first_async_run_blocks_no_event_loop() -> None:
    """In a fresh process, its token table not loaded yet, the first call blocks nothing that blockbuster knows."""
    done = subprocess.run([sys.executable, "-c", BLOCKING], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "ok\n"), done.stderr[-2_000:]


OFFLINE = """
import sys
def refuse(event, _):
    if event in ("socket.connect", "socket.getaddrinfo"):
        raise OSError("no network here")
sys.addaudithook(refuse)
from loopwright_studio.cli import main
main()
"""


@pytest.mark.parametrize(("form", "start"), [("mermaid", "---"), ("ascii", " "), ("svg", "<svg"), ("png", "\x89PNG")])
def test_h07_the_machine_is_drawn_offline(form: str, start: str) -> None:
    """`graph` needs no network in any format: no service draws for it."""
    done = subprocess.run([sys.executable, "-c", OFFLINE, "graph", "--format", form], capture_output=True)
    assert done.returncode == 0, done.stderr.decode()
    assert done.stdout.decode("latin-1").startswith(start)


def test_h08_the_state_is_plain_and_has_schemas() -> None:
    """Input, output and context have JSON schemas, and a state after a run is JSON once its messages are dumped."""

    @tool
    def look(at: str) -> str:
        """Look at something."""
        return f"saw {at}"

    graph = build_graph(
        ScriptedModel([reply("", call("look", at="a")), "done"]),
        [tool_policy(look, effect="read")],
        checkpointer=InMemorySaver(),
        store=InMemoryStore(),
    )
    for schema in (graph.get_input_jsonschema(), graph.get_output_jsonschema(), graph.get_context_jsonschema()):
        assert schema
        assert json.loads(json.dumps(schema)) == schema
    graph.invoke({"messages": [HumanMessage("go")]}, CONFIG, durability="sync")
    values = graph.get_state(CONFIG).values
    plain = {**values, "messages": [message.model_dump(mode="json") for message in values["messages"]]}
    assert json.loads(json.dumps(plain)) == plain


def test_h09_injected_state_is_no_argument() -> None:
    """A parameter that LangGraph fills in is not sent to the model and not asked of it: the call works."""

    @tool
    def note(text: str, state: Annotated[dict[str, Any], InjectedState]) -> str:
        """Write something down."""
        return f"{text}, at message {len(state['messages'])}"

    with ModelEndpoint([reply("", call("note", text="x")), "ok"]) as endpoint:
        model = ChatOpenAI(model="any", base_url=endpoint.base_url, api_key=SecretStr("x"))
        graph = build_graph(model, [tool_policy(note, effect="read")])
        result: Any = graph.invoke({"messages": [HumanMessage("go")]})
        sent: Any = endpoint.requests[0].body["tools"]
    assert result["answer"] == "ok"
    assert next(m for m in result["messages"] if m.type == "tool").content == "x, at message 2"
    (parameters,) = [each["function"]["parameters"] for each in sent if each["function"]["name"] == "note"]
    assert [*parameters["properties"]] == ["text"]


def test_h10_resuming_with_nothing_repeats_nothing() -> None:
    """A paused run given None keeps waiting; its call runs once, when it is approved, and {} then runs nothing."""
    ran = []

    @tool
    def clock() -> str:
        """Tell the time."""
        ran.append("c1")
        return "12:00"

    graph = build_graph(
        ScriptedModel([reply("", call("clock")), "noon"]),
        [tool_policy(clock, effect="read", approval=True)],
        checkpointer=InMemorySaver(),
        store=InMemoryStore(),
    )
    graph.invoke({"messages": [HumanMessage("What time is it?")]}, CONFIG, durability="sync")
    asked = graph.get_state(CONFIG).interrupts
    graph.invoke(None, CONFIG, durability="sync")
    assert graph.get_state(CONFIG).interrupts == asked
    assert ran == []
    answered: Any = graph.invoke(Command(resume={"decisions": [{"type": "approve"}]}), CONFIG, durability="sync")
    assert (answered["answer"], ran) == ("noon", ["c1"])
    graph.invoke({}, CONFIG, durability="sync")
    assert ran == ["c1"]


@pytest.mark.skipif(not FIELD_CASES.exists(), reason="the field cases are not part of this copy")
def test_every_case_of_this_kind_has_its_test() -> None:
    """No report of kind H is left out."""
    here = {name.split("_")[1].upper() for name in globals() if name.startswith("test_h")}
    assert here == {case.id for case in field_cases("H")}
