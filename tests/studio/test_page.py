"""The page as a document: what it says of each stop, that it is whole and self-contained, and that it obeys nothing."""

import re
import sys
import time
from base64 import b64encode
from collections import Counter
from collections.abc import Callable
from hashlib import sha256
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jinja2 import DictLoader, Environment
from langchain_core.messages import AIMessage
from langchain_core.tools import ToolException, tool
from tests.graph.stop_stories import STORIES, looking, told
from tests.studio.page_story import HOSTILE, THREAD, Story, every_kind, long_run
from typer.testing import Result

from loopwright import Agent, Settings, tool_policy
from loopwright.language import Language
from loopwright.policies.stops import what_happened
from loopwright.report import RunReport, fold_report
from loopwright.settings import ModelSettings
from loopwright.state import StopReason
from loopwright.testing import ScriptedModel, call, reply
from loopwright_studio.page import build_page
from loopwright_studio.page.building import parted, turning_points
from loopwright_studio.page.chart import FLATTEST, chart_of
from loopwright_studio.page.excerpts import what_went_wrong
from loopwright_studio.page.figures import duration, listed, tick, tokens
from loopwright_studio.page.listing import steps_of
from loopwright_studio.page.path import path_of
from loopwright_studio.page.shares import time_shares
from loopwright_studio.page.steps import BetweenStep, RoundStep
from loopwright_studio.page.template import Compiled
from loopwright_studio.page.ways import Ways
from loopwright_studio.page.wording import Wording
from loopwright_studio.reporting import file_name

LEFT = ("cancelled", "drained")
"""Stops that write no event, since the run can go on: their page is that of a run left in the middle."""


