"""Lines about a run: one function a kind of event, used while it runs and by `show`."""

from rich.text import Text

from loopwright.report import CallReport, CompressionReport, DecisionReport, ForkReport, ModelReport
from loopwright.shapes import Failure, Rung, StopReport
from loopwright_studio.call_line import SHOWN, arguments, limits
from loopwright_studio.console import STYLES, Row, Screen, cells, cut, seconds, styled, tokens
from loopwright_studio.log_wording import told
from loopwright_studio.terminal_wording import TerminalWording
from loopwright_studio.visible import one_line

INDENT = " " * 5
LEAST_MADE = 12
"""Cells of a call that are left of it where what became of it needs the line."""
NOTABLE: tuple[Rung, ...] = ("note", "serve", "block", "ask")


def is_notable(done: DecisionReport) -> bool:
    """Whether the guard did more than let the run go on: it noted, served, refused or asked, or a policy spoke."""
    return bool(done.policy) or any(rung in NOTABLE for rung in done.rungs.values())


def decision_row(screen: Screen, done: DecisionReport) -> Row:
    """Where the guard sent the run, which calls will not simply run, and why."""
    words, rungs = screen.words, list(done.rungs.values())
    counts = {rung: rungs.count(rung) for rung in ("run", *NOTABLE)}
    calls = [f"{n} {rung}" for rung, n in counts.items() if n]
    reason = one_line(told(done.reason, words.language)[:SHOWN])
    why = words.colon.join(part for part in (one_line(done.policy), reason) if part)
    text = f" guard {screen.glyphs['ok']} {done.go}"
    text += words.in_brackets.format(text=words.comma.join(calls)) if calls else ""
    text += f"{words.colon}{why}" if why else ""
    style = "magenta" if why or is_notable(done) else "dim"
    return Row(styled(INDENT, screen.mark("guard"), (text, style)))


def model_rows(screen: Screen, step: int, done: ModelReport) -> list[Row]:
    """A model call: its text, or how it ended where it said nothing; tokens in and out, and seconds."""
    kind, words = "error" if done.failure is not None else "model", screen.words
    ending = words.in_brackets.format(text=one_line(done.finish_reason) or words.no_reply).strip()
    said = one_line(done.said[:SHOWN]) or ending
    left = styled(f"{step:>4} ", screen.mark(kind), " call_model ", (said, "bold"))
    rows = [Row(left, f"{tokens(done.tokens_in)}+{tokens(done.tokens_out)} {words.tok}  {seconds(done.seconds)}")]
    if done.failure is not None:
        rows.append(Row(styled(INDENT, screen.mark("error"), (f" {failure_text(words, done.failure)}", "red"))))
    return rows


def call_rows(screen: Screen, done: CallReport) -> list[Row]:
    """A tool call: arguments, what became of it, the head of its result (on a second line where it does not fit)."""
    kinds = {"ok": "ok", "served": "ok", "error": "error", "unknown": "error", "open": "open"}
    kind = kinds.get(done.status, "refused")
    right, notes = (
        "" if kind == "open" else seconds(done.seconds),
        _notes(screen.words, done),
    )
    made = (INDENT, screen.mark(kind), f" {one_line(done.tool) or screen.words.unreadable} {arguments(done.args)}")
    if notes:
        room = screen.room(right) - cells(notes)
        made = (*made[:2], cut(made[2], max(LEAST_MADE, room - len(INDENT) - 1)))
    left = (*made, (notes, STYLES[kind])) if notes else made
    result = one_line((done.result or "")[:SHOWN])
    if result:
        joined = Row(styled(*left, f" {screen.glyphs['ok']} {result}"), right)
        if screen.fits(joined):
            return [joined]
        below = Row(styled(f"{INDENT}    ", (result, "dim" if kind == "ok" else STYLES[kind])))
        return [Row(styled(*left), right), below]
    return [Row(styled(*left), right)]


def compression_row(screen: Screen, done: CompressionReport) -> Row:
    """A compression: tokens of the request before and after, and how far it went."""
    stage = screen.words.in_brackets.format(text=one_line(done.stage))
    text = screen.words.compressed.format(before=done.before, to=screen.glyphs["ok"], after=done.after, stage=stage)
    return Row(styled(INDENT, screen.mark("memory"), f" compress_memory {text}"), seconds(done.seconds))


def pause_row(screen: Screen, question: str, extend: dict[str, float] | None) -> Row:
    """A budget question and its answer."""
    words = screen.words
    answer = words.extended.format(limits=limits(extend)) if extend else words.not_extended
    return Row(styled(INDENT, screen.mark("pause"), " ask ", (answer, "bold"), f" {one_line(question)}"))


def outcome_row(screen: Screen, question: str, happened: str) -> Row:
    """A question about a call of unknown outcome, and its answer."""
    answer = screen.words.named("happened", happened)
    return Row(styled(INDENT, screen.mark("pause"), " ask ", (answer, "bold"), f" {one_line(question)}"))


def extension_row(screen: Screen, extend: dict[str, float]) -> Row:
    """A run that had ended and goes on: under new limits, or after a failure under its own."""
    words = screen.words
    return Row(Text(f"{INDENT}+ {words.new_limits.format(limits=limits(extend)) if extend else words.tried_again}"))


def fork_row(screen: Screen, thread: str, done: ForkReport) -> Row:
    """Where the thread was taken back to."""
    words = screen.words
    of = words.of_thread.format(thread=one_line(done.thread)) if done.thread != thread else ""
    edit = words.with_an_edit if done.edited else ""
    return Row(Text(f"{INDENT}+ {words.forked.format(edit=edit, checkpoint=one_line(done.checkpoint), of=of)}"))


def stop_row(screen: Screen, report: StopReport) -> Row:
    """The end of a run."""
    words = screen.words
    word = words.answered if report["complete"] else words.stopped.format(reason=report["reason"])
    return Row(styled(INDENT, screen.mark("done" if report["complete"] else "refused"), f" finish {word}"))


def failure_text(words: TerminalWording, failure: Failure) -> str:
    """How a call or a reply failed, and what was said of it, on one line."""
    said = one_line(told(failure["text"], words.language))
    return f"{words.named('failure', failure['kind'])}{words.colon}{said}"


def _notes(words: TerminalWording, done: CallReport) -> str:
    notes = words.became(done)
    notes += [words.edited_call] if done.edited else []
    notes += [words.retries(done.retries)] if done.retries else []
    return words.in_brackets.format(text=words.comma.join(notes)) if notes else ""
