"""How a run ends at the terminal: the answer on stdout, the stop card and what to do next on stderr, the exit code."""

import shlex
from dataclasses import asdict
from typing import Any

import typer
from rich.panel import Panel
from rich.text import Text

from loopwright.memory import language_of
from loopwright.policies import Language, render_report
from loopwright.policies.limits import LIMITS
from loopwright.report import RunReport
from loopwright.results import Pending, RunResult
from loopwright.storage import SqlitePlace, place_of
from loopwright_studio.console import Screen
from loopwright_studio.live import calls_of
from loopwright_studio.rows import arguments
from loopwright_studio.visible import one_line, visible

COMPLETED, STOPPED, WAITING, FAILED = 0, 3, 4, 5


def exit_code(result: RunResult) -> int:
    """0 completed, 3 stopped by a limit or the guard, 4 paused or drained, 5 the model or its provider failed."""
    if result.stop is None or result.pending or result.stop["reason"] in ("cancelled", "drained"):
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
    """The answer alone, on stdout."""
    if result.answer:
        typer.echo(visible(result.answer))


def print_stop(screen: Screen, result: RunResult, report: RunReport, storage: str | None) -> None:
    """The stop card: why, at which step, the stuck call, what to do, and commands that can be pasted."""
    stop = result.stop
    if stop is None or stop["complete"]:
        return
    stuck = next((call for call in calls_of(report) if call.call_id == stop["call_id"]), None)
    call = f"{stuck.tool}({arguments(stuck.args)})" if stuck else ""
    language: Language = "zh" if language_of(result.messages) == "zh" else "en"
    text = visible(render_report(stop, language, call))
    if screen.console.is_terminal:
        screen.console.print(Panel(Text(text), title="Stopped", title_align="left", border_style="red"))
    else:
        screen.say(text)
    screen.commands(*_next(result, storage))


def _next(result: RunResult, storage: str | None) -> list[str]:
    """The commands that fit how the run ended."""
    look = command("show", result.thread, storage)
    stop = result.stop
    if stop is not None and stop["reason"] in LIMITS:
        larger = f"{stop['reason']}={2 * max(1.0, stop['counters'].get(stop['reason'], 1.0)):.0f}"
        return [look, command("resume", result.thread, storage, "--extend", larger)]
    if stop is not None and not stop["complete"] and exit_code(result) != FAILED:
        return [look, command("run", result.thread, storage, before=("WHAT TO DO DIFFERENTLY", "--thread"))]
    return [look, command("resume", result.thread, storage)]


def print_waiting(screen: Screen, pending: tuple[Pending, ...], storage: str | None) -> None:
    """The open questions with their ids, and how to answer them."""
    for question in pending:
        screen.say(f"Waiting for you ({question.kind}): {visible(question.description)}", "bold yellow")
        screen.say(f"  {one_line(question.call['name'])}({arguments(question.call['args'])})")
        screen.commands(
            command("resume", question.thread, storage, "--approve", question.id),
            command("resume", question.thread, storage, "--reject", question.id + "=REASON"),
        )


def print_kept(screen: Screen, result: RunResult, url: str, storage: str | None) -> None:
    """Where the run is kept, and how to look at it and go on."""
    place = place_of(url)
    if not isinstance(place, SqlitePlace):
        screen.say("The run is not kept: its storage was memory.")
        return
    screen.say(f"Kept in {visible(str(place.path.resolve()))}, thread {visible(result.thread)}.", wrap=False)
    if not result.complete:  # what to do next was said with the stop
        return
    screen.commands(
        f"{command('show', result.thread, storage)}  # look at it",
        f"{command('resume', result.thread, storage)}  # after a crash",
        f"{command('run', result.thread, storage, before=('TASK', '--thread'))}  # ask more",
    )


def command(name: str, thread: str, storage: str | None, *more: str, before: tuple[str, ...] = ()) -> str:
    """A command line that can be pasted; `storage` is what was given on this one."""
    words = [*before, thread, *more, *(["--storage", storage] if storage else [])]
    return " ".join(["loopwright", name, *(shlex.quote(visible(word)) for word in words)])
