"""Cuts a message into the parts it asks for, and lets later parts speak of what earlier ones named."""

import re
from collections.abc import Sequence
from dataclasses import replace

from loopwright.models.offline.classify import classify
from loopwright.models.offline.intents import Aggregate, Intent, QuoteLines, ReadFile, TellTime, Unclear
from loopwright.models.offline.paths import FileName

_BETWEEN = re.compile(
    r"\s*(?:[;；。！!？?\n]+|[,，、]?\s*\b(?:and then|and also|and|then|also)\b|[,、](?=\s)|，|\.(?=\s|$)"
    r"|然后|接着|再(?!次)|并且|并|同时|以及|另外|(?<=\s)和(?=\s))\s*"
)
_QUOTED = re.compile(r"[\"“「`][^\"”」`\n]*[\"”」`]")
_REQUEST = re.compile(
    r"\s*(?:please\s+|(?:can|could) you\s+)?(?:write|send|delete|remove|create|make|draw|translate|explain|who|how|why|"
    r"when|where is|book|play|buy|post|email|summari[sz]e|rename|move|tell me|what|run|install|search)\b"
    r"|\s*(?:请|帮我)*(?:写|发|删|画|翻译|解释|创建|买|订|怎么|为什么|谁|总结|概括|运行|移动)",
    re.I,
)
_COURTESY = re.compile(
    r"(?:please|what can you do|help|thanks?|thank you|hello|hi|hey|ok|okay|tell me|and|first|my friend"
    r"|你能做什么|你会什么|你会做什么|帮助|谢谢|请|你好|您好|好的|告诉我|[\s,.!?:，。！？：、])*",
    re.I,
)

TASK_READ = 2_000
"""Characters of a task that the rules look at: their patterns take quadratic time."""


def readable(task: str) -> str:
    """The part of a task that the rules look at, runs of blanks as one: some patterns are cubic in them."""
    return re.sub(r"[^\S\n]+", " ", re.sub(r"\s*\n\s*", "\n", task[:TASK_READ])).strip()


def parts_of(task: str, earlier_tasks: Sequence[str] = ()) -> list[Intent]:
    """The parts of a task in order; parts that no rule knows are `Unclear`, mere courtesy is no part."""
    parts: list[Intent] = []
    file = _last_file(earlier_tasks)
    begun, before = 0, 0  # where the text of the newest known clause begins, and how many parts there were before it
    held: int | None = None  # where a clause begins that makes sense only with the next one: "In sales.csv, ..."
    for start, end in _clauses(task):
        clause = task[start:end]
        found = classify(clause if held is None else task[held:end], file)
        if not found and held is None and parts and not _REQUEST.match(clause):
            found = classify(task[begun:end], file)
            if _adds(found, parts[before:]):
                parts[before:] = found
                continue
            found = ()
        if found:
            begun, before, held = (start if held is None else held), len(parts), None
            parts += found
            file = next((f for f in map(_file_of, reversed(found)) if f), file)
        elif not _COURTESY.fullmatch(clause):
            held = start if held is None else held
    if held is not None:
        parts.append(Unclear(task[held:].strip()))
    return _settled(parts, _last_file(earlier_tasks))


def _clauses(task: str) -> list[tuple[int, int]]:
    """Start and end of every clause; nothing inside quotation marks separates."""
    quoted = [match.span() for match in _QUOTED.finditer(task)]
    cuts = [m.span() for m in _BETWEEN.finditer(task) if not any(a <= m.start() < b for a, b in quoted)]
    starts, ends = [0, *(cut[1] for cut in cuts)], [*(cut[0] for cut in cuts), len(task)]
    return [(start, end) for start, end in zip(starts, ends, strict=True) if task[start:end].strip()]


def _adds(joined: tuple[Intent, ...], alone: Sequence[Intent]) -> bool:
    """Whether the longer text asks for more than its beginning alone does: another place, filter or word."""
    return len(joined) == len(alone) > 0 and joined != tuple(alone) and type(joined[0]) is type(alone[0])


def _file_of(intent: Intent) -> FileName | None:
    return intent.file if isinstance(intent, ReadFile | QuoteLines | Aggregate) else None


def _last_file(tasks: Sequence[str]) -> FileName | None:
    files = (_file_of(part) for task in reversed(tasks) for part in reversed(parts_of(task)))
    return next((file for file in files if file), None)


def _settled(parts: Sequence[Intent], file: FileName | None) -> list[Intent]:
    """Gives each part the file spoken of before it, and drops a mere "read X" that the next part does anyway."""
    settled: list[Intent] = []
    for part in parts:
        if isinstance(part, QuoteLines | Aggregate):
            before = settled[-1] if settled else None
            if isinstance(before, ReadFile) and part.file in (None, before.file):
                settled.pop()
            part = replace(part, file=part.file or file)
        file = _file_of(part) or file
        if not (isinstance(part, TellTime) and not part.places and any(isinstance(p, TellTime) for p in settled)):
            settled.append(part)
    return settled
