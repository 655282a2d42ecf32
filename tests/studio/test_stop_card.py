"""The stop card in a terminal: framed, 80 columns, in the user's language, with at most three commands to paste."""

import io
import re
from typing import get_args

import pytest
from langchain_core.tools import tool
from rich.cells import cell_len
from rich.console import Console
from tests.graph.stop_stories import STORIES, told

from loopwright import Agent, tool_policy
from loopwright.language import Language
from loopwright.shapes import StopReason
from loopwright.testing import ScriptedModel, call, reply
from loopwright_studio.console import Screen
from loopwright_studio.stop_card import card_text, next_commands, print_card
from loopwright_studio.terminal_wording import TerminalWording

STOPPED = [reason for reason in STORIES if reason not in ("answered", "cancelled", "drained")]


@pytest.mark.parametrize("language", get_args(Language))
@pytest.mark.parametrize("reason", STOPPED)
def test_the_card_in_a_terminal(reason: StopReason, language: Language) -> None:
    """Step, reason, stuck call, where it began and what to do, whole; and at most three commands."""
    run = told(reason, language).report.runs[-1]
    assert run.stop is not None
    screen, written = Screen(language), io.StringIO()
    screen.console = Console(file=written, force_terminal=True, color_system=None, width=80, highlight=False)
    print_card(screen, run, run.stop)
    framed = written.getvalue().splitlines()
    assert {line[:1] for line in framed} == set("╭│╰")
    assert {cell_len(line) for line in framed} == {80}
    text = "".join("".join(line.strip("│ ") for line in framed).split())
    for part in (run.stop["advice"], reason, str(run.stop["step"]), run.stop["policy"]):
        assert "".join(part.split()) in text
    assert ("look(" in text) == STORIES[reason].stuck
    if run.stuck and run.stuck.began < run.stop["step"]:
        assert (f"Itbeganatstep{run.stuck.began}." if language == "en" else f"从第{run.stuck.began}步开始。") in text
    if STORIES[reason].stuck:
        assert text.index("look(") < text.index("Itsresult" if language == "en" else "其结果")
    commands = next_commands("t", run.stop, None, TerminalWording(language))
    assert 1 <= len(commands) <= 3
    assert all(line.startswith("loopwright ") for line in commands)


@pytest.mark.parametrize("spoken", get_args(Language))
@pytest.mark.parametrize("reason", STOPPED)
def test_the_card_speaks_as_the_terminal_does(reason: StopReason, spoken: Language) -> None:
    """An older run may have been in the other language, and an output may know no Chinese: nothing of ours is in it."""
    run = told(reason, "en" if spoken == "zh" else "zh").report.runs[-1]
    assert run.stop is not None
    words = TerminalWording(spoken)
    text = "\n".join([card_text(run, run.stop, words), *next_commands("t", run.stop, None, words)])
    said = "\n".join(line for line in text.splitlines() if not line.startswith((words.its_result[:4], "Last error")))
    assert bool(re.search("[\u4e00-\u9fff]", said)) == (spoken == "zh")
    assert ("What to do:" in said) == (spoken == "en")


def test_an_error_is_told_once() -> None:
    """Where the stuck call's result holds the last error, the card does not say that again; what is cut is marked."""

    @tool
    def look(at: str) -> str:
        """Look at something."""
        raise FileNotFoundError("no such place, " * 30)

    agent = Agent(ScriptedModel(lambda _: reply("", call("look", at="a"))), [tool_policy(look, effect="read")])
    agent.run("what is there?", thread="t")
    (run,) = agent.report("t").runs
    assert run.stop is not None
    lines = card_text(run, run.stop, TerminalWording("en")).splitlines()
    (result,) = [line for line in lines if line.startswith("Its result: ")]
    assert result.endswith(" ...")
    assert not any(line.startswith("Last error: ") for line in lines)
