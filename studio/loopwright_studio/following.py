"""Follows a thread that another process runs: each finished round is printed once, until the run ends or waits."""

import time
from collections.abc import Callable

from loopwright.report import RunReport
from loopwright_studio.console import Screen
from loopwright_studio.showing import print_end, round_rows, run_row, standing_text
from loopwright_studio.visible import one_line
from loopwright_studio.waiting import print_waiting

PAUSE = 0.5
"""Seconds between two looks at the thread."""


def follow(screen: Screen, look: Callable[[], RunReport], storage: str | None, *, pause: float = PAUSE) -> None:
    """Print the newest run as far as it is, and what comes; Ctrl-C ends the looking, not the run.

    Said once where no process holds the thread: then it was left in the middle, or LangGraph's server runs it.
    """
    report = look()
    screen.say(f"Thread {one_line(report.thread)}", "bold")
    shown, told = Shown(screen), False
    while not shown.take(report):
        if report.runs and report.holder is None and not told:
            screen.say(standing_text(report, storage), wrap=False)
            told = True
        time.sleep(pause)
        report = look()
    print_end(screen, report, report.runs[-1], storage)
    print_waiting(screen, report.waiting, storage)


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
            self._screen.print(run_row(run))
        ended = run.stop is not None or bool(report.waiting)
        ready = run.rounds if ended else run.rounds[:-1]  # the newest may still grow
        for number in range(self._rounds, len(ready)):
            before = run.rounds[number - 1].step if number else -1
            self._screen.print(*round_rows(self._screen, report.thread, run, run.rounds[number], before))
        self._rounds = max(self._rounds, len(ready))
        return ended