class Document(HTMLParser):
    """The page's elements, their names and attributes; what the verdict says, as a person reads it."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str]]] = []
        self.open: list[str] = []
        self.read = ""
        self.feed(page)
        self.verdict = " ".join(self.read.split())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.tags.append((tag, given))
        self.read += "" if tag == "span" else " "
        if tag == "section":
            self.open.append(given.get("class", ""))

    def handle_endtag(self, tag: str) -> None:
        if tag == "section":
            self.open.pop()

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1].startswith("verdict"):
            self.read += data

    def values(self, name: str) -> list[str]:
        """All values of an attribute."""
        return [given[name] for _, given in self.tags if name in given]


@pytest.fixture(scope="module")
def long_page() -> str:
    """The page of 400 rounds with hostile texts."""
    return build_page(long_run().told())


def small_report(*, settings: Settings | None = None, script: list[Any] | None = None) -> RunReport:
    """The report of a short real run: one call, one answer."""

    @tool
    def look(at: str) -> str:
        """Look at something."""
        return f"saw {at}"

    steps = script or [reply("I look.", call("look", at="a")), "a is there"]
    agent = Agent(ScriptedModel(steps), [tool_policy(look, effect="read")], settings=settings or Settings())
    agent.run("what is there?", thread="t")
    return agent.report("t", 4_000)


@pytest.mark.parametrize("language", get_args(Language))
@pytest.mark.parametrize("reason", [reason for reason in STORIES if reason not in LEFT])
def test_the_first_screen_names_round_call_reason_and_what_to_do(reason: StopReason, language: Language) -> None:
    """Whatever a run stopped for, the verdict says it, with the stuck call and a command that can be pasted."""
    report = told(reason, language).report
    stop = report.runs[-1].stop
    assert stop is not None
    said = Document(build_page(report)).verdict
    words = Wording(language)
    assert what_happened(reason, language) in said
    assert f"{words.round_number.format(step=stop['step'])} · {reason}" in said
    assert "loopwright " in said
    if not stop["complete"]:
        assert stop["advice"] in said
        assert words.where_it_ended.format(step=stop["step"]) in said
    stuck = [c for turn in report.runs[-1].rounds for c in turn.calls if c.call_id == stop["call_id"]]
    assert bool(stuck) == STORIES[reason].stuck
    for each in stuck:
        assert f"{each.tool}(" in said
    for number in stop["earlier_steps"][:1]:
        assert words.where_it_began.format(step=number) in said


@pytest.mark.parametrize("folder", ["kept", "missing"])
def test_compiled_templates_are_kept_where_they_can_be(tmp_path: Path, folder: str) -> None:
    """They are read back by the next process; in a folder that cannot be written the page is made all the same."""
    (tmp_path / "kept").mkdir()
    compiled = Compiled()
    compiled.directory = str(tmp_path / folder)
    for _ in range(2):
        environment = Environment(loader=DictLoader({"a": "{{ 1 + 1 }}"}), bytecode_cache=compiled, autoescape=True)
        assert environment.get_template("a").render() == "2"
    kept = 1 if folder == "kept" and not sys.dont_write_bytecode else 0
    assert len([*tmp_path.glob("kept/*.cache")]) == kept


def test_an_open_run_says_who_holds_it_or_how_to_go_on() -> None:
    """A run without a stop either runs, in the process named, or nobody holds it and it can be resumed."""
    story = long_run(9, hostile=())
    story.events = story.events[:16]  # the model is being asked for the fourth time
    left = Document(build_page(story.told())).verdict
    assert "It was left in the middle: no process holds it." in left
    assert "Round 3, where it stands" in left
    assert "loopwright resume invoices-oct" in left
    assert "Every finished step is kept" in left
    running = Document(build_page(story.told(holder="process 7 on box"))).verdict
    assert "It is running." in running
    assert "process 7 on box" in running
    assert "loopwright show invoices-oct --follow" in running
    assert "loopwright resume" not in running


def test_a_waiting_run_shows_the_question_and_both_answers() -> None:
    """A pause stands on the first screen with what is asked, and commands that answer it with the storage named."""
    report = small_report(settings=Settings(max_model_calls=1, on_limit="ask", model=ModelSettings(retry_delay=0)))
    said = Document(build_page(report, "sqlite:///x y.db")).verdict
    assert "It waits for your answer." in said
    assert report.waiting[0].description in said
    assert "loopwright resume t --approve --storage 'sqlite:///x y.db'" in said
    assert "--reject" in said


def test_an_answered_run_opens_its_answer() -> None:
    """A completed run shows the answer at once, and nothing is red."""
    page = build_page(small_report())
    assert '<details class="answer" open>' in page
    assert '<section class="verdict done"' in page


def test_a_thread_without_a_run_has_no_page() -> None:
    """Nothing is drawn of nothing."""
    with pytest.raises(ValueError, match="without a run"):
        build_page(fold_report("t", [], []))


def test_the_page_loads_nothing(long_page: str) -> None:
    """No address but places in the page and data; style and script are the ones that the policy names by hash."""
    document = Document(long_page)
    addresses = [
        given[name] for _, given in document.tags for name in ("src", "href", "action", "srcdoc") if name in given
    ]
    assert addresses
    assert all(address.startswith("#") or address == "data:," for address in addresses)
    assert "url(" not in long_page.partition("</style>")[0]
    policy = next(value for value in document.values("content") if "default-src" in value)
    assert policy.startswith("default-src 'none'")
    assert "unsafe" not in policy
    for name in ("style", "script"):
        (text,) = re.findall(rf"<{name}>(.*?)</{name}>", long_page, re.DOTALL)
        assert f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'" in policy


def test_hostile_texts_stay_texts(long_page: str) -> None:
    """The page with attacks in it has the elements of one without, save for what texts are long; none has a handler."""
    attributes = {name for _, given in Document(long_page).tags for name in given}
    assert not [name for name in attributes if name.startswith("on")]
    assert "style" not in attributes
    quiet = {tag for tag, _ in Document(build_page(long_run(hostile=()).told())).tags}
    assert {tag for tag, _ in Document(long_page).tags} == quiet
    assert [tag for tag, _ in Document(long_page).tags].count("script") == 1


@settings(deadline=None, max_examples=40)
@given(st.text(max_size=80))
def test_no_unseen_character_reaches_the_page(text: str) -> None:
    """Any text in a task, a name, an argument and a result: what is left is markup of ours and what can be seen."""
    report = small_report_of(text)
    page = build_page(report)
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\u200b\ufeff]", page)
    assert {tag for tag, _ in Document(page).tags} == {
        tag for tag, _ in Document(build_page(small_report_of("x"))).tags
    }


def small_report_of(text: str) -> RunReport:
    """A short report in which everything that a run can say is this text."""
    text = text or "x"
    story = long_run(6, hostile=())
    story.messages[0].content = text
    story.round(7, text, [(text, {text: text}, text, "ok")], "note", text, text)
    return story.told(thread=text)


@pytest.mark.parametrize("reason", STORIES)
def test_every_link_has_its_place(reason: StopReason) -> None:
    """Whatever the run stopped for, each link leads to an id of the page, and no id stands twice."""
    check_links(build_page(told(reason, "en").report))


def test_every_link_of_a_long_page_has_its_place(long_page: str) -> None:
    """The same holds for 400 rounds, and where everything happened that can."""
    check_links(long_page)
    check_links(build_page(every_kind().told()))


def check_links(page: str) -> None:
    """Each link leads to an id, and each id is one place."""
    document = Document(page)
    ids = Counter(document.values("id"))
    assert [name for name, count in ids.items() if count > 1] == []
    assert {link.removeprefix("#") for link in document.values("href") if link.startswith("#")} <= set(ids)


def test_four_hundred_rounds_are_small_and_quick() -> None:
    """The page of 400 rounds is under 2 MB, and built in under a second (the best of three)."""
    report = long_run().told()

    def once() -> float:
        started = time.perf_counter()
        assert len(build_page(report).encode()) < 2_000_000
        return time.perf_counter() - started

    assert min(once() for _ in range(3)) < 1


def test_long_results_are_cut_and_say_so() -> None:
    """Where results would make the page too large, each is cut shorter, and how much is missing stands there."""
    story = long_run(400, hostile=())
    for message in story.messages:
        if message.type == "tool":
            message.content = "a result of many words " * 600
    page = build_page(story.told())
    assert len(page.encode()) < 2_000_000
    assert "of 13800 characters." in page


@pytest.mark.parametrize("word", ["many words of a reply ", "说了很多话的回复，", '{"invoice": 48213}, '])
def test_long_arguments_and_replies_are_cut_as_well(word: str) -> None:
    """Four hundred rounds that write long files and say much stay below 2 MB, and say of each text what is missing."""
    story = long_run(400, hostile=())
    for message in story.messages:
        if isinstance(message, AIMessage):
            message.content = word * 450
            for each in message.tool_calls:
                each["args"] = {"path": "a", "content": [word] * 300}
    page = build_page(story.told())
    assert len(page.encode()) < 2_000_000
    assert re.search(r"The first \d+ of \d+ characters\.", page)
    assert re.search(r"The first \d+ characters\.", page)


def test_a_long_task_and_answer_are_folded() -> None:
    """Only how they begin is read at once: what got stuck and why stands on the first screen, whatever the task."""
    story = long_run(6, hostile=())
    story.messages[0].content = "Compare each line. " * 200
    page = build_page(story.told())
    assert page.count('<details class="long">') == 2  # above the verdict, and where the run begins
    (shown,) = {" ".join(each.split()) for each in re.findall(r'<span class="said head">(.*?)</span>', page, re.DOTALL)}
    assert len(shown) == 280
    assert shown.endswith("…")
    assert "The whole: 3800 characters" in page
    story.messages[0].content = "Compare each line. " * 400
    assert "The first 4000 characters." in build_page(story.told())  # a report holds no more of a task


def approval_report(args: dict[str, Any]) -> RunReport:
    """The report of a run that waits for the approval of a call with these arguments."""

    @tool
    def pay(to: str, memo: Any = "") -> str:
        """Pay someone."""
        return "paid"

    agent = Agent(ScriptedModel([reply("", call("pay", args))]), [tool_policy(pay, effect="write", approval=True)])
    agent.run("pay them", thread="t")
    return agent.report("t", 4_000)


def test_an_approval_shows_each_argument_to_its_end() -> None:
    """What a person lets run is read whole: the end of a long argument is no less part of it than its beginning."""
    memo = "invoice 48213 " * 200
    said = Document(build_page(approval_report({"to": "Acme", "memo": f"{memo}and all others"}))).verdict
    assert "invoice 48213 and all others" in said
    assert "…" not in said


@pytest.mark.parametrize(("language", "said"), [("en", "needs approval: pay"), ("zh", "需要批准：pay")])
def test_a_call_that_waited_says_what_for(language: Language, said: str) -> None:
    """The guard gives no reason where a tool's own rule asks: the word `ask` does not stand alone, once answered."""

    @tool
    def pay(to: str) -> str:
        """Pay someone."""
        return "paid"

    agent = Agent(ScriptedModel([reply("", call("pay", to="a")), "ok"]), [tool_policy(pay, approval=True)])
    agent.run({"en": "pay them", "zh": "给他们付款"}[language], thread="t")
    waiting = build_page(agent.report("t"))
    assert Wording(language).needs_approval in waiting
    agent.resume("t", decisions={each.id: {"type": "approve"} for each in agent.pending("t")})
    assert f'<b class="word ask">ask</b> {said} ' in build_page(agent.report("t"))


