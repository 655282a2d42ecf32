"""What `graph` prints or writes: the state machine as mermaid text, SVG, PNG, or text for a terminal."""

import sys
from pathlib import Path
from typing import Literal, TypeAlias

import typer

from loopwright.errors import UsageError

Format: TypeAlias = Literal["mermaid", "svg", "ascii", "png"]


def draw(picture: Format | None, file: Path | None) -> None:
    """Print the machine, or write it to a file; no picture needs a network.

    Where no format is named, a person at a terminal gets text, anything else mermaid. Raises UsageError where a file
    cannot be written, or none is named for a PNG.
    """
    if picture is None:
        picture = "ascii" if file is None and sys.stdout.isatty() else "mermaid"
    data = _picture(picture)
    if file is not None:
        try:
            file.write_bytes(data if isinstance(data, bytes) else f"{data}\n".encode())
        except OSError as error:
            raise UsageError(f"{file} cannot be written ({error.strerror}): name another file with -o.") from error
    elif isinstance(data, str):
        typer.echo(data)
    elif sys.stdout.isatty():
        raise UsageError("A PNG is nothing for a terminal: name a file with -o machine.png.")
    else:
        sys.stdout.buffer.write(data)


def _picture(picture: Format) -> str | bytes:
    """The picture itself; each way of drawing is imported when it is asked for."""
    if picture == "mermaid":
        from loopwright import build_graph
        from loopwright_studio.configuration import OFFLINE

        drawn: str = build_graph(OFFLINE).get_graph().draw_mermaid()
        return drawn.replace("<em>description = ", "<em>").rstrip()
    from loopwright_studio import pictures

    if picture == "png":
        return pictures.machine_png()
    if picture == "svg":
        return pictures.svg_file().rstrip()
    reads_unicode = (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"
    return pictures.machine_text(ascii_only=not reads_unicode)
