"""How a run ends at the terminal: the answer on stdout, the stop card and what to do next on stderr, the exit code."""

import sys
from dataclasses import asdict
from typing import Any, get_args

import typer

from loopwright.report import RunReport
from loopwright.results import RunResult
from loopwright.shapes import Interruption
from loopwright.storage import MemoryPlace, SqlitePlace, place_of
from loopwright_studio.command_lines import command
from loopwright_studio.console import Screen
from loopwright_studio.stop_card import is_stop_text, next_commands, print_card
from loopwright_studio.visible import visible

COMPLETED, STOPPED, WAITING, FAILED = 0, 3, 4, 5
INTERRUPTED: tuple[str, ...] = get_args(Interruption)


def exit_code(result: RunResult) -> int:
    """0 completed, 3 stopped by a limit or the guard, 4 paused or drained, 5 the model or its provider failed."""
    if result.stop is None or result.pending or result.stop["reason"] in INTERRUPTED:
        return WAITING
    if result.complete:
        return COMPLETED
    return FAILED if result.stop["reason"] in ("auth", "model_error") else STOPPED


def result_data(result: RunResult) -> dict[str, Any]:
    """The result as plain data, the last line of `--json`; the transcript stays in the storage."""
    data = {name: value for name, value in vars(result).items() if name not in ("messages", "usage", "pending")}
    return {
        "kind": "result",
        **data,
        "usage": asdict(result.usage),
        "pending": [asdict(question) for question in result.pending],
        "exit_code": exit_code(result),
    }


def print_answer(result: RunResult) -> None:
    """The answer alone, on stdout; not where a person would read it again on the stop card below it."""
    stop = result.stop
    if stop is not None and not stop["complete"] and is_stop_text(result.answer, stop) and _is_read_with_stderr():
        return
    if result.answer:
        typer.echo(visible(result.answer))


def _is_read_with_stderr() -> bool:
    return sys.stdout.isatty() and sys.stderr.isatty()


def print_stop(
    screen: Screen, result: RunResult, report: RunReport, storage: str | None, again: tuple[str, ...] = ()
) -> None:
    """The stop card of a run that was stopped, or left in the middle; of one that has not begun, how it begins."""
    stop = result.stop
    if stop is None or stop["complete"]:
        return
    if not report.runs:
        resume = command("resume", result.thread, storage, again=again)
        screen.say(screen.words.interrupted.format(command=resume), wrap=False)
        return
    print_card(screen, report.runs[-1], stop)
    screen.commands(*next_commands(result.thread, stop, storage, screen.words, again))


def print_kept(screen: Screen, result: RunResult, url: str, storage: str | None, again: tuple[str, ...] = ()) -> None:
    """Where the run is kept, and how to look at it and ask more."""
    place, words = place_of(url), screen.words
    if isinstance(place, MemoryPlace):
        screen.say(words.not_kept)
        return
    where = str(place.path.resolve()) if isinstance(place, SqlitePlace) else place.url
    screen.say(words.kept.format(where=visible(where), thread=visible(result.thread)), wrap=False)
    if not result.complete:  # what to do next was said with the stop
        return
    look = command("show", result.thread, storage)
    ask = command("run", result.thread, storage, before=(words.new_task, "--thread"), again=again)
    screen.commands(f"{look}  # {words.look_at_it}", f"{ask}  # {words.ask_more}")
