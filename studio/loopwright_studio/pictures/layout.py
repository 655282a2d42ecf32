"""The machine laid out by hand: the boxes and edges that every picture of it is drawn from."""

from typing import NamedTuple

COLUMNS, ROWS = 73, 20
"""The size of the picture in the cells of a terminal."""


class Point(NamedTuple):
    """A cell, counted from the upper left."""

    column: int
    row: int


class Box(NamedTuple):
    """A node. `width` and `height` count its border; one without a border has the height 1 and is a mere word."""

    name: str
    at: Point
    width: int
    height: int
    lines: tuple[str, ...]
    """What stands in it; the first line is its label."""

    @property
    def framed(self) -> bool:
        """Whether it has a border: START and END have none."""
        return self.height > 1


class Edge(NamedTuple):
    """A straight way from one node's border to another's; `conditional` ones are the guard's choice."""

    source: str
    target: str
    start: Point
    end: Point
    conditional: bool = False

    @property
    def pair(self) -> tuple[str, str]:
        """Its two ends by name."""
        return self.source, self.target


GUARD = ("guard", "", "repeats, errors", "limits, budget", "every decision", "is an event", "")
BOXES = (
    Box("__start__", Point(33, 0), 7, 1, (" START ",)),
    Box("begin", Point(30, 2), 13, 3, ("begin",)),
    Box("guard", Point(27, 6), 19, 9, GUARD),
    Box("call_model", Point(0, 6), 20, 4, ("call_model", "the only call")),
    Box("compress_memory", Point(0, 11), 20, 4, ("compress_memory", "down to the budget")),
    Box("execute_tools", Point(53, 6), 20, 4, ("execute_tools", "one task a call")),
    Box("ask", Point(53, 11), 20, 4, ("ask", "waits for a person")),
    Box("finish", Point(27, 17), 19, 3, ("finish",)),
    Box("__end__", Point(53, 18), 5, 1, (" END ",)),
)  # fmt: skip
"""The nodes of `build_graph`, START and END."""

EDGES = (
    Edge("__start__", "begin", Point(36, 0), Point(36, 2)),
    Edge("begin", "guard", Point(36, 4), Point(36, 6)),
    Edge("guard", "call_model", Point(27, 7), Point(19, 7), conditional=True),
    Edge("call_model", "guard", Point(19, 8), Point(27, 8)),
    Edge("guard", "compress_memory", Point(27, 12), Point(19, 12), conditional=True),
    Edge("compress_memory", "guard", Point(19, 13), Point(27, 13)),
    Edge("guard", "execute_tools", Point(45, 7), Point(53, 7), conditional=True),
    Edge("execute_tools", "guard", Point(53, 8), Point(45, 8)),
    Edge("guard", "ask", Point(45, 12), Point(53, 12), conditional=True),
    Edge("ask", "guard", Point(53, 13), Point(45, 13)),
    Edge("guard", "finish", Point(36, 14), Point(36, 17), conditional=True),
    Edge("finish", "__end__", Point(45, 18), Point(53, 18)),
)
"""The edges of `build_graph`; a test compares them."""
