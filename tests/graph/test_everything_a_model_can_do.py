"""Whatever a model writes as a call: it runs as meant, or it is refused with a reason, and never as something else."""

import asyncio
import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.tools import BaseTool, tool

from loopwright import Agent, RunResult, Settings, tool_policy
from loopwright.models.replies import Reply
from loopwright.models.rescue import AS_WRITTEN, rescue, resolved
from loopwright.settings import ModelSettings, ToolSettings
from loopwright.testing import ScriptedModel, call, reply

FAST = Settings(model=ModelSettings(retry_delay=0), tools=ToolSettings(retry_delay=0))
TRANSCRIPTS = Path(__file__).parents[3] / "shared" / "model-transcripts"
TOOLS = {"calculator": ["expression"], "get_time": [], "read_file": ["path"], "pay": ["to", "amount"]}


@pytest.fixture
def log() -> list[Any]:
    """What the tools were really called with."""
    return []


@pytest.fixture
def tools(log: list[Any]) -> list[BaseTool]:
    """A few tools with arguments of several types; each keeps what it got."""

    @tool
    def calculator(expression: str) -> str:
        """Calculate."""
        log.append(expression)
        return "42"

    @tool
    def pay(to: str, amount: int, tags: list[str] | None = None, note: str = "none") -> str:
        """Pay."""
        log.append((to, amount, tags, note))
        return "paid"

    @tool
    def clock() -> str:
        """Tell the time."""
        log.append("clock")
        return "noon"

    @tool
    def look(at: str) -> str:
        """Look."""
        log.append(at)
        return "always the same"

    return [
        tool_policy(each, effect="write" if each.name == "pay" else "read") for each in (calculator, pay, clock, look)
    ]


def played(tools: list[BaseTool], *script: Any) -> RunResult:
    """A run of this script, sync; the same run async must say the same."""
    result = Agent(ScriptedModel([*script, "done"]), tools, settings=FAST).run("x")
    again = asyncio.run(Agent(ScriptedModel([*script, "done"]), tools, settings=FAST).arun("x"))
    assert [message.text for message in again.messages] == [message.text for message in result.messages]
    return result


def said(result: RunResult) -> list[str]:
    """What the tool messages say."""
    return [message.text for message in result.messages if isinstance(message, ToolMessage)]


RUNS: list[tuple[str, str, Any]] = [
    ("clock", "", "clock"),
    ("clock", "null", "clock"),
    ("clock", "{}", "clock"),
    ("calculator", '"{\\"expression\\": \\"2+3\\"}"', "2+3"),
    ("calculator", '```json\n{"expression": "2+3"}\n```', "2+3"),
    ("calculator", '  {"expression": "a\tb"}\n', "a\tb"),
    ("calculator", '{"expression": "2", "expression": "2"}', "2"),
    ("calculator", '{"expression": 5}', "5"),
    ("calculator", '{"Expression": "2"}', "2"),
    ("calculator", '{"ｅｘｐｒｅｓｓｉｏｎ": "２＋３"}', "２＋３"),
    ("pay", '{"to": "bob", "amount": "5"}', ("bob", 5, None, "none")),
    ("pay", '{"to": "bob", "amount": "５０"}', ("bob", 50, None, "none")),
    ("pay", '{"to": "bob", "amount": 36893488147419103232}', ("bob", 2**65, None, "none")),
    ("pay", '{"to": "bob", "amount": 1, "tags": "[\\"a\\"]"}', ("bob", 1, ["a"], "none")),
    ("pay", '{"to": "bob", "amount": 5.0}', ("bob", 5, None, "none")),
]  # fmt: skip


@pytest.mark.parametrize(("name", "raw", "got"), RUNS)
def test_form_is_forgiven(name: str, raw: str, got: Any, tools: list[BaseTool], log: list[Any]) -> None:
    """Missing, fenced, quoted, convertible and full-width arguments reach the tool as they were meant."""
    result = played(tools, reply("", call(name, raw=raw)))
    assert log == [got, got]
    assert result.complete


