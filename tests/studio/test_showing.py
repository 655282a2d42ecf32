"""`show`: what is folded and what never is, one round whole, the next request, and a run that another process makes."""

import io
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.tools import tool
from rich.console import Console
from tests.studio.small_terminal import WENT_ON
from typer.testing import Result

from loopwright import Agent, RunReport, Settings, tool_policy
from loopwright.models import load_model
from loopwright.report import fold_report
from loopwright.testing import ModelEndpoint, ScriptedModel, Status, call, reply
from loopwright_studio.console import Screen
from loopwright_studio.following import LASTS, Shown, follow
from loopwright_studio.round_view import find_round, show_round
from loopwright_studio.showing import run_rows, show_report, went_well


def agent(places: str, storage: str = "memory:") -> Agent:
    """An agent whose model looks at one place a round; `x` does not exist, `!` looks where it looked before."""

    @tool
    def look(at: str) -> str:
        """Look at something."""
        if at.startswith("x"):
            raise FileNotFoundError(at)
        return f"saw {at}"

    wishes = [call("look", at=f"{place}{0 if place == '!' else n}") for n, place in enumerate(places)]
    script = [reply(f"I look, {n}.", wish) for n, wish in enumerate(wishes)]
    chosen = Settings(max_model_calls=500, max_tool_calls=500)
    return Agent(ScriptedModel([*script, "done"]), [tool_policy(look, effect="read")], settings=chosen, storage=storage)


def told(places: str) -> RunReport:
    """The report of a run over these places."""
    made = agent(places)
    made.run("what is there?", thread="t")
    return made.report("t")


def screen() -> tuple[Screen, io.StringIO]:
    """A screen of 200 columns and what is written on it."""
    written, made = io.StringIO(), Screen()
    made.console = Console(file=written, width=200, highlight=False, markup=False, emoji=False)
    return made, written


def shown(report: RunReport, *, everything: bool = False) -> str:
    """What `show` prints of it."""
    made, written = screen()
    show_report(made, report, None, everything=everything)
    return written.getvalue()


def test_rounds_that_went_well_are_one_line() -> None:
    """The first and the last round and the failed one are printed; the stretches between them are counted."""
    text = shown(told("a" * 6 + "x" + "a" * 5))
    assert "rounds 2–6 went through: 5 calls ok (--all)" in text
    assert "rounds 8–12 went through: 5 calls ok (--all)" in text
    assert "x6" in text
    assert "I look, 0." in text
    assert "I look, 3." not in text
    assert not any(WENT_ON.fullmatch(line) for line in text.splitlines())
    everything = shown(told("a" * 6 + "x" + "a" * 5), everything=True)
    assert any(WENT_ON.fullmatch(line) for line in everything.splitlines())
    assert "went through" not in everything
    assert all(f"I look, {n}." in everything for n in range(12))


def test_a_refused_call_stands_below_the_decision_that_refused_it() -> None:
    """As it is printed while it happens: the reply, what the guard decided about its calls, what became of them."""
    lines = shown(told("a!!!"), everything=True).splitlines()
    (refusal, *_) = [at for at, line in enumerate(lines) if "(refused)" in line]
    assert "(1 block): identical_result" in lines[refusal - 1]
    assert lines[refusal - 2].lstrip().startswith("4 ")


def test_what_can_be_done_stands_last_and_for_the_newest_run() -> None:
    """A stopped run's sums come before its card; the commands look closer, and only the newest run has any."""
    made = agent("!!!!!!!!")
    made.run("what is there?", thread="t")
    once = shown(made.report("t"))
    assert once.index("tool calls (") < once.index("Stuck call:") < once.index("loopwright show t --round 5\n")
    made.run("and there?", thread="t")
    again = shown(made.report("t"))
    assert "Stuck call:" in again
    assert "loopwright" not in again


@settings(deadline=None, max_examples=25)
@given(st.text("aax!", max_size=14))
def test_nothing_that_did_not_go_well_is_folded(places: str) -> None:
    """Each round is printed or counted in a fold, never both; a fold holds only what went well."""
    (run,) = told(places).runs
    made, _ = screen()
    lines = [row.left.plain for row in run_rows(made, "t", run, everything=False)]
    printed = {int(line[:4]) for line in lines if line[:4].strip().isdigit()}
    folds = [line.split("rounds ")[1].split(" ")[0].split("–") for line in lines if "went through" in line]
    folded = {number for first, last in folds for number in range(int(first), int(last) + 1)}
    numbers = [turn.step for turn in run.rounds]
    assert sorted([*printed, *folded]) == numbers
    steps = [-1, *numbers]
    well = {turn.step for turn, before in zip(run.rounds, steps, strict=False) if went_well(run, turn, before)}
    assert folded <= well - {numbers[0], numbers[-1]}


