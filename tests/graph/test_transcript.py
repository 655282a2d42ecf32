"""Questions to a transcript."""

from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage

from loopwright.transcript import call_id, groups, open_calls


def asked(*ids: str) -> AIMessage:
    """A reply with a call for each id."""
    return AIMessage("", tool_calls=[{"name": "f", "args": {}, "id": own} for own in ids])


def test_open_calls_are_those_of_the_last_reply_without_an_answer() -> None:
    """Answers count wherever they stand behind the reply, also behind a later user message."""
    messages: list[AnyMessage] = [
        HumanMessage("q"),
        asked("a", "b", "c"),
        ToolMessage("1", tool_call_id="b"),
        HumanMessage("and?"),
    ]
    assert [call["id"] for call in open_calls(messages)] == ["a", "c"]


def test_a_group_is_a_reply_with_all_its_results() -> None:
    """Results stay with the reply that asked for them; every other message is a group of its own."""
    messages: list[AnyMessage] = [
        HumanMessage("q", id="1"),
        asked("a", "b"),
        ToolMessage("1", tool_call_id="a"),
        ToolMessage("2", tool_call_id="b"),
        AIMessage("done"),
    ]
    assert [len(group.messages) for group in groups(messages)] == [1, 3, 1]


@given(st.text(), st.integers(min_value=0, max_value=200))
def test_call_ids_are_nine_alphanumerics(message_id: str, position: int) -> None:
    """Ids are well-formed for any message id, and differ by position."""
    own = call_id(message_id, position)
    assert len(own) == 9
    assert own.isascii()
    assert own.isalnum()
    assert own != call_id(message_id, position + 1)
