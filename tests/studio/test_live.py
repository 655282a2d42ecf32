"""A run while it goes on: every step once, in order, the same lines as `show` has; what the two moving lines say."""

import io
import re
import sys
import threading
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from typing import Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.tools import BaseTool, tool
from rich.cells import cell_len
from rich.console import Console
from rich.text import Text
from tests.studio.small_terminal import WENT_ON, seen

from loopwright import Agent, Settings, tool_policy
from loopwright.testing import ScriptedModel, call, reply
from loopwright_studio.console import GLYPHS, PLAIN, Row, Screen, cells, tokens
from loopwright_studio.footer import Footer
from loopwright_studio.live import Live
from loopwright_studio.progress import Progress
from loopwright_studio.pulse import eighths
from loopwright_studio.showing import show_report
from loopwright_studio.terminal_wording import ENGLISH
from loopwright_studio.visible import one_line


def screen(*, terminal: bool = False) -> tuple[Screen, io.StringIO]:
    """A screen of 80 columns and what is written on it."""
    written = io.StringIO()
    made = Screen()
    made.console = Console(
        file=written, force_terminal=terminal, force_interactive=terminal, width=80, markup=False, highlight=False
    )
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


def steps_shown(runs: Agent) -> list[str]:
    """The lines of the thread's steps as `show --all` has them, without the decisions that let the run go on."""
    made, written = screen()
    show_report(made, runs.report("t"), None, everything=True)
    lines = [line for line in written.getvalue().splitlines() if line.startswith("    ") or line[:4].strip().isdigit()]
    return [line for line in lines if not WENT_ON.fullmatch(line)]


class Beats:
    """A pulse whose beats the test makes."""

    def __init__(self) -> None:
        self.beat: Callable[[], None] = lambda: None

    @contextmanager
    def __call__(self, beat: Callable[[], None]) -> Iterator[None]:
        """Nothing beats by itself."""
        self.beat = beat
        yield


class BrokenOff(Exception):
    """What a loop over a run may raise."""


ROUNDS = st.lists(st.lists(st.sampled_from(["here", "there", "nowhere"]), max_size=3), max_size=6)


def script(rounds: list[list[str]]) -> list[Any]:
    """Replies that look at these places."""
    return [reply("I look.", *(call("look", at=at) for at in places)) for places in rounds if places]


@settings(deadline=None, max_examples=40)
@given(ROUNDS)
def test_each_step_is_printed_once_as_show_has_it(rounds: list[list[str]]) -> None:
    """Live and afterwards the same lines, whatever the calls give; only times and the order within a round differ."""
    runs = agent(script(rounds))
    made, written = screen()
    stream = runs.stream("what is there?", thread="t")
    with Live(made, stream, lambda: runs.report("t"), {}) as live:
        for item in stream:
            live.take(item)
    assert sorted(written.getvalue().splitlines()) == sorted(steps_shown(runs))


@settings(deadline=None, max_examples=40)
@given(
    ROUNDS,
    st.lists(st.integers(0, 2), min_size=1, max_size=9),
    st.integers(0, 30),
    st.sampled_from(["end", "cancel", "break"]),
    st.integers(0, 30),
)
def test_a_terminal_loses_no_line(
    rounds: list[list[str]], drawings: list[int], signal_at: int, ending: str, ends_at: int
) -> None:
    """Whenever it draws, and however the run ends, a terminal holds the lines that a pipe got at once, in their order.

    Nor is that line lost which the handler of Ctrl-C writes without asking anybody.
    """
    runs, beats = agent(script(rounds)), Beats()
    (plain, piped), (made, written) = screen(), screen(terminal=True)
    stream = runs.stream("what is there?", thread="t")
    with (
        suppress(BrokenOff),
        Live(plain, stream, lambda: runs.report("t"), {}) as twin,
        Live(made, stream, lambda: runs.report("t"), {"model_calls": 9}, pulse=beats) as live,
        closing(cast("Generator[Any]", iter(stream))) as items,
    ):
        for number, item in enumerate(items):
            twin.take(item)
            live.take(item)
            for _ in range(drawings[number % len(drawings)]):
                beats.beat()
            if number == signal_at:
                written.write(f"\n{ENGLISH.stopping}\n")
            if number == ends_at and ending == "cancel":
                stream.cancel()
            if number == ends_at and ending == "break":
                raise BrokenOff
    lines = [line for line in seen(written.getvalue()) if line]
    assert [line for line in lines if line != ENGLISH.stopping] == piped.getvalue().splitlines()
    assert lines.count(ENGLISH.stopping) == written.getvalue().count(ENGLISH.stopping)


def test_what_others_print_stands_between_the_lines() -> None:
    """What a tool prints comes above the two lines, after the rows that were there before it; a half line is kept."""
    made, written = screen(terminal=True)
    footer = Footer(made, Progress({}), Beats())
    with footer.shown():
        footer.put(Row(Text("before")))
        print("printed by a tool")
        footer.put(Row(Text("after")))
        sys.stderr.write("no line end")
    assert [line.rstrip() for line in seen(written.getvalue())] == [
        "before", "printed by a tool", "after", "no line end", "",
    ]  # fmt: skip


