"""The terminal: one place that decides on colours, glyphs and widths, and never reads markup out of what it shows."""

from collections.abc import Sequence
from typing import NamedTuple

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

GLYPHS = {"model": "●", "guard": "◆", "ok": "→", "error": "✗", "refused": "■", "memory": "▼", "pause": "?", "done": "✓",
          "note": "!", "more": "…", "to": "–", "full": "▓", "empty": "░"}  # fmt: skip
PLAIN = {"model": "*", "guard": "+", "ok": ">", "error": "x", "refused": "#", "memory": "v", "pause": "?", "done": "=",
         "note": "!", "more": "...", "to": "-", "full": "#", "empty": "."}  # fmt: skip
"""The glyphs where the output's encoding has no others."""
STYLES = {"model": "blue", "guard": "magenta", "ok": "cyan", "error": "red", "refused": "red", "memory": "yellow",
          "pause": "yellow", "done": "green", "note": "yellow"}  # fmt: skip


class Row(NamedTuple):
    """One line: what happened at the left, cut to fit; figures at the right."""

    left: Text
    right: str = ""


class Screen:
    """stdout or stderr. Without a terminal it prints the same lines without colours, 80 columns wide."""

    def __init__(self, *, stderr: bool = False) -> None:
        self.console = Console(stderr=stderr, highlight=False, markup=False, emoji=False)
        self.glyphs = GLYPHS if self.console.encoding.lower().startswith("utf") else PLAIN

    def print(self, *rows: Row) -> None:
        """Print each row on one line; all of them at once, since every write costs a live view a redraw."""
        if rows:
            lines = Text("\n").join(self._line(row) for row in rows)
            self.console.print(lines, overflow="ignore", no_wrap=True)

    def _line(self, row: Row) -> Text:
        room = self.console.width - (cell_len(row.right) + 2 if row.right else 0)
        left = row.left.copy()
        left.truncate(max(1, room), overflow="ellipsis", pad=bool(row.right))
        return Text.assemble(left, "  ", (row.right, "dim")) if row.right else left

    def say(self, text: str, style: str = "", *, wrap: bool = True) -> None:
        """Print a text that may be long; only a terminal wraps it, between words."""
        self.console.print(Text(text, style=style), soft_wrap=not (wrap and self.console.is_terminal))

    def commands(self, *lines: str) -> None:
        """Print command lines, never wrapped, so that they can be pasted."""
        for line in lines:
            self.say(f"  {line}", wrap=False)

    def columns(self, titles: Sequence[str], lines: Sequence[Sequence[str]]) -> None:
        """Print a table: in a terminal the last column is cut to fit, elsewhere nothing is lost."""
        widths = [max(cell_len(line[n]) for line in (titles, *lines)) for n in range(len(titles) - 1)]
        for number, line in enumerate((titles, *lines)):
            cells = [cell + " " * (width - cell_len(cell)) for cell, width in zip(line, widths, strict=False)]
            text = Text("  ".join([*cells, line[-1]]), style="" if number else "bold")
            if self.console.is_terminal:
                text.truncate(self.console.width, overflow="ellipsis")
            self.console.print(text, soft_wrap=True)

    def mark(self, kind: str) -> tuple[str, str]:
        """The glyph of a kind of row with its colour."""
        return self.glyphs[kind], STYLES[kind]

    def fits(self, row: Row) -> bool:
        """Whether the row fits on one line without being cut."""
        return row.left.cell_len + (cell_len(row.right) + 2 if row.right else 0) <= self.console.width


def tokens(count: int) -> str:
    """A number of tokens in at most five characters."""
    if count < 1000:
        return str(count)
    if count < 999_500:
        return f"{count / 1000:.1f}k" if count < 99_950 else f"{count / 1000:.0f}k"
    return f"{count / 1e6:.1f}M"


def seconds(duration: float) -> str:
    """A duration as `0.8s` or `2m05s`."""
    return f"{duration:.1f}s" if duration < 99.95 else f"{round(duration) // 60}m{round(duration) % 60:02}s"
