"""A run while it goes on: every step once, in order, the same lines as `show` has; what the two moving lines say."""

import io
import time
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.tools import BaseTool, tool
from rich.cells import cell_len
from rich.console import Console

from loopwright import Agent, Settings, tool_policy
from loopwright.testing import ScriptedModel, call, reply
from loopwright_studio.console import GLYPHS, PLAIN, Screen
from loopwright_studio.footer import LEAVE, Footer, Progress
from loopwright_studio.live import Live
from loopwright_studio.showing import show_report


def screen(*, terminal: bool = False) -> tuple[Screen, io.StringIO]:
    """A screen of 80 columns and what is written on it."""
    written = io.StringIO()
    made = Screen()
    made.console = Console(file=written, force_terminal=terminal, width=80, highlight=False, markup=False, emoji=False)
    return made, written


def looking() -> list[BaseTool]:
    """A reading tool that knows one place that does not exist."""

    @tool
    def look(at: str) -> str:
        """Look at something."""
        if at == "nowhere":
            raise FileNotFoundError(at)
        return f"saw {at}"

    return [tool_policy(look, effect="read")]


def agent(script: Sequence[Any]) -> Agent:
    """An agent on memory, with that script and one tool."""
    return Agent(ScriptedModel([*script, "done"]), looking(), settings=Settings(max_model_calls=5_000))


@settings(deadline=None, max_examples=40)
@given(st.lists(st.lists(st.sampled_from(["here", "there", "nowhere"]), max_size=3), max_size=6))
def test_each_step_is_printed_once_as_show_has_it(rounds: list[list[str]]) -> None:
    """Live and afterwards the same lines, whatever the calls give; only times and the order within a round differ."""
    script = [reply("I look.", *(call("look", at=at) for at in places)) for places in rounds if places]
    runs = agent(script)
    live_screen, live_text = screen()
    stream = runs.stream("what is there?", thread="t")
    with Live(live_screen, stream, lambda: runs.report("t"), {}) as live:
        for item in stream:
            live.take(item)
    shown_screen, shown_text = screen()
    show_report(shown_screen, runs.report("t"), None, everything=True)
    steps = [
        line for line in shown_text.getvalue().splitlines() if line.startswith("    ") or line[:4].strip().isdigit()
    ]
    assert sorted(live_text.getvalue().splitlines()) == sorted(steps)


def test_a_call_that_an_earlier_process_made_has_its_arguments() -> None:
    """A resumed run closes a call that was left open: its arguments are looked up in the thread."""
    runs = agent([reply("", call("look", at="here"))])
    stream = runs.stream("what is there?", thread="t")
    for item in stream:
        if isinstance(item, dict) and item["kind"] == "model":
            stream.cancel()
    again = runs.stream(thread="t")
    live_screen, live_text = screen()
    with Live(live_screen, again, lambda: runs.report("t"), {}) as live:
        for item in again:
            live.take(item)
    assert "look at=here" in live_text.getvalue()


def test_the_two_lines_say_what_goes_on() -> None:
    """Node and seconds, round and tokens of their limits with a bar, USD, tools with timers, and how to leave."""
    progress = Progress({"model_calls": 50, "tokens": 400_000}, "execute_tools", 100.0, 4, 61_000, 0.04)
    progress.running = {"c1": ("bank_rows", 101.0), "c2": ("read_file", 102.7)}
    first, second = (line.plain for line in Footer(screen()[0], progress).lines(103.1))
    full, empty = GLYPHS["full"], GLYPHS["empty"]
    assert first == f"  execute_tools 3.1s   round 4/50 {empty * 8}  tokens 61.0k/400k {full}{empty * 7}  $0.04  "
    assert second == f"  bank_rows 2.1s  read_file 0.4s   {LEAVE}"
    assert max(cell_len(first), cell_len(second)) <= 80


def test_the_lines_are_plain_where_the_encoding_is() -> None:
    """Bars have ASCII twins as every glyph has, and no limit means no bar."""
    plain, _ = screen()
    plain.glyphs = PLAIN
    first, _ = (line.plain for line in Footer(plain, Progress({"model_calls": 2}, "guard", 0.0, 3)).lines(0.0))
    assert first == "  guard 0.0s   round 3/2 ########  tokens 0  "
    assert PLAIN.keys() == GLYPHS.keys()


@pytest.mark.parametrize(("terminal", "most"), [(False, 1.0), (True, 1.0)])
def test_a_round_costs_less_than_a_millisecond(terminal: bool, most: float) -> None:
    """What printing adds to a round in processor time (the best of three); the machine's own work is ten times that."""
    rounds = 100
    stream = agent([reply("I look.", call("look", at=str(n))) for n in range(rounds)]).stream("x", thread="t")
    items = list(stream)

    def once() -> float:
        started = time.process_time()
        with Live(screen(terminal=terminal)[0], stream, lambda: pytest.fail("looked up"), {"model_calls": 300}) as live:
            for item in items:
                live.take(item)
        return (time.process_time() - started) / rounds * 1_000

    assert min(once() for _ in range(3)) < most
