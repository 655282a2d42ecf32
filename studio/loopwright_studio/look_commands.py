"""The commands that look at a thread and change nothing: show, report, history, effects."""

from pathlib import Path
from typing import Annotated

import typer

from loopwright_studio import options
from loopwright_studio.failures import SentenceCommand

looking = typer.Typer(rich_markup_mode=None)


@looking.command(cls=SentenceCommand)
def show(
    thread: Annotated[str, typer.Argument(help="The thread to look at.")],
    everything: Annotated[bool, typer.Option("--all", help="Print every round, also those that went well.")] = False,
    number: Annotated[int | None, typer.Option("--round", metavar="N", min=1, help="Print this round, whole.")] = None,
    follow: Annotated[bool, typer.Option("--follow", help="Print the rounds of a running thread as they end.")] = False,
    request: Annotated[bool, typer.Option("--request", help="Print the request that comes next, whole.")] = False,
    storage: options.StorageOption = None,
    as_json: options.JsonOption = False,
) -> None:
    """Show what happened on a thread: what did not go well, the rest folded; sums, the stop, and what waits."""
    from loopwright_studio.show_command import show_thread

    show_thread(storage, thread, everything=everything, number=number, follow=follow, request=request, as_json=as_json)


@looking.command(cls=SentenceCommand)
def report(
    thread: Annotated[str, typer.Argument(help="The thread to write the page of.")],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="The file; else THREAD.html; - is stdout.")
    ] = None,
    show: Annotated[bool, typer.Option("--open", help="Open it in the browser.")] = False,
    storage: options.StorageOption = None,
) -> None:
    """Write what happened on a thread as one HTML page: which step got stuck, why, and what to do."""
    from loopwright_studio.reporting import write_page

    write_page(storage, thread, output, show=show)


@looking.command(cls=SentenceCommand)
def history(
    thread: Annotated[str, typer.Argument(help="The thread to look back on.")],
    storage: options.StorageOption = None,
    as_json: options.JsonOption = False,
) -> None:
    """List the checkpoints of a thread, the newest last: `fork` goes on from each of them."""
    from loopwright_studio.agents import reading_agent
    from loopwright_studio.configuration import load_settings
    from loopwright_studio.console import Screen
    from loopwright_studio.history_list import history_data, print_history
    from loopwright_studio.visible import json_line

    configuration, _ = load_settings({"storage": storage})
    entries = reading_agent(configuration.storage).history(thread)
    if as_json:
        typer.echo(json_line([history_data(each) for each in entries]))
    else:
        print_history(Screen(), entries)


@looking.command(cls=SentenceCommand)
def effects(
    thread: Annotated[str, typer.Argument(help="The thread whose writes are listed.")],
    storage: options.StorageOption = None,
    as_json: options.JsonOption = False,
) -> None:
    """List what a thread did to the world: first what was started and has no known outcome."""
    from loopwright_studio.agents import reading_agent
    from loopwright_studio.configuration import load_settings
    from loopwright_studio.console import Screen
    from loopwright_studio.effect_list import journal_of, print_effects
    from loopwright_studio.visible import json_line

    configuration, _ = load_settings({"storage": storage})
    found = journal_of(configuration.storage, reading_agent(configuration.storage).report(thread))
    if as_json:
        typer.echo(json_line(found))
    else:
        print_effects(Screen(), found)