def test_a_reply_without_a_call_that_can_be_read_has_no_empty_name() -> None:
    """Where a text protocol found no call, the page says that instead of a call without a name."""
    script = ["no JSON at all"] * 4
    agent = Agent(ScriptedModel(script), [looking()], settings=Settings(protocol="json_flat"))
    agent.run("look", thread="t")
    page = build_page(agent.report("t"))
    assert "<b>no readable call</b>" in page
    assert "no readable call: no JSON at all" in Document(page).verdict
    assert not re.search(r"<b>\s*</b>", page)


def test_arguments_that_are_no_text_stand_as_json_that_can_be_read() -> None:
    """Chinese within a list stays Chinese, in the order in which the model wrote it."""
    page = build_page(approval_report({"to": "Acme", "memo": {"客户": ["甲", "<乙>"], "amount": 1}}))
    assert "{&#34;客户&#34;: [&#34;甲&#34;, &#34;&lt;乙&gt;&#34;], &#34;amount&#34;: 1}" in page


def test_a_line_that_is_cut_says_so() -> None:
    """Long arguments and results of the stuck call end with an ellipsis on the first screen."""
    story = long_run(6, hostile=())
    for message in story.messages:
        if isinstance(message, AIMessage):
            for each in message.tool_calls:
                each["args"] = {"path": "p" * 900}
        elif message.type == "tool":
            message.content = "r" * 900
    said = Document(build_page(story.told())).verdict
    assert "p…)" in said
    assert "r…" in said


