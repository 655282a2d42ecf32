"""policies/wording.py: what the guard found is said with the call, the step and two ways on, in both languages."""

import re
from dataclasses import replace
from typing import get_args

import pytest
from tests.graph.policy_views import Story, answered, failed, ran, wants

from loopwright import Finding, GuardView, Policy, Settings, default_policies
from loopwright.language import Language
from loopwright.policies import PendingCall, budget_question, closing_instruction, not_run, say, sure_to_fail
from loopwright.policies.finding import Facts
from loopwright.policies.limits import Limit, ToolLimit
from loopwright.settings import GuardSettings, ToolSettings
from loopwright.state import StopReason

LANGUAGES: tuple[Language, ...] = get_args(Language)
BOTH = pytest.mark.parametrize("language", LANGUAGES)
SETTINGS = Settings(
    tools=ToolSettings(max_calls={"capped": 1}, calls_per_turn=1), guard=GuardSettings(same_call=2), max_model_calls=3
)


def withholding(story: Story, tool: str) -> Story:
    """The story, its last request made without this tool."""
    newest = next(event for event in reversed(story.events) if event["kind"] == "model")
    newest["withheld"] = [tool]
    return story


def outside(call: PendingCall) -> PendingCall:
    """The call with an argument that stands only in text from outside."""
    return replace(call, outside=("at",))


PAID = Story.of([ran("bob", tool="pay", effect="write")])
LOST = Story.of([answered("unknown", "bob", tool="pay", effect="write")])
PAY = wants("bob", tool="pay", effect="write")
CIRCLE = Story.of(*[[ran(name, f"saw {name}")] for _ in range(3) for name in "ab"])

ABOUT_CALLS: dict[str, tuple[Story, PendingCall, bool]] = {
    "repeated_failure": (Story.of([failed()]), wants(), False),
    "identical_result": (Story.of([ran()], [ran()]), wants(), False),
    "insistence": (Story.of([ran()], [ran()], [answered("refused")], [answered("refused")]), wants(), False),
    "cycle": (CIRCLE, wants("a"), False),
    "served_pure": (Story.of([ran(effect="pure")]), wants(effect="pure"), False),
    "same_call": (Story.of([ran()]), wants(), False),
    "calls_per_turn": (Story.of([ran("b", tool="capped")]), wants(), False),
    "tool_limit": (Story.of([ran(tool="capped")], settings=SETTINGS), wants("b", tool="capped"), False),
    "same_write": (PAID, PAY, False),
    "same_write:ask": (PAID, PAY, True),
    "unknown_outcome": (LOST, PAY, False),
    "unknown_outcome:ask": (LOST, PAY, True),
    "untrusted_arguments": (Story.of([ran()]), outside(PAY), False),
    "same_error": (Story.of(*[[failed(name)] for name in "bcd"]), wants(), False),
    "no_news": (Story.of(*[[ran(name)] for name in "bcd"]), wants(), False),
    "not_offered": (withholding(Story.of([answered("refused")]), "look"), wants(), False),
}
"""For each policy that judges calls: a story, the call, and whether someone can be asked."""
STEPLESS = {"untrusted_arguments"}
"""Findings about the call itself, not about something before it."""


def policy_named(name: str) -> Policy:
    """The default policy of this name."""
    every = {policy.name: policy for policy in [*default_policies(SETTINGS), ToolLimit()]}
    return every[name.partition(":")[0]]


def found_in(name: str) -> Finding:
    """What that policy finds in its story."""
    story, call, can_ask = ABOUT_CALLS[name]
    found = story.judge(policy_named(name), call, can_ask=can_ask)
    assert found is not None
    return found


def test_every_policy_that_judges_calls_is_here() -> None:
    """None of the default policies is left out, those that judge the run aside."""
    of_the_run = {"limit", "recursion_limit", "error_rounds", "refused_rounds", "unusable_replies"}
    assert {policy.name for policy in default_policies(SETTINGS)} - of_the_run == {
        n.partition(":")[0] for n in ABOUT_CALLS
    }


@BOTH
@pytest.mark.parametrize("name", ABOUT_CALLS)
def test_a_finding_says_call_step_and_two_ways_on(name: str, language: Language) -> None:
    """The tool, the step of what was before, no fact left open, and an alternative in the last sentence."""
    story, call, _ = ABOUT_CALLS[name]
    text = say(found_in(name), language)
    assert call.tool in text
    assert "?" not in text
    assert name in STEPLESS or re.search(r"steps? \d" if language == "en" else r"第 [\d, ]+ 步", text)
    way = text.rpartition("which is all")[2]
    assert re.search(r"\bor\b|; |, and tell" if language == "en" else "或|;|，并|否则", way), text
    assert language == "en" or not re.search(r"[a-z]{3,} [a-z]{3,} [a-z]{3,}", text.replace("no such place", "")), text
    assert story.run["model_calls"] >= 1


