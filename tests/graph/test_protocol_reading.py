"""Text protocols, the reading: every text is a call, an answer or a wrong format, and what was written is read back."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage
from langchain_core.tools import tool

from loopwright.models.protocols import FORMS, FormName, text_tools
from loopwright.models.protocols.flat import ending
from loopwright.models.protocols.reading import Answer, Call, Reading, WrongFormat, read_answer, read_step
from loopwright.models.protocols.relaxed_json import CutOff, objects_in
from loopwright.models.replies import Reply
from loopwright.models.rescue import rescue

TRANSCRIPTS = Path(__file__).parents[3] / "shared" / "model-transcripts"
EVERY_FORM: list[FormName] = ["json_flat", "json_nested", "json_schema"]


@tool
def calculator(expression: str) -> str:
    """Calculate."""
    return expression


@tool
def get_time() -> str:
    """Tell the time."""
    return "noon"


@tool
def read_file(path: str, offset: int = 0) -> str:
    """Read a file."""
    return path


@tool
def pay(to: str, amount: float, tags: list[str]) -> str:
    """Pay."""
    return to


@tool
def save(record: dict[str, Any]) -> str:
    """Save."""
    return str(record)


TOOLS = text_tools([calculator, get_time, read_file, pay, save])
SUM = Call("calculator", {"expression": "1 + 2"})
FLAT = '{"action": "calculator", "action_input": "1 + 2"}'
NESTED = '{"thought": "t", "action": {"name": "calculator", "args": {"expression": "1 + 2"}}, "finish": false}'


@pytest.mark.parametrize(
    "text",
    [
        FLAT,
        NESTED,
        f"```json\n{FLAT}\n```",
        f"I will calculate.\n{FLAT}\nThat is the call.",
        f"Here {{x}} is no object, this is one: {FLAT}",
        f"<think>maybe {{'action': 'pay'}}?</think>\n{FLAT}",
        '{"action": "calculator", /* why not */ "action_input": "1 + 2" // done\n}',
        '{"action": "calculator", # a comment\n "action_input": {"expression": "1 + 2",},}',
        "{'action': 'calculator', 'action_input': '1 + 2', 'note': None, 'sure': True}",
        '{"action": "calculator", "action_input": {"expression": "1 + 2"}}',
        '{"action": "calculator", "action_input": {"action_input": "1 + 2"}}',
        '{"action": "calculator", "action_input": "{\\"expression\\": \\"1 + 2\\"}"}',
        '{"action": "calculator", "expression": "1 + 2"}',
        '{"action": "functions.Calculator", "args": {"expression": "1 + 2"}}',
        '{"action": {"name": "calculator", "arguments": {"expression": "1 + 2"}}}',
        '{"action": [{"name": "calculator", "args": {"expression": "1 + 2"}}]}',
        '{"step": {"action": "calculator", "action_input": {"expression": "1 + 2"}}}',
        '{"name": "calculator", "arguments": {"expression": "1 + 2"}}',
        '<tool_call>{"name": "calculator", "arguments": {"expression": "1 + 2"}}</tool_call>',
        '{"action": {"name": "calculator", "args": {"expression": "1 + 2"}}, "finish": true, "final_answer": "3"}',
    ],
)
def test_a_call_is_read_in_whatever_clothes(text: str) -> None:
    """Fences, prose, comments, other quotes, other field names: the same call; an action counts more than a finish."""
    assert read_step(text, TOOLS).step == SUM


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ('{"action": "final", "action_input": "It is 3."}', "It is 3."),
        ('{"action": "final", "action_input": {"action_input": "It is 3."}}', "It is 3."),
        ('{"action": "Final Answer", "action_input": 3}', "3"),
        ('{"action": "final", "answer": "It is 3."}', "It is 3."),
        ('{"action": "final", "action_input": {"total": 3}}', '{"total": 3}'),
        ('{"thought": "t", "action": null, "finish": true, "final_answer": "It is 3."}', "It is 3."),
        ('{"finish": "true", "final_answer": "It is 3."}', "It is 3."),
        ('{"action": "none", "final_answer": "It is 3."}', "It is 3."),
        ('{"action": {"name": "", "args": {}}, "finish": true, "final_answer": "It is 3."}', "It is 3."),
        ('{"action": {}, "finish": true, "final_answer": "It is 3.", "mood": "good"}', "It is 3."),
    ],
)
def test_an_answer_is_read(text: str, answer: str) -> None:
    """The action that ends, or a finish without an action; missing and further fields do not matter."""
    assert read_step(text, TOOLS).step == Answer(answer)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("The answer is 3.", "no JSON object"),
        ("", "empty"),
        ('{"answer": 3}', "no action and no answer"),
        (FLAT[:-1], "cut off"),
        (FLAT[:-12], "cut off"),
        (f'{{"action": "calculator", "action_input": {FLAT}', "cut off"),
        (f"```json\n{FLAT[:-1]} // step\n```", "cut off"),
        ('{"action": "pay", "action_input": {"to": "a", "amount": 12 34}}', "no valid JSON"),
        ('{"action": "pay", "action_input": {"to": "a" "b"}}', "no valid JSON"),
        ('{"action": "pay", "action_input": {"to": "a", "to": "b"}}', "no valid JSON"),
        ('{"action": "pay", "action_input": {"to": "a"]}', "no valid JSON"),
        ('{"action": "pay", "action_input": {,}}', "no valid JSON"),
        (f'{{"action": "pay", "action_input": {{"amount": NaN}}}} {FLAT}', "no valid JSON"),
        ('{"action": "pay", "action_input": "bob"}', "must be an object with to, amount, tags"),
        ('{"action": "get_time", "action_input": "now"}', "must be an object with no fields"),
        ('{"action": null, "finish": false, "final_answer": "3"}', "no action"),
        ('{"thought": "t", "finish": true}', "without a final answer"),
        ('{"action": "final", "action_input": ""}', "empty"),
        ('{"action": {"args": {}}}', "no action"),
        ('{"action": {"name": 5}}', "neither a name nor an object"),
        ('{"action": 5}', "neither a name nor an object"),
    ],
)
def test_what_is_neither_is_told_in_plain_words(text: str, problem: str) -> None:
    """Prose, halves, guesses and empty steps are a wrong format; nothing inside of half an object is taken."""
    step = read_step(text, TOOLS).step
    assert isinstance(step, WrongFormat)
    assert problem in step.problem


@pytest.mark.parametrize(
    ("given", "call"),
    [
        ('"notes.txt"', Call("read_file", {"path": "notes.txt"})),
        ('{"path": "notes.txt", "offset": 5}', Call("read_file", {"path": "notes.txt", "offset": 5})),
        ('{"name": "x"}', Call("read_file", {"name": "x"})),
        ("7", Call("read_file", {"path": "7"})),
    ],
)
def test_a_value_alone_is_the_argument_that_is_required(given: str, call: Call) -> None:
    """A text stands for the only required argument; an object is never bent into it."""
    assert read_step(f'{{"action": "read_file", "action_input": {given}}}', TOOLS).step == call


def test_an_object_may_be_the_argument_itself() -> None:
    """Where the one argument is an object, one with other names is that argument."""
    written = '{"action": "save", "action_input": {"a": 1}}'
    assert read_step(written, TOOLS).step == Call("save", {"record": {"a": 1}})


def test_a_tool_that_does_not_exist_is_still_a_call() -> None:
    """The guard tells the model which tools there are, as it does everywhere."""
    assert read_step('{"action": "jump", "action_input": {"high": 1}}', TOOLS).step == Call("jump", {"high": 1})


def test_of_two_objects_the_first_counts() -> None:
    """Further calls and answers are counted and not taken; so are further actions of a list."""
    two = f'{FLAT}\n{{"action": "final", "action_input": "3"}}'
    assert read_step(two, TOOLS) == Reading(SUM, ignored=1)
    several = '{"action": [{"name": "get_time"}, {"name": "calculator"}], "thought": "both"}'
    assert read_step(several, TOOLS) == Reading(Call("get_time", {}), "both", 1)


def test_what_stands_in_front_is_the_thought() -> None:
    """Prose before the object, and the thought in it, are kept together."""
    assert read_step(f"First I add.\n```json\n{NESTED}\n```", TOOLS).thought == "First I add.\nt"


@pytest.mark.parametrize("text", ["It is 3.", "Write f{x} or {x: 1", '{"amount": 12}', "```python\nprint({})\n```"])
def test_without_tools_any_text_is_the_answer(text: str) -> None:
    """A closing reply needs no form; braces in it are its own."""
    assert read_answer(text).step == Answer(text)


def test_without_tools_a_step_is_still_read() -> None:
    """An answer in the form is taken out of it, a call stays one, and half a step is no answer."""
    assert read_answer('{"action": "final", "action_input": "3"}').step == Answer("3")
    assert isinstance(read_answer(FLAT).step, Call)
    assert isinstance(read_answer('```json\n{"action": "final", "action_in').step, WrongFormat)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
pieces = st.sampled_from(
    ["{", "}", "[", "]", '"', "'", ":", ",", "//", "/*", "*/", "#", "\\", "\\u00", "```json", "<think>", "\n", "None",
     "1", '"action"', '"action_input"', '"finish"', "true", '"final_answer"', '"calculator"', FLAT, NESTED],
)  # fmt: skip


@given(st.text() | st.lists(pieces | st.text(max_size=3), max_size=30).map("".join) | json_values.map(json.dumps))
def test_every_text_has_a_reading(text: str) -> None:
    """Whatever comes is a call, an answer or a wrong format, with tools and without, and nothing is raised."""
    for reading in (read_step(text, TOOLS), read_answer(text)):
        assert isinstance(reading.step, Call | Answer | WrongFormat)
        assert reading.ignored >= 0


@given(
    st.sampled_from(EVERY_FORM),
    st.one_of(
        st.builds(lambda text: Call("calculator", {"expression": text}), st.text()),
        st.just(Call("get_time", {})),
        st.builds(lambda text, at: Call("read_file", {"path": text, "offset": at}), st.text(), st.integers()),
        st.builds(
            lambda to, tags: Call("pay", {"to": to, "amount": 1.5, "tags": tags}), st.text(), st.lists(st.text())
        ),
        st.builds(lambda record: Call("save", {"record": record}), st.dictionaries(st.text(), json_values, max_size=3)),
    ),
    st.text(),
)
def test_a_written_call_is_read_back(name: FormName, call: Call, thought: str) -> None:
    """For any arguments and any thought: what the history says is what the model would have had to write."""
    assert read_step(FORMS[name].call(call.name, call.args, thought, TOOLS), TOOLS).step == call


@given(st.sampled_from(EVERY_FORM), st.text(min_size=1))
def test_a_written_answer_is_read_back(name: FormName, text: str) -> None:
    """An answer survives its form, with tools and without."""
    assert read_step(FORMS[name].answer(text, TOOLS), TOOLS).step == Answer(text)
    assert read_answer(FORMS[name].answer(text, {})).step == Answer(text)


@given(st.sampled_from([FLAT, NESTED]), st.data())
def test_no_part_of_a_call_is_a_call(text: str, data: st.DataObject) -> None:
    """Cut anywhere, a call is a wrong format."""
    end = data.draw(st.integers(0, len(text) - 1))
    assert isinstance(read_step(text[:end], TOOLS).step, WrongFormat)


def test_a_tool_called_final_does_not_end() -> None:
    """A tool's own name comes first; the word that ends is another one then."""

    @tool
    def final(text: str) -> str:
        """Publish the final version."""
        return text

    tools = text_tools([final])
    assert ending(tools) == "final_answer"
    assert read_step('{"action": "final", "action_input": "x"}', tools).step == Call("final", {"text": "x"})
    assert read_step('{"action": "final_answer", "action_input": "x"}', tools).step == Answer("x")


