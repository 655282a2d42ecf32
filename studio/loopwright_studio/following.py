"""Follows a thread that another process runs: each finished round is printed once, until the run ends or waits."""

import time
from collections import Counter
from collections.abc import Callable

from loopwright.report import RunEntry, RunReport
from loopwright_studio.console import Row, Screen
from loopwright_studio.rows import call_rows
from loopwright_studio.showing import print_end, round_rows, run_row, standing_text
from loopwright_studio.visible import one_line
from loopwright_studio.waiting import print_waiting

PAUSE = 0.5
"""Seconds between two looks at the thread."""
LASTS = 6
"""Looks after which a call that still has no outcome is worth a line."""


def follow(screen: Screen, look: Callable[[], RunReport], storage: str | None, *, pause: float = PAUSE) -> None:
    """Print the newest run as far as it is, and what comes; Ctrl-C ends the looking, not the run.

    Which process runs it, or that none does, is said first and when it changes, with the calls that it is in; so is
    each later call that lasts.
    """
    report = look()
    screen.say(screen.words.thread.format(thread=one_line(report.thread)), "bold")
    shown, lasting, told = Shown(screen), Lasting(screen), ""
    while not shown.take(report):
        stands = standing_text(screen.words, report, storage)
        if report.runs:
            screen.print(*lasting.rows(report.runs[-1], all_of_them=stands != told))
            if stands != told:
                screen.say(stands, wrap=False)
            told = stands
        time.sleep(pause)
        report = look()
    print_end(screen, report, report.runs[-1], storage)
    print_waiting(screen, report.waiting, storage)


class Lasting:
    """The calls that have no outcome yet: each has a line once, when it has none for long."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen
        self._looks: Counter[str] = Counter()
        self._told: set[str] = set()

    def rows(self, run: RunEntry, *, all_of_them: bool) -> list[Row]:
        """The lines that are due at this look; `all_of_them` does not wait."""
        calls = [call for turn in run.rounds for call in turn.calls if call.status == "open"]
        self._looks.update(call.call_id for call in calls)
        long = [call for call in calls if all_of_them or self._looks[call.call_id] >= LASTS]
        due = [call for call in long if call.call_id not in self._told]
        self._told |= {call.call_id for call in due}
        return [row for call in due for row in call_rows(self._screen, call)]


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