def test_an_error_is_what_a_traceback_ends_with() -> None:
    """The line of a call that failed names the error as it was raised; the traceback itself stands inside."""
    traceback = 'Traceback (most recent call last):\n  File "db.py", line 7, in run\nOSError: the disk is full'

    @tool
    def save(at: str) -> str:
        """Save."""
        raise ToolException(traceback)

    agent = Agent(ScriptedModel([reply("", call("save", at="a")), "no"]), [tool_policy(save, effect="read")])
    agent.run("save it", thread="t")
    report = agent.report("t", 4_000)
    (failed,) = report.runs[0].rounds[0].calls
    assert what_went_wrong(failed) == "OSError: the disk is full"
    page = build_page(report)
    assert '<span class="to error">error: OSError: the disk is full</span>' in page
    assert "line 7, in run" in page


@pytest.mark.parametrize(("reason", "is_red"), [("repeat", False), ("errors", True)])
def test_a_result_is_red_where_it_is_an_error(reason: StopReason, is_red: bool) -> None:
    """A call that was stuck and gave a good result each time has no red one on the first screen."""
    assert ('<span class="result error">' in build_page(told(reason, "en").report)) == is_red


def test_a_filter_that_would_leave_nothing_cannot_be_pressed() -> None:
    """Where nothing failed and memory was never compressed their filters are off; those of what there is are not."""
    off = {given["data-filter"] for _, given in Document(build_page(small_report())).tags if "disabled" in given}
    assert off == {"guard", "error", "memory"}
    assert not [given for _, given in Document(build_page(every_kind().told())).tags if "disabled" in given]


