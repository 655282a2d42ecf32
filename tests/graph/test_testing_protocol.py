"""`illegal`: what the real API refuses is refused, with a reason, and what it takes passes."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopwright.testing import illegal

USER: dict[str, Any] = {"role": "user", "content": "x"}
SCHEMA: dict[str, Any] = {"type": "object", "properties": {"a": {"type": "string"}}}
CLOSED: dict[str, Any] = {"additionalProperties": False, "required": ["a"]}


def calling(*ids: str, **function: Any) -> dict[str, Any]:
    """An assistant message with these calls."""
    body = {"name": "f", "arguments": "{}"} | function
    return {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": id_, "type": "function", "function": body} for id_ in ids],
    }


def result(id_: str) -> dict[str, Any]:
    """A tool message."""
    return {"role": "tool", "tool_call_id": id_, "content": "r"}


def offered(name: str = "f", **function: Any) -> dict[str, Any]:
    """A tool as it is offered."""
    return {"type": "function", "function": {"name": name, **function}}


def asked(*messages: Any, **options: Any) -> dict[str, Any]:
    """A request body."""
    return {"model": "m", "messages": list(messages), **options}


@pytest.mark.parametrize(
    "request_body",
    [
        asked(USER),
        asked({"role": "system", "content": "s"}, USER, {"role": "assistant", "content": ""}),
        asked(USER, {"role": "assistant", "content": None, "refusal": "no"}),
        asked(USER, calling("a", "b"), result("b"), result("a"), USER),
        asked(USER, calling("a"), result("a"), calling("a"), result("a")),
        asked({"role": "user", "content": [{"type": "text", "text": "x"}, {"type": "image_url", "image_url": {}}]}),
        asked(USER, tools=[offered(), offered("g", parameters=SCHEMA)], tool_choice="none", parallel_tool_calls=False),
        asked(USER, tools=[offered()], tool_choice={"type": "function", "function": {"name": "f"}}),
        asked(USER, tools=[offered(strict=True, parameters=SCHEMA | CLOSED)]),
        asked(USER, tools=[offered(f"t{n}") for n in range(128)]),
        asked(USER, stream=True, stream_options={"include_usage": True}),
        asked({"role": "user", "content": "as JSON"}, response_format={"type": "json_object"}),
    ],
)
def test_legal_requests_pass(request_body: dict[str, Any]) -> None:
    """Everything here is taken by the real API."""
    assert illegal(request_body) is None


@pytest.mark.parametrize(
    ("request_body", "reason"),
    [
        ({"messages": [USER]}, "model parameter"),
        ({"model": "m"}, "'messages'"),
        (asked(), "empty array"),
        (asked("x"), "expected an object"),
        (asked({"role": "robot", "content": "x"}), "Invalid value: 'robot'"),
        (asked({"content": "x"}), "Invalid value: None"),
        (asked({"role": "user", "content": None}), "got null"),
        (asked({"role": "user", "content": 7}), "expected a string or a list"),
        (asked({"role": "user", "content": []}), "at least one part"),
        (asked({"role": "user", "content": [{"type": "tool_use"}]}), "'tool_use'"),
        (asked({"role": "user", "content": [{"type": "text"}]}), r"content\[0\].text"),
        (asked({"role": "user", "content": "x", "name": "a b"}), "does not match pattern"),
        (asked(USER, {"role": "assistant", "content": None}), "got null"),
        (asked(USER, {"role": "assistant"}), "got null"),
        (asked(USER, {"role": "assistant", "content": "", "tool_calls": []}), "at least one call"),
        (asked(USER | {"tool_calls": calling("a")["tool_calls"]}), "only messages with role 'assistant'"),
        (asked(USER, result("a")), "must be a response to a preceding message"),
        (asked(result("a"), calling("a")), "must be a response to a preceding message"),
        (asked(USER, calling("a")), "did not have response messages: a"),
        (asked(USER, calling("a", "b"), result("a")), "did not have response messages: b"),
        (asked(USER, calling("a"), USER, result("a")), "did not have response messages: a"),
        (asked(USER, calling("a"), result("b")), "not found in 'tool_calls'"),
        (asked(USER, calling("a", "b"), result("a"), result("a"), result("b")), "answered again"),
        (asked(USER, calling("a"), result("a"), result("a")), "answered again"),
        (asked(USER, calling("a", "a"), result("a")), "Duplicate value"),
        (asked(USER, calling("a"), {"role": "tool", "content": "r"}), "tool_call_id"),
        (asked(USER, calling("a"), result("a") | {"content": None}), "got null"),
        (asked(USER, calling("")), "1 to 40 characters"),
        (asked(USER, calling("a" * 41), result("a" * 41)), "1 to 40 characters"),
        (asked(USER, calling("a", arguments={}), result("a")), "arguments': expected a string"),
        (asked(USER, calling("a", arguments=None), result("a")), "arguments': expected a string"),
        (asked(USER, calling("a", name="no good"), result("a")), "function.name"),
        (asked(USER, calling("a", name=""), result("a")), "function.name"),
        (asked(USER, tools=[]), "empty array"),
        (asked(USER, tools=[offered(f"t{n}") for n in range(129)]), "maximum length 128, got 129"),
        (asked(USER, tools=[offered("a.b")]), "does not match pattern"),
        (asked(USER, tools=[offered("a" * 65)]), "does not match pattern"),
        (asked(USER, tools=[offered("a\n")]), "does not match pattern"),
        (asked(USER, tools=[offered(), offered()]), "not unique"),
        (asked(USER, tools=[{"name": "f"}]), "expected an object of type 'function'"),
        (asked(USER, tools=[offered(parameters={"type": "string"})]), "type 'object'"),
        (asked(USER, tool_choice="auto"), "only allowed when 'tools' are specified"),
        (asked(USER, parallel_tool_calls=False), "only allowed when 'tools' are specified"),
        (asked(USER, tools=[offered()], tool_choice="any"), "Supported values"),
        (
            asked(USER, tools=[offered()], tool_choice={"type": "function", "function": {"name": "g"}}),
            "no function named 'g'",
        ),
        (asked(USER, stream_options={"include_usage": True}), "'stream' is enabled"),
        (asked(USER, response_format={"type": "json_object"}), "the word 'json'"),
        (asked({"role": "user", "content": "\ud800"}), "lone surrogate"),
        (asked(USER, tools=[offered(description="\udfff")]), "lone surrogate"),
    ],
)
def test_illegal_requests_are_refused(request_body: dict[str, Any], reason: str) -> None:
    """Each has one fault, and the reason names it."""
    with pytest.raises(ValueError, match=reason):
        raise ValueError(illegal(request_body))


@pytest.mark.parametrize(
    ("schema", "reason"),
    [
        (None, "schema is missing"),
        (SCHEMA, "additionalProperties"),
        (SCHEMA | {"additionalProperties": False}, r"Missing \['a'\]"),
        ({"type": "object", "properties": {}}, "additionalProperties"),
        ({"type": "object", "properties": {"a": {}}} | CLOSED, "must have a 'type' key"),
        ({"type": "object", "properties": {"a": SCHEMA}} | CLOSED, "additionalProperties"),
        ({"type": "object", "properties": {"a": {"type": "array", "items": SCHEMA}}} | CLOSED, "'items'"),
        ({"type": "object", "properties": {"a": {"anyOf": [SCHEMA]}}} | CLOSED, "'anyOf', '0'"),
        (SCHEMA | CLOSED | {"$defs": {"d": SCHEMA}}, r"'\$defs', 'd'"),
    ],
)
def test_strict_schemas_must_be_strict(schema: dict[str, Any] | None, reason: str) -> None:
    """A schema that claims to be strict is closed and complete at every depth; the same one sent plain is taken."""
    with pytest.raises(ValueError, match=reason):
        raise ValueError(illegal(asked(USER, tools=[offered(strict=True, parameters=schema)])))
    assert illegal(asked(USER, tools=[offered(parameters=schema)])) is None


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)
FUNCTIONS = st.dictionaries(st.sampled_from(["name", "arguments", "parameters", "strict"]), VALUES)
CALLS = st.dictionaries(st.sampled_from(["id", "type", "function"]), VALUES | st.just("function") | FUNCTIONS)
MESSAGES = st.fixed_dictionaries(
    {"role": st.sampled_from(["user", "assistant", "tool"])},
    optional={"content": VALUES, "tool_calls": VALUES | st.lists(CALLS, max_size=2), "tool_call_id": VALUES},
)


@given(messages=VALUES | st.lists(MESSAGES | VALUES, max_size=4), tools=VALUES | st.lists(CALLS, max_size=2))
def test_any_json_gets_an_answer(messages: Any, tools: Any) -> None:
    """However malformed a body is, the check gives a reason or None, and never raises."""
    assert isinstance(illegal({"model": "m", "messages": messages, "tools": tools}), str | None)


@given(ids=st.lists(st.text("abc", min_size=1, max_size=3), unique=True, min_size=1, max_size=5), data=st.data())
def test_a_round_is_legal_only_when_complete(ids: list[str], data: st.DataObject) -> None:
    """Results in any order make a legal round; leave one out, and it is illegal."""
    results = [result(id_) for id_ in data.draw(st.permutations(ids))]
    assert illegal(asked(USER, calling(*ids), *results)) is None
    assert illegal(asked(USER, calling(*ids), *results[1:])) is not None
