"""Strict reading: a call becomes a call only when it came whole."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, AIMessageChunk
from langchain_core.messages.tool import tool_call_chunk

from loopwright import Agent
from loopwright.models import load_model
from loopwright.models.replies import THOUGHTS, join_calls, read_arguments, read_reply
from loopwright.testing import ModelEndpoint, call, reply


def chunk(args: str, *, name: str | None = None, index: int | None = 0, id: str | None = None) -> AIMessageChunk:
    """A streamed piece of a call."""
    return AIMessageChunk(content="", tool_call_chunks=[tool_call_chunk(name=name, args=args, index=index, id=id)])


def finished(reason: str) -> AIMessageChunk:
    """The last piece of a streamed reply."""
    return AIMessageChunk(content="", response_metadata={"finish_reason": reason})


def look(at: str) -> str:
    """Look at something."""
    return f"saw {at}"


def test_a_cut_argument_object_is_no_call() -> None:
    """Half a payment must not become a payment: the pieces `{"to":"bob","amount":1` are an invalid call."""
    reply = read_reply([chunk('{"to":"bob",', name="pay", id="a"), chunk('"amount":1'), finished("tool_calls")], set())
    assert reply.message is not None
    assert reply.message.tool_calls == []
    assert [bad["args"] for bad in reply.message.invalid_tool_calls] == ['{"to":"bob","amount":1']


def test_a_reply_cut_by_its_length_runs_nothing() -> None:
    """Even whole-looking calls are not run when the reply ended at the token limit."""
    reply = read_reply([chunk('{"amount":1}', name="pay", id="a"), finished("length")], set())
    assert reply.message is not None
    assert reply.message.tool_calls == []
    assert reply.message.invalid_tool_calls[0]["error"] == "cut off"


def test_pieces_are_joined_by_index() -> None:
    """Two calls whose pieces alternate come out whole and in order."""
    pieces = [
        chunk('{"a"', name="f", id="1"),
        chunk('{"b"', name="g", index=1, id="2"),
        chunk(":1}"),
        chunk(":2}", index=1),
    ]
    assert [(c.name, c.args) for c in join_calls(pieces)] == [("f", '{"a":1}'), ("g", '{"b":2}')]


def test_servers_that_give_no_index_or_reuse_one() -> None:
    """A piece that names a tool begins a new call where the index is missing or used again with another id."""
    missing = [chunk('{"a":1}', name="f", index=None, id="1"), chunk('{"b":2}', name="g", index=None, id="2")]
    reused = [chunk('{"a":1}', name="f", id="1"), chunk('{"b":2}', name="g", id="2")]
    for pieces in (missing, reused):
        assert [(c.name, c.args) for c in join_calls(pieces)] == [("f", '{"a":1}'), ("g", '{"b":2}')]


def test_missing_arguments_mean_none() -> None:
    """`""`, `null` and white space are an empty object; every other non-object is refused."""
    assert [read_arguments(raw) for raw in ("", "null", "  ")] == [{}, {}, {}]
    assert [read_arguments(raw) for raw in ("[]", '"x"', "1", '{"a":1} x', "{'a':1}")] == [None] * 5


def test_call_ids_are_ours() -> None:
    """Ids that a server repeats, leaves blank or makes too long are replaced by nine alphanumerics of our own."""
    pieces = [chunk("{}", name="f", id="same"), chunk("{}", name="g", index=1, id="same"), finished("tool_calls")]
    reply = read_reply(pieces, set())
    assert reply.message is not None
    ids = [call["id"] or "" for call in reply.message.tool_calls]
    assert len(set(ids)) == 2
    assert all(len(own) == 9 and own.isalnum() for own in ids)


def test_the_message_id_is_kept_unless_it_is_taken() -> None:
    """LangChain's id is kept, so that live streams show an answer once; a used or missing one is minted."""
    kept = read_reply([AIMessage("hi", id="lc_run--1")], set())
    taken = read_reply([AIMessage("hi", id="lc_run--1")], {"lc_run--1"})
    assert kept.message is not None
    assert taken.message is not None
    assert kept.message.id == "lc_run--1"
    assert taken.message.id not in (None, "", "lc_run--1")


@given(st.dictionaries(st.text(), st.none() | st.booleans() | st.integers() | st.text(), max_size=4), st.data())
def test_no_prefix_of_an_object_is_read_as_an_object(value: dict[str, object], data: st.DataObject) -> None:
    """For any arguments, a proper prefix of their JSON that is not blank is refused."""
    text = json.dumps(value)
    cut = data.draw(st.integers(min_value=1, max_value=len(text) - 1))
    assert read_arguments(text[:cut]) is None
    assert read_arguments(text) is not None


@pytest.mark.parametrize(
    ("text", "thoughts", "answer"),
    [
        ("<think>\nHm, 6*7.\n</think>\n\n42", "Hm, 6*7.", "42"),
        ("<thinking>Hm.</thinking>42", "Hm.", "42"),
        ("Okay, the user asks.\nHm.\n</think>\n\n42", "Okay, the user asks.\nHm.", "42"),
        ("<think>It never ends", "It never ends", ""),
        ("The tag <think> opens and </think> closes it.", "", "The tag <think> opens and </think> closes it."),
        ("It ends with </think> here.", "", "It ends with </think> here."),
        ("I think so.", "", "I think so."),
        ("", "", ""),
    ],
)
def test_thoughts_in_tags_are_set_apart(text: str, thoughts: str, answer: str) -> None:
    """Those in front of a text are kept beside it, also where the prompt had the opening tag; all else is the text."""
    message = read_reply([AIMessage(text)], set()).message
    assert message is not None
    assert (message.additional_kwargs.get(THOUGHTS, ""), message.content) == (thoughts, answer)


def test_thoughts_are_in_no_answer_and_no_later_request() -> None:
    """A model behind a server without a parser for them calls a tool and answers, thinking before each."""
    looks = reply("<think>Look first.</think>", call("look", at="a"))
    with ModelEndpoint([looks, "<think>Seen.</think>\n\nIt is red.", "yes"]) as endpoint:
        agent = Agent(load_model("openai:m", base_url=endpoint.base_url), [look])
        assert agent.run("what is there?", thread="t").answer == "It is red."
        agent.run("sure?", thread="t")
        sent = json.dumps([each.body for each in endpoint.requests])
    assert "It is red." in sent
    assert "Look first" not in sent
    assert "think>" not in sent
    said = agent.report("t").runs[0].rounds[1].model
    assert said is not None
    assert said.said == "It is red."
