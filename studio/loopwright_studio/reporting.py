"""What `report` does: writes a thread's page as one HTML file."""

import re
import webbrowser
from pathlib import Path

import typer

from loopwright.errors import UsageError
from loopwright_studio.configuration import load_settings
from loopwright_studio.page import CHARACTERS, build_page
from loopwright_studio.stored import stored_report
from loopwright_studio.visible import one_line


def write_page(storage: str | None, thread: str, file: Path | None, *, show: bool) -> None:
    """Write the page, readable by its owner alone, and open it where asked; `-` prints it.

    Without a `file` it gets the thread's name in this folder. Raises UnknownThread and UsageError.
    """
    configuration, _ = load_settings({"storage": storage})
    report = stored_report(configuration, thread, CHARACTERS)
    if not report.runs:
        raise UsageError(f"Nothing has happened on thread {thread!r} yet: run a task on it first.")
    page = build_page(report, storage)
    if str(file) == "-":
        typer.echo(page)
        return
    path = file or Path(file_name(thread))
    try:
        path.touch(mode=0o600)
        path.write_text(page, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{path} cannot be written ({error.strerror}): name another file with -o.") from error
    typer.echo(f"Wrote {one_line(str(path.resolve()))}.", err=True)
    if show:
        webbrowser.open(path.resolve().as_uri())


def file_name(thread: str) -> str:
    """A file's name for a thread's page: what a file system may not like becomes a hyphen."""
    plain = re.sub(r"[^\w.-]+", "-", thread).strip("-.")[:80]
    return f"{plain or 'run'}.html"
