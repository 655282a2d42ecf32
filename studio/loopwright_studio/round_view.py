"""One round of a thread, whole: what was decided, the request by part, what the model said, every call and result."""

import json

from loopwright.errors import UsageError
from loopwright.report import CallReport, DecisionReport, ModelReport, RoundReport, RunEntry, RunReport
from loopwright.shapes import Failure, Parts
from loopwright_studio.console import Screen, seconds
from loopwright_studio.log_wording import told
from loopwright_studio.terminal_wording import TerminalWording, spoken_of
from loopwright_studio.visible import one_line, visible

WHOLE = 10_000_000
"""Characters of a text that a round shows: all of it."""


def find_round(report: RunReport, number: int) -> tuple[RunEntry, RoundReport]:
    """The round with this number of the newest run that has it. Raises UsageError."""
    for run in reversed(report.runs):
        for turn in run.rounds:
            if turn.step == number:
                return run, turn
    words = TerminalWording(spoken_of(report))
    most = max((turn.step for run in report.runs for turn in run.rounds), default=0)
    text = words.no_such_round if most else words.no_round_yet
    raise UsageError(text.format(thread=report.thread, number=number, most=most))


def show_round(screen: Screen, run: RunEntry, turn: RoundReport) -> None:
    """Print the round."""
    screen.say(screen.words.round_of_run.format(run=run.number, round=turn.step), "bold")
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
    colon, reason = screen.words.colon, one_line(told(done.reason, screen.words.language))
    why = colon.join(part for part in (one_line(done.policy), reason) if part)
    screen.say(f"guard {screen.glyphs['ok']} {done.go}{f'{colon}{why}' if why else ''}", "magenta")
    for call_id, rung in done.rungs.items():
        screen.say(f"  {one_line(call_id)}: {rung}")


def _model(screen: Screen, done: ModelReport) -> None:
    words = screen.words
    finish = words.in_brackets.format(text=one_line(done.finish_reason) or words.no_reply)
    screen.say(f"call_model {one_line(done.model)}  {seconds(done.seconds)} {finish.strip()}", "blue")
    screen.say(f"  {words.request_of.format(tokens=done.request_tokens, parts=parts_text(words, done.parts))}")
    spent = words.tokens_in_and_out.format(tokens_in=done.tokens_in, tokens_out=done.tokens_out)
    facts = [spent + (words.in_brackets.format(text=words.estimated) if done.estimated else "")]
    facts += [f"${done.cost_usd:.4f}"] if done.cost_usd is not None else []
    facts += [words.retries(done.retries)] if done.retries else []
    screen.say(f"  {words.comma.join(facts)}")
    for notice in done.notices:
        screen.say(f"  {visible(told(notice, words.language))}", "yellow")
    if done.failure is not None:
        screen.say(f"  {_failure(words, done.failure)}", "red")
    if done.said:
        screen.say(visible(done.said))


def _call(screen: Screen, done: CallReport) -> None:
    words = screen.words
    facts = words.became(done) or [words.status_ok]
    if done.status != "open":
        facts = [done.effect or words.no_such_tool, *facts, seconds(done.seconds)]
    facts += [words.retries(done.retries)] if done.retries else []
    facts += [words.edited] if done.edited else []
    screen.say(f"{one_line(done.tool) or words.unreadable} {one_line(done.call_id)}  {words.comma.join(facts)}", "cyan")
    args = done.args if isinstance(done.args, str) else json.dumps(done.args, ensure_ascii=False, indent=2, default=str)
    screen.say(visible(args))
    if done.failure is not None and done.failure["text"] not in (done.result or ""):
        screen.say(f"  {_failure(words, done.failure)}", "red")
    if done.result is not None:
        screen.say(f"{screen.glyphs['ok']} {visible(done.result)}")
    if done.ref is not None:
        screen.say(f"  {words.whole_result.format(ref=one_line(done.ref))}")


def parts_text(words: TerminalWording, parts: Parts) -> str:
    """The parts of a request that have tokens, and how many."""
    return words.comma.join(f"{words.named('part', name)} {count:,}" for name, count in parts.items() if count)


def _failure(words: TerminalWording, failure: Failure) -> str:
    return f"{words.named('failure', failure['kind'])}{words.colon}{visible(told(failure['text'], words.language))}"
