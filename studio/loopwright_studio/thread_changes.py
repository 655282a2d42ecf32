"""What `threads delete`, `prune`, `export` and `import` do."""

import sys
from pathlib import Path

import typer

from loopwright.errors import UsageError
from loopwright.storage import open_storage, place_of
from loopwright.threads import ThreadFile, delete, export_thread, import_thread, prune
from loopwright_studio.agents import existing
from loopwright_studio.command_lines import command
from loopwright_studio.configuration import load_settings
from loopwright_studio.visible import visible


def delete_thread(storage: str | None, thread: str, *, sure: bool) -> None:
    """Delete a thread that nobody runs. Raises ThreadBusy, UnknownThread, and UsageError where nobody can be asked."""
    url = existing(_url(storage))
    if not sure:
        if not sys.stdin.isatty():
            raise UsageError(f"Deleting thread {thread!r} cannot be undone: add --yes where nobody can be asked.")
        typer.confirm(f"Delete thread {visible(thread)} for good?", abort=True, err=True)
    place = place_of(url)
    with place.claim(thread), place.open() as opened:
        delete(opened, thread)
    typer.echo(f"Deleted {visible(thread)}.", err=True)


def prune_thread(storage: str | None, thread: str, into: str) -> None:
    """Copy where a thread stands into a new one. Raises UnknownThread and UsageError."""
    place = place_of(existing(_url(storage)))
    with place.claim(thread), place.claim(into), place.open() as opened:
        prune(opened, thread, into)
    typer.echo(f"Go on with: {command('resume', into, storage)}", err=True)
    typer.echo(f"The old one is there still: {command('threads delete', thread, storage)}", err=True)


def write_thread(storage: str | None, thread: str, file: Path | None) -> None:
    """Write a thread's file, readable by its owner alone, or print it. Raises UnknownThread and UsageError."""
    with open_storage(existing(_url(storage))) as opened:
        text = export_thread(opened, thread).dumps()
    if file is None:
        typer.echo(text)
        return
    try:
        file.touch(mode=0o600)
        file.write_text(text + "\n", encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{file} cannot be written ({error.strerror}): name another file.") from error


def read_thread(storage: str | None, file: Path, thread: str | None) -> None:
    """Write the thread of a file into the storage. Raises UsageError."""
    try:
        text = sys.stdin.read() if str(file) == "-" else file.read_text(encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{file} cannot be read ({error.strerror}): name another file.") from error
    except ValueError as error:
        raise UsageError(f"{file} is no text in UTF-8: name a file that `threads export` wrote.") from error
    with open_storage(_url(storage)) as opened:
        name = import_thread(opened, ThreadFile.loads(text), thread)
    typer.echo(f"Go on with: {command('resume', name, storage)}", err=True)


def _url(storage: str | None) -> str:
    return load_settings({"storage": storage})[0].storage
