"""Text protocols, the streaming: the thought and the answer as they come, and never the JSON around them."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopwright.models.protocols import FORMS, FormName
from loopwright.models.protocols.showing import Showing

TOOLS = {"look": None}
FINAL = '{"action": "final", "action_input": "It is 3."}'


def shown(text: str, size: int = 1, *, plain: bool = False) -> str:
    """What is given out of a reply that comes in pieces of this size."""
    showing = Showing(TOOLS, plain=plain)
    return "".join(showing.feed(text[start : start + size]) for start in range(0, len(text), size))


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        (FINAL, "It is 3."),
        (f"Let me see {{x\n```json\n{FINAL}\n```", ""),
        (f"```json\n{FINAL}\n``` and more", "It is 3."),
        (f"<think>{{is it 4?}}</think>{FINAL}", "It is 3."),
        ('{"action": "look", "action_input": "at it"}', ""),
        ('{"action": "look", "action_input": {"answer": "at it", "thought": "deep"}}', ""),
        ('{"action_input": "It is 3.", "action": "final"}', ""),
        ("{'action': 'final', 'action_input': 'It\\'s \"3\".'}", 'It\'s "3".'),
        (
            '{"thought": "Add\\nthem", "action": {"name": "look", "args": {"thought": "no"}}, "finish": false}',
            "Add\nthem",
        ),
        ('{"thought": "done", "action": null, "finish": true, "final_answer": "It is 3."}', "done\n\nIt is 3."),
        ('{"thought": "", "final_answer": "\\u4e09 \\ud83d\\ude00"}', "三 😀"),
        (f"{FINAL} {FINAL}", "It is 3."),
        ("It is 3.", ""),
    ],
)
def test_only_what_was_said_is_shown(text: str, seen: str) -> None:
    """Fields of the first level that hold a thought or an answer, of the first object alone, unescaped."""
    assert shown(text) == shown(text, 7) == shown(text, 1000) == seen


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("It is 3.", "It is 3."),
        ("Use f{x}.", "Use f"),
        (FINAL, "It is 3."),
        (f"\n```json\n{FINAL}```", "It is 3."),
        ("[1]", ""),
    ],
)
def test_prose_is_shown_where_any_text_is_the_answer(text: str, seen: str) -> None:
    """A closing answer comes as it is written, up to the first brace: what follows may be JSON."""
    assert shown(text, plain=True).strip() == seen


@given(st.sampled_from(list(FORMS)), st.text(st.characters(codec="utf-8")), st.integers(1, 50))
def test_every_answer_is_shown_as_it_is(name: FormName, text: str, size: int) -> None:
    """For any answer, in every form and in pieces of any size, what was shown is the answer."""
    assert shown(FORMS[name].answer(text, {}), size) == text


@given(st.text(), st.integers(1, 9))
def test_showing_is_total(text: str, size: int) -> None:
    """Whatever comes, nothing is raised, and what is shown does not depend on the pieces."""
    assert shown(text, size) == shown(text, 1)
    assert shown(text, size, plain=True) == shown(text, 1, plain=True)


@given(st.dictionaries(st.text(), st.text(), max_size=3))
def test_arguments_are_never_shown(args: dict[str, str]) -> None:
    """What a call is given is no one's to read: it may be a secret."""
    assert shown(json.dumps({"action": "look", "action_input": args})) == ""
    assert shown(json.dumps({"action": {"name": "look", "args": args}, "finish": False})) == ""
