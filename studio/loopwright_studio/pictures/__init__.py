"""Pictures of the machine: one table of boxes and edges, drawn as SVG, PNG and text."""

from loopwright_studio.pictures.layout import BOXES, EDGES, Box, Edge
from loopwright_studio.pictures.png import machine_png
from loopwright_studio.pictures.svg import machine_svg, svg_file
from loopwright_studio.pictures.text import machine_text

__all__ = ["BOXES", "EDGES", "Box", "Edge", "machine_png", "machine_svg", "machine_text", "svg_file"]
