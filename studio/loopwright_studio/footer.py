"""The two lines below a run in a terminal: what it waits for and since when, how much is used, which tools run."""

import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from typing import IO, TextIO, cast

from rich.console import Console, ConsoleOptions, ConsoleRenderable, RenderHook, RenderResult
from rich.file_proxy import FileProxy
from rich.segment import ControlType, Segment, Segments
from rich.text import Text

from loopwright_studio.console import Row, Screen, seconds, tokens
from loopwright_studio.progress import Progress
from loopwright_studio.pulse import Pulse, eighths

BAR = 8
"""Cells of a bar that shows how much of a limit is used."""
CLEAR = Segments([Segment("\r\x1b[J", None, [(ControlType.CLEAR,)])])
"""Goes to the start of the line and removes all from there on."""
BACK = Segment("\r\x1b[2A", None, [(ControlType.CURSOR_UP, 2)])
"""Goes back up, to the empty line above the two."""


class Footer(RenderHook):
    """Prints rows above the two lines, eight times a second those that came meanwhile, and draws the lines anew.

    One write for many rows, outside of the run's thread: a print costs more than a row, and a terminal may be slow.
    The cursor stays visible and rests on an empty line above the two, so that what others write, a signal handler or a
    shell after the process was killed, stands there and is not wiped out with them.
    """

    def __init__(
        self, screen: Screen, progress: Progress, pulse: Pulse = eighths, leaving: Callable[[], bool] = lambda: False
    ) -> None:
        self._screen, self._progress, self._pulse, self._leaving = screen, progress, pulse, leaving
        self._rows: deque[Row] = deque()
        self._drawing = threading.RLock()

    def put(self, *rows: Row) -> None:
        """Have these rows printed with the next drawing."""
        self._rows.extend(rows)

    @contextmanager
    def shown(self) -> Iterator[None]:
        """Within the block the lines are there, and what is printed on stdout and stderr stands above them."""
        console = self._screen.console
        out, err = Above(console, sys.stdout, self.draw), Above(console, sys.stderr, self.draw)
        console.push_render_hook(self)
        try:
            with redirect_stdout(cast(TextIO, out)), redirect_stderr(cast(TextIO, err)), self._pulse(self.draw):
                yield
        finally:
            console.pop_render_hook()
            console.print(CLEAR)
            self.draw()
            out.flush()
            err.flush()

    def draw(self) -> None:
        """Print the rows that came since the last drawing, above the lines as they are now."""
        with self._drawing:
            self._screen.print(*(self._rows.popleft() for _ in range(len(self._rows))))

    def process_renderables(self, renderables: list[ConsoleRenderable]) -> list[ConsoleRenderable]:
        """What is printed, with the lines removed before it and drawn below it."""
        return [CLEAR, *renderables, self]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """The two lines as they are now, cut to the terminal's width."""
        first, second = self.lines(time.monotonic())
        for line in (first, second):
            line.truncate(console.width, overflow="ellipsis")
        yield from (Segment.line(), *first.render(console, "\n"), *second.render(console), BACK)

    def lines(self, now: float) -> list[Text]:
        """Node and budgets; tools that run, and how to leave."""
        shown, words = self._progress, self._screen.words
        first = Text(f"  {shown.waits_for} {seconds(now - shown.since)}   ", "bold")
        first.append(
            self._budget(words.budget_round, str(shown.step), shown.limits.get("model_calls"), shown.step), "not bold"
        )
        first.append(
            self._budget(words.budget_tokens, tokens(shown.used), shown.limits.get("tokens"), shown.used), "not bold"
        )
        if shown.cost is not None:
            first.append(self._budget("", f"${shown.cost:.2f}", shown.limits.get("cost"), shown.cost), "not bold")
        calls = "  ".join(f"{tool} {seconds(now - start)}" for tool, start in list(shown.running.values()))
        leave = words.leaving if self._leaving() else words.leave
        return [first, Text(f"  {calls}{'   ' if calls else ''}{leave}", "dim")]

    def _budget(self, name: str, used: str, limit: float | None, amount: float) -> str:
        """What is used of a limit, with a bar where there is one."""
        if limit is None:
            return f"{name} {used}  ".lstrip()
        of = f"${limit:.2f}" if used.startswith("$") else tokens(int(limit))
        full = min(BAR, int(BAR * amount / limit)) if limit else BAR
        bar = self._screen.glyphs["full"] * full + self._screen.glyphs["empty"] * (BAR - full)
        return f"{name} {used}/{of} {bar}  ".lstrip()


class Above(FileProxy):
    """A stream whose lines are printed above the footer, below the rows that came before them."""

    def __init__(self, console: Console, file: IO[str], before: Callable[[], None]) -> None:
        super().__init__(console, file)
        self._before = before

    def write(self, text: str) -> int:
        """Print the lines that are whole now."""
        if "\n" in text:
            self._before()
        return super().write(text)
