"""What somebody sees who looks at a terminal: the few escape sequences that the live view writes, carried out."""

import re

from rich.cells import cell_len

from loopwright_studio.console import GLYPHS

WENT_ON = re.compile(rf"\s*{GLYPHS['guard']} guard {GLYPHS['ok']} \w+( \(\d+ run\))?")
"""A decision that let the run go on: of all that prints steps, `show --all` alone has it."""
PIECES = re.compile(r"\x1b\[(?:\?\d+)?[\d;]*[A-Za-z]|[\r\n]|[^\x1b\r\n]+")


def seen(written: str, width: int = 80) -> list[str]:
    """The lines of an endless screen on which this was written. Every line has to fit."""
    lines, row, column = [""], 0, 0
    for piece in PIECES.findall(written.replace("\r\n", "\n")):
        if piece == "\r":
            column = 0
        elif piece == "\n":
            row, column = row + 1, 0
            lines += [""] * (row + 1 - len(lines))
        elif piece == "\x1b[J":
            lines[row:] = [lines[row][:column]]
        elif piece == "\x1b[2A":
            row = max(0, row - 2)
        elif piece[0] == "\x1b":
            assert piece[-1] == "m", f"only colours, clearing and going up are known: {piece!r}"
        else:
            lines[row] = lines[row][:column].ljust(column) + piece + lines[row][column + len(piece) :]
            column += len(piece)
            assert cell_len(lines[row]) <= width, f"the terminal would break {lines[row]!r}"
    return lines
