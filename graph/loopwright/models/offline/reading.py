"""Opening a file by a tool: as the user named it, and on an error once more where a listing shows it."""

from collections.abc import Callable, Generator
from typing import NamedTuple

from loopwright.models.offline.history import Call, Outcome
from loopwright.models.offline.listing import files_listed
from loopwright.models.offline.paths import FileName
from loopwright.models.offline.plan import Desk
from loopwright.models.offline.wording import say

FOLDERS_SEARCHED = 4
"""Folders of the workspace that are looked into for a file that does not stand at the top."""
NAMES_SHOWN = 12


class Opened(NamedTuple):
    """The outcome, the path that was opened, and a remark on how it was found."""

    path: str
    outcome: Outcome
    note: str = ""

    @property
    def failed(self) -> bool:
        """Whether the file could not be opened; `note` then says what was tried."""
        return self.outcome.failed


def opened(
    desk: Desk, file: FileName, attempt: Callable[[str], Call]
) -> Generator[tuple[Call, ...], list[Outcome], Opened]:
    """The file opened by the call that `attempt` makes of a path: tried as named, then where it is found."""
    [outcome] = yield (attempt(file.path),)
    if not outcome.failed:
        return Opened(file.path, outcome)
    if "list_files" not in desk.tools:
        return Opened(file.path, outcome)
    [top] = yield (Call("list_files"),)
    if top.failed:
        return Opened(file.path, outcome, say(desk.language, "file_look_failed", error=top.text))
    names = list(files_listed(top.text))
    found = _match(file.name, names)
    folders = [name.rstrip("/") for name in names if name.endswith("/")][:FOLDERS_SEARCHED]
    if found is None and folders:
        inside = yield tuple(Call("list_files", {"path": folder}) for folder in folders)
        for folder, listing in zip(folders, inside, strict=True):
            names += [_below(folder, name) for name in files_listed(listing.text) if not listing.failed]
        found = _match(file.name, names)
    if found in (None, file.path):
        shown = ", ".join(name for name in names if not name.endswith("/")) if found is None else ""
        looked = say(desk.language, "file_looked", files=_head(shown)) if found is None else ""
        return Opened(file.path, outcome, looked)
    path = str(found)
    [again] = yield (attempt(path),)
    return Opened(path, again, say(desk.language, "file_adapted", asked=file.path))


def _below(folder: str, name: str) -> str:
    return name if name.startswith(f"{folder}/") else f"{folder}/{name}"


def _match(wanted: str, names: list[str]) -> str | None:
    """The one file listed whose last name is the wanted one, else ends like it or has it as its stem; case aside."""
    files = [name for name in names if not name.endswith("/")]
    last = wanted.rsplit("/", 1)[-1].lower()
    for fits in (str.__eq__, str.endswith):
        matching = [name for name in files if fits(name.rsplit("/", 1)[-1].lower(), last)]
        if len(matching) == 1:
            return matching[0]
    return None


def _head(text: str) -> str:
    names = text.split(", ")
    return ", ".join(names[:NAMES_SHOWN]) + (", ..." if len(names) > NAMES_SHOWN else "")