def test_a_closing_answer_is_counted_beside_the_limit() -> None:
    """Under a limit of two there were three calls, one of them to close: not three of two."""
    page = build_page(told("model_calls", "en").report)
    run = told("model_calls", "en").report.runs[0]
    assert (run.totals.model_calls, run.limits["model_calls"]) == (3, 2)
    assert "of 2, 1 more to close" in page


@pytest.mark.parametrize(
    ("task", "label", "said"),
    [("look", "Calls without an outcome", "no outcome yet"), ("看一看", "尚无结果的调用", "尚无结果")],
)
def test_a_run_that_was_left_names_the_call_it_was_in(task: str, label: str, said: str) -> None:
    """The first screen and the round's line name the call that has no outcome; none of it is red."""

    @tool
    def fetch(at: str) -> str:
        """Fetch."""
        raise KeyboardInterrupt

    agent = Agent(ScriptedModel([reply("", call("fetch", at="far"))]), [tool_policy(fetch, effect="read")])
    with pytest.raises(KeyboardInterrupt):
        agent.run(task, thread="t")
    page = build_page(agent.report("t"))
    assert f'aria-label="{label}"' in page
    assert f'<code>fetch(at=far)</code>\n<span class="result">{said}</span>' in page
    assert f'<span class="to"><em>{said}</em></span>' in page
    assert "error" not in {word for tag, given in Document(page).tags for word in (given.get("class") or "").split()}


def test_the_steps_are_all_that_happened() -> None:
    """Every round, compression and boundary of the run is one step, in order, and decisions stand with their reply."""
    report = long_run().told()
    (run,) = report.runs
    steps = steps_of(report)
    rounds = [step for step in steps if isinstance(step, RoundStep)]
    assert [step.turn for step in rounds] == [turn for turn in run.rounds if turn.model]
    assert [step.at for step in rounds] == list(range(len(rounds)))
    assert sum(isinstance(step, BetweenStep) for step in steps) == len(run.compressions) > 0
    assert all(decision.step == step.turn.step for step in rounds for decision in step.decisions)
    assert [step.tag.word for step in rounds if step.tag][-3:] == ["block", "block", "stop"]
    assert (steps[0].kind, steps[-1].kind) == ("task", "end")


def test_a_fork_is_a_step_of_its_own() -> None:
    """It says from which checkpoint, of which thread, and whether it was edited, and gives the command to repeat it.

    One before the first round stands before it, and each is a turning point.
    """
    report = every_kind().told()
    steps = steps_of(report)
    forks = [step for step in steps if step.kind == "fork"]
    assert [step.anchor for step in forks] == ["r0-fork1", "r4-fork0"]
    assert steps[1] is forks[0]
    assert {step.filters for step in forks} == {"people"}
    assert all(step in turning_points(steps) for step in forks)
    page = build_page(report)
    assert '回到检查点 1ef-aaaa</b> <span class="quiet">有改动' in page
    assert f"<code>loopwright fork {THREAD} 1ef-aaaa</code>" in page
    assert '从线程 老线程 的检查点 1ef-bbbb 分叉出来</b> <span class="quiet">未作改动' in page
    assert "<code>loopwright fork &#39;老线程&#39; 1ef-bbbb --into &#39;新线程名&#39;</code>" in page


