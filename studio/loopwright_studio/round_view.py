"""One round of a thread, whole: what was decided, the request by part, what the model said, every call and result."""

import json

from loopwright.errors import UsageError
from loopwright.report import CallReport, DecisionReport, ModelReport, RoundReport, RunEntry, RunReport
from loopwright_studio.console import Screen, count, seconds
from loopwright_studio.rows import OPEN
from loopwright_studio.visible import one_line, visible

WHOLE = 10_000_000
"""Characters of a text that a round shows: all of it."""


def find_round(report: RunReport, number: int) -> tuple[RunEntry, RoundReport]:
    """The round with this number of the newest run that has it. Raises UsageError."""
    for run in reversed(report.runs):
        for turn in run.rounds:
            if turn.step == number:
                return run, turn
    most = max((turn.step for run in report.runs for turn in run.rounds), default=0)
    raise UsageError(f"Thread {report.thread!r} has no round {number}: its rounds are 1 to {most}.")


def show_round(screen: Screen, run: RunEntry, turn: RoundReport) -> None:
    """Print the round."""
    screen.say(f"Run {run.number}, round {turn.step}", "bold")
    for decision in turn.decisions:
        if decision.step < turn.step:
            _decision(screen, decision)
    if turn.model is not None:
        _model(screen, turn.model)
    for decision in turn.decisions:
        if decision.step >= turn.step:
            _decision(screen, decision)
    for call in turn.calls:
        _call(screen, call)


def _decision(screen: Screen, done: DecisionReport) -> None:
    why = ": ".join(part for part in (one_line(done.policy), one_line(done.reason)) if part)
    screen.say(f"guard {screen.glyphs['ok']} {done.go}{f': {why}' if why else ''}", "magenta")
    for call_id, rung in done.rungs.items():
        screen.say(f"  {one_line(call_id)}: {rung}")


def _model(screen: Screen, done: ModelReport) -> None:
    parts = ", ".join(f"{name} {count:,}" for name, count in done.parts.items() if count)
    screen.say(f"call_model {one_line(done.model)}  {seconds(done.seconds)}  ({one_line(done.finish_reason)})", "blue")
    screen.say(f"  request of {done.request_tokens:,} tokens: {parts}")
    retries = f", {count(done.retries, 'retry', 'retries')}" if done.retries else ""
    cost = f", ${done.cost_usd:.4f}" if done.cost_usd is not None else ""
    estimated = " (estimated)" if done.estimated else ""
    screen.say(f"  {done.tokens_in:,} tokens in, {done.tokens_out:,} out{estimated}{cost}{retries}")
    for notice in done.notices:
        screen.say(f"  {visible(notice)}", "yellow")
    if done.failure is not None:
        screen.say(f"  {done.failure['kind']}: {visible(done.failure['text'])}", "red")
    if done.said:
        screen.say(visible(done.said))


def _call(screen: Screen, done: CallReport) -> None:
    went = [done.effect or "no such tool", done.status.replace("_", " "), seconds(done.seconds)]
    facts = [OPEN] if done.status == "open" else went
    facts += [count(done.retries, "retry", "retries")] if done.retries else []
    facts += ["arguments edited by a person"] if done.edited else []
    screen.say(f"{one_line(done.tool)} {one_line(done.call_id)}  {', '.join(facts)}", "cyan")
    args = done.args if isinstance(done.args, str) else json.dumps(done.args, ensure_ascii=False, indent=2, default=str)
    screen.say(visible(args))
    if done.failure is not None:
        screen.say(f"  {done.failure['kind']}: {visible(done.failure['text'])}", "red")
    if done.result is not None:
        screen.say(f"{screen.glyphs['ok']} {visible(done.result)}")
    if done.ref is not None:
        screen.say(f"  The whole result is kept under {one_line(done.ref)}.")
