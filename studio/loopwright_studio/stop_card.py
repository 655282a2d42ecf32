"""The card of a run that was stopped: what, why, where it began, and at most three commands that can be pasted."""

from typing import get_args

from rich.panel import Panel
from rich.text import Text

from loopwright.language import Language
from loopwright.policies import advice, render_report
from loopwright.policies.limits import LIMITS
from loopwright.report import RunEntry
from loopwright.shapes import Interruption, StopReport
from loopwright_studio.after_stop import larger, outcome_of
from loopwright_studio.call_line import arguments
from loopwright_studio.command_lines import command
from loopwright_studio.console import Screen
from loopwright_studio.terminal_wording import TerminalWording
from loopwright_studio.visible import one_line, visible
from loopwright_studio.wrapping import wrapped

FRAME = 4
"""Cells of a line that the frame takes."""
RESULT = 200
"""Characters of the stuck call's result."""


def print_card(screen: Screen, run: RunEntry, stop: StopReport) -> None:
    """Print the card; a frame only in a terminal."""
    words, left = screen.words, stop["reason"] in get_args(Interruption)
    title, colour = (words.card_left, "yellow") if left else (words.card_stopped, "red")
    text = visible(card_text(run, stop, words))
    if screen.console.is_terminal:
        framed = Text(wrapped(text.removeprefix(f"{title}{words.colon}"), screen.console.width - FRAME))
        screen.console.print(Panel(framed, title=title, title_align="left", border_style=colour))
    else:
        screen.say(f"{title}{words.full_stop}\n{text}" if left else text)


def card_text(run: RunEntry, stop: StopReport, words: TerminalWording) -> str:
    """What is on the card: the stop report, with the step where it began, the stuck call, and what that gave.

    It is said in the language of the terminal, which an older run of the thread may not have been in.
    """
    stuck = next((each for turn in run.rounds for each in turn.calls if each.call_id == stop["call_id"]), None)
    call = f"{one_line(stuck.tool)}({arguments(stuck.args)})" if stuck else ""
    hint = advice(stop["reason"], words.language, stop["last_error"] or "")
    first, *rest = render_report({**stop, "advice": hint}, words.language, call).splitlines()
    began = [words.it_began.format(step=run.stuck.began)] if run.stuck else []
    if stuck is None:
        return "\n".join([first, *began, *rest])
    gave = one_line(outcome_of(run, stuck))
    error = one_line(stop["last_error"] or "")
    told = [line for line in rest[1:] if not (error and error in gave and line.endswith(error))]
    shown = gave if len(gave) <= RESULT else f"{gave[:RESULT]} ..."
    return "\n".join([first, *began, rest[0], *([words.its_result.format(text=shown)] if gave else []), *told])


def is_stop_text(answer: str, stop: StopReport) -> bool:
    """Whether an answer says what the card says: that of a run which ended without a reply."""
    return any(answer.startswith(render_report(stop, each).partition("\n")[0]) for each in get_args(Language))


def next_commands(
    thread: str,
    stop: StopReport,
    storage: str | None,
    words: TerminalWording,
    again: tuple[str, ...] = (),
    look: tuple[str, ...] = (),
) -> list[str]:
    """At most three commands that fit how the run ended.

    `storage` and `again` are the options that were given, `look` those of `show` that show more than was seen.
    """
    seen, page = command("show", thread, storage, *look), command("report", thread, storage, "--open")
    if stop["reason"] in LIMITS:
        return [seen, command("resume", thread, storage, "--extend", larger(stop), again=again), page]
    if stop["reason"] in ("auth", "model_error"):
        return [seen, command("resume", thread, storage, again=again), page]
    if stop["reason"] in get_args(Interruption):
        return [command("resume", thread, storage, again=again), seen, page]
    return [seen, command("run", thread, storage, before=(words.new_words, "--thread"), again=again), page]