REFUSED: list[tuple[str, str, str]] = [
    ("pay", "[]", "another JSON value"),
    ("pay", "5", "another JSON value"),
    ("pay", '"bob"', "another JSON value"),
    ("pay", '{"to": "bob", "amount": 1', "not one whole JSON object"),
    ("pay", '{"to": "bob", "amount": 1} and more', "more text follows"),
    ("pay", "{'to': 'bob', 'amount': 1}", "not one whole JSON object"),
    ("pay", '{"to": "bob", "amount": NaN}', "NaN is no JSON value"),
    ("pay", '{"to": "bob", "amount": 1e999}', "too large"),
    ("pay", '{"to": "bob", "amount": 1, "amount": 100}', "'amount' is given twice"),
    ("pay", "{“to”: “bob”, “amount”: 1}", "the character “"),
    ("pay", '{"to": "bob", "amount": ' + "9" * 5_000 + "}", "digits"),
    ("pay", '{"to": "bob", "amount": ' + "[" * 200 + "]" * 200 + "}", "nested"),
    ("pay", '{"to": ' + "[" * 100_000, "nested"),
    ("pay", '{"to": "bob"}', "amount"),
    ("pay", '{"to": "bob", "amount": "five"}', "amount"),
    ("pay", '{"to": "bob", "amount": 1, "twice": true}', "no argument 'twice'"),
    ("pay", '{"recipient": "bob", "amount": 1}', "no argument 'recipient'"),
    ("refund", "{}", "There is no tool called 'refund'"),
    ("", "{}", "names no tool"),
]


@pytest.mark.parametrize(("name", "raw", "text"), REFUSED)
def test_what_is_not_whole_or_not_meant_is_refused(
    name: str, raw: str, text: str, tools: list[BaseTool], log: list[Any]
) -> None:
    """Cut, ambiguous and misnamed calls never run; the model is told what is wrong, and goes on."""
    result = played(tools, reply("", call(name, raw=raw), usage=(9, 9)))
    assert log == []
    assert text in said(result)[0]
    assert result.answer == "done"


def test_missing_fields_are_told_at_once(tools: list[BaseTool]) -> None:
    """All that is wrong with the arguments stands in one error."""
    (text,) = said(played(tools, reply("", call("pay", amount="x"))))
    assert "to:" in text
    assert "amount:" in text


@pytest.mark.parametrize(
    "name", ["functions.calculator", "default_api:calculator", "tools/calculator", "Calculator", "ｃalculator",
             "calculator<|channel|>commentary", " calculator "],
)  # fmt: skip
def test_a_name_that_is_a_bit_off(name: str, tools: list[BaseTool], log: list[Any]) -> None:
    """Case, prefix and form do not matter where exactly one tool is meant; what was written is kept."""
    result = played(tools, reply("", call(name, expression="1")))
    made = next(message for message in result.messages if isinstance(message, AIMessage))
    assert [each["name"] for each in made.tool_calls] == ["calculator"]
    assert made.response_metadata[AS_WRITTEN]["names"] == {made.tool_calls[0]["id"]: name}
    assert log == ["1", "1"]


def test_a_name_that_may_mean_two_tools() -> None:
    """Where two tools could be meant none is; a tool's own name always wins."""
    assert resolved("functions.Read", ["read", "READ"]) is None
    assert resolved("read", ["read", "READ"]) == "read"
    assert resolved("a.read", ["a.read", "read"]) == "a.read"
    assert resolved("b.read", ["a.read"]) is None


ARGS = '{"to": "bob", "amount": 5}'
WRITTEN = [
    '{"name": "pay", "arguments": ' + ARGS + "}",
    '{"name": "functions.Pay", "parameters": ' + ARGS + "}",
    '{"tool": "pay", "args": ' + ARGS + "}",
    '{"action": "pay", "action_input": ' + ARGS + "}",
    '{"action": "pay", "to": "bob", "amount": 5}',
    '{"type": "function", "id": "1", "function": {"name": "pay", "arguments": ' + json.dumps(ARGS) + "}}",
    '{"thought": "next", "action": {"name": "pay", "args": ' + json.dumps(ARGS) + '}, "finish": false}',
    '{"tool_calls": [{"function": {"name": "pay", "arguments": ' + json.dumps(ARGS) + "}}]}",
    '[{"name": "pay", "arguments": ' + ARGS + "}]",
    '```json\n{"name": "pay", "arguments": ' + ARGS + "}\n```",
    '```\n{"name": "pay", "arguments": ' + ARGS + "}```<|im_end|>",
    '<tool_call>\n{"name": "pay", "arguments": ' + ARGS + "}\n</tool_call>",
    '<tool_call>{"name": "pay", "arguments": ' + ARGS + "}",
    "<function=pay>" + ARGS + "</function>",
    "<tool_call><function=pay><parameter=to>\nbob\n</parameter><parameter=amount>5</parameter></function></tool_call>",
    '<invoke name="pay"><parameter name="to">bob</parameter><parameter name="amount">5</parameter></invoke>',
    '[TOOL_CALLS][{"name": "pay", "arguments": ' + ARGS + "}]",
    "[TOOL_CALLS]pay[ARGS]" + ARGS,
    '<|python_tag|>{"name": "pay", "parameters": ' + ARGS + "}",
]


