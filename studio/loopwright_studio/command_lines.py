"""Command lines of ours that can be pasted into a shell."""

import shlex

from loopwright.storage import place_of
from loopwright_studio.visible import visible


def command(name: str, thread: str, storage: str | None, *more: str, before: tuple[str, ...] = ()) -> str:
    """A command line that can be pasted; `storage` is what was given on this one, shown without a password."""
    shown = place_of(storage).url if storage and "@" in storage else storage
    words = [*before, thread, *more, *(["--storage", shown] if shown else [])]
    return " ".join(["loopwright", name, *(shlex.quote(visible(word)) for word in words)])
