"""What a part of a task can ask for: one small class an intent."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

from loopwright.models.offline.paths import FileName
from loopwright.models.offline.places import Place

Operation: TypeAlias = Literal["sum", "mean", "count", "min", "max"]


@dataclass(frozen=True)
class Arithmetic:
    """Compute an expression; `@` in it is the number that an earlier part brings."""

    expression: str


@dataclass(frozen=True)
class TellTime:
    """Say what time or date it is at these places; UTC where none is named."""

    places: tuple[Place, ...]


@dataclass(frozen=True)
class ListFiles:
    """List a folder; an empty folder is the workspace itself."""

    folder: str = ""
    pattern: str = ""


@dataclass(frozen=True)
class ReadFile:
    """Read a file and show its beginning."""

    file: FileName


@dataclass(frozen=True)
class QuoteLines:
    """Quote the lines of a file that hold these words, or the line of this number (from 1)."""

    file: FileName | None
    words: tuple[str, ...] = ()
    line: int | None = None


@dataclass(frozen=True)
class Aggregate:
    """One number from a table; `asked` are the user's words, read again once the table's columns are known."""

    file: FileName | None
    operation: Operation
    asked: str


@dataclass(frozen=True)
class Unclear:
    """A part that no rule knows."""

    text: str


Intent: TypeAlias = Arithmetic | TellTime | ListFiles | ReadFile | QuoteLines | Aggregate | Unclear
