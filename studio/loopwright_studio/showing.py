"""A thread's report in the terminal: what did not go well printed, the rest folded; then sums, the stop, what waits."""

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import TypeAlias, TypeVar

from rich.text import Text

from loopwright.report import (
    CompressionReport,
    ExtensionReport,
    ForkReport,
    OutcomeReport,
    PauseReport,
    RoundReport,
    RunEntry,
    RunReport,
    Totals,
)
from loopwright.shapes import StopReport
from loopwright_studio.command_lines import command
from loopwright_studio.console import Row, Screen, seconds
from loopwright_studio.log_wording import told
from loopwright_studio.rows import (
    call_rows,
    compression_row,
    decision_row,
    extension_row,
    fork_row,
    is_notable,
    model_rows,
    outcome_row,
    pause_row,
    stop_row,
)
from loopwright_studio.stop_card import is_stop_text, next_commands, print_card
from loopwright_studio.terminal_wording import TerminalWording
from loopwright_studio.visible import one_line, visible
from loopwright_studio.waiting import print_waiting

LEAST_RATIO = 0.01
"""How far a server's count of tokens is from ours before that is worth a line."""
LEAST_FOLDED = 3
"""Rounds in a row that went well from which on they are one line."""
Between = TypeVar("Between", ForkReport, ExtensionReport, PauseReport, OutcomeReport, CompressionReport)
Numbered: TypeAlias = tuple[RoundReport, int]
"""A round, and the step of the one before it, -1 where there is none."""


def show_report(screen: Screen, report: RunReport, storage: str | None, *, everything: bool = False) -> None:
    """Print the report. `storage` is the option as it was given, for the commands that are printed."""
    words = screen.words
    screen.say(words.thread.format(thread=one_line(report.thread)), "bold")
    for run in report.runs:
        screen.print(run_row(screen, run))
        for row in run_rows(screen, report.thread, run, everything=everything):
            screen.print(row)
        print_end(screen, report, run, storage)
    if len(report.runs) > 1:
        screen.say(words.all_runs.format(runs=len(report.runs), sums=totals_text(words, report.totals)))
    for model, ratio in report.token_ratios.items():
        if abs(ratio - 1) >= LEAST_RATIO and not model.startswith("offline:"):  # rules have no server
            screen.say(words.token_ratio.format(model=one_line(model), ratio=ratio))
    print_waiting(screen, report.waiting, storage)


def run_row(screen: Screen, run: RunEntry) -> Row:
    """The line above a run: its number, how it stands, its task."""
    number, status = screen.words.run.format(number=run.number), screen.words.named("run", run.status)
    return Row(Text.assemble(f"{number} ", (status, "bold"), f"  {one_line(run.task)}"))


def print_end(screen: Screen, report: RunReport, run: RunEntry, storage: str | None) -> None:
    """The answer of a run and its sums, then how it ended or stands and what can be done."""
    newest, stop = run is report.runs[-1], run.stop
    if stop is not None:
        screen.print(stop_row(screen, stop))
    if run.answer and not (stop is not None and is_stop_text(run.answer, stop)):
        screen.say(visible(run.answer))
    screen.say(totals_text(screen.words, run.totals))
    if stop is not None and not stop["complete"]:
        print_card(screen, run, stop)
        if newest:  # `resume` and `run` go on from there alone
            look = closer_look(run, stop)
            screen.commands(*next_commands(report.thread, stop, storage, screen.words, look=look))
    elif stop is None and newest and not report.waiting:
        screen.say(standing_text(screen.words, report, storage), wrap=False)


def closer_look(run: RunEntry, stop: StopReport) -> tuple[str, ...]:
    """The options of `show` for the round in which a run stopped, or for all where it made none."""
    there = any(turn.step == stop["step"] for turn in run.rounds)
    return ("--round", str(stop["step"])) if there else ("--all",)


def standing_text(words: TerminalWording, report: RunReport, storage: str | None) -> str:
    """Who runs the newest run, which has not ended; or that nobody does, and how it goes on."""
    if report.holder is not None:
        return words.it_is_run_by.format(holder=visible(told(report.holder, words.language)))
    return words.nobody_holds_it.format(command=command("resume", report.thread, storage))


