"""One run at the terminal: from the arguments to an agent, its stream shown, and its end said."""

import sys
from collections.abc import Mapping
from contextlib import redirect_stdout, suppress
from dataclasses import dataclass
from typing import TextIO

import typer

from loopwright import Agent, RunReport
from loopwright.errors import UnknownThread, UsageError
from loopwright.language import Language, language
from loopwright.results import RunResult
from loopwright.storage import open_storage
from loopwright.stream import RunStream
from loopwright_studio.agents import build_agent, check_endpoint, model_note, reading_agent
from loopwright_studio.command_lines import command, repeated
from loopwright_studio.configuration import OFFLINE, Configuration, load_settings
from loopwright_studio.console import Screen
from loopwright_studio.interrupts import interruptible
from loopwright_studio.live import Live
from loopwright_studio.outcome import (
    WAITING,
    exit_code,
    print_answer,
    print_kept,
    print_stop,
    result_data,
)  # fmt: skip
from loopwright_studio.terminal_wording import TerminalWording, spoken_of
from loopwright_studio.visible import json_line, visible
from loopwright_studio.waiting import print_waiting


@dataclass(frozen=True)
class Session:
    """One `run` or `resume`: the agent, and how its run is shown.

    `storage` is the option as it was given, `again` the others that the printed commands repeat, `language` that of the
    task.
    """

    agent: Agent
    configuration: Configuration
    storage: str | None
    quiet: bool
    as_json: bool
    again: tuple[str, ...] = ()
    language: Language = "en"

    @property
    def user(self) -> dict[str, str] | None:
        """The user that each run names; None where none is configured."""
        return {"id": self.configuration.user} if self.configuration.user else None

    @property
    def silent(self) -> bool:
        """Whether the steps are left out on stderr."""
        return self.quiet or self.as_json

    def screen(self) -> Screen:
        """stderr, in the language of the task."""
        return Screen(self.language, stderr=True)

    def follow(self, stream: RunStream, *, begins: bool = True) -> RunResult:
        """Run the stream to its end, showing it; the first Ctrl-C or SIGTERM ends it after its step.

        A run that `begins` has a line above it, which one that goes on below its answered questions had before.
        What a tool prints meanwhile goes to stderr: on stdout stands the answer alone, or one event a line.
        """
        out, screen = sys.stdout, self.screen()
        clear = "\r\x1b[J" if not self.silent and screen.console.is_interactive else ""  # the footer
        resume = command("resume", stream.thread, self.storage, again=self.again)
        farewell = f"{clear}{screen.words.interrupted.format(command=resume)}\n"
        with (
            interruptible(lambda: stream.cancel("drained"), f"{clear}{screen.words.stopping}", farewell, WAITING),
            redirect_stdout(sys.stderr),
        ):
            self._consume(stream, screen, out, begins=begins)
        return stream.result

    def _consume(self, stream: RunStream, screen: Screen, out: TextIO, *, begins: bool) -> None:
        if self.silent:
            for item in stream:
                if self.as_json and isinstance(item, dict):
                    typer.echo(json_line(item), file=out)
            return
        if begins:
            model, thread = self.configuration.model or OFFLINE, visible(stream.thread)
            screen.say(screen.words.run_begins.format(model=model, thread=thread), "bold")
        limits = self.configuration.settings().limits()
        with Live(screen, stream, lambda: self.agent.report(stream.thread), limits) as live:
            for item in stream:
                live.take(item)

    def conclude(self, result: RunResult) -> None:
        """Print the end of a run and leave with its exit code."""
        screen = self.screen()
        if self.as_json:
            typer.echo(json_line(result_data(result)))
        else:
            print_answer(result)
            if result.stop is not None and not result.complete:
                print_stop(screen, result, self.agent.report(result.thread), self.storage, self.again)
            print_waiting(screen, result.pending, self.storage, self.again)
        if not self.silent:
            print_kept(screen, result, self.configuration.storage, self.storage, self.again)
        raise typer.Exit(exit_code(result))


def open_session(
    arguments: Mapping[str, object], *, quiet: bool, as_json: bool, thread: str | None = None, task: str | None = None
) -> Session:
    """The session that these arguments and the configuration give; `thread` has to exist, unless there is a `task`.

    Everything that can be wrong beforehand is found here, before a run claims its thread. Raises LoopwrightError.
    """
    configuration, settings = load_settings(arguments)
    if settings.memory.long_term and not configuration.user:
        raise UsageError(
            "Long-term memory is on (memory.long_term) and no user is named: add --user ID, or set LOOPWRIGHT_USER."
        )
    agent = build_agent(configuration, settings)
    if configuration.model is not None and configuration.model.startswith("openai:"):
        check_endpoint(configuration)
    spoken = language(task or "")
    if thread is not None:
        with suppress(*([UnknownThread] if task is not None else [])):
            report = reading_agent(configuration.storage).report(thread)
            _check_model(configuration, report)
            spoken = spoken if task is not None else spoken_of(report)
    with open_storage(configuration.storage):
        pass
    storage = str(arguments["storage"]) if arguments.get("storage") else None
    session = Session(agent, configuration, storage, quiet, as_json, repeated(arguments), spoken)
    screen = session.screen()
    note = model_note(configuration, screen.words)
    if note is not None:
        screen.say(note)
    return session


def _check_model(configuration: Configuration, report: RunReport) -> None:
    """Raises UsageError when a language model began the thread and rules would go on with it, unasked."""
    used = [turn.model.model for run in report.runs for turn in run.rounds if turn.model is not None]
    if configuration.model is None and used and not used[-1].startswith("offline"):
        words = TerminalWording(spoken_of(report))
        raise UsageError(words.began_by_a_model.format(thread=report.thread, model=used[-1]))


def read_task(text: str) -> str:
    """The task; `-` reads it from stdin. Raises UsageError when there is none."""
    if text == "-":
        text = sys.stdin.read()
    if not text.strip():
        raise UsageError("The task is empty: say what is to be done.")
    return text
