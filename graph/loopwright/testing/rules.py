"""What one server refuses and another takes: the switches of an endpoint, applied to a request."""

from dataclasses import dataclass
from itertools import pairwise

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
    tools: bool = True
    """Whether any tools are taken."""
    alternate: bool = False
    """Whether user and assistant must take turns behind the system message, as the templates of some models demand."""

    def refusal(self, request: JSONObject) -> Status | None:
        """The 400 that this server answers the request with, or None when it is taken."""
        unsupported = sorted(self.reject & {name for name, value in request.items() if value is not None})
        if "strict" in self.reject and _has_strict_tools(request):
            return Status(400, "Unknown parameter: 'tools[0].function.strict'.", "unknown_parameter")
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
        if not self.tools and request.get("tools"):
            return f"{request.get('model')} does not support tools"
        turns = [m["role"] for m in messages if m["role"] not in ("system", "developer")]
        if self.alternate and any(role == other for role, other in pairwise(turns)):
            return "Conversation roles must alternate user/assistant/user/assistant/..."
        has_tool_history = any(m["role"] == "tool" or m.get("tool_calls") for m in messages)
        if not self.tool_history_without_tools and has_tool_history and not request.get("tools"):
            return "Requests which include 'tool_calls' or 'tool' messages must define 'tools'."
        return None


def _has_strict_tools(request: JSONObject) -> bool:
    tools = request.get("tools")
    functions = [tool.get("function") for tool in tools if isinstance(tool, dict)] if isinstance(tools, list) else []
    return any("strict" in function for function in functions if isinstance(function, dict))