def run_rows(screen: Screen, thread: str, run: RunEntry, *, everything: bool) -> Iterator[Row]:
    """The lines of a run's rounds: the first, the last and every one with an event; the others one line a stretch."""
    steps = [-1, *(turn.step for turn in run.rounds)]
    numbered = list(zip(run.rounds, steps, strict=False))
    ends = {run.rounds[0].step, run.rounds[-1].step} if run.rounds else set()

    def folds(each: Numbered) -> bool:
        return not everything and each[0].step not in ends and went_well(run, *each)

    for fold, group in groupby(numbered, folds):
        stretch = list(group)
        if fold and len(stretch) >= LEAST_FOLDED:
            yield _folded(screen, run, [turn for turn, _ in stretch])
        else:
            for turn, before in stretch:
                yield from round_rows(screen, thread, run, turn, before, everything=everything)
    yield from (fork_row(screen, thread, each) for each in run.forks if each.step >= max(ends, default=0))


def went_well(run: RunEntry, turn: RoundReport, before: int) -> bool:
    """Whether nothing happened in this round but a model call and calls that succeeded; compressions are no event."""
    steps = [
        *(each.step for each in run.pauses),
        *(each.step for each in run.outcomes),
        *(each.step for each in run.extensions),
        *(each.step for each in run.forks),
    ]
    asked = any(before <= step < turn.step for step in steps)
    fine = turn.model is not None and turn.model.failure is None and not turn.model.notices
    ran = all(call.status == "ok" and not call.edited for call in turn.calls)
    return fine and ran and not asked and not any(is_notable(each) for each in turn.decisions)


def _folded(screen: Screen, run: RunEntry, turns: Sequence[RoundReport]) -> Row:
    first, last = turns[0].step, turns[-1].step
    calls = sum(len(turn.calls) for turn in turns)
    compressions = sum(first - 1 <= each.step < last for each in run.compressions)
    words = screen.words
    what = words.comma.join([words.calls_ok(calls), *([words.compressions(compressions)] if compressions else [])])
    text = words.rounds_folded.format(first=first, to=screen.glyphs["to"], last=last, what=what)
    return Row(Text(f"   {screen.glyphs['more']} {text}", "dim"))


def round_rows(
    screen: Screen, thread: str, run: RunEntry, turn: RoundReport, before: int, *, everything: bool = False
) -> Iterator[Row]:
    """One round as it went: what came before its model call, decisions, the model, its calls.

    Decisions that let the run go on, as most do, have a line with `everything` alone.
    """
    for _, row in sorted(_before(screen, thread, run, turn, before, everything=everything), key=lambda each: each[0]):
        yield row
    if turn.model is not None:
        yield from model_rows(screen, turn.step, turn.model)
    left = {call.call_id: call for call in turn.calls}
    for decision in turn.decisions:
        if decision.step >= turn.step:
            if everything or is_notable(decision):
                yield decision_row(screen, decision)
            for call_id in [call.call_id for call in turn.calls if call.call_id in decision.rungs]:
                yield from call_rows(screen, left.pop(call_id)) if call_id in left else ()
    for call in left.values():
        yield from call_rows(screen, call)


def _before(
    screen: Screen, thread: str, run: RunEntry, turn: RoundReport, before: int, *, everything: bool
) -> Iterator[tuple[float, Row]]:
    """What lies between the round before and this model call, each with its time."""

    def new(many: Sequence[Between]) -> list[Between]:
        return [each for each in many if before <= each.step < turn.step]

    yield from ((each.at, fork_row(screen, thread, each)) for each in new(run.forks))
    yield from ((each.at, extension_row(screen, each.limits)) for each in new(run.extensions))
    yield from ((each.at, pause_row(screen, each.question, each.extend)) for each in new(run.pauses))
    yield from ((each.at, outcome_row(screen, each.question, each.happened)) for each in new(run.outcomes))
    yield from ((each.at, compression_row(screen, each)) for each in new(run.compressions))
    for each in turn.decisions:
        if each.step < turn.step and (everything or is_notable(each)):
            yield each.at, decision_row(screen, each)


def totals_text(words: TerminalWording, totals: Totals) -> str:
    """The sums as one line."""
    odd = [words.failed_calls.format(count=totals.failed_calls)] if totals.failed_calls else []
    odd += [words.refused_calls.format(count=totals.refused_calls)] if totals.refused_calls else []
    parts = [
        words.model_calls(totals.model_calls) + _in_brackets(words, seconds(totals.model_seconds)),
        words.tool_calls(totals.tool_calls) + _in_brackets(words, seconds(totals.tool_seconds), *odd),
        words.tokens_in_and_out.format(tokens_in=totals.tokens_in, tokens_out=totals.tokens_out),
    ]
    if totals.compressions:
        spent = _in_brackets(words, seconds(totals.compression_seconds))
        parts.append(words.compressions(totals.compressions) + spent)
    return words.comma.join([*parts, f"${totals.cost_usd:.4f}"] if totals.cost_usd is not None else parts)


def _in_brackets(words: TerminalWording, *facts: str) -> str:
    return words.in_brackets.format(text=words.comma.join(facts))
