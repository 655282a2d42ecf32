"""Follows a thread that another process runs: each finished round is printed once, until the run ends or waits."""

import time
from collections.abc import Callable

from loopwright.report import RunEntry, RunReport
from loopwright_studio.console import Row, Screen
from loopwright_studio.rows import call_rows
from loopwright_studio.showing import print_end, round_rows, run_row, standing_text
from loopwright_studio.visible import one_line
from loopwright_studio.waiting import print_waiting

PAUSE = 0.5
"""Seconds between two looks at the thread."""


def follow(screen: Screen, look: Callable[[], RunReport], storage: str | None, *, pause: float = PAUSE) -> None:
    """Print the newest run as far as it is, and what comes; Ctrl-C ends the looking, not the run.

    Which process runs it, or that none does, is said first and when it changes, with the calls that it is in.
    """
    report = look()
    screen.say(screen.words.thread.format(thread=one_line(report.thread)), "bold")
    shown, told = Shown(screen), ""
    while not shown.take(report):
        stands = standing_text(screen.words, report, storage)
        if report.runs and stands != told:
            screen.print(*open_rows(screen, report.runs[-1]))
            screen.say(stands, wrap=False)
            told = stands
        time.sleep(pause)
        report = look()
    print_end(screen, report, report.runs[-1], storage)
    print_waiting(screen, report.waiting, storage)


def open_rows(screen: Screen, run: RunEntry) -> list[Row]:
    """The calls of a run that have no outcome yet."""
    calls = [call for turn in run.rounds for call in turn.calls if call.status == "open"]
    return [row for call in calls for row in call_rows(screen, call)]


class Shown:
    """What of a thread's newest run was printed so far."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen
        self._run = ""
        self._rounds = 0

    def take(self, report: RunReport) -> bool:
        """Print the rounds that have ended since; true when the run has ended too, or waits for a person."""
        if not report.runs:
            return False
        run = report.runs[-1]
        if run.id != self._run:
            self._run, self._rounds = run.id, 0
            self._screen.print(run_row(self._screen, run))
        ended = run.stop is not None or bool(report.waiting)
        ready = run.rounds if ended else run.rounds[:-1]  # the newest may still grow
        for number in range(self._rounds, len(ready)):
            before = run.rounds[number - 1].step if number else -1
            self._screen.print(*round_rows(self._screen, report.thread, run, run.rounds[number], before))
        self._rounds = max(self._rounds, len(ready))
        return ended
