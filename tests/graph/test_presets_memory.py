"""What the presets need of memory: windows, capped and appended summaries, steps as triples, reflections."""

from collections.abc import Callable, Sequence
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, AnyMessage, BaseMessage, HumanMessage, ToolMessage
from langchain_core.messages.tool import tool_call

from loopwright.memory import (
    Compressed,
    Material,
    Profile,
    compress,
    measure,
    outgrown,
    reflection_request,
    render,
    total,
    unreflected,
    with_reflection,
)
from loopwright.memory.summarising import appended, summary_request
from loopwright.settings import MemorySettings
from loopwright.state import EMPTY_VIEW, View
from loopwright.steps import Core, drive
from loopwright.testing import illegal

TASK = HumanMessage("Which codes stand in the files?", id="u")
Unit = Literal["messages", "tokens", "steps"]
UNITS: tuple[Unit, ...] = ("messages", "tokens", "steps")


def step(number: int, *results: str, status: Literal["success", "error"] = "success") -> list[AnyMessage]:
    """A reply with one call for each result, and the results."""
    ids = [f"c{number}x{place}" for place in range(len(results))]
    calls = [tool_call(name="read_file", args={"path": f"{each}.txt"}, id=each) for each in ids]
    answers = [
        ToolMessage(text, tool_call_id=each, id=f"r{each}", name="read_file", status=status)
        for each, text in zip(ids, results, strict=True)
    ]
    return [AIMessage("", id=f"a{number}", tool_calls=calls), *answers]


def story(*widths: int) -> list[AnyMessage]:
    """The task, and a step for each width with so many results."""
    steps = (step(n, *[f"code E{n}{place}" for place in range(width)]) for n, width in enumerate(widths))
    return [TASK, *(message for each in steps for message in each)]


def says(text: str, asked: list[list[BaseMessage]]) -> Callable[[list[BaseMessage]], Core[str | None]]:
    """A summary model that always says the same and keeps what it was asked."""

    def summarise(request: list[BaseMessage]) -> Core[str | None]:
        asked.append(request)
        return text
        yield  # makes this a core

    return summarise


def folded(
    messages: list[AnyMessage],
    settings: MemorySettings,
    view: View = EMPTY_VIEW,
    summarise: Callable[[list[BaseMessage]], Core[str | None]] | None = None,
) -> Compressed:
    """The compression of this transcript under a budget that it is far from."""
    return drive(compress(Material(messages, "p", 8_000, 4_800, settings=settings), view, summarise))


def shown(messages: list[AnyMessage], view: View) -> list[str]:
    """Ids of the assistant messages that the request still has."""
    request = render(messages, view, system_prompt="p")
    return [message.id or "" for message in request if isinstance(message, AIMessage)]


@pytest.mark.parametrize(
    ("settings", "left"),
    [
        (MemorySettings(window=6), ["a2", "a3", "a4"]),
        (MemorySettings(window=6, window_keep=2), ["a4"]),
        (MemorySettings(window=10), ["a0", "a1", "a2", "a3", "a4"]),
        (MemorySettings(window=2, window_unit="steps"), ["a3", "a4"]),
        (MemorySettings(window=1, window_unit="tokens"), ["a4"]),
    ],
    ids=["oldest", "all old", "within", "steps", "tokens"],
)
def test_a_window_folds_what_leaves_it(settings: MemorySettings, left: list[str]) -> None:
    """Only the oldest steps leave, or all down to `window_keep`; a window that holds changes nothing."""
    messages = story(1, 1, 1, 1, 1)
    done = folded(messages, settings)
    assert shown(messages, done.view) == left
    assert done.stage == ("none" if len(left) == 5 else "window")
    assert outgrown(messages, EMPTY_VIEW, settings) == (len(left) < 5)
    assert not outgrown(messages, done.view, settings)


def test_what_leaves_the_window_stays_known() -> None:
    """Without a summary the ledger holds a line for each call that left."""
    done = folded(story(1, 1, 1, 1), MemorySettings(window=2, summary=False))
    request = render(story(1, 1, 1, 1), done.view, system_prompt="p")
    assert all(f"code E{n}0" in "\n".join(str(message.content) for message in request) for n in range(4))


