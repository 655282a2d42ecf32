"""Every way a run can stop, as the terminal and the page's first screen say it, word for word in English and Chinese.

The texts stand in `__snapshots__`, one file a surface and language, to be read in review. Where wording changed on
purpose they are written anew with `uv run pytest tests/studio/test_stop_snapshots.py --snapshot-update`.
"""

import io
import re
from collections.abc import Callable
from functools import cache
from html.parser import HTMLParser
from typing import get_args

import pytest
from rich.console import Console
from syrupy.assertion import SnapshotAssertion
from syrupy.extensions.single_file import SingleFileSnapshotExtension, WriteMode
from tests.graph.stop_stories import STORIES, TASKS, Told, look, looking, settings, told

from loopwright import Agent
from loopwright.language import Language
from loopwright.policies.limits import LIMITS
from loopwright.policies.stops import what_happened
from loopwright.shapes import Interruption, StopReason
from loopwright.testing import ScriptedModel
from loopwright_studio.console import Screen
from loopwright_studio.outcome import print_kept, print_stop
from loopwright_studio.page import build_page
from loopwright_studio.terminal_wording import spoken_of


class Texts(SingleFileSnapshotExtension):
    """One text file a test."""

    _write_mode = WriteMode.TEXT
    file_extension = "txt"


class FirstScreen(HTMLParser):
    """The text of the page's verdict, a line for each of its parts; buttons and pictures are left out."""

    INLINE = ("span", "b", "code", "i", "em")
    UNREAD = ("button", "svg")

    def __init__(self, page: str) -> None:
        super().__init__()
        self._sections: list[bool] = []
        self._unread = 0
        self._read = ""
        self.feed(page)
        self.text = "\n".join(line.strip() for line in self._read.splitlines() if line.strip())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "section":
            self._sections.append("verdict" in (dict(attrs).get("class") or "").split())
        self._unread += tag in self.UNREAD
        self._break(tag)

    def handle_endtag(self, tag: str) -> None:
        self._break(tag)
        self._unread -= tag in self.UNREAD
        if tag == "section":
            self._sections.pop()

    def handle_data(self, data: str) -> None:
        if any(self._sections) and not self._unread:
            self._read += data

    def _break(self, tag: str) -> None:
        if tag not in self.INLINE:
            self._read += "\n"


def in_terminal(story: Told) -> str:
    """What the command prints on stderr when the run is over."""
    screen, written = Screen(spoken_of(story.report)), io.StringIO()
    screen.console = Console(file=written, force_terminal=True, color_system=None, width=80, highlight=False)
    print_stop(screen, story.result, story.report, None)
    print_kept(screen, story.result, "sqlite:////home/me/runs.db", None)
    return written.getvalue()


def on_page(story: Told) -> str:
    """What the page's first screen says."""
    return FirstScreen(build_page(story.report)).text


HEADLINES: dict[str, dict[Language, tuple[str, ...]]] = {
    "terminal": {"en": ("(reason {reason}, ", "step {step})"), "zh": ("原因 {reason}，", "第 {step} 步）")},
    "page": {"en": ("Round {step} · {reason}",), "zh": ("第 {step} 轮 · {reason}",)},
}
"""How a surface names the round and the reason."""
LEFT_AT: dict[Language, str] = {"en": "Round {step}, where it stands", "zh": "第 {step} 轮：目前进行到这里"}
"""How the page names the round in which a run was left."""
SURFACES: dict[str, Callable[[Told], str]] = {"terminal": in_terminal, "page": on_page}


def scrubbed(reason: StopReason, text: str) -> str:
    """The text without what differs from run to run.

    That is every measured duration, and the tokens of the run that is stopped for its seconds: its closing request
    names them.
    """
    if reason == "seconds":
        text = re.sub(r"\d{3}(?= tokens| 个 token)", "000", text)
    return re.sub(r"\d+(?:\.\d+)?(?:e-\d+)?(?= s\b| 秒| of 1e-09|，上限 1e-09)", "0.0", text)


@cache
def story_of(reason: StopReason, language: Language) -> Told:
    """The run that stops for this reason; one that is cancelled or drained is really left after its first round."""
    if reason not in ("cancelled", "drained"):
        return told(reason, language)
    agent = Agent(ScriptedModel([look("a"), "a view"]), [looking()], settings=settings())
    stream = agent.stream(TASKS[language], thread="t")
    for item in stream:
        if isinstance(item, dict) and item["kind"] == "model":
            stream.cancel(reason)
    return Told(stream.result, agent.report("t"))


def facts(surface: str, reason: StopReason, language: Language) -> list[str]:
    """What a person has to be told of this stop: the round, what happened and why, the stuck call, what to do."""
    stop = story_of(reason, language).result.stop
    assert stop is not None
    left = reason in get_args(Interruption)
    if left and surface == "page":  # the log tells of no interruption, so that the run can go on
        return [LEFT_AT[language].format(step=stop["step"]), "loopwright resume t"]
    headline = [part.format(reason=reason, step=stop["step"]) for part in HEADLINES[surface][language]]
    if stop["complete"]:
        return ["loopwright run ", *(headline if surface == "page" else [])]
    go_on = "loopwright resume t" if left or reason in (*LIMITS, "auth", "model_error") else "loopwright run "
    stuck = ["look("] if STORIES[reason].stuck else []
    return [*headline, what_happened(reason, language), *stuck, stop["advice"], go_on]


@pytest.mark.parametrize("language", get_args(Language))
@pytest.mark.parametrize("surface", SURFACES)
def test_stops(surface: str, language: Language, snapshot: SnapshotAssertion) -> None:
    """The words are those that were reviewed, and nothing that a person has to know of a stop is lost in them."""
    texts: dict[StopReason, str] = {
        reason: SURFACES[surface](story_of(reason, language)).strip("\n") for reason in STORIES
    }
    for reason, text in texts.items():
        said = "".join(text.replace("│", "").split())
        assert [fact for fact in facts(surface, reason, language) if "".join(fact.split()) not in said] == [], reason
    shown = "\n\n".join(f"=== {reason}\n{scrubbed(reason, text)}" for reason, text in texts.items())
    assert f"{shown}\n" == snapshot(extension_class=Texts)
