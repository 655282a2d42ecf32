"""Builds the page from a report: one template, one style and one script, both named by their hash."""

from base64 import b64encode
from collections.abc import Sequence
from hashlib import sha256
from importlib.resources import files

from markupsafe import Markup

from loopwright.language import language
from loopwright.report import RunReport
from loopwright_studio.page.chart import chart_of
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
TOTAL = 900_000
"""Characters of all results together from which on each is cut shorter, so that 400 rounds stay below 2 MB."""
CAPS = (CHARACTERS, 2_000, 1_000, 500, 200)
"""The lengths at which results are cut, tried in order."""
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
    style, script = "".join(map(_part, STYLES)), _part("page.js")
    return page_template(words.language).render(
        report=report,
        run=run,
        steps=steps,
        ways=ways,
        verdict=verdict_of(report, ways, words),
        chart=chart_of(steps),
        machine=picture_of(run, words.language),
        turning=turning_points(steps),
        openly=TURNING_POINTS,
        time=time_shares(run, words),
        cap=fitting_cap(report),
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
    """What changed the course: the guard's refusals and the stop first, then all else in order."""
    points = [step for step in steps if isinstance(step, BetweenStep) or (isinstance(step, RoundStep) and step.tag)]
    return sorted(points, key=lambda step: not (isinstance(step, RoundStep) and step.tag is not None and step.tag.hard))


def fitting_cap(report: RunReport) -> int:
    """Characters of a result that each call may show, so that all together stay below TOTAL."""
    lengths = [len(call.result or "") for run in report.runs for turn in run.rounds for call in turn.calls]
    return next((cap for cap in CAPS if sum(min(cap, length) for length in lengths) <= TOTAL), CAPS[-1])


def _part(name: str) -> str:
    return (files("loopwright_studio.page") / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    """A source of a content policy: an inline element that holds exactly this text."""
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"
