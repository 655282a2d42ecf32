"""Command lines of ours that can be pasted into a shell."""

import re
import shlex
from collections.abc import Mapping

from loopwright.storage import place_of
from loopwright_studio.visible import visible

REPEATED = ("model", "base_url", "workspace", "user", "preset")
"""Options that a run was given and that going on with it needs again: nothing of them is kept with the thread."""
_PASSWORD = re.compile("//[^/@]*@")


def command(
    name: str,
    thread: str,
    storage: str | None,
    *more: str,
    before: tuple[str, ...] = (),
    again: tuple[str, ...] = (),
) -> str:
    """A command line that can be pasted; `storage` is what was given on this one, shown without a password.

    `again` are the other options that were given and that it needs too (`repeated`).
    """
    shown = place_of(storage).url if storage and "@" in storage else storage
    words = [*before, thread, *more, *again, *(["--storage", shown] if shown else [])]
    return " ".join(["loopwright", name, *(shlex.quote(visible(word)) for word in words)])


def repeated(arguments: Mapping[str, object]) -> tuple[str, ...]:
    """The options among these arguments that a command which goes on with the thread repeats; no password in a URL."""
    given = [(name, str(arguments[name])) for name in REPEATED if arguments.get(name) is not None]
    return tuple(
        word
        for name, value in given
        for word in (f"--{name.replace('_', '-')}", _PASSWORD.sub("//***@", value) if name == "base_url" else value)
    )
