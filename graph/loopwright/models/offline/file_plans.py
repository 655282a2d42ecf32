"""Plans for listing a folder, showing a file, and quoting the lines that speak of something."""

import re
from collections.abc import Generator, Sequence
from typing import NamedTuple

from loopwright.models.offline.history import Arguments, Call, Outcome
from loopwright.models.offline.intents import ListFiles, QuoteLines, ReadFile
from loopwright.models.offline.plan import Desk, Finding, Plan
from loopwright.models.offline.reading import Opened, opened
from loopwright.models.offline.terms import holds
from loopwright.models.offline.wording import beginning, say

PAGES = 10
"""Pages of read_file that are searched for a line at most."""
LINES_QUOTED = 5
CHARACTERS_SHOWN = 1_500

_HEADER = re.compile(r"^\[(.+), lines (\d+)-(\d+) of (\d+)\]")
_CLIP = re.compile(r"^\[(?:…|\.\.\.).*\]?$|^\(.*offset=\d+.*\)$|^\[.*offset=\d+.*\]$")
_NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")


class Page(NamedTuple):
    """What one result of read_file shows: numbered lines, the number of the last one, and the file's total."""

    lines: tuple[tuple[int | None, str], ...]
    end: int
    total: int
    clipped: bool


def list_files_plan(desk: Desk, intent: ListFiles) -> Plan:
    """One listing; a folder that cannot be listed is answered with the error and the workspace's own files."""
    pattern: Arguments = {"pattern": intent.pattern} if intent.pattern else {}
    args: Arguments = {"path": intent.folder, **pattern} if intent.folder else pattern
    folder = intent.folder or say(desk.language, "workspace")
    [outcome] = yield (Call("list_files", args),)
    if not outcome.failed:
        return Finding(say(desk.language, "files", folder=folder, listing=outcome.text.strip()))
    failed = say(desk.language, "listing_failed", folder=folder, error=outcome.text)
    if not intent.folder:
        return Finding(failed)
    [top] = yield (Call("list_files", pattern),)
    workspace = say(desk.language, "workspace")
    instead = "" if top.failed else "\n" + say(desk.language, "files", folder=workspace, listing=top.text.strip())
    return Finding(failed + instead)


def read_file_plan(desk: Desk, intent: ReadFile) -> Plan:
    """The beginning of a file, as read_file gives it."""
    source = yield from opened(desk, intent.file, lambda path: Call("read_file", {"path": path}))
    if source.failed:
        return _failed(desk, source)
    page = read_page(source.outcome.text)
    text = "\n".join(line for _, line in page.lines)
    more = len(text) > CHARACTERS_SHOWN or page.end < page.total
    shown = beginning(text, CHARACTERS_SHOWN) + (say(desk.language, "content_more") if more else "")
    return Finding(say(desk.language, "content", path=source.path, note=source.note, text=shown))


def quote_plan(desk: Desk, intent: QuoteLines) -> Plan:
    """The lines of a file that hold the words asked for, page after page until some do."""
    if intent.file is None:
        return Finding(say(desk.language, "no_file_named", asked=", ".join(intent.words)))
    first: Arguments = {} if intent.line is None else {"offset": intent.line, "limit": 1}
    source = yield from opened(desk, intent.file, lambda path: Call("read_file", {"path": path, **first}))
    if source.failed:
        return _failed(desk, source)
    pages = [read_page(source.outcome.text)]
    if intent.line is not None:
        return _quoted(desk, source, pages[0].lines[:1])
    yield from _further_pages(source.path, pages, intent.words)
    lines = [line for page in pages for line in page.lines]
    full = [line for line in lines if all(holds(line[1], word) for word in intent.words)]
    some = [line for line in lines if any(holds(line[1], word) for word in intent.words)]
    clipped = say(desk.language, "clipped") if any(page.clipped for page in pages) else ""
    words = ", ".join(intent.words)
    if not some:
        text = say(desk.language, "not_quoted", path=source.path, note=source.note, words=words, count=len(lines))
        return Finding(text + clipped)
    finding = _quoted(desk, source, full or some)
    partly = "" if full else say(desk.language, "partly_quoted", words=words)
    return Finding(finding.text + partly + clipped, finding.value)


def _further_pages(path: str, pages: list[Page], words: Sequence[str]) -> Generator[tuple[Call, ...], list[Outcome]]:
    """Reads on while no line holds all the words and the file has more."""
    while pages[-1].end < pages[-1].total and len(pages) < PAGES:
        if any(all(holds(line, word) for word in words) for _, line in pages[-1].lines):
            return
        [outcome] = yield (Call("read_file", {"path": path, "offset": pages[-1].end + 1}),)
        if outcome.failed:
            return
        page = read_page(outcome.text)
        if page.end <= pages[-1].end:
            return
        pages.append(page)


def _quoted(desk: Desk, source: Opened, lines: Sequence[tuple[int | None, str]]) -> Finding:
    """The lines with their places; a single line with a single number in it is a value that later parts can use."""
    texts = []
    for number, line in lines[:LINES_QUOTED]:
        place = say(desk.language, "some_line") if number is None else say(desk.language, "line", number=number)
        texts.append(say(desk.language, "quoted", path=source.path, note=source.note, place=place, line=line.strip()))
    numbers = _NUMBER.findall(lines[0][1]) if len(lines) == 1 else []
    return Finding("\n".join(texts), numbers[0].replace(",", "") if len(numbers) == 1 else None)


def _failed(desk: Desk, source: Opened) -> Finding:
    return Finding(say(desk.language, "file_failed", path=source.path, error=source.outcome.text) + source.note)


def read_page(text: str) -> Page:
    """The page that a result of read_file shows; lines get no numbers where a clip or note makes them uncertain."""
    lines = text.splitlines()
    at = next((at for at, line in enumerate(lines) if _HEADER.match(line)), None)
    header = _HEADER.match(lines[at]) if at is not None else None
    body = lines if at is None else lines[at + 1 :]
    content = [line for line in body if not _CLIP.match(line)]
    if header is None:
        return Page(tuple((None, line) for line in content), len(content), len(content), len(content) < len(body))
    start, end, total = int(header[2]), int(header[3]), int(header[4])
    sure = len(content) >= end - start + 1
    numbered = tuple((start + at if sure else None, line) for at, line in enumerate(content[: end - start + 1]))
    return Page(numbered, end, total, clipped=not sure)
