"""What one server refuses and another takes: the switches of an endpoint, applied to a request."""

from dataclasses import dataclass

from loopwright.testing.json_types import JSONObject
from loopwright.testing.protocol import illegal
from loopwright.testing.steps import Status
from loopwright.testing.wire import request_tokens


@dataclass(frozen=True)
class ServerRules:
    """The peculiarities of a server; the defaults are OpenAI's."""

    context_tokens: int | None = None
    """Longer requests are refused; tokens are characters divided by four."""
    reject: frozenset[str] = frozenset()
    """Names of request parameters that the server does not know."""
    second_system: bool = True
    """Whether a second system message is taken."""
    tool_history_without_tools: bool = True
    """Whether calls and results in the history are taken when the request offers no tools."""

    def refusal(self, request: JSONObject) -> Status | None:
        """The 400 that this server answers the request with, or None when it is taken."""
        unsupported = sorted(self.reject & {name for name, value in request.items() if value is not None})
        if unsupported:
            return Status(400, f"Unsupported parameter: '{unsupported[0]}' is not supported with this model.")
        problem = illegal(request) or self._own_problem(request)
        if problem:
            return Status(400, problem)
        used = request_tokens(request)
        if self.context_tokens is not None and used > self.context_tokens:
            message = (
                f"This model's maximum context length is {self.context_tokens} tokens. However, your messages resulted "
                f"in {used} tokens. Please reduce the length of the messages."
            )
            return Status(400, message, "context_length_exceeded")
        return None

    def _own_problem(self, request: JSONObject) -> str | None:
        listed = request.get("messages")
        messages = [message for message in listed if isinstance(message, dict)] if isinstance(listed, list) else []
        if not self.second_system and sum(m["role"] in ("system", "developer") for m in messages) > 1:
            return "System message must be at the beginning, and only one is supported."
        has_tool_history = any(m["role"] == "tool" or m.get("tool_calls") for m in messages)
        if not self.tool_history_without_tools and has_tool_history and not request.get("tools"):
            return "Requests which include 'tool_calls' or 'tool' messages must define 'tools'."
        return None
