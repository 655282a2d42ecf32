"""The pictures of the machine: one table, held equal to the graph, drawn as text, SVG and PNG."""

import xml.etree.ElementTree as ET
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import pytest
from typer.testing import Result

from loopwright import build_graph
from loopwright_studio.pictures import BOXES, EDGES, machine_png, machine_svg, machine_text, svg_file

ROOT = Path(__file__).parents[2]
SVG = "{http://www.w3.org/2000/svg}"


def test_the_table_is_the_graph() -> None:
    """Boxes are the graph's nodes, edges its edges, dashed ones its conditional ones."""
    drawn = build_graph("offline:demo").get_graph()
    assert {box.name for box in BOXES} == set(drawn.nodes)
    assert {edge.pair for edge in EDGES} == {(edge.source, edge.target) for edge in drawn.edges}
    assert {edge.pair for edge in EDGES if edge.conditional} == {
        (edge.source, edge.target) for edge in drawn.edges if edge.conditional
    }
    assert len({edge.pair for edge in EDGES}) == len(EDGES)


def test_every_edge_begins_and_ends_at_its_boxes() -> None:
    """The two ends of an edge lie on the borders of the boxes that it names, and it is straight."""
    boxes = {box.name: box for box in BOXES}
    for edge in EDGES:
        assert edge.start.row == edge.end.row or edge.start.column == edge.end.column, edge
        for name, point in ((edge.source, edge.start), (edge.target, edge.end)):
            box = boxes[name]
            assert box.at.column <= point.column < box.at.column + box.width, edge
            assert box.at.row <= point.row < box.at.row + box.height, edge


def test_the_text_fits_a_terminal() -> None:
    """At most 80 columns, no trailing space, every label whole, as many arrow heads as edges."""
    text = machine_text()
    assert max(map(len, text.splitlines())) <= 80
    assert all(line == line.rstrip() for line in text.splitlines())
    assert all(line.strip() in text for box in BOXES for line in box.lines)
    assert sum(text.count(head) for head in "►◄▼") == len(EDGES)


def test_plain_text_is_ascii_and_as_large() -> None:
    """The twin for a terminal that has no box characters has the same lines."""
    plain = machine_text(ascii_only=True)
    assert plain.isascii()
    assert [len(line) for line in plain.splitlines()] == [len(line) for line in machine_text().splitlines()]


def test_mermaid_says_what_nodes_do_in_plain_words(invoke: Callable[..., Result]) -> None:
    """A node's description stands under its name, without the name of the field that it came from."""
    drawn = invoke("graph", "--format", "mermaid").stdout
    assert "<em>The only call of the model" in drawn
    assert "description" not in drawn


def test_the_readme_shows_the_same_picture() -> None:
    """The picture in README.md is the one that is drawn from the table."""
    assert machine_text() in (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_svg_is_well_formed_and_whole() -> None:
    """A group a box and an edge; dashed where conditional; every label stands inside its box."""
    picture = ET.fromstring(svg_file())
    groups = [group.get("class", "").split() for group in picture.iter(f"{SVG}g")]
    assert sum("box" in each for each in groups) == len(BOXES)
    assert sum("edge" in each for each in groups) == len(EDGES)
    assert sum("choice" in each for each in groups) == sum(edge.conditional for edge in EDGES)
    for group in picture.iter(f"{SVG}g"):
        rect = group.find(f"{SVG}rect")
        if rect is not None:
            left, top = float(rect.get("x", "")), float(rect.get("y", ""))
            for label in group.iter(f"{SVG}text"):
                assert left < float(label.get("x", "")) < left + float(rect.get("width", ""))
                assert top < float(label.get("y", "")) < top + float(rect.get("height", ""))


def test_counts_stand_beside_their_edges() -> None:
    """With counts, used edges show how often they were taken and unused ones are marked."""
    picture = machine_svg({("guard", "call_model"): 1234}, way_out=True)
    assert ">1,234</text>" in picture
    assert picture.count("unused") == len(EDGES) - 1


def test_a_file_uses_no_variables() -> None:
    """What programs other than browsers do not know stays out of a file: variables, light-dark, markers."""
    assert not any(word in svg_file() for word in ("var(", "light-dark", "marker", "currentColor"))


@pytest.mark.skipif(find_spec("resvg_py") is None, reason="resvg-py is not installed: uv sync --extra png")
def test_the_png_has_labels() -> None:
    """A PNG of twice the size, drawn with the shipped font: without a font its labels would be missing."""
    picture = machine_png()
    assert picture.startswith(b"\x89PNG")
    assert len(picture) > 15_000


def test_graph_draws_each_format(invoke: Callable[..., Result], folder: Path) -> None:
    """`graph --format` prints or writes; a PNG without its extra, or into a terminal, is refused in one sentence."""
    assert invoke("graph", "--format", "ascii").stdout == machine_text() + "\n"
    assert invoke("graph", "-f", "svg", "-o", "m.svg").exit_code == 0
    assert (folder / "m.svg").read_text(encoding="utf-8") == svg_file()
    refused = invoke("graph", "-f", "svg", "-o", "nowhere/m.svg")
    assert refused.exit_code == 2
    assert "nowhere/m.svg cannot be written" in refused.stderr
    if find_spec("resvg_py") is None:
        missing = invoke("graph", "-f", "png", "-o", "m.png")
        assert (missing.exit_code, "resvg-py" in missing.stderr) == (2, True)
