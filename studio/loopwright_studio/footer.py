"""The two lines below a run in a terminal: what it waits for and since when, how much is used, which tools run."""

import time
from collections.abc import Mapping
from dataclasses import dataclass, field

from rich.console import Console, ConsoleOptions, RenderResult
from rich.live import Live
from rich.text import Text

from loopwright_studio.console import Screen, seconds, tokens

BAR = 8
"""Cells of a bar that shows how much of a limit is used."""
REFRESHES = 8
"""Times a second that the lines are drawn anew: timers move, and drawing costs half a millisecond."""
LEAVE = "Ctrl-C pauses after this step"


@dataclass
class Progress:
    """What the lines say. Times are those of `time.monotonic`."""

    limits: Mapping[str, float]
    waits_for: str = "begin"
    since: float = field(default_factory=time.monotonic)
    step: int = 0
    used: int = 0
    cost: float | None = None
    running: dict[str, tuple[str, float]] = field(default_factory=dict)
    """Tool and start of each call that runs, by the call's id."""

    def wait_for(self, what: str) -> None:
        """From now on it waits for this."""
        self.waits_for, self.since = what, time.monotonic()


class Footer:
    """Draws the progress below what is printed, and removes it at the end."""

    def __init__(self, screen: Screen, progress: Progress) -> None:
        self._screen, self._progress = screen, progress
        self._live = Live(self, console=screen.console, transient=True, refresh_per_second=REFRESHES)

    def start(self) -> None:
        """Begin to draw."""
        self._live.start()

    def stop(self) -> None:
        """Remove the lines."""
        self._live.stop()

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """The two lines as they are now, cut to the terminal's width."""
        for line in self.lines(time.monotonic()):
            line.truncate(options.max_width, overflow="ellipsis")
            yield line

    def lines(self, now: float) -> list[Text]:
        """Node and budgets; tools that run, and how to leave."""
        shown = self._progress
        first = Text(f"  {shown.waits_for} {seconds(now - shown.since)}   ", "bold")
        first.append(self._budget("round", str(shown.step), shown.limits.get("model_calls"), shown.step), "not bold")
        first.append(self._budget("tokens", tokens(shown.used), shown.limits.get("tokens"), shown.used), "not bold")
        if shown.cost is not None:
            first.append(self._budget("", f"${shown.cost:.2f}", shown.limits.get("cost"), shown.cost), "not bold")
        calls = "  ".join(f"{tool} {seconds(now - start)}" for tool, start in list(shown.running.values()))
        return [first, Text(f"  {calls}{'   ' if calls else ''}{LEAVE}", "dim")]

    def _budget(self, name: str, used: str, limit: float | None, amount: float) -> str:
        """What is used of a limit, with a bar where there is one."""
        if limit is None:
            return f"{name} {used}  ".lstrip()
        of = f"${limit:.2f}" if used.startswith("$") else tokens(int(limit))
        full = min(BAR, int(BAR * amount / limit)) if limit else BAR
        bar = self._screen.glyphs["full"] * full + self._screen.glyphs["empty"] * (BAR - full)
        return f"{name} {used}/{of} {bar}  ".lstrip()
