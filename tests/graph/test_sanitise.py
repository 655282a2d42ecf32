"""What enters from outside can be stored."""

import json

from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, HumanMessage

from loopwright.sanitise import clean_text, sanitise, sanitise_message


def test_surrogates_and_nul_become_visible() -> None:
    """A lone surrogate becomes U+FFFD, a surrogate pair its character, NUL its picture."""
    assert clean_text("a\ud83d") == "a\ufffd"
    assert clean_text("\ud83d\ude00") == "\U0001f600"
    assert clean_text("a\x00b") == "a\u2400b"
    assert clean_text("plain 中文") == "plain 中文"


def test_numbers_that_no_store_takes_become_text() -> None:
    """Integers over 64 bits and non-finite floats crash checkpoint or journal writes."""
    assert sanitise({"n": 10**30, "f": float("nan"), "i": 5, "b": True}) == {
        "n": str(10**30),
        "f": "nan",
        "i": 5,
        "b": True,
    }


def test_a_clean_message_is_left_alone() -> None:
    """The very same object comes back where nothing had to change."""
    message = HumanMessage("hello")
    assert sanitise_message(message) is message
    dirty = AIMessage("x\ud800", tool_calls=[{"name": "f", "args": {"k": "\ud800"}, "id": "1"}])
    assert sanitise_message(dirty).tool_calls[0]["args"] == {"k": "\ufffd"}


@given(
    st.recursive(
        st.text(st.characters(codec=None)) | st.integers() | st.floats() | st.none(),
        lambda inner: (
            st.lists(inner, max_size=3) | st.dictionaries(st.text(st.characters(codec=None)), inner, max_size=3)
        ),
        max_leaves=8,
    )
)
def test_whatever_enters_can_be_encoded(value: object) -> None:
    """The cleaned value is valid JSON in UTF-8, without NUL."""
    text = json.dumps(sanitise(value), allow_nan=False, ensure_ascii=False)
    assert "\x00" not in text
    text.encode("utf-8")
