"""`show`, `threads list`, `graph` and `tools`: what they print, and that reading writes nothing."""

import json
from collections.abc import Callable
from pathlib import Path

from langchain_core.tools import tool
from rich.cells import cell_len
from typer.testing import Result

from loopwright import tool_policy
from loopwright.report import RunReport
from loopwright_studio.tool_list import undeclared


def test_show_tells_every_step(invoke: Callable[..., Result]) -> None:
    """Node, decision and reason, call, result, tokens, duration, then the stop and the sums, within 80 columns."""
    invoke("run", "--model", "offline:looper", "look at notes.txt", "--thread", "t", "-q")
    result = invoke("show", "t", "--all")
    assert (result.exit_code, result.stderr) == (0, "")
    for part in (
        "Run 1 stopped  look at notes.txt",
        "guard → execute_tools (1 run)",
        "insistence: identical call number 5",
        "read_file path=notes.txt (refused)",
        "(reason repeat, policy insistence, step 5)",
        "It began at step 1.",
        "Earlier at step: 1, 2, 3, 4",
        "Stuck call: read_file(path=notes.txt)",
        "What to do:",
        "6 model calls",
        "not run",
    ):
        assert part in result.stdout
    steps = [line for line in result.stdout.splitlines() if line.startswith("     ")]
    assert max(map(cell_len, steps)) <= 80


def test_show_as_json_is_the_report(invoke: Callable[..., Result]) -> None:
    """The JSON reads back as a RunReport with the thread's run."""
    invoke("run", "what is 2*3", "--thread", "t", "-q")
    report = RunReport.model_validate(json.loads(invoke("show", "t", "--json").stdout))
    assert (report.thread, report.runs[0].answer) == ("t", "2*3 = 6")


def test_show_has_all_runs(invoke: Callable[..., Result]) -> None:
    """Two tasks on a thread are two runs, with sums over both."""
    invoke("run", "what is 2*3", "--thread", "t", "-q")
    invoke("run", "what is 4*5", "--thread", "t", "-q")
    shown = invoke("show", "t").stdout
    assert shown.index("Run 1 completed  what is 2*3") < shown.index("Run 2 completed  what is 4*5")
    assert "All 2 runs: 4 model calls" in shown


def test_threads_are_listed_newest_first(invoke: Callable[..., Result]) -> None:
    """Id, status, steps, time and task of each; the JSON has the same."""
    invoke("run", "what is 2*3", "--thread", "first", "-q")
    invoke("run", "三加四是多少 [red]", "--thread", "周报", "-q")
    lines = invoke("threads", "list").stdout.splitlines()
    assert [line.split()[0] for line in lines] == ["thread", "周报", "first"]
    assert "completed" in lines[2]
    assert "what is 2*3" in lines[2]
    assert "[red]" in lines[1]
    listed = json.loads(invoke("threads", "list", "--json").stdout)
    assert [(info["thread"], info["steps"]) for info in listed][1] == ("first", 2)
    assert listed[0]["updated_at"] > listed[1]["updated_at"]


def test_reading_writes_nothing(invoke: Callable[..., Result], folder: Path) -> None:
    """Where nothing was kept yet, looking says so and leaves the folder as it was."""
    before = sorted(folder.iterdir())
    assert invoke("threads", "list").stdout == "No threads.\n"
    assert invoke("threads", "list", "--json").stdout == "[]\n"
    shown = invoke("show", "t")
    assert shown.exit_code == 2
    assert "There are no threads in sqlite:///runs.db" in shown.stderr
    for words in (("tools",), ("graph",), ("doctor",)):
        assert invoke(*words).exit_code == 0
    assert sorted(folder.iterdir()) == before


def test_graph_is_mermaid(invoke: Callable[..., Result]) -> None:
    """The machine's nodes and the guard's conditional edges, as text on stdout."""
    result = invoke("graph")
    assert result.exit_code == 0
    assert "graph TD;" in result.stdout
    assert "guard -.-> call_model" in " ".join(result.stdout.replace("&nbsp;", " ").split())


def test_tools_are_listed(invoke: Callable[..., Result]) -> None:
    """Name, effect, timeout and arguments of each shipped tool; optional ones are marked; nothing to warn about."""
    result = invoke("tools")
    lines = {line.split()[0]: line.split(maxsplit=3) for line in result.stdout.splitlines()}
    assert lines["calculator"][1:] == ["pure", "5s", "expression"]
    assert lines["read_file"][3] == "path, offset?, limit?"
    assert result.stderr == ""


def test_undeclared_tools_are_named() -> None:
    """A tool whose effect nobody declared is named with what follows and what to do."""

    @tool
    def mystery(x: str) -> str:
        """Do something."""
        return x

    @tool
    def known(x: str) -> str:
        """Read something."""
        return x

    warning = undeclared([mystery, tool_policy(known, effect="read")])
    assert warning is not None
    assert "for mystery:" in warning
    assert "tool_policy" in warning
    assert undeclared([known]) is None
