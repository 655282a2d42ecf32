"""The commands `loopwright threads`: list, search, prune, export, import, delete."""

from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from loopwright_studio import options
from loopwright_studio.failures import SentenceCommand

threads = typer.Typer(help="The threads of a storage.", no_args_is_help=True, rich_markup_mode=None)

ThreadArgument: TypeAlias = Annotated[str, typer.Argument(help="The thread.")]


@threads.command("list", cls=SentenceCommand)
def list_threads(
    waiting: Annotated[
        bool, typer.Option("--waiting", help="Only what waits for a person, and how to answer.")
    ] = False,
    storage: options.StorageOption = None,
    as_json: options.JsonOption = False,
) -> None:
    """List the threads, the newest first."""
    from loopwright_studio.configuration import load_settings
    from loopwright_studio.console import Screen
    from loopwright_studio.thread_list import print_threads, stored_threads, thread_data, waiting_questions
    from loopwright_studio.visible import json_line

    configuration, _ = load_settings({"storage": storage})
    if not waiting:
        found = stored_threads(configuration.storage)
        if as_json:
            typer.echo(json_line([thread_data(info) for info in found]))
        else:
            print_threads(Screen(), found)
        return
    from dataclasses import asdict

    from loopwright_studio.waiting import print_waiting

    questions = waiting_questions(configuration.storage)
    if as_json:
        typer.echo(json_line([asdict(question) for question in questions]))
    elif questions:
        print_waiting(Screen(), questions, storage)
    else:
        Screen().say("Nothing waits.")


@threads.command(cls=SentenceCommand)
def search(
    text: Annotated[str, typer.Argument(help="What a user or an answer said; upper and lower case are the same.")],
    storage: options.StorageOption = None,
    as_json: options.JsonOption = False,
) -> None:
    """List the threads in which this was said."""
    from loopwright.storage import place_of
    from loopwright.threads import search
    from loopwright_studio.agents import existing
    from loopwright_studio.configuration import load_settings
    from loopwright_studio.console import Screen
    from loopwright_studio.thread_list import print_threads, thread_data
    from loopwright_studio.visible import json_line

    configuration, _ = load_settings({"storage": storage})
    found = search(place_of(existing(configuration.storage)), text)
    if as_json:
        typer.echo(json_line([thread_data(info) for info in found]))
    else:
        print_threads(Screen(), found)


@threads.command(cls=SentenceCommand)
def delete(
    thread: ThreadArgument,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    storage: options.StorageOption = None,
) -> None:
    """Delete a thread with its journal and its results."""
    from loopwright_studio.thread_changes import delete_thread

    delete_thread(storage, thread, sure=yes)


@threads.command(cls=SentenceCommand)
def prune(
    thread: ThreadArgument,
    into: Annotated[str, typer.Argument(help="The new thread.")],
    storage: options.StorageOption = None,
) -> None:
    """Copy where a thread stands into a new one, without its history."""
    from loopwright_studio.thread_changes import prune_thread

    prune_thread(storage, thread, into)


@threads.command("export", cls=SentenceCommand)
def export_thread(
    thread: ThreadArgument,
    file: Annotated[Path | None, typer.Argument(help="Where to; without it stdout.")] = None,
    storage: options.StorageOption = None,
) -> None:
    """Write a thread with its journal and its results as one JSON file."""
    from loopwright_studio.thread_changes import write_thread

    write_thread(storage, thread, file)


@threads.command("import", cls=SentenceCommand)
def import_thread(
    file: Annotated[Path, typer.Argument(help="A file that `export` wrote; - reads stdin.")],
    thread: Annotated[str | None, typer.Option(help="Its name here; else the one it had.")] = None,
    storage: options.StorageOption = None,
) -> None:
    """Read a thread from a file that `export` wrote."""
    from loopwright_studio.thread_changes import read_thread

    read_thread(storage, file, thread)