def test_drawing_at_any_moment_loses_nothing() -> None:
    """Two threads that draw without a break, and change over all the time, print every row once and in order."""
    over, drawn = threading.Event(), threading.Semaphore(0)

    def beats(beat: Callable[[], None]) -> None:
        while not over.is_set():
            beat()
            drawn.release()

    @contextmanager
    def hammer(beat: Callable[[], None]) -> Iterator[None]:
        with ThreadPoolExecutor(2) as pool:
            running = [pool.submit(beats, beat) for _ in range(2)]
            yield
            over.set()
            for each in running:
                each.result()

    made, written = screen(terminal=True)
    footer = Footer(made, Progress({}), hammer)
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        with footer.shown():
            for number in range(1_000):
                footer.put(Row(Text(str(number))))
                assert drawn.acquire(timeout=60)
    finally:
        sys.setswitchinterval(before)
    assert seen(written.getvalue()) == [*map(str, range(1_000)), ""]


def test_the_pulse_beats_and_tells_of_an_error() -> None:
    """It beats until the block ends; what a beat raises is raised there, and disturbs nothing before."""
    beaten, reached = threading.Semaphore(0), False
    with eighths(lambda: beaten.release()):
        assert all(beaten.acquire(timeout=60) for _ in range(2))

    def broken() -> None:
        beaten.release()
        raise BrokenOff

    with pytest.raises(BrokenOff), eighths(broken):  # noqa: PT012 -- the block goes on after the beat, that is the point
        assert beaten.acquire(timeout=60)
        reached = True
    assert reached


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
    assert second == f"  bank_rows 2.1s  read_file 0.4s   {ENGLISH.leave}"
    assert max(cell_len(first), cell_len(second)) <= 80


@pytest.mark.parametrize("way", ["answer", "extend"])
def test_a_run_that_goes_on_is_counted_from_where_it_was(way: str) -> None:
    """Rounds, tokens and limits below a run that was paused or stopped are those of the whole run."""
    chosen = Settings(max_model_calls=2, on_limit="ask" if way == "answer" else "close")
    runs = Agent(ScriptedModel(lambda _: reply("", call("look", at="here"))), looking(), settings=chosen)
    first = runs.run("what is there?", thread="t")
    before = runs.report("t").runs[-1]
    stream = (
        runs.stream(thread="t", decisions={first.pending[0].id: {"type": "approve"}})
        if way == "answer"
        else runs.stream(thread="t", extend={"model_calls": 9})
    )
    made, written = screen(terminal=True)
    beats = Beats()
    with (
        Live(made, stream, lambda: runs.report("t"), {"model_calls": 2}, pulse=beats) as live,
        closing(cast("Generator[Any]", iter(stream))) as items,
    ):
        live.take(next(items))
        beats.beat()
        shown = re.findall(r"round (\d+)/(\d+) .*?tokens (\S+)", re.sub(r"\x1b\[\d*m", "", written.getvalue()))
    spent = tokens(before.totals.tokens_in + before.totals.tokens_out)
    assert shown[-1] == (str(before.rounds[-1].step), "4" if way == "answer" else "9", spent)


def test_the_lines_are_plain_where_the_encoding_is() -> None:
    """Bars have ASCII twins as every glyph has, and no limit means no bar."""
    plain, _ = screen()
    plain.glyphs = PLAIN
    first, _ = (line.plain for line in Footer(plain, Progress({"model_calls": 2}, "guard", 0.0, 3)).lines(0.0))
    assert first == "  guard 0.0s   round 3/2 ########  tokens 0  "
    assert PLAIN.keys() == GLYPHS.keys()


@given(st.text() | st.lists(st.sampled_from([*GLYPHS.values(), *PLAIN.values(), "a", "东", "e\u0301"])).map("".join))
def test_cells_are_those_of_the_terminal(text: str) -> None:
    """The short way to the width of a line and Rich's table of characters say the same."""
    text = one_line(text)
    assert cells(text) == cell_len(text)


@pytest.mark.parametrize("terminal", [False, True])
def test_a_round_costs_less_than_half_a_millisecond(terminal: bool) -> None:
    """What printing adds to a round, in processor time, the best of three; by the clock it is in a benchmark."""
    rounds = 100
    stream = agent([reply("I look.", call("look", at=str(n))) for n in range(rounds)]).stream("x", thread="t")
    items = list(stream)

    def once() -> float:
        started = time.process_time()
        with Live(screen(terminal=terminal)[0], stream, lambda: pytest.fail("looked up"), {"model_calls": 300}) as live:
            for item in items:
                live.take(item)
        return (time.process_time() - started) / rounds * 1_000

    assert min(once() for _ in range(3)) < 0.5