def test_a_round_names_the_command_that_shows_it_whole() -> None:
    """`show --round N` takes the newest run that has such a round: only there it is named; `history` always is."""
    agent = Agent(ScriptedModel([reply("", call("none")), "one", "two"]), settings=Settings())
    agent.run("first", thread="t")
    agent.run("second", thread="t")
    report = agent.report("t")
    ways = Ways(report, None, Wording("en"))
    rounds = [step for step in steps_of(report) if isinstance(step, RoundStep)]
    commands = {step.anchor: [way.command for way in ways.in_round(step)] for step in rounds}
    history = "loopwright history t"
    assert commands == {
        "r1": [history],
        "r2": ["loopwright show t --round 2", history],
        "run2-r1": ["loopwright show t --round 1", history],
    }


def test_the_newest_refusals_are_listed_openly() -> None:
    """Of many turning points the refusals and the newest are read at once, in order; where it stopped is among them."""
    story = long_run(40, hostile=())
    for step in range(42, 72):
        story.round(step, "", [("look", {"at": step}, "no", "refused")], "block", "no_news", "nothing new")
    for step in range(72, 92):
        story.round(step, "", [("look", {"at": step}, "yes", "ok")], "note", "no_news", "nothing new")
    points = turning_points(steps_of(story.told()))
    openly, folded = parted(points)
    rounds = [step.turn.step for step in openly if isinstance(step, RoundStep)]
    assert rounds == list(range(58, 72))
    assert [each for each in points if each in openly or each in folded] == points
    assert folded == [each for each in points if each not in openly]


def test_rounds_of_several_runs_are_told_apart() -> None:
    """The chart, its table and the turning points name the run where a thread has several."""
    looks = [reply("", call("look", at="a")) for _ in range(5)]
    agent = Agent(ScriptedModel([*looks, "one", *looks, "two"]), [looking()], settings=Settings())
    agent.run("first", thread="t")
    alone = build_page(agent.report("t"))
    agent.run("second", thread="t")
    page = build_page(agent.report("t"))
    assert "<span>Run 1, round 1</span>" in page
    assert "<span>Run 2, round 6</span>" in page
    assert page.count('<span class="quiet">· run 1</span>') == 3
    assert '<th scope="col">run</th>' in page
    assert not any(each in alone for each in ("Run 1, round", "· run 1", '<th scope="col">run</th>'))


def test_a_compression_says_what_left_the_request() -> None:
    """How many steps were folded or dropped and results clipped, of which tools, and how its summary went."""
    story = every_kind()
    (event,) = [each for each in story.events if each["kind"] == "compression"]
    event.update({"folded": 3, "dropped": 2, "clipped": 4, "tools": ["look", "pay"], "summary": "failed: timed out"})
    page = build_page(story.told())
    said = "折叠 3 步 · 移除 2 步 · 截短结果 4 条 · 移出的调用：look、pay · 摘要 748 token · 没有摘要：timed out"
    assert said in page
    event["summary"] = "unusable"
    assert "摘要无法使用" in build_page(story.told())


def budget_story(*budgets: int | None) -> Story:
    """A run with a request of 2,400 tokens and more under each of these budgets."""
    story = Story()
    for step, budget in enumerate(budgets, 1):
        story.budget = budget
        story.round(step, "", [])
    return story


