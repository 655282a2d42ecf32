"""The offline demo under any text: it never raises, always comes to an end, and calls only what is bound."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.messages import BaseMessage, HumanMessage, ToolMessage

from loopwright.models.offline import OfflineDemo


def calculator(expression: str) -> str:
    """Compute an expression."""
    return expression


def now(timezone: str = "UTC") -> str:
    """Tell the time."""
    return timezone


def list_files(path: str = ".", pattern: str = "*") -> str:
    """List a folder."""
    return path + pattern


def read_file(path: str, offset: int = 1, limit: int = 200) -> str:
    """Read a file."""
    return f"{path}{offset}{limit}"


def read_table(
    path: str,
    where: list[str] | None = None,
    aggregate: str | None = None,
    column: str | None = None,
    group_by: str | None = None,
    limit: int = 20,
) -> str:
    """Show or aggregate a table."""
    return f"{path}{where}{aggregate}{column}{group_by}{limit}"


TOOLS = (calculator, now, list_files, read_file, read_table)
ARGUMENTS = {tool.__name__: set(tool.__annotations__) - {"return"} for tool in TOOLS}
FRAGMENTS = (
    "add up", "the March rows", "of amount", "in sales.csv", "15 % of", "the total", "what time is it", "in Tokyo",
    "and", ", ", "12*(3+4)", "read notes.txt", "quote the line with budget", "list files", "in data/", "per region",
    "where units > 3", "it", "write a poem", ". ", "%", "@", "把 sales.csv", "三月的", "加起来", "的 15%", "，然后",
    "东京现在几点",
)  # fmt: skip
RESULTS = (
    "3 rows, columns: date, amount\ndate,amount\n2026-03-01,4\n2026-04-01,5",
    "[notes.txt, lines 1-2 of 900]\na\nbudget 12",
    "[notes.txt, lines 3-2 of 900]",
    "sales.csv\t12\ndata/\t0",
    "sum of amount = 4 (1 of 2 rows)",
    "1 = ",
    "",
    "[…]",
)
tasks = st.lists(st.sampled_from(FRAGMENTS) | st.text(max_size=12), max_size=9).map(" ".join)
results = st.lists(st.tuples(st.sampled_from(RESULTS) | st.text(max_size=30), st.booleans()), min_size=1, max_size=6)


@settings(max_examples=150, deadline=None)
@given(tasks, results, st.sets(st.sampled_from(TOOLS)))
def test_any_task_ends_under_any_results(task: str, outcomes: list[tuple[str, bool]], bound: set[object]) -> None:
    """Whatever tools return, a run ends, makes no call twice, and calls only bound tools with arguments they have."""
    tools = [tool for tool in TOOLS if tool in bound]
    model = OfflineDemo().bind_tools(tools)
    messages: list[BaseMessage] = [HumanMessage(task)]
    made: list[str] = []
    for _ in range(40):
        reply = model.invoke(messages)
        messages.append(reply)
        if not reply.tool_calls:
            break
        for call in reply.tool_calls:
            assert call["name"] in {tool.__name__ for tool in tools}
            assert set(call["args"]) <= ARGUMENTS[call["name"]]
            text, failed = outcomes[len(made) % len(outcomes)]
            made.append(repr((call["name"], sorted(call["args"].items()))))
            status = "error" if failed else "success"
            messages.append(ToolMessage(text, tool_call_id=call["id"] or "", status=status))
    assert messages[-1].type == "ai"
    assert messages[-1].text
    assert len(made) == len(set(made))


@pytest.mark.parametrize("piece", ["a", "1", " ", "\n", "(", "1+", "a/", "in Aaa ", "预算", '"', "x里"])
def test_a_huge_task_is_read_in_moderate_time(piece: str) -> None:
    """Only the beginning of a task is looked at, so that no pasted text holds up the loop; the answer says so."""
    started = time.perf_counter()
    text = OfflineDemo().invoke(piece * 30_000 + "x").text
    assert time.perf_counter() - started < 5
    assert "2000" in text
