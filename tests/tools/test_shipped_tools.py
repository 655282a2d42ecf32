"""All shipped tools together: how they declare themselves, and that the sample workspace can be worked with."""

import asyncio
import csv
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import pytest
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langchain_core.tools import BaseTool, ToolException
from pydantic import BaseModel

import loopwright_tools
from loopwright.models.offline import OfflineDemo
from loopwright.tooling import policy_of
from loopwright_tools import default_tools

SAMPLES = Path(__file__).parents[2] / "examples" / "workspace"


def clock() -> datetime:
    """A moment on Saturday, 14 March 2026."""
    return datetime(2026, 3, 14, 9, 26, 5, tzinfo=UTC)


@pytest.fixture
def tools() -> dict[str, BaseTool]:
    """The shipped tools over the samples, by name."""
    return {tool.name: tool for tool in default_tools(SAMPLES, clock=clock)}


def march() -> Decimal:
    """What the March rows of the sample table add up to, read without the tools."""
    with (SAMPLES / "sales.csv").open(encoding="utf-8", newline="") as file:
        return sum((Decimal(row["amount"]) for row in csv.DictReader(file) if row["date"][:7] == "2026-03"), Decimal())


def test_the_front_door() -> None:
    """`__all__` is sorted and everything in it is there."""
    assert loopwright_tools.__all__ == sorted(loopwright_tools.__all__)
    assert all(hasattr(loopwright_tools, name) for name in loopwright_tools.__all__)


def test_there_are_five_tools_none_of_which_writes(tools: dict[str, BaseTool]) -> None:
    """Their effects are declared, files are untrusted, only the clock may be asked again and again, all time out."""
    policies = {name: policy_of(tool) for name, tool in tools.items()}
    assert {name: policy.effect for name, policy in policies.items()} == {
        "calculator": "pure",
        "now": "read",
        "list_files": "read",
        "read_file": "read",
        "read_table": "read",
    }
    assert {name for name, policy in policies.items() if policy.untrusted} == {"list_files", "read_file", "read_table"}
    assert {name for name, policy in policies.items() if policy.repeatable} == {"now"}
    assert all(policy.timeout for policy in policies.values())


def test_each_description_tells_a_model_what_it_needs(tools: dict[str, BaseTool]) -> None:
    """What it does, when to use it, when not, what an error means; and every parameter is described."""
    for tool in tools.values():
        for part in ("Use when ", "Do not use ", "An error "):
            assert part in tool.description, tool.name
        assert all(schema.get("description") for schema in tool.args.values()), tool.name
        assert isinstance(tool.args_schema, type)
        assert issubclass(tool.args_schema, BaseModel)
        assert tool.args_schema.model_json_schema()["additionalProperties"] is False


def test_each_call_makes_tools_of_its_own() -> None:
    """A policy changed for one agent does not change another's."""
    ours, theirs = default_tools(SAMPLES), default_tools(SAMPLES)
    assert not {id(tool) for tool in ours} & {id(tool) for tool in theirs}


def test_the_clock_is_passed_on(tools: dict[str, BaseTool]) -> None:
    """`now` tells the time of the clock that was given."""
    assert tools["now"].invoke({"timezone": "Asia/Shanghai"}) == (
        "2026-03-14 17:26:05 CST (Asia/Shanghai, UTC+08:00, Saturday)"
    )


def test_a_missing_workspace_is_said_at_once(tmp_path: Path) -> None:
    """The error names the folder, before any tool is called."""
    with pytest.raises(ValueError, match=r"missing' is not a folder: create it or name another one\."):
        default_tools(tmp_path / "missing")


def test_the_tools_work_from_async_code_too(tools: dict[str, BaseTool]) -> None:
    """Sync functions, run by LangChain where there is an event loop; errors come through."""
    assert asyncio.run(tools["calculator"].ainvoke({"expression": "2+3"})) == "2+3 = 5"
    with pytest.raises(ToolException, match="does not exist"):
        asyncio.run(tools["read_file"].ainvoke({"path": "missing.txt"}))


def test_the_samples_can_be_read(tools: dict[str, BaseTool]) -> None:
    """The table is clean, all of it is of January to April 2026, and every sample file is a text that is listed."""
    listing = tools["list_files"].invoke({})
    for path in SAMPLES.iterdir():
        assert f"{path.name}\t" in listing
        assert f"[{path.name}, lines 1-" in tools["read_file"].invoke({"path": path.name})
    head = tools["read_table"].invoke({"path": "sales.csv"}).split("\n")[0]
    assert head == "[sales.csv: 24 of 24 rows; columns: date, region, product, units, amount]"
    where = ["date >= 2026-01", "date <= 2026-04", "amount > 0", "units > 0"]
    counted = tools["read_table"].invoke({"path": "sales.csv", "aggregate": "count", "where": where})
    assert counted.startswith("count = 24 ")


def run(tools: dict[str, BaseTool], task: str) -> tuple[str, list[str]]:
    """The offline model's answer with these tools, and the tools it called."""
    model = OfflineDemo().bind_tools(list(tools.values()))
    messages: list[BaseMessage] = [HumanMessage(task)]
    called: list[str] = []
    for _ in range(12):
        reply = model.invoke(messages)
        assert isinstance(reply, AIMessage)
        messages.append(reply)
        if not reply.tool_calls:
            break
        for call in reply.tool_calls:
            called.append(call["name"])
            try:
                content, status = tools[call["name"]].invoke(call["args"]), "success"
            except ToolException as error:
                content, status = str(error), "error"
            messages.append(ToolMessage(content, tool_call_id=call["id"], status=status))
    return messages[-1].text, called


@pytest.mark.parametrize(
    "task",
    [
        "Read sales.csv in examples/workspace, add up the March rows and tell me 15 % of the total",
        "读取 examples/workspace 里的 sales.csv，把三月的行加起来，然后告诉我总和的 15%",
    ],
)
def test_the_offline_model_understands_what_the_tools_say(tools: dict[str, BaseTool], task: str) -> None:
    """Its combined task comes out right, from the numbers in the tools' results."""
    answer, called = run(tools, task)
    assert f"{(march() * 15 / 100).normalize():f}" in answer
    assert {"read_table", "calculator"} <= set(called)


def test_the_offline_model_reads_on_past_the_first_page(tmp_path: Path) -> None:
    """It understands the head of a page, and finds a line that stands behind the first."""
    lines = [f"entry {number} of the log" for number in range(1, 501)]
    lines[420] = "the budget is 4,800 euros"
    (tmp_path / "long.txt").write_text("\n".join(lines), encoding="utf-8")
    tools = {tool.name: tool for tool in default_tools(tmp_path)}
    answer, called = run(tools, "What does long.txt say about the budget?")
    assert "the budget is 4,800 euros" in answer
    assert called.count("read_file") == 3
