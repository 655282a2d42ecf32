"""What a scripted endpoint can answer: a reply in several forms, or a fault of the server."""

import re
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeAlias

from langchain_core.messages import AIMessage
from typing_extensions import TypedDict

from loopwright.testing.json_types import JSON, JSONObject


class CallDict(TypedDict, total=False):
    """A call as a script in JSON has it; arguments that are an object are sent as their JSON text, null as null."""

    id: str
    name: str
    arguments: str | dict[str, JSON] | None


class UsageDict(TypedDict, total=False):
    """Token numbers; what is not given is computed from the characters."""

    prompt_tokens: int
    completion_tokens: int


class ReplyDict(TypedDict, total=False):
    """A reply as a script in JSON has it. A `finish_reason` of null is a stream that ends without one."""

    role: str
    content: str | None
    tool_calls: list[CallDict]
    finish_reason: str | None
    refusal: str | None
    reasoning_content: str | None
    usage: UsageDict


@dataclass(frozen=True)
class Status:
    """An error answer: `Status(429, retry_after=3)`. What is not given is what OpenAI sends with this status."""

    status: int
    message: str = ""
    code: str | None = None
    retry_after: float | None = None
    """Seconds, sent as `Retry-After`."""
    retry_after_ms: int | None = None
    """Milliseconds, sent as `retry-after-ms`."""
    body: JSONObject | None = None
    """The whole answer, of a server that does not write errors as OpenAI does."""

    @classmethod
    def parse(cls, text: str) -> "Status":
        """From `HTTP 429 Retry-After: 3`, `HTTP 400 code=context_length_exceeded` or `HTTP 500 any message`.

        Raises ValueError for a text of another form.
        """
        found = re.fullmatch(r"HTTP (\d{3})(?: Retry-After: ([\d.]+))?(?: code=(\w+))?(?: (.*))?", text, re.DOTALL)
        if not found:
            raise ValueError(f"{text!r} is no server fault: write it as 'HTTP 429 Retry-After: 3' or 'HTTP 500'.")
        status, seconds, code, message = found.groups()
        return cls(int(status), message or "", code, float(seconds) if seconds else None)


@dataclass(frozen=True)
class Dropped:
    """The connection is closed with no answer."""


@dataclass(frozen=True)
class CutStream:
    """The connection breaks after so many chunks of a streamed reply, or in the middle of a plain one.

    A stream's chunks are: the role, the text in at most four, each call in two (name and half its arguments, the other
    half), the finish reason, the usage.
    """

    step: "str | ReplyDict | AIMessage"
    after: int


@dataclass(frozen=True)
class Slow:
    """The answer waits until the event is set; when the endpoint closes first, the connection is closed unanswered."""

    step: "EndpointStep"
    event: threading.Event = field(default_factory=threading.Event)


Answer: TypeAlias = str | ReplyDict | AIMessage
EndpointStep: TypeAlias = "Answer | Status | Dropped | CutStream | Slow | Callable[[JSONObject], EndpointStep]"
