"""Every reason a run can stop for: one real run each, what its report says in both languages, and docs/stops.md."""

import os
from pathlib import Path
from typing import get_args

import pytest
from tests.graph.stop_stories import CLOSING, STORIES, Told, told

from loopwright.language import Language
from loopwright.nodes.stop_report import call_text
from loopwright.policies import render_report
from loopwright.policies.stops import what_happened
from loopwright.state import StopReason, StopReport
from loopwright_studio.console import Screen
from loopwright_studio.outcome import print_stop

DOCS = Path(__file__).parents[2] / "docs" / "stops.md"
LANGUAGES: tuple[Language, ...] = get_args(Language)
EACH = pytest.mark.parametrize(("reason", "language"), [(r, each) for r in STORIES for each in LANGUAGES])
LEFT: tuple[StopReason, ...] = ("cancelled", "drained")
FAILED: tuple[StopReason, ...] = ("refusal", "content_filter", "context", "auth", "model_error")
"""Reasons of the model's side, at which no closing answer can be asked for."""


def stop_of(run: Told) -> StopReport:
    """The run's report."""
    assert run.result.stop is not None
    return run.result.stop


def rendered(run: Told, language: Language) -> str:
    """The report as a person reads it."""
    stop = stop_of(run)
    return render_report(stop, language, call_text(run.result.messages, stop["call_id"]))


def test_there_is_a_run_for_every_reason() -> None:
    """No reason is left out, and none is made up."""
    assert set(STORIES) == set(get_args(StopReason))


@EACH
def test_the_report_says_reason_step_call_and_what_to_do(reason: StopReason, language: Language) -> None:
    """RunResult.stop and its rendering have reason, step, policy, the call where one is stuck, and the next action."""
    run, story = told(reason, language), STORIES[reason]
    stop, text = stop_of(run), rendered(told(reason, language), language)
    assert (stop["reason"], stop["complete"]) == (reason, reason == "answered")
    assert (stop["step"], tuple(stop["earlier_steps"])) == (story.step, story.earlier)
    assert f"step {story.step})" in text if language == "en" else f"第 {story.step} 步）" in text
    assert reason in text
    assert stop["policy"]
    assert stop["policy"] in text
    assert stop["advice"]
    assert text.endswith(stop["advice"])
    assert ("look(" in text) == story.stuck
    assert (stop["call_id"] is not None) == story.stuck


@EACH
def test_the_report_is_in_the_language_of_the_user(reason: StopReason, language: Language) -> None:
    """What happened and what to do are said in Chinese to those who write Chinese, and only to them."""
    stop, text = stop_of(told(reason, language)), rendered(told(reason, language), language)
    assert stop["advice"].isascii() == (language == "en")
    assert text.split("(")[0].isascii() == (language == "en")


@EACH
def test_the_card_says_it_too(reason: StopReason, language: Language, capsys: pytest.CaptureFixture[str]) -> None:
    """The terminal's card has reason, step, call and advice, and a command to go on with; an answer needs none."""
    run, story = told(reason, language), STORIES[reason]
    print_stop(Screen(language), run.result, run.report, None)
    card = capsys.readouterr().out
    if reason == "answered":
        assert card == ""
        return
    assert "loopwright " in card
    if reason in LEFT:
        assert "loopwright resume t" in card
        return
    stop = stop_of(run)
    assert stop["advice"] in card
    assert reason in card
    assert str(story.step) in card
    assert ("look(" in card) == story.stuck


@EACH
def test_every_run_ends_with_an_answer(reason: StopReason, language: Language) -> None:
    """The closing answer where the model gave one; where it could not, the report itself."""
    run = told(reason, language)
    if reason in LEFT:
        assert run.result.answer == ""
    elif reason in (*FAILED, "empty_reply"):
        assert run.result.answer == rendered(run, language)
    else:
        assert run.result.answer in (CLOSING, "a view", "so far")
        assert run.result.complete == (reason == "answered")


def test_the_last_error_is_there_where_something_failed() -> None:
    """The error that stopped the run stands in its report; at a plain limit nothing did, and none is named."""
    errors = {reason: stop_of(told(reason, "en"))["last_error"] for reason in STORIES}
    assert errors["errors"] == "there is no nowhere"
    unread = ("invalid_replies", "empty_reply", "length")
    assert {reason for reason, error in errors.items() if error} == {*FAILED, *unread, "errors"}


def test_the_counters_say_what_was_used() -> None:
    """Calls, tokens and seconds always, the closing call counted; cost only where the model's price is known."""
    for reason in STORIES:
        assert {"model_calls", "tool_calls", "tokens"} <= stop_of(told(reason, "en"))["counters"].keys()
    limited = stop_of(told("model_calls", "en"))["counters"]
    assert (limited["model_calls"], limited["tool_calls"]) == (3, 2)
    assert "cost" not in limited
    cost = stop_of(told("cost", "en"))["counters"]["cost"]
    assert cost == told("cost", "en").result.usage.cost_usd
    assert f"${cost:,.4f}" in rendered(told("cost", "en"), "en")


def document() -> str:
    """docs/stops.md, as the runs write it; what they used is left out, since it differs with every prompt."""
    lines = [
        "# Why a run stopped",
        "",
        "Every run ends with an answer and a stop report: `result.stop`, the `stop` of the graph's output, the last "
        "event of the stream, and the card at the terminal. `reason` is one of those below. The texts come from one "
        "real run each: "
        "`WRITE_DOCS=1 uv run pytest tests/graph/test_stops.py` writes this file anew, and without the variable the "
        "same test compares it.",
        "",
        "`step` is the last step before the closing answer, a step being one model call. A call is named only where "
        "one was stuck: it was made over and over, was refused or failed round after round, or could not be read. "
        "`cancelled` and `drained` are not written to the thread, so that the run can be resumed.",
        "",
        'To extend a limit: `agent.resume(thread, extend={"model_calls": 100})`, or `loopwright resume THREAD --extend '
        "model_calls=100`. To resume: the same without `extend`. A new message is `agent.run(text, thread=thread)`, or "
        "`loopwright run TEXT --thread THREAD`.",
        "",
        "| reason | what happened | what to do |",
        "|---|---|---|",
        *(
            f"| `{reason}` | {what_happened(reason, 'en')} | {stop_of(told(reason, 'en'))['advice']} |"
            for reason in STORIES
        ),
    ]
    for reason in STORIES:
        lines += ["", f"## {reason}", ""]
        for language in LANGUAGES:
            run = told(reason, language)
            plain: StopReport = {**stop_of(run), "counters": {}}
            text = render_report(plain, language, call_text(run.result.messages, plain["call_id"]))
            lines += ["```text", text, "```"]
    return "\n".join(lines) + "\n"


def test_the_page_is_what_the_runs_say() -> None:
    """docs/stops.md holds what these runs said; WRITE_DOCS=1 writes it."""
    if not DOCS.parent.exists() and not os.environ.get("WRITE_DOCS"):
        pytest.skip("docs/ is not part of this copy")
    if os.environ.get("WRITE_DOCS"):
        DOCS.parent.mkdir(exist_ok=True)
        DOCS.write_text(document(), encoding="utf-8")
    assert DOCS.read_text(encoding="utf-8") == document(), (
        "write it anew: WRITE_DOCS=1 uv run pytest tests/graph/test_stops.py"
    )