@BOTH
@pytest.mark.parametrize("name", ABOUT_CALLS)
def test_a_refusal_says_that_it_did_not_run(name: str, language: Language) -> None:
    """A blocked call is told so in its first words; a note stands in brackets behind a result; a person is asked."""
    found = found_in(name)
    text = say(found, language)
    refused = text.startswith("Not run: " if language == "en" else "未执行：")
    assert refused == (found.rung in ("block", "close"))
    assert (text[0] in "(（") == (found.rung in ("note", "serve"))


@BOTH
def test_a_cycle_that_is_closed_beside_another_call_is_a_refusal(language: Language) -> None:
    """Where news beside it keeps the run going, the closing finding is said as a block."""
    found = replace(found_in("cycle"), rung="block")
    assert say(found, language).startswith("Not run: " if language == "en" else "未执行：")


@BOTH
def test_an_unusable_reply_is_told_what_was_wrong(language: Language) -> None:
    """The last reply is meant, what was wrong with it is named, and two ways on."""
    for text in ("empty", "cut off at the reply's token limit", "no call could be read"):
        story = Story.of().replied(text)
        found = story.judge_run(policy_named("unusable_replies"))
        assert found is not None
        said = say(found, language)
        assert ("last reply" if language == "en" else "上一条回复") in said
        assert (" or " if language == "en" else "或") in said
        assert "?" not in said


@BOTH
def test_a_policy_of_ones_own_is_said_by_its_reason(language: Language) -> None:
    """A block with two ways on, a note, a question: in words of ours around the reason."""
    for rung, start in (
        ("block", ("Not run: ", "未执行：")),
        ("note", ("Note: ", "注意：")),
        ("ask", ("The agent", "智能体")),
    ):
        said = say(Finding(rung, "few_searches", "three searches are enough"), language)  # type: ignore[arg-type]
        assert said.startswith(start[language == "zh"])
        assert "three searches are enough" in said


def closings() -> list[tuple[StopReason, Finding]]:
    """A closing finding of each policy that closes."""
    limited = Story.of([ran("a")], [ran("b")], [ran("c")], settings=SETTINGS)
    stories: list[tuple[StopReason, str, Story]] = [
        ("errors", "error_rounds", Story.of(*[[failed(str(n))] for n in range(5)])),
        ("no_progress", "refused_rounds", Story.of(*[[answered("refused")]] * 4)),
        ("empty_reply", "unusable_replies", Story.of().replied("empty").replied("empty").replied("empty")),
    ]
    found: list[tuple[StopReason, Finding | None]] = [
        (reason, story.judge_run(policy_named(name))) for reason, name, story in stories
    ]
    found.append(("model_calls", limited.judge_run(Limit("model_calls"))))
    found.append(("repeat", found_in("insistence")))
    found.append(
        ("cycle", Story.of(*[[ran(n, n)] for _ in range(5) for n in "ab"]).judge(policy_named("cycle"), wants("a")))
    )
    return [(reason, finding) for reason, finding in found if finding is not None]


@BOTH
def test_the_closing_request_says_why_and_what_to_say(language: Language) -> None:
    """Why it stops with its facts, and that the answer has what was found, what is missing, and why."""
    assert len(closings()) == 6
    for reason, found in closings():
        assert found.rung == "close", reason
        text = closing_instruction(found, reason, language)
        assert "?" not in text
        assert re.search(r"\d", text)
        for part in ("found", "missing", "why") if language == "en" else ("已经得到", "还缺什么", "为什么"):
            assert part in text
    own = closing_instruction(Finding("close", "mine", "enough is enough"), "no_progress", language)
    assert "enough is enough" in own


@BOTH
def test_the_small_sentences(language: Language) -> None:
    """What stands behind a first error, answers a call at the end, and asks at a limit is in the user's language."""
    question = budget_question(Finding("ask", "limit", "model_calls: 3 of 3"), language)
    for text in (sure_to_fail(language), not_run(language), question.replace("model_calls: 3 of 3", "")):
        assert text.isascii() == (language == "en")
    assert "3 of 3" in question
    facts: Facts = {"limit": "model_calls", "used": 3.0, "bound": 3}
    limited = budget_question(Finding("ask", "limit", "model_calls: 3 of 3", facts=facts), language)
    assert limited == (question if language == "en" else "运行已达上限（model_calls：已用 3，上限 3）。是否提高上限？")


def test_long_arguments_are_cut() -> None:
    """A call is named on one line of bounded length, whatever its arguments are."""
    long = wants("line\n" * 1_000).shown
    assert len(long) < 150
    assert "\n" not in long
    assert long.startswith('look(at="line')


def test_a_view_is_all_that_a_policy_needs() -> None:
    """Every policy is a pure function of the view: asked twice it finds the same."""
    story, call, _ = ABOUT_CALLS["identical_result"]
    view: GuardView = replace(story.view(call), call=call)
    for policy in default_policies(SETTINGS):
        assert policy(view) == policy(view)
