"""Names of files and folders as people write them into a sentence."""

import re
from dataclasses import dataclass

from loopwright.language import HAN

_QUOTED = r"[\"“'`‘「《]([^\"“”'`‘’「」《》\n]*\.[A-Za-z][A-Za-z0-9]{0,5})[\"”'`’」》]"
_BARE = r"([\w./~-]*\w\.[A-Za-z][A-Za-z0-9]{0,5})(?![A-Za-z0-9_])"
FILE = re.compile(f"{_QUOTED}|{_BARE}")
"""A file's name: a stem and an extension, quoted or not."""

_NO_FILE = re.compile(r"(?:\w\.\w|.*\.(?:com|org|net|io))$", re.I)
_GLUED = re.compile(rf"[{HAN}]([A-Za-z0-9_~][A-Za-z0-9_./~-]*\.[A-Za-z][A-Za-z0-9]*)$")
_VERBS = re.compile("^(?:请|帮我|先|读取|打开|查看|显示|看看|看一下|读一下|计算)+")
_FOLDER = re.compile(
    r"\b(?:in|inside|under|from|at|of)\s+(?:the\s+)?(?:folder\s+|directory\s+)?[\"'`]?"
    r"((?:[\w.-]+/)+[\w.-]*|[\w-]+(?=[\"'`]?\s+(?:folder|directory)\b)|(?<=folder )[\w-]+|(?<=directory )[\w-]+)"
)
_FOLDER_ZH = re.compile(
    r"((?:[A-Za-z0-9_.-]+/)+[A-Za-z0-9_.-]*|[A-Za-z0-9_-]+(?=\s*(?:目录|文件夹)))\s*(?:目录|文件夹)?\s*(?:里|中|下|的)"
)


@dataclass(frozen=True)
class FileName:
    """A file as the user named it: its name, and the folder said beside it."""

    name: str
    folder: str = ""

    @property
    def path(self) -> str:
        """The path to try first."""
        return f"{self.folder.rstrip('/')}/{self.name}" if self.folder else self.name

    @property
    def is_table(self) -> bool:
        """Whether its extension is one of a table's."""
        return self.name.lower().endswith((".csv", ".tsv", ".json", ".jsonl"))


def file_in(text: str) -> FileName | None:
    """The first file that the text names, or None."""
    for match in FILE.finditer(text):
        if match[1]:
            return FileName(match[1].strip(), folder_in(FILE.sub(" ", text)))
        name = match[2] if match.start() and text[match.start() - 1].isspace() else _unglued(match[2])
        if not _NO_FILE.match(name):
            return FileName(name, "" if "/" in name else folder_in(FILE.sub(" ", text)))
    return None


def _unglued(name: str) -> str:
    """The name without the Chinese words written in front of it without a space."""
    glued = _GLUED.search(name)
    return glued[1] if glued else _VERBS.sub("", name)


def folder_in(text: str) -> str:
    """The folder that the text names ("in examples/workspace", "the data folder"), or an empty text."""
    match = _FOLDER.search(text) or _FOLDER_ZH.search(text)
    return match[1].rstrip("/.") if match else ""


def without_files(text: str) -> str:
    """The text with every file's and folder's name taken out."""
    return _FOLDER_ZH.sub(" ", _FOLDER.sub(" ", FILE.sub(" ", text)))
