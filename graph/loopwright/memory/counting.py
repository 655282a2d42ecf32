"""Counts tokens of texts, messages and tool schemas, offline, by the rules that OpenAI's cookbook states."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

from langchain_core.messages import AIMessage, BaseMessage, ToolMessage

from loopwright.memory.encodings import encoding_for, encoding_name

PER_MESSAGE = 3
"""Tokens around every message; its role is one more."""
PER_NAME = 1
"""Tokens that a message's own name adds to those of its text."""
PER_CALL = 8
"""Tokens around a tool call's name and arguments: our estimate, its id included; the cookbook states none."""
REPLY_PRIMER = 3
"""Tokens with which every reply is primed; once a request, in no message."""
IMAGE, IMAGE_LOW_DETAIL = 765, 85
"""Tokens of an image: one of 1024 x 1024 pixels in high detail, and any in low detail. Its size is not looked at."""

_CHUNK = 4_000
_SAFE_CUT = re.compile(r"(?<=\S) ")
_CALL_BLOCKS = {"tool_call", "tool_call_chunk", "invalid_tool_call", "tool_use", "function_call", "input_json_delta"}
_IMAGE_BLOCKS = {"image", "image_url", "input_image"}

Block = str | Mapping[str, object]


def count_text(text: str, model: str = "") -> int:
    """Tokens of this text, exact for tiktoken's models as long as each 4,000 characters hold a space.

    Special tokens count as the plain text they are, lone surrogates as the character that replaces them. A longer run
    without a space is cut, which puts the count off by about a token: tiktoken itself crashes on a million spaces and
    takes three times as long for five million "a". Measured on one core, after 0.3 s once for the table: 5 MB of "a"
    0.7 s, 5 MB of base64 0.6 s, 200 kB of Chinese 0.02 s.
    """
    return _remembered(text, model) if len(text) <= _CHUNK else _counted(text, model)


def _counted(text: str, model: str) -> int:
    encoding = encoding_for(model)
    return sum(len(encoding.encode_ordinary(chunk)) for chunk in _chunks(text))


_remembered = lru_cache(maxsize=4_096)(_counted)
"""Texts of one chunk, which most are: guard and model node count the same message one after the other."""


def count_message(message: BaseMessage, model: str = "") -> int:
    """Tokens of this message in a request: 3 around it, 1 for the role, its name, content and tool calls.

    A tool call is its name, its arguments as JSON and 8; an image 765, in low detail 85; a block of any other kind its
    JSON text. A content block that repeats a tool call is passed over. Not in it: 3 a request, `REPLY_PRIMER`.
    """
    tokens = PER_MESSAGE + 1 + _count_content(message, model)
    if message.name and not isinstance(message, ToolMessage):  # a result is sent with its call's id, without a name
        tokens += PER_NAME + count_text(message.name, model)
    if isinstance(message, AIMessage):
        calls = [(call["name"], _json(call["args"])) for call in message.tool_calls]
        calls += [(call["name"] or "", call["args"] or "") for call in message.invalid_tool_calls]
        tokens += sum(PER_CALL + count_text(name, model) + count_text(text, model) for name, text in calls)
    return tokens


def count_tools(tools_json: Sequence[Mapping[str, object]], model: str = "") -> int:
    """Tokens of the tool schemas of a request, in the API's form (`{"type": "function", "function": {...}}`) or bare.

    The cookbook's rule: 7 a function (10 for models of cl100k_base), its name and description; 3 before the parameters
    and for each; for each enum value 3 and its text, less 3; 12 at the end. Titles and the list of what is required
    count nothing. Where the rule says nothing (nested schemas, other keywords, other tools) the JSON text counts.
    """
    if not tools_json:
        return 0
    return 12 + sum(_count_tool(tool, model) for tool in tools_json)


def _chunks(text: str) -> Iterator[str]:
    """The text in pieces of at most 4,000 characters, cut before a space that follows a word.

    Every pattern begins a new match there, so that such a cut changes nothing; without one it is made anywhere.
    """
    start = 0
    while len(text) - start > _CHUNK:
        cut = max((match.start() for match in _SAFE_CUT.finditer(text, start + 1, start + _CHUNK)), default=0)
        end = cut or start + _CHUNK
        yield text[start:end]
        start = end
    yield text[start:]


def _count_content(message: BaseMessage, model: str) -> int:
    if isinstance(message.content, str):
        return count_text(message.content, model)
    return sum(_count_block(block, model) for block in message.content)


def _count_block(block: Block, model: str) -> int:
    if isinstance(block, str):
        return count_text(block, model)
    kind, text = str(block.get("type")), block.get("text")
    if isinstance(text, str) and kind in ("text", "input_text", "output_text"):
        return count_text(text, model)
    if kind in _IMAGE_BLOCKS:
        source = block.get("image_url")
        detail = source.get("detail") if isinstance(source, Mapping) else block.get("detail")
        return IMAGE_LOW_DETAIL if detail == "low" else IMAGE
    return 0 if kind in _CALL_BLOCKS else count_text(_json(block), model)


def _count_tool(tool: Mapping[str, object], model: str) -> int:
    function = tool.get("function", tool)
    if not isinstance(function, Mapping) or not isinstance(function.get("name"), str):
        return count_text(_json(tool), model)
    tokens = 10 if encoding_name(model) == "cl100k_base" else 7
    tokens += count_text(f"{function['name']}:{_description(function)}", model)
    parameters = function.get("parameters")
    if not isinstance(parameters, Mapping):
        return tokens
    properties = parameters.get("properties")
    if isinstance(properties, Mapping) and properties:
        tokens += 3 + sum(_count_property(str(name), schema, model) for name, schema in properties.items())
    return tokens + _count_rest(parameters, {"type", "properties", "required", "additionalProperties", "title"}, model)


def _count_property(name: str, schema: object, model: str) -> int:
    if not isinstance(schema, Mapping):
        return 3 + count_text(f"{name}:{_json(schema)}", model)
    tokens = 3 + count_text(f"{name}:{schema.get('type', '')}:{_description(schema)}", model)
    values = schema.get("enum")
    if isinstance(values, list):
        tokens += sum(3 + count_text(str(value), model) for value in values) - 3
    return tokens + _count_rest(schema, {"type", "description", "enum", "title"}, model)


def _count_rest(schema: Mapping[str, object], counted: set[str], model: str) -> int:
    rest = {key: value for key, value in schema.items() if key not in counted}
    return count_text(_json(rest), model) if rest else 0


def _description(schema: Mapping[str, object]) -> str:
    return str(schema.get("description") or "").removesuffix(".")


def _json(value: object) -> str:
    """The JSON text as it is sent; what JSON cannot say (a bare object, a cycle, a tuple as key) as Python shows it."""
    try:
        return json.dumps(value, ensure_ascii=False, default=repr)
    except (TypeError, ValueError, RecursionError):
        return repr(value)
