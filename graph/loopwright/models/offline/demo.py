"""The offline demo: reads a task by rules, plans calls of the bound tools, and answers with what they return."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from langchain_core.messages import BaseMessage

from loopwright.language import Language, language
from loopwright.models.offline.arithmetic import PREVIOUS
from loopwright.models.offline.bound import Bound
from loopwright.models.offline.file_plans import list_files_plan, quote_plan, read_file_plan
from loopwright.models.offline.history import Call, History, Said, last_number, read_history
from loopwright.models.offline.intents import (
    Aggregate,
    Arithmetic,
    Intent,
    ListFiles,
    QuoteLines,
    ReadFile,
    TellTime,
    Unclear,
)
from loopwright.models.offline.parts import TASK_READ, parts_of, readable
from loopwright.models.offline.paths import without_files
from loopwright.models.offline.plan import Desk, Finding, Plan, replay
from loopwright.models.offline.rule_based import RuleBasedModel
from loopwright.models.offline.small_plans import arithmetic_plan, described, time_plan
from loopwright.models.offline.summary import asks_for_summary, summarise
from loopwright.models.offline.table_plan import aggregate_plan
from loopwright.models.offline.wording import beginning, say

RESULT_SHOWN = 200
"""Characters of an interim result that a closing answer quotes."""


class OfflineDemo(RuleBasedModel):
    """A set of rules behind a chat model's interface: no language model.

    It knows a few intents in English and Chinese: arithmetic, time, files, tables, and combinations of them. It calls
    `calculator`, `now`, `list_files`, `read_file` and `read_table` where they are bound, and says where it cannot help.
    Every number and quotation in its answers stands in a tool's result.
    """

    @property
    def model_name(self) -> str:
        """Its name for `load_model`."""
        return "offline:demo"

    def answer(self, messages: Sequence[BaseMessage], tools: Bound) -> Said:
        """The calls that the task needs next, or the answer when all results are there."""
        if not tools and asks_for_summary(messages):
            return Said(summarise(messages))
        history = read_history(messages)
        task, earlier = readable(history.task), [readable(text) for text in history.earlier_tasks]
        spoken = language(without_files(task))
        progress = [*_progress(parts_of(task, earlier), history, tools, spoken)]
        calls = {call.signature: call for part in progress for call in part.needs}
        if calls and tools:
            return Said("", tuple(calls.values()))
        return Said(_answer(progress, history, spoken, closing=not tools))


@dataclass(frozen=True)
class _Progress:
    """How far a part has come: found, in need of calls, or waiting for a number of an earlier part."""

    part: Intent
    finding: Finding | None = None
    needs: tuple[Call, ...] = ()


def _progress(parts: Sequence[Intent], history: History, tools: Bound, language: Language) -> Iterator[_Progress]:
    """Every part replayed over the transcript; one that counts with an earlier number waits until that is there."""
    callable_tools = {*tools, *(outcome.tool for outcome in history.outcomes.values())}
    number, open_before = last_number(history.earlier), False
    for part in parts:
        uses_number = isinstance(part, Arithmetic) and PREVIOUS in part.expression
        if uses_number and open_before:
            yield _Progress(part)
            continue
        step = replay(_plan(Desk(language, callable_tools, number), part), history.outcomes)
        if isinstance(step, Finding):
            yield _Progress(part, step)
            if isinstance(part, Arithmetic | Aggregate | QuoteLines):
                number = step.value
            continue
        missing = next((call.tool for call in step if tools and call.tool not in tools), None)
        if missing:
            text = say(language, "missing_tool", part=_described(part, language), tool=missing)
            yield _Progress(part, Finding(text))
            number = None
        else:
            yield _Progress(part, needs=step)
            open_before = open_before or isinstance(part, Arithmetic | Aggregate | QuoteLines)


def _plan(desk: Desk, part: Intent) -> Plan:
    match part:
        case Arithmetic():
            return arithmetic_plan(desk, part)
        case TellTime():
            return time_plan(desk, part)
        case ListFiles():
            return list_files_plan(desk, part)
        case ReadFile():
            return read_file_plan(desk, part)
        case QuoteLines():
            return quote_plan(desk, part)
        case Aggregate():
            return aggregate_plan(desk, part)
        case Unclear():
            return _unclear_plan(desk, part)


def _unclear_plan(desk: Desk, part: Unclear) -> Plan:
    """Needs no call: says that no rule knows this."""
    yield from ()
    return Finding(say(desk.language, "unclear", text=part.text))


def _answer(progress: Sequence[_Progress], history: History, language: Language, *, closing: bool) -> str:
    """The findings, what is missing, and what this model can do where a part was not understood."""
    lines = [_line(part, language) for part in progress]
    if closing and history.outcomes and any(part.finding is None for part in progress):
        so_far = [] if any(part.finding for part in progress) else _results(history)
        lines = [say(language, "closing"), *so_far, *lines]
    if len(history.task) > TASK_READ:
        lines.append(say(language, "task_cut", count=TASK_READ))
    if not progress or any(isinstance(part.part, Unclear) for part in progress):
        lines.append(say(language, "abilities"))
    return "\n".join(lines)


def _line(part: _Progress, language: Language) -> str:
    if part.finding:
        return part.finding.text
    if part.needs:
        calls = ", ".join(str(call) for call in part.needs)
        return say(language, "not_done", part=_described(part.part, language), calls=calls)
    return say(language, "waits", part=_described(part.part, language))


def _results(history: History) -> list[str]:
    """What the tools returned so far, for the case that no part is finished."""
    return [f"{outcome.tool}: {beginning(outcome.text, RESULT_SHOWN)}" for outcome in history.outcomes.values()]


def _described(part: Intent, language: Language) -> str:
    match part:
        case Arithmetic():
            return described(language, part)
        case TellTime():
            return ", ".join(place.name for place in part.places) or "UTC"
        case ListFiles():
            return part.folder or part.pattern or "*"
        case ReadFile():
            return part.file.path
        case QuoteLines():
            return ", ".join([part.file.path if part.file else "?", *part.words])
        case Aggregate():
            return part.asked.strip()
        case Unclear():
            return part.text