@given(
    st.lists(st.integers(1, 4), min_size=1, max_size=8),
    st.integers(1, 12),
    st.none() | st.integers(1, 12),
    st.sampled_from(UNITS),
)
def test_any_window_leaves_a_legal_request(widths: list[int], window: int, keep: int | None, unit: Unit) -> None:
    """Steps stay whole, the newest stays, the task stays, and the window holds unless the newest alone passes it."""
    messages = story(*widths)
    settings = MemorySettings(window=window, window_keep=keep, window_unit=unit)
    view = folded(messages, settings).view
    request = render(messages, view, system_prompt="p")
    assert illegal({"model": "m", "messages": [_plain(message) for message in request]}) is None
    assert TASK in request
    assert shown(messages, view)[-1] == f"a{len(widths) - 1}"
    assert not outgrown(messages, view, settings)
    left = shown(messages, view)
    if unit == "messages" and len(left) > 1:
        assert sum(isinstance(message, AIMessage | ToolMessage) for message in request) <= window
    if unit == "steps":
        assert len(left) <= window


def _plain(message: BaseMessage) -> Any:
    role = {"human": "user", "ai": "assistant", "tool": "tool", "system": "system"}[message.type]
    plain: dict[str, Any] = {"role": role, "content": message.content}
    if isinstance(message, ToolMessage):
        plain["tool_call_id"] = message.tool_call_id
    if isinstance(message, AIMessage) and message.tool_calls:
        plain["tool_calls"] = [
            {"id": call["id"], "type": "function", "function": {"name": call["name"], "arguments": "{}"}}
            for call in message.tool_calls
        ]
    return plain


def test_a_summary_in_characters_is_asked_for_and_cut() -> None:
    """The model is told the cap in characters; what is longer is cut between words, not thrown away."""
    asked: list[list[BaseMessage]] = []
    settings = MemorySettings(window=2, summary_characters=30)
    done = folded(story(1, 1, 1), settings, summarise=says("The codes are E00 and then E10 and many more.", asked))
    assert "at most 30 characters" in str(asked[0][-1].content)
    assert done.view["summary"] == "The codes are E00 and then E10"


def test_the_merged_summary_holds_the_one_before() -> None:
    """A summary that is rewritten is shown to the summariser, so nothing is overwritten unseen."""
    asked: list[list[BaseMessage]] = []
    view: View = {**EMPTY_VIEW, "summary": "Before: E99."}
    folded(story(1, 1, 1), MemorySettings(window=2), view, says("new", asked))
    assert "Before: E99." in str(asked[0][-1].content)


def test_an_appended_summary_keeps_those_before() -> None:
    """The summariser sees the new steps alone, and its text is put behind what was there."""
    asked: list[list[BaseMessage]] = []
    view: View = {**EMPTY_VIEW, "summary": "Before: E99."}
    done = folded(story(1, 1, 1), MemorySettings(window=2, summary_append=True), view, says("Now: E00.", asked))
    assert "Before: E99." not in str(asked[0][-1].content)
    assert done.view["summary"] == "Before: E99.\nNow: E00."


def test_appended_summaries_lose_the_oldest_words() -> None:
    """Over `summary_kept_characters` the beginning goes, cut between words."""
    settings = MemorySettings(summary_kept_characters=14)
    assert appended("one two three", "four five", settings) == "four five"
    assert len(appended("one two three", "four", settings)) <= 14


def test_the_task_is_told_to_the_summariser_but_never_left_to_it() -> None:
    """The user's words stand in the summary's request as the task, and verbatim in every later request."""
    settings = MemorySettings(window=2, summary_characters=150)
    messages = story(1, 1, 1)
    request = summary_request(Material(messages, "p", 8_000, 4_800, settings=settings), "", "work")
    assert TASK.text in str(request[-1].content)
    done = folded(messages, settings, summarise=says("the goal is lost", []))
    assert TASK in render(messages, done.view, system_prompt="p")


TRIPLES = Profile(observation_characters=40)


def told(messages: Sequence[AnyMessage], view: View = EMPTY_VIEW) -> list[BaseMessage]:
    """The request with its steps as triples."""
    return render(messages, view, system_prompt="p", profile=TRIPLES)


