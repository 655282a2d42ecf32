"""From a file's bytes to its text and lines, with the encoding found and named."""

import codecs
import re
from collections.abc import Iterable
from itertools import islice
from typing import NamedTuple

from langchain_core.tools import ToolException

MAX_CHARACTERS = 6_000
"""Characters of lines that one result shows: about 1,500 tokens of English, under the default cap of a result."""
CHARACTERS_JUDGED = 2_000
"""Characters beyond ASCII by which GB18030 is told from Latin-1."""

_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig", ""),
    (codecs.BOM_UTF32_LE, "utf-32", "UTF-32"),  # before UTF-16, whose mark begins it
    (codecs.BOM_UTF32_BE, "utf-32", "UTF-32"),
    (codecs.BOM_UTF16_LE, "utf-16", "UTF-16"),
    (codecs.BOM_UTF16_BE, "utf-16", "UTF-16"),
)
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1a\x1c-\x1f]")


class Decoded(NamedTuple):
    """A text, and what to say of its encoding: empty for UTF-8."""

    text: str
    encoding: str

    @property
    def lines(self) -> list[str]:
        """The lines as editors count them: ended by LF, CRLF or CR and nothing else."""
        lines = self.text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
        return lines[:-1] if lines[-1] == "" else lines


def titled(path: str, decoded: Decoded) -> str:
    """The path on one line, with the encoding behind it where that is a guess or unusual."""
    return printable(path) + (f" (decoded as {decoded.encoding})" if decoded.encoding else "")


def printable(text: str) -> str:
    """The text on one line: line ends, tabs, other control characters and what cannot be encoded as escapes."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)


def fitting(lines: Iterable[str]) -> list[str]:
    """The first lines, at least one where there are any, until MAX_CHARACTERS are full."""
    shown: list[str] = []
    room = MAX_CHARACTERS
    for line in lines:
        room -= len(line) + 1
        if shown and room < 0:
            break
        shown.append(line)
    return shown


def decode(data: bytes, path: str) -> Decoded:
    """The text of a file: by its byte order mark, else UTF-8, else GB18030, else Latin-1.

    Raises ToolException for a binary file: one with NUL bytes, or control characters in what is no UTF-8.
    """
    for mark, codec, name in _MARKS:
        if data.startswith(mark):
            return Decoded(data.decode(codec, errors="replace"), name)
    if b"\0" in data:
        raise _binary(data, path)
    for codec, name in (("utf-8", ""), ("gb18030", "GB18030")):
        try:
            text = data.decode(codec)
        except UnicodeDecodeError:
            continue
        if not name or _is_chinese(text):
            return Decoded(text, name)
    text = data.decode("latin-1")
    if _CONTROL.search(text):
        raise _binary(data, path)
    return Decoded(text, "Latin-1")


def _is_chinese(text: str) -> bool:
    """Whether most characters beyond ASCII are of GB2312, the common ones.

    A Latin-1 "é" and the letter behind it also decode as GB18030, but to a rare character.
    """
    if _CONTROL.search(text):
        return False
    judged = list(islice((c for c in text if not c.isascii()), CHARACTERS_JUDGED))
    common = sum(bool(c.encode("gb2312", errors="ignore")) for c in judged)
    return 2 * common >= len(judged)


def _binary(data: bytes, path: str) -> ToolException:
    start = data[:8].hex(" ")
    return ToolException(
        f"{path!r} is a binary file ({len(data)} bytes, beginning {start}), not text: read a text file instead."
    )
