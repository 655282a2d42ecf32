"""Holds the rules of the memory for any transcript, view and budget."""

import json
import re
from collections.abc import Callable
from copy import deepcopy
from itertools import pairwise
from typing import Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    ChatMessage,
    FunctionMessage,
    HumanMessage,
    RemoveMessage,
    SystemMessage,
    ToolMessage,
)
from langchain_core.messages.tool import invalid_tool_call, tool_call
from langchain_openai.chat_models.base import _convert_message_to_dict  # the bytes that are sent, not our idea of them

from loopwright.memory import Material, Profile, compress, measure, measure_next, pinned, render, total
from loopwright.memory.legality import legal
from loopwright.memory.material import VIEW_BYTES, view_bytes
from loopwright.memory.summarising import chunks, summary_request
from loopwright.settings import MemorySettings
from loopwright.state import EMPTY_VIEW, Event, ModelEvent, View
from loopwright.steps import Core, drive
from loopwright.testing import illegal
from loopwright.transcript import call_id

PROFILES = [Profile(), Profile(nudge_as_user=True), Profile(alternate=True)]
words = st.sampled_from(
    ["", " ", "\n", "total", "INC-8841 is open", "读取 会议纪要.txt 的预算", "四千三百元", "12,340.50", "a/b\nrow 7\n"],
)
long_texts = st.builds(lambda word, times: f"{word} {times}\n" * times, words, st.integers(0, 90))
texts = words | st.text(max_size=40) | long_texts
blocks = st.one_of(
    texts,
    st.fixed_dictionaries({"type": st.just("text"), "text": texts}),
    st.fixed_dictionaries({"type": st.just("thinking"), "thinking": texts}),
    st.just({"type": "image_url", "image_url": {"url": "https://example.org/a.png"}}),
)
contents = texts | st.lists(blocks, max_size=3)
ids = st.sampled_from(["", "c1", "c2", "c3", "call_" + "a" * 40])
names = st.sampled_from(["read_file", "add", "", "no such name!"])
arguments = st.dictionaries(st.sampled_from(["path", "n"]), texts | st.integers() | st.none(), max_size=2)
calls = st.builds(lambda name, args, own: tool_call(name=name, args=args, id=own or None), names, arguments, ids)
broken = st.builds(
    lambda name, args, own: invalid_tool_call(name=name or None, args=args, id=own or None, error="x"),
    names, texts | st.none(), ids,
)  # fmt: skip
replies = st.builds(
    lambda content, good, bad: AIMessage(content, tool_calls=good, invalid_tool_calls=bad),
    contents, st.lists(calls, max_size=3), st.lists(broken, max_size=1),
)  # fmt: skip
results = st.builds(
    lambda content, own, status: ToolMessage(content, tool_call_id=own, status=status),
    contents, ids, st.sampled_from(["success", "error"]),
)  # fmt: skip
roles = st.sampled_from(["user", "assistant", "system", "critic"])
strangers = st.one_of(
    st.builds(lambda text, role: ChatMessage(content=text, role=role), texts, roles),
    st.builds(lambda text: FunctionMessage(content=text, name="f"), texts),
    st.just(AIMessage("hm", additional_kwargs={"function_call": {"name": "f", "arguments": "{}"}})),
    st.builds(SystemMessage, contents),
    st.just(RemoveMessage(id="gone")),
)


@st.composite
def rounds(draw: st.DrawFn) -> list[BaseMessage]:
    """A well-formed group: a reply, its results in order."""
    good = draw(st.lists(calls, min_size=1, max_size=4))
    unique = [{**call, "name": "read_file", "id": f"own{draw(st.integers(0, 10**6))}"} for call in good]
    answers = [ToolMessage(draw(texts) or "ok", tool_call_id=call["id"]) for call in unique]
    return [AIMessage(draw(texts), tool_calls=unique), *answers]


@st.composite
def transcripts(draw: st.DrawFn) -> list[BaseMessage]:
    """Any messages in any order, in part well-formed, with ids as the state gives them."""
    one = st.one_of(
        st.builds(HumanMessage, contents, name=st.none() | st.just("Ann Lee")), replies, results, strangers
    ).map(lambda message: [message])
    parts = draw(st.lists(st.one_of(one, rounds(), st.builds(HumanMessage, texts).map(lambda m: [m])), max_size=12))
    found = [message for part in parts for message in part]
    for place, message in enumerate(found):
        found[place] = message.model_copy(update={"id": f"m{place}"})
    return found


@st.composite
def views(draw: st.DrawFn) -> View:
    """Any view, also one that speaks of messages that are not there."""
    known = st.sampled_from(["", "gone", *(f"m{place}" for place in range(12))])
    keys = st.one_of(known, ids)
    return {
        "summary": draw(texts),
        "folded_through": draw(known),
        "clips": draw(st.dictionaries(keys, st.lists(st.integers(0, 60), min_size=2, max_size=5), max_size=4)),
        "dropped": draw(st.lists(st.tuples(known, known).map(list), max_size=3)),
        "ledger": [{"call_id": "c1", "tool": "add", "text": draw(texts)}] if draw(st.booleans()) else [],
        "pins": [{"text": "never delete", "by": "user"}] if draw(st.booleans()) else [],
        "window": 0,
    }


