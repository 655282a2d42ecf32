"""Builds the page from a report: one template, one style and one script, both named by their hash."""

from base64 import b64encode
from collections.abc import Iterator, Sequence
from hashlib import sha256
from importlib.resources import files

from markupsafe import Markup, escape

from loopwright.language import language
from loopwright.report import RoundReport, RunReport
from loopwright_studio.page.chart import chart_of
from loopwright_studio.page.excerpts import value_text
from loopwright_studio.page.listing import steps_of
from loopwright_studio.page.path import picture_of
from loopwright_studio.page.shares import time_shares
from loopwright_studio.page.steps import BetweenStep, RoundStep, Step
from loopwright_studio.page.template import page_template
from loopwright_studio.page.verdict import verdict_of
from loopwright_studio.page.ways import Ways
from loopwright_studio.page.wording import Wording

CHARACTERS = 4_000
"""Characters of a task, a reply and a result that a page holds at most."""
TOTAL = 1_100_000
"""Bytes of all replies, arguments and results together, written as HTML, from which on each is cut shorter, so that
400 rounds stay below 2 MB."""
ARGUMENT = 2_000
"""Characters of one argument of a call that a round holds at most."""
CAPS = (CHARACTERS, 2_000, 1_000, 500, 200, 100)
"""The lengths at which these texts are cut, tried in order."""
LINE = 160
"""Characters of such a text, or so, that also stand in the line of its round."""
TURNING_POINTS = 14
"""Turning points that are listed openly; the others are folded."""
STYLES = ("page.css", "story.css", "media.css")
"""The parts of the style in their order: the last one changes what the others say."""


def build_page(report: RunReport, storage: str | None = None) -> str:
    """The report as an HTML document, in the language of the newest run's task.

    `storage` is the option as it was given, for the command lines in it. A thread without a run has nothing to show:
    raises ValueError.
    """
    if not report.runs:
        raise ValueError("a thread without a run has no page")
    run = report.runs[-1]
    words = Wording(language(run.task))
    steps = steps_of(report)
    ways = Ways(report, storage, words)
    turning, less_telling = parted(turning_points(steps))
    cap = fitting_cap(report)
    style, script = "".join(map(_part, STYLES)), _part("page.js")
    return page_template(words.language).render(
        report=report,
        run=run,
        steps=steps,
        ways=ways,
        verdict=verdict_of(report, ways, words),
        chart=chart_of(steps),
        machine=picture_of(run, words.language),
        turning=turning,
        less_telling=less_telling,
        time=time_shares(run, words),
        cap=cap,
        characters=CHARACTERS,
        argument=min(ARGUMENT, cap),
        style=Markup(style),
        script=Markup(script),
        policy=content_policy(style, script),
    )


def content_policy(style: str, script: str) -> str:
    """The second wall behind autoescape: only our own style and script count, and nothing is loaded from anywhere."""
    return (
        f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(style)}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def turning_points(steps: Sequence[Step]) -> list[Step]:
    """What changed the course, in order: where the guard stepped in, and all that is no round."""
    return [step for step in steps if isinstance(step, BetweenStep) or (isinstance(step, RoundStep) and step.tag)]


def parted(points: Sequence[Step]) -> tuple[list[Step], list[Step]]:
    """Those to list openly, and those to fold, each in order: refusals and stops count most, then the newest."""
    by_weight = sorted(range(len(points)), key=lambda at: (not _hard(points[at]), -at))
    openly = sorted(by_weight[:TURNING_POINTS])
    return [points[at] for at in openly], [points[at] for at in sorted(by_weight[TURNING_POINTS:])]


def fitting_cap(report: RunReport) -> int:
    """Characters that each reply, argument and result may show, so that all together stay below TOTAL."""
    texts = [text[:CHARACTERS] for run in report.runs for turn in run.rounds for text in _texts(turn)]
    sizes = [(len(text), len(escape(text).encode(errors="replace"))) for text in texts if text]
    return next((cap for cap in CAPS if sum(_size(cap, *each) for each in sizes) <= TOTAL), CAPS[-1])


def _size(cap: int, length: int, size: int) -> float:
    """The bytes that a text of this length and size takes up to `cap` characters, and in the line of its round."""
    return size * (min(1.0, cap / length) + min(1.0, LINE / length))


def _texts(turn: RoundReport) -> Iterator[str]:
    """All texts in a round that may be long."""
    yield turn.model.said if turn.model else ""
    for call in turn.calls:
        yield call.result or ""
        values = [call.args] if isinstance(call.args, str) else call.args.values()
        yield from (value_text(value)[:ARGUMENT] for value in values)


def _hard(step: Step) -> bool:
    return isinstance(step, RoundStep) and step.tag is not None and step.tag.hard


def _part(name: str) -> str:
    return (files("loopwright_studio.page") / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    """A source of a content policy: an inline element that holds exactly this text."""
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"
