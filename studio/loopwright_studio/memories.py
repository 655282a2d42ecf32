"""What is kept of users across threads, in the terminal: listed and deleted."""

import sys
from collections.abc import Sequence
from typing import Any

import typer

from loopwright.builtins import Memory, forget, memories
from loopwright.errors import UsageError
from loopwright.steps import drive
from loopwright.storage import open_storage, place_of
from loopwright_studio.configuration import load_settings
from loopwright_studio.console import Screen
from loopwright_studio.visible import one_line, visible


def stored_memories(url: str, user: str | None) -> list[Memory]:
    """What is kept of a user, or of all, the newest first; no storage is created for it. Raises StorageError."""
    if not place_of(url).exists():
        return []
    with open_storage(url) as storage:
        return drive(memories(storage.store, user))


def memory_data(memory: Memory) -> dict[str, Any]:
    """A fact as plain data; the time in ISO form."""
    return {
        "user": memory.user,
        "key": memory.key,
        "text": memory.text,
        "thread": memory.thread,
        "kept_at": memory.kept_at.isoformat(),
    }


def print_memories(screen: Screen, kept: Sequence[Memory]) -> None:
    """One line a fact; times are local."""
    if not kept:
        screen.say("No memories.")
        return
    lines = [
        (each.user, each.key, f"{each.kept_at.astimezone():%Y-%m-%d %H:%M}", each.thread, each.text) for each in kept
    ]
    screen.columns(("user", "key", "kept", "thread", "fact"), [[*map(one_line, line)] for line in lines])


def delete_memories(storage: str | None, key: str | None, user: str | None, *, everything: bool, sure: bool) -> None:
    """Delete one fact, or all. Raises UsageError for what is not there or not clear, and where nobody can be asked."""
    if everything == (key is not None):
        raise UsageError("Say what to delete: one fact by the key that `loopwright memory list` shows, or --all.")
    url = load_settings({"storage": storage})[0].storage
    chosen = [each for each in stored_memories(url, user) if everything or each.key == key]
    _check(chosen, key)
    if not sure:
        if not sys.stdin.isatty():
            raise UsageError("Deleting memories cannot be undone: add --yes where nobody can be asked.")
        typer.confirm(f"Delete {_named(chosen)} for good?", abort=True, err=True)
    with open_storage(url) as opened:
        drive(forget(opened.store, chosen))
    typer.echo(f"Deleted {_named(chosen)}.", err=True)


def _check(chosen: Sequence[Memory], key: str | None) -> None:
    if not chosen:
        what = "memory to delete" if key is None else f"memory {key!r}"
        raise UsageError(f"There is no {what}: `loopwright memory list` shows what is kept.")
    if key is not None and len(chosen) > 1:
        raise UsageError(f"Several users have the memory {key!r}: say whose with --user.")


def _named(chosen: Sequence[Memory]) -> str:
    if len(chosen) == 1:
        return f"the memory {visible(chosen[0].text)!r} of {visible(chosen[0].user)}"
    return f"{len(chosen)} memories of {', '.join(sorted({visible(each.user) for each in chosen}))}"