@settings(deadline=None, max_examples=10)
@given(st.text("aax", min_size=1, max_size=6), st.data())
def test_following_prints_each_round_once(places: str, data: st.DataObject) -> None:
    """However often one looks while a run goes on, the lines are those of `show --all`, each once, but no quiet one."""
    made = agent(places)
    events = [item for item in made.stream("what is there?", thread="t") if isinstance(item, dict)]
    with made.place.open() as storage:
        graph = made.graph.copy(update={"checkpointer": storage.saver})
        messages = graph.get_state({"configurable": {"thread_id": "t"}}).values["messages"]
    looks = sorted(data.draw(st.lists(st.integers(0, len(events)), max_size=6)))
    followed, written = screen()
    live = Shown(followed)
    ended = [live.take(fold_report("t", events[:seen], messages)) for seen in (*looks, len(events))]
    assert ended[-1]
    everything = [line for line in shown(made.report("t"), everything=True).splitlines() if not WENT_ON.fullmatch(line)]
    lines = written.getvalue().splitlines()
    assert lines[1:] == everything[2 : 1 + len(lines)]
    assert " finish " in everything[1 + len(lines)]


@pytest.fixture
def stored(folder: Path) -> Path:
    """A thread of eight rounds in the folder's storage, one of them with a long result."""
    agent("aaxaa" + "b" * 3, f"sqlite:///{os.fspath(folder)}/runs.db").run("what is there?", thread="t")
    return folder


def test_one_round_is_shown_whole(invoke: Callable[..., Result], stored: Path) -> None:
    """Request by part, text, arguments as JSON, status and result; as JSON the round of the report."""
    result = invoke("show", "t", "--round", "3")
    for part in ("Run 1, round 3", "tokens: system", "I look, 2.", '"at": "x2"', "read, error", "x2"):
        assert part in result.stdout
    assert json.loads(invoke("show", "t", "--round", "3", "--json").stdout)["step"] == 3
    absent = invoke("show", "t", "--round", "99")
    assert absent.exit_code == 2
    assert "has no round 99: its rounds are 1 to 9" in absent.stderr


def test_the_next_request_is_shown(invoke: Callable[..., Result], stored: Path) -> None:
    """Tokens of the budget by part and every message of it; the same as JSON."""
    result = invoke("show", "t", "--request")
    for part in ("The next request of thread t", " tokens: system", "human:\nwhat is there?", "look(at=a0)", "saw a0"):
        assert part in result.stdout
    data: Any = json.loads(invoke("show", "t", "--request", "--json").stdout)
    assert data["tokens"] == sum(data["parts"].values())
    assert data["messages"][1]["content"] == "what is there?"


def test_following_a_thread_that_has_ended_ends(invoke: Callable[..., Result], stored: Path) -> None:
    """Its rounds are printed, its answer and its sums, and the command returns."""
    result = invoke("show", "t", "--follow")
    assert result.exit_code == 0
    assert "I look, 4." in result.stdout
    assert "9 model calls" in result.stdout


def test_a_run_left_in_the_middle_says_so_and_how_it_goes_on(invoke: Callable[..., Result], folder: Path) -> None:
    """No process holds it: `show` names the command; after a fork the checkpoint that it went back to is a line too."""
    made = agent("ab", f"sqlite:///{os.fspath(folder)}/runs.db")
    made.run("what is there?", thread="t")
    back = next(entry.checkpoint for entry in made.history("t") if entry.node == "execute_tools")
    made.fork("t", back)
    shown = invoke("show", "t").stdout
    assert "Run 1 unfinished" in shown
    assert "No process holds it" in shown
    assert "loopwright resume t" in shown
    assert f"+ fork from checkpoint {back}" in shown
    made.resume("t")
    assert "No process holds it" not in invoke("show", "t").stdout


def test_a_call_without_an_outcome_is_shown(invoke: Callable[..., Result]) -> None:
    """What waits for a person, or was going on when its process went, stands in its round, and in the round alone."""
    assert invoke("run", "What is 6*7?", "--thread", "t", LOOPWRIGHT_TOOLS__APPROVE='["calculator"]').exit_code == 4
    assert "○ calculator expression=6*7 (no outcome yet)" in invoke("show", "t").stdout
    whole = invoke("show", "t", "--round", "1").stdout
    assert re.search(r"^calculator \S+  no outcome yet$", whole, re.MULTILINE)
    assert invoke("resume", "t", "--approve").exit_code == 0
    assert "no outcome yet" not in invoke("show", "t", "--all").stdout