@pytest.mark.parametrize("text", WRITTEN)
@pytest.mark.parametrize("lead", ["", "Let me pay him.\n", "<think>I should {pay}.\n\n" + "Hm. " * 200 + "</think>\n"])
def test_a_call_written_as_text_is_rescued(lead: str, text: str, tools: list[BaseTool], log: list[Any]) -> None:
    """A reply that is nothing but the call, with at most a short lead, runs it, and the call is counted as rescued."""
    agent = Agent(ScriptedModel([lead + text, "done"]), tools, settings=FAST)
    events = [item for item in agent.stream("x") if isinstance(item, dict) and item["kind"] == "model"]
    assert log == [("bob", 5, None, "none")]
    assert [event.get("rescued", 0) for event in events] == [1, 0]


def test_a_rescued_message_is_legal_and_keeps_its_text(tools: list[BaseTool]) -> None:
    """The call's text leaves the content, since models imitate it, the lead stays, and the whole can be had."""
    text = "One moment.\n" + WRITTEN[0]
    result = played(tools, text)
    made = next(message for message in result.messages if isinstance(message, AIMessage))
    assert made.content == "One moment."
    assert made.response_metadata[AS_WRITTEN]["text"] == text
    assert [each["name"] for each in made.tool_calls] == ["pay"]


def test_several_written_calls_are_all_rescued_or_none(tools: list[BaseTool], log: list[Any]) -> None:
    """Two calls in two tags both run; when one of them names no tool, neither does."""
    good, bad = '<tool_call>{"name": "clock", "arguments": {}}</tool_call>', '<tool_call>{"name": "x"}</tool_call>'
    played(tools, good + "\n" + good)
    assert log == ["clock"] * 4
    assert played(tools, good + bad).answer == good + bad


TALK = [
    'I could call {"name": "pay", "arguments": {"to": "bob", "amount": 5}} for you.',
    'Call it so:\n```json\n{"name": "pay", "arguments": {"to": "bob", "amount": 5}}\n```\nThat would pay Bob.',
    'To pay, write {"name": "pay", "arguments": {"to": "bob", "amount": 5}}',
    "word " * 100 + '\n{"name": "pay", "arguments": {"to": "bob", "amount": 5}}',
    '{"name": "pay", "arguments": {"to": "bob", "amount": 5}',
    '<tool_call>{"name": "pay", "arguments": {"to": "bob", "amou',
    "<function=pay><parameter=to>bob",
    '{"name": "Bob", "age": 5}',
    '{"name": "pay"}',
    '{"name": "pay", "arguments": {"to": "bob", "amount": 5, "amount": 500}}',
    '{"answer": {"name": "pay", "arguments": {"to": "bob", "amount": 5}}}',
    "pay",
    "`pay(to='bob', amount=5)`",
    "[]",
    "{}",
]


@pytest.mark.parametrize("text", TALK)
def test_talk_about_a_call_is_an_answer(text: str, tools: list[BaseTool], log: list[Any]) -> None:
    """A call that is mentioned, explained, cut off or not quite one never runs."""
    assert played(tools, text).answer == text
    assert log == []


def test_a_written_call_of_a_reply_that_was_cut_off_is_left(tools: list[BaseTool], log: list[Any]) -> None:
    """Even a whole-looking call is not taken from a reply that ended at the token limit."""
    played(tools, reply(WRITTEN[0], finish_reason="length"))
    assert log == []


