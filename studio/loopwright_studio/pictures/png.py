"""The machine as PNG, drawn by resvg where that is installed."""

from collections.abc import Callable
from importlib import import_module
from importlib.resources import as_file, files

from loopwright.errors import UsageError
from loopwright_studio.pictures.svg import svg_file

SCALE = 2.0
"""Pixels of the PNG for one of the SVG."""


def machine_png() -> bytes:
    """The picture as a PNG file, 2 pixels for one. Raises UsageError where resvg-py is not installed."""
    try:
        draw: Callable[..., bytes] = import_module("resvg_py").svg_to_bytes
    except ImportError:
        raise UsageError(
            "A PNG is drawn by resvg-py, which is not installed: pip install 'loopwright[png]', or use --format svg."
        ) from None
    # the font is shipped: without one of its name the labels would vanish without a word
    with as_file(files("loopwright_studio.pictures") / "DejaVuSans-subset.ttf") as font:
        return bytes(
            draw(
                svg_string=svg_file(),
                zoom=SCALE,
                skip_system_fonts=True,
                font_files=[str(font)],
                font_family="DejaVu Sans",
            )
        )
