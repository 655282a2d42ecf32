"""What the page says itself is in one language: English or Chinese, as the newest run's task is."""

import re
from html.parser import HTMLParser
from pathlib import Path
from string import Formatter
from typing import get_args

import pytest
from tests.graph.stop_stories import STORIES, told
from tests.studio.page_story import every_kind, long_run

import loopwright
from loopwright.shapes import CallStatus, FailureKind, StopReason
from loopwright_studio import log_wording, page
from loopwright_studio.page import build_page
from loopwright_studio.page.listing import steps_of
from loopwright_studio.page.wording import PICTURE, Wording
from loopwright_studio.pictures.layout import BOXES
from loopwright_studio.pictures.svg import machine_svg
from loopwright_studio.wording import Said, Words

TABLE = {name: said for table in (Words, Wording) for name, said in vars(table).items() if isinstance(said, Said)}
SPOKEN = ("aria-label", "placeholder", "title", "data-all", "data-some", "data-other", "data-said", "data-done")
"""Attributes whose value a person reads or hears."""
NAMES = {"call model", "execute tools", "compress memory"}
"""Names of the machine in two words."""
HAN = re.compile("[\u4e00-\u9fff]")


class Spoken(HTMLParser):
    """The texts of a page that a person reads or hears, without commands and what programs read."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.language = ""
        self.texts: list[str] = []
        self.inside: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.texts += [value for name, value in attrs if name in SPOKEN and value]
        self.language = self.language or dict(attrs).get("lang") or ""
        if tag in ("code", "script", "style"):
            self.inside.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if self.inside and tag == self.inside[-1]:
            self.inside.pop()

    def handle_data(self, data: str) -> None:
        if not self.inside and data.strip():
            self.texts.append(" ".join(data.split()))


def test_both_languages_say_the_same() -> None:
    """Every entry of the table has a text in both languages, with the same placeholders."""
    assert len(TABLE) > 100
    for name, said in TABLE.items():
        assert said.en, name
        assert said.zh, name
        assert placeholders(said.en) == placeholders(said.zh), name
    assert [name for name, said in TABLE.items() if re.search("[a-z]{3} [a-z]{3}", said.zh)] == []


def placeholders(text: str) -> set[str]:
    """The names in braces."""
    return {name for _, name, _, _ in Formatter().parse(text) if name}


def test_the_table_knows_every_name_of_the_code() -> None:
    """Each status of a call, kind of failure and note in the picture has its words."""
    wanted = {f"status_{each}" for each in get_args(CallStatus)} | {f"failure_{each}" for each in get_args(FailureKind)}
    assert wanted <= set(TABLE)
    assert {line for box in BOXES for line in box.lines[1:] if line.strip()} < set(PICTURE)
    assert all(english in machine_svg() for english in PICTURE)


def test_every_word_of_the_table_is_used() -> None:
    """No entry is left over: each is named in the code or in a template; those shared with the terminal there too."""
    folder = Path(str(page.__file__)).parent
    texts = [path.read_text(encoding="utf-8") for path in [*folder.glob("*.py"), *folder.glob("*.j2")]]
    used = set(re.findall(r"(?:\bw|\bwords|_words)\.(\w+)", " ".join(texts)))
    built = ("status_", "failure_", "happened_")
    assert [name for name in TABLE if name not in used and not name.startswith(built)] == []


def test_a_chinese_page_has_no_english_sentence() -> None:
    """With every kind of step, status and text of the machine in it, nothing of ours is left in English."""
    report = every_kind().told()
    statuses = {call.status for turn in report.runs[0].rounds for call in turn.calls}
    kinds = {step.kind for step in steps_of(report)}
    assert statuses == set(get_args(CallStatus))
    assert kinds == {"task", "end", "round", "compression", "pause", "outcome", "extension", "fork"}
    page = Spoken(build_page(report, "sqlite:///runs.db"))
    assert page.language == "zh-CN"
    assert [text for text in page.texts if is_english(text)] == []
    ours = {said.en for said in TABLE.values() if HAN.search(said.zh) and said.en[0].isupper()}
    assert {text.strip(" :·") for text in page.texts} & ours == set()


def test_a_chinese_page_has_chinese_colons() -> None:
    """What follows a word of ours follows a colon of full width."""
    texts = Spoken(build_page(every_kind().told(), "sqlite:///runs.db")).texts
    assert [text for text in texts if re.search(f"{HAN.pattern}:|^:", text)] == []


def is_english(text: str) -> bool:
    """Whether two or more English words stand beside each other, and are no name of the machine."""
    return any(found not in NAMES for found in re.findall(r"[A-Za-z]{2,}(?: [A-Za-z]{2,})+", text))


def test_an_english_page_has_no_chinese() -> None:
    """A page of English texts holds no Chinese character."""
    page = Spoken(build_page(told("repeat", "en").report))
    assert page.language == "en"
    assert [text for text in page.texts if HAN.search(text)] == []


def test_the_newest_task_decides() -> None:
    """The language is that of the newest run, whatever the earlier ones and the answers were in."""
    earlier, newest = told("repeat", "en").report, told("repeat", "zh").report
    runs = (*earlier.runs, *(run.model_copy(update={"number": 2, "id": "two"}) for run in newest.runs))
    assert Spoken(build_page(newest.model_copy(update={"runs": runs}))).language == "zh-CN"
    assert Spoken(build_page(long_run(9, hostile=()).told())).language == "en"


@pytest.mark.parametrize("reason", STORIES)
def test_what_the_guard_logs_is_said_in_chinese(reason: StopReason) -> None:
    """Every reason that a run's decisions give is known, save for what a server said."""
    report = told(reason, "zh").report
    decisions = [each for run in report.runs for turn in run.rounds for each in turn.decisions]
    reasons = {each.reason for each in decisions if each.reason and each.policy != "model"}
    assert [each for each in reasons if not HAN.search(log_wording.told(each, "zh"))] == []


def test_every_form_is_still_written_somewhere() -> None:
    """The page reads back what the machine writes: a form that no source holds any more would translate nothing."""
    folder = Path(str(loopwright.__file__)).parent
    source = "".join(re.sub(r'"\n\s+f?"', "", path.read_text(encoding="utf-8")) for path in folder.rglob("*.py"))
    for form in log_wording.FORMS:
        longest = max(re.split(r"\{\w+\}", form), key=len)
        assert longest[:40] in source, form


def test_other_texts_stay_as_they_are() -> None:
    """A policy of the user's own and a server's error have no known form; in English nothing is changed."""
    assert log_wording.told("too late in the day", "zh") == "too late in the day"
    assert log_wording.told("identical call number 5", "en") == "identical call number 5"
    holder = "process 7 on box since 2026-11-30 10:00:00"
    assert log_wording.told(holder, "zh") == "box 上的进程 7（2026-11-30 10:00:00 起）"
    assert log_wording.told("model_calls: 2 of 2; not extended", "zh") == "model_calls：已用 2，上限 2；未提高上限"
