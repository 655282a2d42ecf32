"""A thread's report in the terminal: each run, step by step, then sums, the stop, and what waits."""

from rich.text import Text

from loopwright.report import RoundReport, RunEntry, RunReport, Totals
from loopwright_studio.console import Row, Screen, seconds
from loopwright_studio.outcome import print_waiting
from loopwright_studio.rows import (
    call_rows,
    compression_row,
    decision_row,
    extension_row,
    model_rows,
    pause_row,
    stop_row,
)
from loopwright_studio.visible import one_line, visible


def show_report(screen: Screen, report: RunReport, storage: str | None) -> None:
    """Print the report. `storage` is the option as it was given, for the commands that are printed."""
    screen.say(f"Thread {one_line(report.thread)}", "bold")
    for run in report.runs:
        _run(screen, run)
    if len(report.runs) > 1:
        screen.say(f"All {len(report.runs)} runs: {totals_text(report.totals)}")
    print_waiting(screen, report.waiting, storage)


def _run(screen: Screen, run: RunEntry) -> None:
    screen.print(Row(Text.assemble(f"Run {run.number} ", (run.status, "bold"), f"  {one_line(run.task)}")))
    for number, turn in enumerate(run.rounds):
        before = run.rounds[number - 1].step if number else -1
        _round(screen, run, turn, before)
    if run.stop is not None:
        screen.print(stop_row(screen, run.stop))
        if not run.stop["complete"]:
            _stop(screen, run)
    if run.answer:
        screen.say(visible(run.answer))
    screen.say(f"{totals_text(run.totals)}")


def _round(screen: Screen, run: RunEntry, turn: RoundReport, before: int) -> None:
    """One round as it went: what came before its model call, decisions, the model, its calls."""
    screen.print(*(extension_row(each.limits) for each in run.extensions if before <= each.step < turn.step))
    pauses = [each for each in run.pauses if before <= each.step < turn.step]
    screen.print(*(pause_row(screen, each.question, each.extend) for each in pauses))
    leading = [each for each in turn.decisions if each.step < turn.step]
    screen.print(*(decision_row(screen, each) for each in leading))
    screen.print(*(compression_row(screen, each) for each in run.compressions if before <= each.step < turn.step))
    if turn.model is not None:
        screen.print(*model_rows(screen, turn.step, turn.model))
    screen.print(*(decision_row(screen, each) for each in turn.decisions if each.step >= turn.step))
    for call in turn.calls:
        screen.print(*call_rows(screen, call))


def _stop(screen: Screen, run: RunEntry) -> None:
    stop = run.stop
    assert stop is not None
    stuck = next((c for turn in run.rounds for c in turn.calls if c.call_id == stop["call_id"]), None)
    earlier = ", ".join(map(str, stop["earlier_steps"]))
    screen.say(f"Stopped at step {stop['step']} by {one_line(stop['policy'])}: {stop['reason']}", "bold red")
    if stuck is not None:
        screen.print(*call_rows(screen, stuck))
    if earlier:
        screen.say(f"Same call earlier at step: {earlier}")
    if stop["last_error"]:
        screen.say(f"Last error: {visible(stop['last_error'])}")
    screen.say(f"What to do: {visible(stop['advice'])}")


def totals_text(totals: Totals) -> str:
    """The sums as one line."""
    odd = [f"{totals.failed_calls} failed"] if totals.failed_calls else []
    odd += [f"{totals.refused_calls} not run"] if totals.refused_calls else []
    parts = [
        f"{totals.model_calls} model calls ({seconds(totals.model_seconds)})",
        f"{totals.tool_calls} tool calls ({', '.join([seconds(totals.tool_seconds), *odd])})",
        f"{totals.tokens_in:,} tokens in, {totals.tokens_out:,} out",
    ]
    if totals.compressions:
        parts.append(f"{totals.compressions} compressions ({seconds(totals.compression_seconds)})")
    return ", ".join([*parts, f"${totals.cost_usd:.4f}"] if totals.cost_usd is not None else parts)
