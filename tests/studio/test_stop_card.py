"""The stop card in a terminal: framed, 80 columns, in the user's language, with at most three commands to paste."""

import io
from typing import get_args

import pytest
from rich.cells import cell_len
from rich.console import Console
from tests.graph.stop_stories import STORIES, told

from loopwright.language import Language
from loopwright.shapes import StopReason
from loopwright_studio.console import Screen
from loopwright_studio.stop_card import next_commands, print_card

STOPPED = [reason for reason in STORIES if reason not in ("answered", "cancelled", "drained")]


@pytest.mark.parametrize("language", get_args(Language))
@pytest.mark.parametrize("reason", STOPPED)
def test_the_card_in_a_terminal(reason: StopReason, language: Language) -> None:
    """Step, reason, stuck call, where it began and what to do, whole; only the commands may be wider than the frame."""
    run = told(reason, language).report.runs[-1]
    assert run.stop is not None
    screen, written = Screen(), io.StringIO()
    screen.console = Console(file=written, force_terminal=True, color_system=None, width=80, highlight=False)
    print_card(screen, "t", run, run.stop, None)
    lines = written.getvalue().splitlines()
    framed = [line for line in lines if line[:1] in "╭│╰"]
    commands = [line for line in lines if line not in framed]
    assert {cell_len(line) for line in framed} == {80}
    text = "".join("".join(line.strip("│ ") for line in framed).split())
    for part in (run.stop["advice"], reason, str(run.stop["step"]), run.stop["policy"]):
        assert "".join(part.split()) in text
    assert ("look(" in text) == STORIES[reason].stuck
    if run.stuck and run.stuck.began < run.stop["step"]:
        assert (f"Itbeganatstep{run.stuck.began}." if language == "en" else f"从第{run.stuck.began}步开始。") in text
    assert commands == [f"  {each}" for each in next_commands("t", run.stop, None, language)]
    assert 1 <= len(commands) <= 3
    assert all(line.startswith("  loopwright ") for line in commands)