def wire(request: list[BaseMessage]) -> dict[str, Any]:
    """The request body as it is sent."""
    return {"model": "m", "messages": [_convert_message_to_dict(message) for message in request]}


def user_texts(messages: list[BaseMessage]) -> list[list[str]]:
    """What each user message says, part by part, blank parts left out."""
    said: list[list[str]] = []
    for message in messages:
        if isinstance(message, HumanMessage):
            parts = [message.content] if isinstance(message.content, str) else message.content
            texts = [part if isinstance(part, str) else str(part.get("text", "")) for part in parts]
            said.append([text for text in texts if text.strip()])
    return [texts for texts in said if texts]


@given(transcripts(), st.just(EMPTY_VIEW) | views(), st.sampled_from(PROFILES), texts, texts)
@settings(max_examples=400, deadline=None)
def test_every_request_is_legal(
    messages: list[BaseMessage], view: View, profile: Profile, prompt: str, nudge: str
) -> None:
    """A provider accepts the request for any transcript under any view."""
    request = render(messages, view, system_prompt=prompt, nudge=nudge, profile=profile)
    assert illegal(wire(request)) is None
    roles = [message["role"] for message in wire(request)["messages"]]
    assert "system" not in roles[1:]
    assert set(roles) <= {"system", "user", "assistant", "tool"}
    assert roles[-1] in ("user", "tool")
    assert next(role for role in roles if role != "system") == "user"
    if profile.alternate:
        assert all(a != b for a, b in pairwise(roles) if a in ("user", "assistant"))


@given(transcripts(), views(), st.sampled_from(PROFILES))
@settings(deadline=None)
def test_rendering_changes_nothing_and_is_repeatable(messages: list[BaseMessage], view: View, profile: Profile) -> None:
    """Rendering leaves transcript and view as they are, and gives the same request again."""
    before = deepcopy((messages, view))
    first = render(messages, view, system_prompt="s", profile=profile)
    assert (messages, view) == before
    assert wire(render(messages, view, system_prompt="s", profile=profile)) == wire(first)


@given(transcripts(), views())
@settings(deadline=None)
def test_user_messages_stay_verbatim_and_in_order(messages: list[BaseMessage], view: View) -> None:
    """Whatever is folded or dropped, each visible user message stands in the request, unchanged, in order."""
    request = render(messages, {**view, "clips": {}}, system_prompt="s")
    ids = {message.id for message in messages if isinstance(message, HumanMessage)}
    assert user_texts([message for message in request if message.id in ids]) == user_texts(messages)


@given(transcripts())
@settings(deadline=None)
def test_a_legal_request_is_a_legal_transcript_unchanged(messages: list[BaseMessage]) -> None:
    """What was rendered once is rendered again as the very same objects."""
    request = render(messages, EMPTY_VIEW, system_prompt="s")
    again = render(request[1:], EMPTY_VIEW, system_prompt="s")
    assert [id(m) for m in again[1 : len(request)]] == [id(m) for m in request[1:]]


