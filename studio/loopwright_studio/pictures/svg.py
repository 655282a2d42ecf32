"""The machine as SVG: with classes for the page's colours, or with literal colours as a file of its own."""

from collections.abc import Mapping
from math import log10
from types import MappingProxyType

from markupsafe import Markup

from loopwright_studio.pictures.layout import BOXES, COLUMNS, EDGES, ROWS, Box, Edge, Point

CELL_WIDTH, CELL_HEIGHT, MARGIN = 6.6, 15, 8
"""Pixels of a cell, and around the picture."""
WIDTH, HEIGHT = round(COLUMNS * CELL_WIDTH + 2 * MARGIN), ROWS * CELL_HEIGHT + 2 * MARGIN
LABEL = "The machine: the guard in the middle, and the nodes that it leads to"
HEAD = 7
"""Pixels of an arrow head."""

_FILE_STYLE = (
    "text{font:12.5px 'DejaVu Sans',Verdana,sans-serif;fill:#1d1c1a;text-anchor:middle}"
    "text.note{font-size:11px;fill:#5d5b57}"
    "rect.paper{fill:#fff}.box rect{fill:#fff;stroke:#5d5b57;stroke-width:1.6}"
    ".edge path{fill:none;stroke:#5d5b57;stroke-width:1.5}.edge polygon{fill:#5d5b57}"
    ".choice path{stroke-dasharray:4 3}"
    ".call_model rect{stroke:#3b55d9}.execute_tools rect{stroke:#0a7a6c}.compress_memory rect{stroke:#955800}"
    ".guard rect{stroke:#852c9b;stroke-width:2.2}.ask rect{stroke:#0b6a9e}"
)
"""The palette of a file: literal, since not every program that draws SVG knows variables and media queries."""


def machine_svg(
    counts: Mapping[tuple[str, str], int] | None = None,
    way_out: bool = False,
    words: Mapping[str, str] = MappingProxyType({}),
) -> Markup:
    """The picture as one `<svg>` element without colours; classes name what a style can paint.

    With `counts`, how often each edge was taken: it stands beside it and decides its width; unused edges have the class
    `unused`. `way_out` marks the edges behind the guard's last decision. `words` says what stands for its texts.
    """
    body = [_edge(edge, counts, way_out) for edge in EDGES] + [_box(box, words) for box in BOXES]
    start = f'<svg class="machine" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{words.get(LABEL, LABEL)}">'
    return Markup(start + "".join(body) + "</svg>")


def svg_file() -> str:
    """The picture as a file of its own, on white."""
    picture = str(machine_svg()).replace(
        "<svg ", f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" ', 1
    )
    style = f'<style>{_FILE_STYLE}</style><rect class="paper" width="{WIDTH}" height="{HEIGHT}"/>'
    start, bracket, rest = picture.partition(">")
    return f"{start}{bracket}{style}{rest}\n"


def _pixel(at: Point) -> tuple[float, float]:
    """The middle of a cell."""
    return MARGIN + (at.column + 0.5) * CELL_WIDTH, MARGIN + (at.row + 0.5) * CELL_HEIGHT


def _box(box: Box, words: Mapping[str, str]) -> str:
    left, top = _pixel(box.at)
    width, height = (box.width - 1) * CELL_WIDTH, (box.height - 1) * CELL_HEIGHT
    radius = 7
    if not box.framed:
        height, radius = 20, 10
        top -= height / 2
        left, width = (left, width + 12) if box.name == "__end__" else (left - 4, width + 8)
    middle = left + width / 2
    lines = [(text.strip(), number) for number, text in enumerate(box.lines) if text.strip()]
    first = top + height / 2 + 4.5 - (len(box.lines) - 1) * CELL_HEIGHT / 2
    texts = "".join(
        f'<text{_note(number, box)} x="{middle:g}" y="{first + number * CELL_HEIGHT:g}">'
        f"{words.get(text, text.replace('_', ' '))}</text>"
        for text, number in lines
    )
    rect = f'<rect x="{left:g}" y="{top:g}" width="{width:g}" height="{height:g}" rx="{radius}"/>'
    return f'<g class="box {box.name}">{rect}{texts}</g>'


def _note(number: int, box: Box) -> str:
    return "" if box.framed and not number else ' class="note"'


def _edge(edge: Edge, counts: Mapping[tuple[str, str], int] | None, way_out: bool) -> str:
    (x, y), (end_x, end_y) = _ends(edge)
    across = (end_x > x) - (end_x < x)
    down = (end_y > y) - (end_y < y)
    count = counts.get(edge.pair, 0) if counts is not None else None
    width = 1.5 if not count else min(4.0, 1.5 + 0.8 * log10(count))
    classes = ["edge", *(["choice"] if edge.conditional else []), *(["unused"] if count == 0 else [])]
    classes += ["out"] if way_out and "finish" in edge.pair and count else []
    path = f'<path d="M{x:g} {y:g}L{end_x - across * HEAD:g} {end_y - down * HEAD:g}" stroke-width="{width:.2g}"/>'
    return f'<g class="{" ".join(classes)}">{path}{_head(end_x, end_y, across, down)}{_count(edge, count)}</g>'


def _ends(edge: Edge) -> tuple[tuple[float, float], tuple[float, float]]:
    """Where it begins and ends in pixels: START and END are taller as pills than as words."""
    (x, y), (end_x, end_y) = _pixel(edge.start), _pixel(edge.end)
    return (x, y + 10 if edge.source == "__start__" else y), (end_x, end_y)


def _head(x: float, y: float, across: int, down: int) -> str:
    back_x, back_y = x - across * HEAD, y - down * HEAD
    side_x, side_y = (down * 3.5, across * 3.5)
    points = f"{x:g},{y:g} {back_x + side_x:g},{back_y + side_y:g} {back_x - side_x:g},{back_y - side_y:g}"
    return f'<polygon points="{points}"/>'


def _count(edge: Edge, count: int | None) -> str:
    """How often it was taken: above a way from the guard, below one that comes back, beside one that goes down."""
    if not count:
        return ""
    (x, y), (end_x, end_y) = _ends(edge)
    middle, height = (x + end_x) / 2, (y + end_y) / 2
    if x == end_x:
        return f'<text class="count beside" x="{middle + 8:g}" y="{height + 4:g}">{count:,}</text>'
    return f'<text class="count" x="{middle:g}" y="{height + (-6 if edge.conditional else 15):g}">{count:,}</text>'
