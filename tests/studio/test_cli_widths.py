"""What lines and tables do where a terminal is narrow: what matters most is kept, and nothing breaks in the middle."""

import io

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console
from tests.studio.small_terminal import seen

from loopwright.report import CallReport
from loopwright_studio.console import Screen, cut
from loopwright_studio.rows import call_rows

TITLES = ("thread", "status", "task")
ID = "b7cf084c-988c-4b70-a66c-7ce7eeae1b24"


def table(width: int, task: str, *, terminal: bool = True) -> list[str]:
    """The lines of a table with one thread."""
    screen, written = Screen(), io.StringIO()
    screen.console = Console(file=written, force_terminal=terminal, width=width, markup=False, highlight=False)
    screen.columns(TITLES, [(ID, "completed", task)])
    return [line.rstrip() for line in seen(written.getvalue(), width if terminal else 1_000)]


def test_a_last_column_without_a_place_stands_below() -> None:
    """Where ids leave a task hardly a word, it has a line of its own; with a place, or no terminal, none."""
    task = "Read sales.csv and add up what was sold in March"
    assert table(60, task)[2:4] == [f"{ID}  completed", f"    {task}"]
    assert table(60, task * 9)[3].endswith("…")
    assert table(80, task)[1].startswith(f"{ID}  completed  Read sales.csv and")
    assert table(60, "hi")[1] == f"{ID}  completed  hi"
    assert table(60, task * 9, terminal=False)[1] == f"{ID}  completed  {task * 9}"


def failed_call(args: dict[str, str], failure: dict[str, str]) -> CallReport:
    """A call that failed after one retry."""
    event = {"run": "r", "step": 1, "at": 0.0, "seconds": 0.1, "kind": "call", "call_id": "c", "tool": "send"}
    ended = {"status": "error", "effect": "write", "retries": 1, "edited": False, "ref": None, "failure": failure}
    return CallReport.model_validate({**event, **ended, "args": args, "result": None, "result_characters": 0})


def test_what_became_of_a_call_is_never_cut() -> None:
    """Long arguments give way: the line still says that the call failed, and why."""
    failure = {"kind": "bad_arguments", "text": "no"}
    made = failed_call({"to": "每个人" * 99}, failure)
    screen, written = Screen(), io.StringIO()
    screen.console = Console(file=written, width=80)
    screen.print(*call_rows(screen, made))
    (line,) = written.getvalue().splitlines()
    assert "… (error, bad arguments, 1 retry)  0.1s" in line
    assert cell_len(line) <= 80


@given(st.text(), st.integers(1, 60))
def test_a_cut_text_fits(text: str, width: int) -> None:
    """It is as wide as it may be at most, and whole where it fits."""
    assert cell_len(cut(text, width)) <= width
    assert cut(text, max(1, cell_len(text))) == text