def test_a_run_that_goes_on_after_a_failure_says_so() -> None:
    """It goes on under its own limits: a line of its own, which names none."""
    with ModelEndpoint([Status(401), "done"]) as endpoint:
        made = Agent(load_model("openai:m", base_url=endpoint.base_url))
        made.run("what is there?", thread="t")
        made.resume("t")
    said = shown(made.report("t"))
    assert "+ begin again after the failure\n" in said
    assert "new limits" not in said


def test_following_says_once_that_nobody_runs_the_thread() -> None:
    """A run that nobody holds and that ends later all the same: said at the first look, not at the second."""
    made = agent("ab")
    events = [item for item in made.stream("what is there?", thread="t") if isinstance(item, dict)]
    looks = [fold_report("t", events[:n], []) for n in (3, 4, len(events))]
    followed, written = screen()
    follow(followed, lambda: looks.pop(0), None, pause=0)
    assert written.getvalue().count("No process holds it") == 1
    assert looks == []


def test_following_names_the_call_that_a_run_hangs_in() -> None:
    """A call that begins after the first look has a line once, when it lasts; one that is short has none."""
    stream = agent("ab").stream("what is there?", thread="t")
    events: list[Any] = [item for item in stream if isinstance(item, dict)]
    sent = [n for n, each in enumerate(events, 1) if each["kind"] == "decision" and each["go"] == "execute_tools"]
    looks = [(3, 1), *[(sent[0], 2)] * (LASTS - 1), *[(sent[1], 4)] * (LASTS + 5), (len(events), 6)]
    followed, written = screen()

    def look() -> RunReport:
        told, written = looks.pop(0)
        return fold_report("t", events[:told], stream.result.messages[:written])

    follow(followed, look, None, pause=0)
    assert [line.strip() for line in written.getvalue().splitlines() if "no outcome yet" in line] == [
        "○ look at=b1 (no outcome yet)"
    ]


def test_a_failed_call_is_told_once_in_its_round(invoke: Callable[..., Result], stored: Path) -> None:
    """What the model was told holds the error, so that the round has no second line for it; its kind stands above."""
    whole = invoke("show", "t", "--round", "3").stdout
    assert "read, error, permanent, 0.0s" in whole
    assert whole.count("FileNotFoundError") == 1


def test_a_reply_that_never_came_has_no_empty_brackets() -> None:
    """A model call that failed before it had a finish reason says so, in both languages."""
    with ModelEndpoint([Status(401)]) as endpoint:
        made = Agent(load_model("openai:m", base_url=endpoint.base_url))
        made.run("what is there?", thread="t")
    report = made.report("t")
    followed, written = screen()
    show_round(followed, *find_round(report, 1))
    assert "(no reply)" in written.getvalue()


def test_rules_have_no_server_that_counts() -> None:
    """How a server counts tokens is said of a server alone."""
    report = told("a").model_copy(update={"token_ratios": {"offline:demo": 0.8, "qwen3": 0.8}})
    assert [line for line in shown(report).splitlines() if "for each of ours" in line] == [
        "The server of qwen3 counts 0.80 tokens for each of ours; budgets allow for it."
    ]


def test_two_views_at_once_are_refused(invoke: Callable[..., Result], stored: Path) -> None:
    """--round, --follow and --request exclude each other, and there is no JSON of a run that goes on."""
    for words in (("--round", "1", "--request"), ("--follow", "--request"), ("--follow", "--json")):
        result = invoke("show", "t", *words)
        assert result.exit_code == 2
        assert "give one" in result.stderr


@pytest.mark.parametrize(
    ("words", "shown", "heavy"),
    [
        (["show", "t"], "9 model calls", {"langgraph.pregel", "langgraph.types", "langsmith", "openai", "jinja2"}),
        (
            ["report", "t", "-o", "-"],
            "<!doctype html>",
            {"langgraph.pregel", "langgraph.types", "openai", "rich.console"},
        ),
    ],
)
def test_looking_imports_only_what_it_needs(stored: Path, words: list[str], shown: str, heavy: set[str]) -> None:
    """Of a finished thread it needs neither the machine nor a model's client, and so starts at once."""
    program = (
        "import sys\nfrom loopwright_studio.cli import app\n"
        f"try:\n    app([*{words!r}, '--storage', 'sqlite:///runs.db'])\nexcept SystemExit:\n    pass\n"
        f"print(sorted({heavy!r} & {{*sys.modules}}))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=stored)
    assert shown in done.stdout
    assert done.stdout.splitlines()[-1] == "[]"