def material(messages: list[BaseMessage], budget: int, **changes: Any) -> Material:
    """A compression's material with the usual target."""
    memory = MemorySettings(summary_tokens=60, clip_characters=80)
    base = {"system_prompt": "You are careful.", "tools_tokens": 20, "target": budget * 6 // 10, "settings": memory}
    return Material(messages=messages, budget=budget, **{**base, **changes})


def summariser(text: str | None, asked: list[list[BaseMessage]]) -> Callable[[list[BaseMessage]], Core[str | None]]:
    """A summary model that always says the same."""

    def summarise(request: list[BaseMessage]) -> Core[str | None]:
        asked.append(request)
        return text
        yield  # makes this a core

    return summarise


@given(
    transcripts(), st.just(EMPTY_VIEW) | views(), st.integers(1, 3000), st.sampled_from(PROFILES),
    st.none() | st.sampled_from(["The goal is the total; found 4321.", "", "I'm sorry, no.", "long " * 500]),
)  # fmt: skip
@settings(max_examples=300, deadline=None)
def test_a_compression_ends_within_the_budget_or_says_by_how_much_not(
    messages: list[BaseMessage], view: View, budget: int, profile: Profile, said: str | None
) -> None:
    """The measured request is within the budget, or `over` tells; the view stays small and the request legal."""
    asked: list[list[BaseMessage]] = []
    of = material(messages, budget, profile=profile)
    done = drive(compress(of, view, summariser(said, asked)))
    request = render(messages, done.view, system_prompt="You are careful.", profile=profile)
    tokens = total(measure(request, 20, profile))
    assert done.after == tokens
    assert done.fits == (tokens <= budget)
    assert done.over == max(0, tokens - budget)
    assert done.after <= done.before
    assert illegal(wire(request)) is None
    assert view_bytes(done.view) < VIEW_BYTES
    if done.before <= budget:
        assert done.view is view
        assert not asked


@given(transcripts(), st.integers(200, 3000), st.lists(texts, max_size=3))
@settings(deadline=None)
def test_every_summary_request_fits(messages: list[BaseMessage], budget: int, results: list[str]) -> None:
    """Each request to the summary model fits the budget with the reply's room kept free."""
    originals = {f"c{number}": text * 50 for number, text in enumerate(results, start=1)}
    of = material(messages, budget, originals=originals)
    summary = "Found so far: 4321."
    for work in chunks(of, summary, of.work):
        request = summary_request(of, summary, work)
        assert total(measure(request)) + min(60, budget // 5) <= budget
        assert [message.type for message in request] == ["system", "human"]


@st.composite
def continued(draw: st.DrawFn) -> tuple[list[BaseMessage], int]:
    """A transcript and the place of its last reply; call ids are ours from there on, or anyone's."""
    before = draw(transcripts())
    found: list[BaseMessage] = [HumanMessage("begin", id="start"), *before] if draw(st.booleans()) else before
    place = len(found)
    ours = draw(st.booleans())
    for number in range(draw(st.integers(1, 3))):
        own = f"new{number}"
        count = draw(st.integers(0, 3))
        pairs = [(call_id(own, n) if ours else draw(ids), draw(arguments)) for n in range(count)]
        made = [tool_call(name="add", args=args, id=key) for key, args in pairs]
        found.append(AIMessage(draw(texts), id=own, tool_calls=made))
        keys = [key for key, _ in pairs] or draw(st.lists(ids, max_size=1))
        found += [ToolMessage(draw(texts), tool_call_id=key, id=f"r{number}{n}") for n, key in enumerate(keys)]
    if draw(st.booleans()):
        found.append(HumanMessage(draw(st.sampled_from(["接着做", "go on"])), id="more"))
    return found, place


@given(continued(), texts, st.booleans())
@settings(deadline=None)
def test_measuring_on_equals_measuring_in_full(at: tuple[list[BaseMessage], int], nudge: str, as_user: bool) -> None:
    """The last request's parts and the messages since make the same sum as counting everything."""
    messages, place = at
    profile = Profile(nudge_as_user=as_user)
    base = measure(render(messages[:place], EMPTY_VIEW, system_prompt="s", nudge="earlier"), 7)
    event = cast("ModelEvent", {"kind": "model", "message_id": messages[place].id, "parts": base})
    events: list[Event] = [event]
    full = measure(render(messages, EMPTY_VIEW, system_prompt="s", nudge=nudge, profile=profile), 9, profile)
    given_on = measure_next(
        messages, EMPTY_VIEW, events, system_prompt="s", nudge=nudge, tools_tokens=9, profile=profile
    )
    assert given_on == full


@pytest.mark.parametrize("budget", [0, -5, 1])
def test_a_budget_of_nothing_is_never_unlimited(budget: int) -> None:
    """A budget that nothing fits ends at once and says how much is missing."""
    done = drive(compress(material([HumanMessage("hi", id="a")], budget), EMPTY_VIEW, None))
    assert not done.fits
    assert done.over == done.after - budget
    assert json.loads(json.dumps(done.view)) == EMPTY_VIEW


@given(transcripts(), views(), st.integers(100, 3000), st.lists(texts, max_size=3))
@settings(max_examples=200, deadline=None)
def test_pins_stay_verbatim_and_the_order_is_kept(
    messages: list[BaseMessage], view: View, budget: int, sentences: list[str]
) -> None:
    """Whatever is shortened: what the user pinned stands there word for word, and messages keep their order."""
    for sentence in sentences:
        if sentence.strip():
            view = pinned(view, sentence[:300], "user")
    done = drive(compress(material(messages, budget), view, summariser("Found 4321.", [])))
    request = render(messages, done.view, system_prompt="s")
    said = "\n".join(message.text for message in request)
    assert all(f"- {pin['text']}" in said for pin in view["pins"])
    places = {message.id: place for place, message in enumerate(messages)}
    shown = [places[key] for message in request if (key := (message.id or "").split("~")[0]) in places]
    own = [place for place in shown if not isinstance(messages[place], ToolMessage)]
    assert own == sorted(own)


@given(transcripts(), st.integers(100, 1500))
@settings(deadline=None)
def test_every_word_of_a_shortened_result_is_a_word_of_the_whole(messages: list[BaseMessage], budget: int) -> None:
    """A piece of a number would be a wrong value: each number that a result shows stands in it as a whole word."""
    done = drive(compress(material(messages, budget), EMPTY_VIEW, None))
    whole = {message.tool_call_id: message for message in legal(messages) if isinstance(message, ToolMessage)}
    for message in render(messages, done.view, system_prompt="s"):
        if isinstance(message, ToolMessage) and message.tool_call_id in done.view["clips"]:
            text = whole[message.tool_call_id].text
            shown = re.sub(r"\[… .*? …\]|\[…\]", " ", message.text)
            numbers = set(re.findall(r"[\d,.]*\d", shown))
            assert numbers <= set(re.findall(r"[\d,.]*\d", text))