def test_steps_are_told_as_triples() -> None:
    """System message, task, and one message with a line a call; no call and no tool message is left."""
    request = told(story(1, 2))
    assert [message.type for message in request] == ["system", "human", "human"]
    lines = str(request[-1].content).splitlines()
    assert lines[1] == 'Step 1: Action=read_file({"path": "c0x0.txt"}) | Observation=code E00'
    assert [line.partition(":")[0] for line in lines[1:]] == ["Step 1", "Step 2", "Step 3"]


def test_earlier_observations_are_clipped_and_the_newest_is_not() -> None:
    """The newest step's result stands as it came; one before it keeps its ends, a marker and the lines in use."""
    long = "filler text\n" * 30 + "the codes are E77\n" + "filler text\n" * 30
    first = str(told([TASK, *step(0, long)])[-1].content)
    assert long in first
    later = str(told([TASK, *step(0, long), *step(1, "short")])[-1].content)
    assert "the codes are E77" in later
    assert "characters left out" in later
    assert len(later) < 400


def test_answers_and_users_stay_messages() -> None:
    """Two tasks on a thread: the first one's answer stays the assistant's, each keeps its own steps."""
    messages = [*story(1), AIMessage("E00", id="answer"), HumanMessage("And now?", id="u2"), *step(5, "code E50")]
    assert [message.type for message in told(messages)] == ["system", "human", "human", "ai", "human", "human"]


def test_an_untold_view_is_as_before() -> None:
    """Without the setting the request has calls and results as messages."""
    assert [m.type for m in render(story(1), EMPTY_VIEW, system_prompt="p")] == ["system", "human", "ai", "tool"]


def test_triples_are_measured_as_they_are_sent() -> None:
    """The material's count is that of the rendered request."""
    messages = story(1, 1, 1)
    material = Material(messages, "p", 8_000, 4_800, profile=TRIPLES)
    assert material.tokens(EMPTY_VIEW) == total(measure(told(messages), profile=TRIPLES))
    assert measure(told(messages), profile=TRIPLES)["pinned"] == measure([TASK])["pinned"]


@pytest.mark.parametrize(
    ("reflection", "status", "wanted"),
    [
        ("off", "error", ""),
        ("errors", "success", ""),
        ("errors", "error", "a1"),
        ("always", "success", "a1"),
    ],
)
def test_which_steps_are_reflected_on(
    reflection: Literal["off", "errors", "always"], status: Literal["success", "error"], wanted: str
) -> None:
    """None, those that failed, or all; only the newest, once, and only where triples show it."""
    messages = [*story(1), *step(1, "came", status=status)]
    settings = MemorySettings(steps="triples", reflection=reflection)
    assert unreflected(messages, EMPTY_VIEW, settings) == wanted
    assert unreflected(messages, with_reflection(EMPTY_VIEW, "a1", "Use another path."), settings) == ""
    assert unreflected(messages, EMPTY_VIEW, MemorySettings(reflection=reflection)) == ""


def test_a_reflection_is_asked_for_in_one_short_request() -> None:
    """It tells the task, the call and its error, and stands in the triple afterwards."""
    messages = [*story(1), *step(1, "no such file " * 400, status="error")]
    request = reflection_request(messages, "a1")
    assert [message.type for message in request] == ["system", "human"]
    assert "read_file failed: no such file" in str(request[1].content)
    assert len(str(request[1].content)) < 2_000
    view = with_reflection(EMPTY_VIEW, "a1", "The path is wrong: list the folder.\nMore.")
    assert str(told(messages, view)[-1].content).endswith("| Reflection=The path is wrong: list the folder.")


@pytest.mark.parametrize("text", [None, "", "  \n", '{"thought": "next"}', "<tool_call>x</tool_call>"])
def test_a_reflection_that_says_nothing_changes_nothing(text: str | None) -> None:
    """No text, blanks, or a call in place of a sentence: the view stays."""
    assert with_reflection(EMPTY_VIEW, "a1", text) is EMPTY_VIEW


def test_only_the_newest_reflections_are_kept() -> None:
    """A view holds five, each of at most 160 characters."""
    view = EMPTY_VIEW
    for number in range(8):
        view = with_reflection(view, f"a{number}", "word " * 100)
    kept = view.get("reflections", {})
    assert list(kept) == ["a3", "a4", "a5", "a6", "a7"]
    assert all(len(text) <= 160 for text in kept.values())
