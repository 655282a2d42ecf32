"""The terminal: one place that decides on colours, glyphs and widths, and never reads markup out of what it shows."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from rich.cells import cell_len
from rich.console import Console
from rich.segment import Segment, Segments
from rich.text import Span, Text

from loopwright.language import Language
from loopwright_studio.terminal_wording import TerminalWording
from loopwright_studio.wrapping import wrapped

GLYPHS = {"model": "●", "guard": "◆", "ok": "→", "error": "✗", "refused": "■", "memory": "▼", "pause": "?", "done": "✓",
          "open": "○", "note": "!", "more": "…", "to": "–", "full": "▓", "empty": "░"}  # fmt: skip
PLAIN = {"model": "*", "guard": "+", "ok": ">", "error": "x", "refused": "#", "memory": "v", "pause": "?", "done": "=",
         "open": "o", "note": "!", "more": "...", "to": "-", "full": "#", "empty": "."}  # fmt: skip
"""The glyphs where the output's encoding has no others."""
LEAST_COLUMN = 24
"""Cells that the last column of a table needs to say something."""
END = Segment.line()
_NARROW = re.compile(f"[ -~{''.join(GLYPHS.values())}]*")
"""What has a cell a character for certain; nearly all rows are made of it."""
STYLES = {"model": "blue", "guard": "magenta", "ok": "cyan", "error": "red", "refused": "red", "memory": "yellow",
          "pause": "yellow", "done": "green", "note": "yellow", "open": "yellow"}  # fmt: skip


class Row(NamedTuple):
    """One line: what happened at the left, cut to fit; figures at the right."""

    left: Text
    right: str = ""


class Screen:
    """stdout or stderr. Without a terminal it prints the same lines without colours, 80 columns wide.

    `words` are those of the language that is spoken; where the output's encoding has no Chinese, they are English.
    """

    def __init__(self, language: Language = "en", *, stderr: bool = False) -> None:
        self.console = Console(stderr=stderr, highlight=False, markup=False, emoji=False)
        self.words = TerminalWording(language if _can_say("中文（：，", self.console.encoding) else "en")
        self.glyphs = GLYPHS if self.console.encoding.lower().startswith("utf") else PLAIN
        self._width, self._terminal = 0, False  # not asked for before the first row

    def print(self, *rows: Row) -> None:
        """Print each row on one line; all of them in one write.

        Rich could lay them out and write them too, at several times the price: a run may have hundreds a second.
        """
        width = self._measure()
        lines = [self._line(row, width) for row in rows]
        if self._terminal:
            pieces = [piece for left, right in lines for piece in (*self._pieces(left), *self._pieces(right), END)]
            self.console.print(Segments(pieces), crop=False)
        else:
            self.console.file.write("".join(f"{left.plain}{right.plain}\n" for left, right in lines))
            self.console.file.flush()

    def _line(self, row: Row, width: int) -> tuple[Text, Text]:
        """The row's text, cut to its place in this width, and what stands right of it."""
        room = max(1, width - (cells(row.right) + 2 if row.right else 0))
        left, taken = row.left, cells(row.left.plain)
        if taken > room:
            left = left.copy()
            left.truncate(room, overflow="ellipsis")
            taken = cells(left.plain)
        return left, styled(" " * (room - taken + 2), (row.right, "dim")) if row.right else Text()

    def _pieces(self, text: Text) -> Iterator[Segment]:
        """A text whose styles stand side by side, as those of a row do."""
        style, at = self.console.get_style(text.style), 0
        for start, end, its in text.spans:
            yield Segment(text.plain[at:start], style)
            yield Segment(text.plain[start:end], style + self.console.get_style(its))
            at = end
        yield Segment(text.plain[at:], style)

    def _measure(self) -> int:
        """The width; only a terminal may change it, and asking costs as much as a row."""
        if self._terminal or not self._width:
            self._terminal, self._width = self.console.is_terminal, self.console.width
        return self._width

    def say(self, text: str, style: str = "", *, wrap: bool = True) -> None:
        """Print a text that may be long; only a terminal wraps it, between words."""
        wraps = wrap and self.console.is_terminal
        self.console.print(Text(wrapped(text, self.console.width) if wraps else text, style=style), soft_wrap=True)

    def commands(self, *lines: str) -> None:
        """Print command lines, never wrapped, so that they can be pasted."""
        for line in lines:
            self.say(f"  {line}", wrap=False)

    def columns(self, titles: Sequence[str], lines: Sequence[Sequence[str]]) -> None:
        """Print a table; in a terminal the last column is cut to fit, or stands below where it has hardly a place.

        Elsewhere nothing is lost, and a line is a line.
        """
        widths = [max(cell_len(line[n]) for line in (titles, *lines)) for n in range(len(titles) - 1)]
        left = self.console.width - sum(width + 2 for width in widths)
        longest = max(cell_len(line[-1]) for line in (titles, *lines))
        below = self.console.is_terminal and left < min(longest, LEAST_COLUMN)
        for number, line in enumerate((titles, *lines)):
            padded = [cell + " " * (width - cell_len(cell)) for cell, width in zip(line, widths, strict=False)]
            first = "  ".join(padded if below else [*padded, line[-1]]).rstrip()
            for text in (first, f"    {line[-1]}") if below else (first,):
                shown = cut(text, self.console.width) if self.console.is_terminal else text
                self.console.print(Text(shown, style="" if number else "bold"), soft_wrap=True)

    def mark(self, kind: str) -> tuple[str, str]:
        """The glyph of a kind of row with its colour."""
        return self.glyphs[kind], STYLES[kind]

    def fits(self, row: Row) -> bool:
        """Whether the row fits on one line of what was printed last without being cut."""
        return cells(row.left.plain) <= self.room(row.right)

    def room(self, right: str) -> int:
        """The cells left of these figures on a line of what was printed last."""
        return (self._width or self._measure()) - (cells(right) + 2 if right else 0)


def styled(*parts: str | tuple[str, str]) -> Text:
    """A text of these parts, each plain or with its style."""
    spans, at = [], 0
    texts = [part if isinstance(part, str) else part[0] for part in parts]
    for part, text in zip(parts, texts, strict=True):
        if not isinstance(part, str):
            spans.append(Span(at, at + len(text), part[1]))
        at += len(text)
    return Text("".join(texts), spans=spans)


def cells(text: str) -> int:
    """The cells that a terminal needs for this line."""
    return len(text) if _NARROW.fullmatch(text) else cell_len(text)


def cut(text: str, width: int) -> str:
    """The text, with an ellipsis for what is wider than these cells."""
    if cells(text) <= width:
        return text
    made = Text(text)
    made.truncate(max(1, width), overflow="ellipsis")
    return made.plain


def tokens(number: int) -> str:
    """A number of tokens in at most five characters."""
    if number < 1000:
        return str(number)
    if number < 999_500:
        return f"{number / 1000:.1f}k" if number < 99_950 else f"{number / 1000:.0f}k"
    return f"{number / 1e6:.1f}M"


def seconds(duration: float) -> str:
    """A duration as `0.8s` or `2m05s`."""
    return f"{duration:.1f}s" if duration < 99.95 else f"{round(duration) // 60}m{round(duration) % 60:02}s"


def _can_say(text: str, encoding: str) -> bool:
    try:
        text.encode(encoding)
    except (UnicodeEncodeError, LookupError):
        return False
    return True