words = st.text(alphabet=st.characters(codec="utf-8", exclude_characters="{}[]<>`|"), min_size=1, max_size=60)


@given(
    words.filter(lambda text: text.strip() != ""),
    words.filter(lambda text: re.sub(r"[\s,;]", "", text) != ""),
    st.sampled_from(WRITTEN),
)
def test_no_prose_around_a_call_becomes_one(before: str, after: str, text: str) -> None:
    """For any words: a call with words behind it is talk, and so is JSON in the middle of a line."""
    for told in (f"{before}\n{text} {after}", f"{before} {text} {after}", after):
        message = AIMessage(told, id="m")
        assert rescue(Reply(message), TOOLS).rescued == 0 or not told.strip()


def test_calls_although_none_were_offered(tools: list[BaseTool], log: list[Any]) -> None:
    """A call in the closing reply, real or as text, does not run; the rendered report is the answer."""
    settings = FAST.model_copy(update={"max_model_calls": 1})
    for closing in (reply("", call("pay", to="bob", amount=1)), WRITTEN[0]):
        result = Agent(ScriptedModel([reply("", call("clock")), closing]), tools, settings=settings).run("x")
        assert log == ["clock"]
        assert result.stop is not None
        assert result.stop["reason"] == "model_calls"
        assert "model_calls" in result.answer
        log.clear()


def test_a_call_of_a_withheld_tool(tools: list[BaseTool], log: list[Any]) -> None:
    """While a tool is withheld the call that brought nothing new does not run; another call of it may bring news."""
    same = reply("", call("look", at="x"))
    result = played(tools, same, same, same, reply("", call("look", at="x"), call("look", at="y")))
    assert log == ["x", "x", "y"] * 2
    assert [text.startswith("Not run: look") for text in said(result)] == [False, False, True, True, False]


def test_several_calls_although_one_was_asked_for(tools: list[BaseTool], log: list[Any]) -> None:
    """All calls of a reply run, writes one after the other and in order."""
    played(tools, reply("", *[call("pay", to=name, amount=1) for name in ("a", "b", "c")]))
    assert [who for who, *_ in log] == ["a", "b", "c"] * 2


def test_calls_of_a_reply_that_was_cut_off(tools: list[BaseTool], log: list[Any]) -> None:
    """None of them runs, each is answered, and the model may try again."""
    cut = reply("", call("clock"), call("pay", to="bob", amount=1), finish_reason="length")
    result = played(tools, cut, reply("", call("clock")))
    assert log == ["clock", "clock"]
    assert [text.startswith("Error: The reply was cut off") for text in said(result)] == [True, True, False]


@pytest.mark.skipif(not TRANSCRIPTS.exists(), reason="the recorded replies are not beside this repository")
def test_recorded_replies_of_small_models() -> None:
    """Every recorded text that is a call of a bound tool becomes that call, and no other text becomes one."""
    seen = taken = 0
    for path in sorted(TRANSCRIPTS.glob("*.json")):
        data = json.loads(path.read_text())
        for record in data["results"] if isinstance(data, dict) else data:
            for said in record.get("transcript") or []:
                text = said.get("content")
                if said.get("role") != "ai" or not isinstance(text, str) or said.get("tool_calls"):
                    continue
                expected = described(text)
                message = rescue(Reply(AIMessage(text, id="m")), TOOLS).message
                assert message is not None
                assert [(made["name"], made["args"]) for made in message.tool_calls] == expected, text
                seen += 1
                taken += bool(expected)
    assert seen > 200
    assert taken > 50


def described(text: str) -> list[tuple[str, Any]]:
    """The call that a recorded text is, by a plain reading: one JSON object, perhaps fenced, that names a tool."""
    bare = text.strip().removeprefix("```json").removesuffix("```").strip()
    try:
        value = json.loads(bare)
    except ValueError:
        return []
    if not isinstance(value, dict):
        return []
    if value.get("name") in TOOLS and isinstance(value.get("arguments"), dict):
        return [(value["name"], value["arguments"])]
    if value.get("action") in TOOLS:
        return [(value.pop("action"), value)]
    return []
