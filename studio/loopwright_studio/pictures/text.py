"""The machine as text of 73 columns, with box characters or in plain ASCII."""

from loopwright_studio.pictures.layout import BOXES, COLUMNS, EDGES, ROWS, Box, Edge, Point

_TO_ASCII = str.maketrans(
    {"┌": "+", "┐": "+", "└": "+", "┘": "+", "├": "+", "┤": "+", "┬": "+", "─": "-", "│": "|", "╌": ".", "╎": ":",
     "►": ">", "◄": "<", "▼": "v"}
)  # fmt: skip


def machine_text(*, ascii_only: bool = False) -> str:
    """The picture, lines without trailing spaces; dashed ways are the guard's choice."""
    canvas = [[" "] * COLUMNS for _ in range(ROWS)]
    for box in BOXES:
        _box(canvas, box)
    for edge in EDGES:
        _edge(canvas, edge)
    text = "\n".join("".join(row).rstrip() for row in canvas)
    return text.translate(_TO_ASCII) if ascii_only else text


def _box(canvas: list[list[str]], box: Box) -> None:
    column, row = box.at
    if not box.framed:
        _write(canvas, box.at, box.lines[0])
        return
    inner = box.width - 2
    _write(canvas, box.at, f"┌{'─' * inner}┐")
    for line in range(1, box.height - 1):
        text = box.lines[line - 1] if line <= len(box.lines) else ""
        _write(canvas, Point(column, row + line), f"│{text.center(inner)}│")
    _write(canvas, Point(column, row + box.height - 1), f"└{'─' * inner}┘")


def _edge(canvas: list[list[str]], edge: Edge) -> None:
    """The way between two borders: a tee where it leaves, an arrow head where it arrives."""
    (column, row), (end_column, end_row) = edge.start, edge.end
    if row == end_row:
        forward = 1 if end_column > column else -1
        way = range(column + forward, end_column, forward)
        for each in way:
            canvas[row][each] = "╌" if edge.conditional else "─"
        canvas[row][way[-1]] = "►" if forward == 1 else "◄"
        _tee(canvas, edge.start, "├" if forward == 1 else "┤")
    else:
        for each in range(row + 1, end_row):
            canvas[each][column] = "╎" if edge.conditional else "│"
        canvas[end_row][column] = "▼"
        _tee(canvas, edge.start, "┬")


def _tee(canvas: list[list[str]], at: Point, tee: str) -> None:
    if canvas[at.row][at.column] in "─│":  # a word has no border to branch from
        canvas[at.row][at.column] = tee


def _write(canvas: list[list[str]], at: Point, text: str) -> None:
    canvas[at.row][at.column : at.column + len(text)] = text