@pytest.mark.parametrize(
    ("budgets", "top", "path"),
    [
        ((None, None), 3_200, ""),
        ((4_000, 4_000), 4_000, "M0 0H2"),
        ((8_000, 8_000, 4_000), 8_000, "M0 0H2V50H3"),
        ((None, 4_000, None, 4_000), 4_000, "M1 0H2M3 0H4"),
        ((128_000, 128_000), 3_200, ""),
        ((4_000, 128_000), 4_000, "M0 0H1"),
    ],
)
def test_the_budget_is_a_line_where_the_curve_keeps_its_shape(
    budgets: tuple[int | None, ...], top: int, path: str
) -> None:
    """It steps where the budget changes, breaks where none is known, and is left out where it would flatten it."""
    chart = chart_of(steps_of(budget_story(*budgets).told()))
    assert (chart.ticks[0], chart.budget) == (top, path)
    assert chart.budgets == tuple(sorted({budget for budget in budgets if budget}))


@given(st.lists(st.none() | st.integers(1, 10**7), min_size=2, max_size=12))
def test_no_budget_flattens_the_curve(budgets: list[int | None]) -> None:
    """Whatever the budgets are, the largest request keeps a good part of the height, and no line leaves the plot."""
    chart = chart_of(steps_of(budget_story(*budgets).told()))
    largest = max(step.turn.model.request_tokens for step in chart.rounds if step.turn.model)
    assert largest <= chart.ticks[0] <= 2 * FLATTEST * largest
    heights = [float(each) for each in re.findall(r"(?:V|M\d+ )([\d.]+)", chart.budget)]
    assert all(0 <= height <= 100 for height in heights)


def test_the_time_is_cut_into_all_its_parts() -> None:
    """Model, tools, memory, the time that a person was waited for, our own, and gaps in which nothing ran."""
    (run,) = every_kind().told().runs
    shares = time_shares(run, Wording("en"))
    named = {share.name: share.amount for share in shares}
    assert named["ask"] == pytest.approx(90)
    assert set(named) == {"call_model", "execute_tools", "compress_memory", "ask"}
    idle = run.model_copy(update={"own_seconds": 5.0, "left_seconds": 9.0})
    rest = [share[1:] for share in time_shares(idle, Wording("en")) if share.name in ("own", "idle")]
    assert rest == [("own code", 5.0), ("nothing ran", 9.0)]


def test_what_lies_between_two_rounds_stands_in_the_order_of_time() -> None:
    """A fork, and a question that was answered after it, whatever kind of step each is."""
    report = every_kind().told()
    run = report.runs[0]
    (pause, *_), (fork, *_) = run.pauses, run.forks
    for order in ((1.0, 2.0), (2.0, 1.0)):
        asked, back = (
            each.model_copy(update={"step": 0, "at": at}) for each, at in zip((pause, fork), order, strict=True)
        )
        other = run.model_copy(update={"pauses": (asked,), "forks": (back,), "extensions": (), "outcomes": ()})
        steps = steps_of(report.model_copy(update={"runs": (other,)}))
        told = [step.kind for step in steps if step.kind in ("pause", "fork")]
        assert told == (["pause", "fork"] if order[0] < order[1] else ["fork", "pause"])


def test_a_run_that_went_on_after_a_failure_says_so() -> None:
    """It names no limits, since none is new; and every round has the time of its reply."""
    agent = Agent(ScriptedModel([RuntimeError("down"), "done"]), settings=Settings(model=ModelSettings(tries=1)))
    agent.run("x", thread="t")
    agent.resume("t")
    page = build_page(agent.report("t"))
    assert "<b>Went on after the failure</b>" in page
    assert "Went on under new limits" not in page
    assert len(re.findall(r'class="seconds" title="\d{4}-\d\d-\d\d [\d:]+ UTC"', page)) == 2