def test_objects_are_the_outermost_ones() -> None:
    """Braced parts come in order with their places, those that are no JSON without a value; half of one raises."""
    found = list(objects_in('{x} [{"a": {"b": 1}}] {}'))
    assert [(each.start, each.value) for each in found] == [(0, None), (5, {"a": {"b": 1}}), (22, {})]
    with pytest.raises(CutOff):
        list(objects_in('{} {"a": "}'))


def recorded() -> list[tuple[str, str, str]]:
    """Every reply of the recorded small models with text: file, mode, text."""
    found = []
    for path in sorted(TRANSCRIPTS.glob("*.json")):
        data = json.loads(path.read_text(encoding="utf-8"))
        for result in data if isinstance(data, list) else data["results"]:
            for message in result.get("transcript", []):
                text = message.get("raw_text") or message["content"]
                if message.get("role", message.get("type")) == "ai" and text:
                    found.append((path.name, result["q"], text))
    return found


@pytest.mark.skipif(not TRANSCRIPTS.exists(), reason="the recorded replies are not part of this repository")
def test_recorded_replies_of_small_models() -> None:
    """Each call-shaped reply that names a tool and parses whole is that call; an answer is one, prose is no call."""
    replies = recorded()
    assert len(replies) > 200
    for _, _, text in replies:
        step = read_step(text, TOOLS).step
        try:
            written = json.loads(text)
        except ValueError:
            written = None
        if isinstance(written, dict) and written.get("action") in TOOLS:
            args = {key: value for key, value in written.items() if key != "action"}
            assert step == Call(written["action"], args), text
        elif isinstance(written, dict) and written.get("action") == "final" and written.get("answer"):
            assert step == Answer(written["answer"]), text
        elif isinstance(step, Call):
            assert rescue(Reply(AIMessage(text, id="m")), {n: list(t.properties) for n, t in TOOLS.items()}).rescued
        if "{" not in text:
            assert isinstance(step, WrongFormat), text
