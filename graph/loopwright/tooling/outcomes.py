"""The one place that turns what a tool did (returned, raised, hung) into a status, a failure and a message."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from langchain_core.messages import BaseMessage, ToolMessage
from langchain_core.tools import BaseTool, ToolException
from langchain_core.utils.function_calling import convert_to_openai_tool
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.prebuilt.tool_node import ToolInvocationError
from langgraph.types import Command
from pydantic import ValidationError

from loopwright.language import Language
from loopwright.redaction import redact
from loopwright.sanitise import clean_text, sanitise
from loopwright.state import CallStatus, Failure, FailureKind
from loopwright.tooling.plain import plain
from loopwright.tooling.wording import told

MAX_ERROR_CHARACTERS = 1_000
"""An error text longer than this is cut: a traceback in a message helps no model."""
_SERIALIZER = JsonPlusSerializer(allowed_msgpack_modules=None)


@dataclass(frozen=True)
class Outcome:
    """What became of one call."""

    status: CallStatus
    content: str | list[Any]
    failure: Failure | None = None
    artifact: object = None
    cause: BaseException | None = None
    """What the tool raised."""

    @property
    def text(self) -> str:
        """The content as text: text blocks joined, other blocks as JSON."""
        if isinstance(self.content, str):
            return self.content
        return "\n".join(_block_text(block) for block in self.content)


def _block_text(block: object) -> str:
    if isinstance(block, str):
        return block
    if isinstance(block, dict) and isinstance(block.get("text"), str):
        return str(block["text"])
    return json.dumps(block, ensure_ascii=False, default=repr)


def outcome_of(returned: object, language: Language = "en") -> Outcome:
    """The outcome of a tool that returned: ToolNode's messages and Commands, reduced to one message's content.

    Of a Command only the messages are taken: the one that answers the call, and behind it what others say, since only
    a user speaks as a user.
    """
    artifact: object = None
    answers: list[str | list[Any]] = []
    asides: list[str | list[Any]] = []
    failed = steers = False
    for item in _flatten(returned):
        if isinstance(item, ToolMessage):
            answers.append(item.content)
            artifact = item.artifact if artifact is None else artifact
            failed = failed or item.status == "error"
        elif isinstance(item, BaseMessage):
            asides.append(item.content)
        elif isinstance(item, Command):
            steers = steers or bool(item.goto) or item.resume is not None
    if steers:
        text = told("steers", language)
        return Outcome("error", text, {"kind": "permanent", "text": text})
    content = joined([*answers[:1], *asides]) or told("nothing", language)
    if failed:
        text = content if isinstance(content, str) else _block_text(content[0])
        return Outcome(
            "error", content, {"kind": "permanent", "text": text[:MAX_ERROR_CHARACTERS]}, _storable(artifact)
        )
    return Outcome("ok", content, None, _storable(artifact))


def joined(contents: Sequence[str | list[Any]]) -> str | list[Any]:
    """Several contents as one: text as long as there is nothing but text, so that it can be shortened and read on.

    Empty where none of them says anything.
    """
    if list(contents) == [[]]:
        return "[]"
    blocks = [block for content in contents for block in ([content] if isinstance(content, str) else content)]
    if all(isinstance(block, str) or (isinstance(block, dict) and block.get("type") == "text") for block in blocks):
        return clean_text("\n".join(text for block in blocks if (text := _block_text(block))))
    whole: list[Any] = sanitise([{"type": "text", "text": b} if isinstance(b, str) else b for b in blocks])
    return whole


def _storable(artifact: object) -> object:
    """The artifact if a checkpoint can hold it, else as plain data: what a tool keeps must not end the run."""
    if artifact is None:
        return None
    try:
        _SERIALIZER.dumps_typed(artifact)
    except Exception:
        return sanitise(plain(artifact))
    return artifact


def _flatten(returned: object) -> Iterator[object]:
    """ToolNode answers with messages, with Commands, or with lists and dicts of them."""
    if isinstance(returned, Command):
        yield returned
        if isinstance(returned.update, dict):
            yield from _flatten(returned.update.get("messages", []))
    elif isinstance(returned, dict):
        yield from _flatten(returned.get("messages", []))
    elif isinstance(returned, list | tuple):
        for item in returned:
            yield from _flatten(item)
    else:
        yield returned


def interrupted(error: BaseException) -> bool:
    """Whether a person ended the program: a KeyboardInterrupt, alone or in a group."""
    if isinstance(error, BaseExceptionGroup):
        return any(interrupted(inner) for inner in error.exceptions)
    return isinstance(error, KeyboardInterrupt)


def unsure(text: str, language: Language) -> Outcome:
    """The outcome of a write whose time was up: told so that it is looked into, not repeated."""
    text = told("unknown", language, text=text)
    return Outcome("unknown", text, {"kind": "timeout", "text": text})


def failure_of(error: BaseException, tool: BaseTool | None, language: Language = "en") -> Failure:
    """The class of what a tool raised, with a text for the model: no traceback, one or two sentences."""
    if isinstance(error, ToolInvocationError):
        return {"kind": "bad_arguments", "text": _argument_errors(error, tool, language)}
    return {"kind": _kind(error), "text": redact(clean_text(_describe(error)))[:MAX_ERROR_CHARACTERS]}


def _kind(error: BaseException) -> FailureKind:
    if isinstance(error, BaseExceptionGroup):
        kinds: list[FailureKind] = [_kind(inner) for inner in error.exceptions]
        return kinds[0] if len(set(kinds)) == 1 else "permanent"
    if isinstance(error, ToolException | ValidationError):
        return "permanent"
    if isinstance(error, PermissionError):
        return "denied"
    if isinstance(error, ConnectionError | TimeoutError):
        return "transient"
    status = getattr(getattr(error, "response", None), "status_code", None) or getattr(error, "status_code", None)
    if isinstance(status, int):
        if status == 429 or status >= 500:
            return "transient"
        return "denied" if status in (401, 403) else "permanent"
    # httpx and httpcore call their connection failures so; neither need be installed for a tool to raise them
    if any(parent.__name__ in ("TransportError", "NetworkError") for parent in type(error).__mro__):
        return "transient"
    return "permanent"


def _describe(error: BaseException) -> str:
    name = type(error).__name__
    if isinstance(error, BaseExceptionGroup):
        return f"{name}: {'; '.join(map(_describe, error.exceptions))}"
    try:
        text = str(error).strip()
    except Exception:  # an exception's own __str__ may fail
        text = ""
    if not text:
        return name
    if isinstance(error, KeyError):
        return f"{name}: no entry {text}"
    return text if isinstance(error, ToolException) else f"{name}: {text}"


def _argument_errors(error: ToolInvocationError, tool: BaseTool | None, language: Language) -> str:
    """All argument errors at once, with the schema of the arguments concerned."""
    lines, schemas = [], {}
    properties = convert_to_openai_tool(tool)["function"].get("parameters", {}).get("properties", {}) if tool else {}
    for detail in error.filtered_errors or error.source.errors():
        place = ".".join(str(part) for part in detail["loc"]) or "arguments"
        lines.append(f"{place}: {detail['msg']}")
        name = str(detail["loc"][0]) if detail["loc"] else ""
        if name in properties:
            schemas[name] = properties[name]
    text = told("arguments", language, problems="; ".join(lines))
    if schemas:
        text += " " + told("expected", language, schemas=json.dumps(schemas, ensure_ascii=False))
    return clean_text(text)[: 2 * MAX_ERROR_CHARACTERS]


def result_message(call_id: str, tool: str, outcome: Outcome, content: str | list[Any] | None = None) -> ToolMessage:
    """The tool message that answers a call. Its id follows from the call's, so that a repeated step replaces it."""
    fine = outcome.status in ("ok", "served")
    return ToolMessage(
        content=outcome.content if content is None else content,
        tool_call_id=call_id,
        name=tool,
        status="success" if fine else "error",
        artifact=outcome.artifact,
        id=f"result-{call_id}",
    )