@pytest.mark.parametrize("reason", [reason for reason in STORIES if reason not in LEFT])
def test_the_path_of_an_ended_run_flows(reason: StopReason) -> None:
    """What enters a node leaves it, from START to END: the numbers in the picture are those of the run."""
    path = path_of(told(reason, "en").report.runs[-1])
    for node in ("begin", "guard", "call_model", "compress_memory", "execute_tools", "ask", "finish"):
        enters = sum(count for (_, target), count in path.items() if target == node)
        leaves = sum(count for (source, _), count in path.items() if source == node)
        assert enters == leaves, node


def test_later_runs_of_a_thread_have_places_of_their_own() -> None:
    """Two runs are two tasks in the list; the second one's rounds are named after it, and stand in the first screen."""
    agent = Agent(ScriptedModel(["one", "two"]), settings=Settings())
    agent.run("first", thread="t")
    agent.run("second", thread="t")
    page = build_page(agent.report("t"))
    ids = Document(page).values("id")
    assert {"r0", "r1", "end", "run2-r0", "run2-r1", "run2-end"} <= set(ids)
    assert '<div class="task"><p class="said">second</p>' in "".join(page.splitlines())
    assert "All 2 runs of this thread: model calls 2, tool calls 0" in page


def test_figures_are_short() -> None:
    """Tokens, durations and lists as a person reads them."""
    assert [tokens(n) for n in (0, 812, 12_240, 99_950, 7_600_000)] == ["0", "812", "12.2 k", "100 k", "7.6 M"]
    assert [tick(n) for n in (0, 800, 8_000, 2_500, 1_000_000)] == ["0", "800", "8 k", "2.5 k", "1 M"]
    assert [duration(s) for s in (0.003, 0.84, 12.34, 1486, 11_100)] == [
        "3 ms", "0.84 s", "12.3 s", "24 min 46 s", "3 h 05 min"
    ]  # fmt: skip
    assert [duration(s, "zh") for s in (0.003, 0.84, 1486, 11_100)] == ["3 ms", "0.84 s", "24 分 46 秒", "3 小时 05 分"]
    assert [listed(numbers) for numbers in ([], [1], [1, 2], [1, 2, 3])] == ["", "1", "1 and 2", "1, 2 and 3"]
    assert listed([1, 2, 3], "zh") == "1、2、3"


def test_report_writes_a_file(invoke: Callable[..., Result], folder: Path) -> None:
    """`report THREAD` writes a page for its owner alone, under the thread's name or the one given, or prints it."""
    invoke("run", "what is 2*3", "--thread", "a/b 周报", "-q")
    result = invoke("report", "a/b 周报")
    assert (result.exit_code, result.stdout) == (0, "")
    path = folder / "a-b-周报.html"
    assert path.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert path.stat().st_mode & 0o077 == 0
    assert invoke("report", "a/b 周报", "-o", "run.html").exit_code == 0
    assert (folder / "run.html").exists()
    assert "2*3 = 6" in invoke("report", "a/b 周报", "-o", "-").stdout


def test_report_says_what_is_wrong(invoke: Callable[..., Result]) -> None:
    """An unknown thread and a place that cannot be written are one sentence each, with exit code 2."""
    invoke("run", "what is 2*3", "--thread", "t", "-q")
    unknown = invoke("report", "nobody")
    assert (unknown.exit_code, "nobody" in unknown.stderr) == (2, True)
    closed = invoke("report", "t", "-o", "nowhere/run.html")
    assert (closed.exit_code, "nowhere/run.html cannot be written" in closed.stderr) == (2, True)


@given(st.text(max_size=120))
def test_file_names_are_plain(thread: str) -> None:
    """A thread's name becomes a file's name without a path, a leading dot, or anything unseen."""
    name = file_name(thread)
    assert name.endswith(".html")
    assert re.fullmatch(r"\w[\w.-]*\.html", name)


def test_the_story_holds_every_payload() -> None:
    """The long run has each hostile text among its results, or the tests on it would say nothing."""
    results = [each.result or "" for turn in long_run().told().runs[0].rounds for each in turn.calls]
    assert all(any(payload in result for result in results) for payload in HOSTILE)
