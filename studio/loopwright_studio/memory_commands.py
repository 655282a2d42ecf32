"""The commands `loopwright memory`: list, delete."""

from typing import Annotated, TypeAlias

import typer

from loopwright_studio import options
from loopwright_studio.failures import SentenceCommand

memory = typer.Typer(help="What is kept of users across threads.", no_args_is_help=True, rich_markup_mode=None)

UserOption: TypeAlias = Annotated[
    str | None, typer.Option("--user", metavar="ID", help="Of this user only; else of all.")
]


@memory.command("list", cls=SentenceCommand)
def list_memories(
    user: UserOption = None,
    storage: options.StorageOption = None,
    as_json: options.JsonOption = False,
) -> None:
    """List the facts that were kept, the newest first."""
    from loopwright_studio.configuration import load_settings
    from loopwright_studio.console import Screen
    from loopwright_studio.memories import memory_data, print_memories, stored_memories
    from loopwright_studio.visible import json_line

    configuration, _ = load_settings({"storage": storage})
    found = stored_memories(configuration.storage, user)
    if as_json:
        typer.echo(json_line([memory_data(each) for each in found]))
    else:
        print_memories(Screen(), found)


@memory.command(cls=SentenceCommand)
def delete(
    key: Annotated[str | None, typer.Argument(help="The fact, by its key in `list`.")] = None,
    everything: Annotated[bool, typer.Option("--all", help="All facts instead of one.")] = False,
    user: UserOption = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    storage: options.StorageOption = None,
) -> None:
    """Delete a fact, or all of them."""
    from loopwright_studio.memories import delete_memories

    delete_memories(storage, key, user, everything=everything, sure=yes)
