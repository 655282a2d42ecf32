"""Lines about a run: one function a kind of event, used while it runs and by `show`."""

from rich.text import Text

from loopwright.report import CallReport, CompressionReport, DecisionReport, ForkReport, ModelReport
from loopwright.shapes import Rung, StopReport
from loopwright_studio.call_line import SHOWN, arguments, limits
from loopwright_studio.console import STYLES, Row, Screen, cells, count, cut, seconds, styled, tokens
from loopwright_studio.visible import one_line

INDENT = " " * 5
LEAST_MADE = 12
"""Cells of a call that are left of it where what became of it needs the line."""
OPEN = "no outcome yet"
"""What became of a call that runs, waits, or went with its process."""
NOTABLE: tuple[Rung, ...] = ("note", "serve", "block", "ask")


def is_notable(done: DecisionReport) -> bool:
    """Whether the guard did more than let the run go on: it noted, served, refused or asked, or a policy spoke."""
    return bool(done.policy) or any(rung in NOTABLE for rung in done.rungs.values())


def decision_row(screen: Screen, done: DecisionReport) -> Row:
    """Where the guard sent the run, which calls will not simply run, and why."""
    rungs = list(done.rungs.values())
    counts = {rung: rungs.count(rung) for rung in ("run", *NOTABLE)}
    calls = [f"{n} {rung}" for rung, n in counts.items() if n]
    why = ": ".join(part for part in (one_line(done.policy), one_line(done.reason[:SHOWN])) if part)
    text = f" guard {screen.glyphs['ok']} {done.go}"
    text += f" ({', '.join(calls)})" if calls else ""
    text += f": {why}" if why else ""
    style = "magenta" if why or is_notable(done) else "dim"
    return Row(styled(INDENT, screen.mark("guard"), (text, style)))


def model_rows(screen: Screen, step: int, done: ModelReport) -> list[Row]:
    """A model call: its text, or how it ended where it said nothing; tokens in and out, and seconds."""
    kind = "error" if done.failure is not None else "model"
    said = one_line(done.said[:SHOWN]) or f"({one_line(done.finish_reason) or 'no reply'})"
    left = styled(f"{step:>4} ", screen.mark(kind), " call_model ", (said, "bold"))
    rows = [Row(left, f"{tokens(done.tokens_in)}+{tokens(done.tokens_out)} tok  {seconds(done.seconds)}")]
    if done.failure is not None:
        text = f" {done.failure['kind'].replace('_', ' ')}: {one_line(done.failure['text'])}"
        rows.append(Row(styled(INDENT, screen.mark("error"), (text, "red"))))
    return rows


def call_rows(screen: Screen, done: CallReport) -> list[Row]:
    """A tool call: arguments, what became of it, the head of its result (on a second line where it does not fit)."""
    kinds = {"ok": "ok", "served": "ok", "error": "error", "unknown": "error", "open": "open"}
    kind = kinds.get(done.status, "refused")
    right, notes = (
        "" if kind == "open" else seconds(done.seconds),
        "".join(f" ({', '.join(found)})" for found in [_notes(done)] if found),
    )
    made = (INDENT, screen.mark(kind), f" {one_line(done.tool)} {arguments(done.args)}")
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
    text = f" compress_memory {done.before:,} {screen.glyphs['ok']} {done.after:,} tokens ({one_line(done.stage)})"
    return Row(styled(INDENT, screen.mark("memory"), text), seconds(done.seconds))


def pause_row(screen: Screen, question: str, extend: dict[str, float] | None) -> Row:
    """A budget question and its answer."""
    answer = f"extended to {limits(extend)}" if extend else "not extended"
    return Row(styled(INDENT, screen.mark("pause"), " ask ", (answer, "bold"), f" {one_line(question)}"))


def outcome_row(screen: Screen, question: str, happened: str) -> Row:
    """A question about a call of unknown outcome, and its answer."""
    answer = {"yes": "it happened", "no": "it did not happen"}.get(happened, "nobody knows")
    return Row(styled(INDENT, screen.mark("pause"), " ask ", (answer, "bold"), f" {one_line(question)}"))


def extension_row(extend: dict[str, float]) -> Row:
    """A run that had ended and goes on."""
    return Row(Text(f"{INDENT}+ begin under new limits: {limits(extend)}"))


def fork_row(thread: str, done: ForkReport) -> Row:
    """Where the thread was taken back to."""
    of = f" of thread {one_line(done.thread)}" if done.thread != thread else ""
    text = f"{INDENT}+ fork{' with an edit' if done.edited else ''} from checkpoint {one_line(done.checkpoint)}{of}"
    return Row(Text(text))


def stop_row(screen: Screen, report: StopReport) -> Row:
    """The end of a run."""
    word = "answered" if report["complete"] else f"stopped: {report['reason']}"
    return Row(styled(INDENT, screen.mark("done" if report["complete"] else "refused"), f" finish {word}"))


def _notes(done: CallReport) -> list[str]:
    notes = [] if done.status == "ok" else [OPEN if done.status == "open" else done.status.replace("_", " ")]
    notes += [done.failure["kind"].replace("_", " ")] if done.failure else []
    notes += ["edited"] if done.edited else []
    return [*notes, count(done.retries, "retry", "retries")] if done.retries else notes
