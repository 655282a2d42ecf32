"""The card of a run that was stopped: what, why, where it began, and at most three commands that can be pasted."""

from typing import get_args

from rich.panel import Panel
from rich.text import Text

from loopwright.language import Language, language
from loopwright.policies import render_report
from loopwright.policies.limits import LIMITS
from loopwright.report import RunEntry
from loopwright.shapes import Interruption, StopReport
from loopwright_studio.after_stop import NEW_WORDS, larger, outcome_of
from loopwright_studio.call_line import arguments
from loopwright_studio.command_lines import command
from loopwright_studio.console import Screen
from loopwright_studio.visible import one_line, visible

RESULT = 200
"""Characters of the stuck call's result."""
_TITLES: dict[Language, str] = {"en": "Stopped", "zh": "已停止"}
_LEFT: dict[Language, str] = {
    "en": "Left in the middle: every finished step is kept",
    "zh": "中断在半途：已完成的步骤全部保留",
}
_RESULTS: dict[Language, str] = {"en": "Its result: ", "zh": "其结果："}
_BEGAN: dict[Language, str] = {"en": "It began at step {step}.", "zh": "从第 {step} 步开始。"}


def print_card(screen: Screen, thread: str, run: RunEntry, stop: StopReport, storage: str | None) -> None:
    """Print the card; a frame only in a terminal. `storage` is the option as it was given, for the commands."""
    spoken = language(run.task)
    left = stop["reason"] in get_args(Interruption)
    title, colour = (_LEFT[spoken], "yellow") if left else (_TITLES[spoken], "red")
    text = visible(card_text(run, stop, spoken))
    if screen.console.is_terminal:
        screen.console.print(Panel(Text(text), title=title, title_align="left", border_style=colour))
    else:
        screen.say(f"{title}.\n{text}" if left else text)
    screen.commands(*next_commands(thread, stop, storage, spoken))


def card_text(run: RunEntry, stop: StopReport, spoken: Language) -> str:
    """What is on the card: the stop report, with the stuck call, what it gave, and the step where it began."""
    stuck = next((each for turn in run.rounds for each in turn.calls if each.call_id == stop["call_id"]), None)
    call = f"{one_line(stuck.tool)}({arguments(stuck.args)})" if stuck else ""
    first, *rest = render_report(stop, spoken, call).splitlines()
    gave = one_line(outcome_of(run, stuck)[:RESULT]) if stuck else ""
    began = [_BEGAN[spoken].format(step=run.stuck.began)] if run.stuck else []
    return "\n".join([first, *began, *([f"{_RESULTS[spoken]}{gave}"] if gave else []), *rest])


def next_commands(thread: str, stop: StopReport, storage: str | None, spoken: Language) -> list[str]:
    """At most three commands that fit how the run ended."""
    look, page = command("show", thread, storage), command("report", thread, storage, "--open")
    if stop["reason"] in LIMITS:
        return [look, command("resume", thread, storage, "--extend", larger(stop)), page]
    if stop["reason"] in ("auth", "model_error"):
        return [look, command("resume", thread, storage), page]
    if stop["reason"] in get_args(Interruption):
        return [command("resume", thread, storage), look, page]
    return [look, command("run", thread, storage, before=(NEW_WORDS[spoken], "--thread")), page]
