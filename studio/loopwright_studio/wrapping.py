"""Long texts broken into lines for a terminal, Chinese ones between any two characters, as is usual there."""

import re

from rich.cells import cell_len, chop_cells

_HAN = "\u2e80-\u2fff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\uff01-\uff60"
_OPENING, _CLOSING = "（「『【《〈“‘", "、。，．：；？！）」』】》〉”’…%,.;:?!)"
_PIECES = re.compile(rf"\s+|[{_OPENING}]*[{_HAN}][{re.escape(_CLOSING)}]*|[^\s{_HAN}{_OPENING}]+[{_CLOSING[:10]}]*|.")
"""White space, a Chinese character with the marks that stay with it, or a word."""


def wrapped(text: str, width: int) -> str:
    """The text in lines of at most these cells; what is wider without a place to break is broken where it has to."""
    return "\n".join(each for line in text.split("\n") for each in _lines(line, max(2, width)))


def _lines(line: str, width: int) -> list[str]:
    if cell_len(line) <= width:
        return [line]
    lines = [""]
    for piece in _PIECES.findall(line):
        for part in [piece] if cell_len(piece) <= width else chop_cells(piece, width):
            if cell_len(lines[-1] + part) <= width:
                lines[-1] += part
            elif not part.isspace():
                lines.append(part)
    return [each.rstrip() for each in lines]
