"""A scripted model behind real HTTP on the loopback interface, as strict about its requests as OpenAI's API."""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import TracebackType

from loopwright.testing.json_types import JSONObject
from loopwright.testing.manner import Manner
from loopwright.testing.rules import ServerRules
from loopwright.testing.script import Script
from loopwright.testing.server import EndpointServer, Exchange
from loopwright.testing.steps import EndpointStep, Status


@dataclass(frozen=True)
class Received:
    """A request as it came: the parsed body, and the headers by lower-case name; `authorization` is "REDACTED"."""

    body: JSONObject
    headers: Mapping[str, str]


class ModelEndpoint:
    """An OpenAI-compatible server in this process, on a free port of 127.0.0.1, while its `with` block lasts.

        with ModelEndpoint([reply("", call("add", a=1, b=2)), Status(500), "3"]) as endpoint:
            model = ChatOpenAI(base_url=endpoint.base_url, api_key="x", model="any")

    It answers POST /v1/chat/completions, plain or streamed, and GET /v1/models. A step is a text, a `reply(...)` or any
    AIMessage, a reply as a dict (ReplyDict), a fault (Status, Dropped, CutStream, Slow), or a function of the request
    body that gives one of these; a single function in place of the list answers every request. Requests that the real
    API refuses (`illegal`) get its 400 and use no step. `requests` holds every body that could be read, `rejected` the
    text of every 400 of the server's own. A request too many gets a 500; `assert_finished` tells of it.
    The keywords make the server a stricter one: `context_tokens` (characters divided by four), `reject` (names of
    parameters it does not know; "strict" means strict tools), `second_system` and `tool_history_without_tools`
    (whether it takes such requests), `tools` (whether it takes any), `alternate` (whether user and assistant must
    take turns). With `silent_window` it cuts longer requests in silence: no more prompt tokens are reported. How it
    writes replies is its `manner`.
    """

    def __init__(
        self,
        script: Iterable[EndpointStep] | Callable[[JSONObject], EndpointStep] = (),
        *,
        model: str = "scripted",
        api_key: str | None = None,
        context_tokens: int | None = None,
        reject: frozenset[str] = frozenset(),
        second_system: bool = True,
        tool_history_without_tools: bool = True,
        tools: bool = True,
        alternate: bool = False,
        silent_window: int | None = None,
        manner: Manner | None = None,
    ) -> None:
        self.model = model
        self.silent_window = silent_window
        self.manner = manner or Manner()
        self.rejected: list[str] = []
        self._script: Script[Received, EndpointStep] = Script(endless=script) if callable(script) else Script(script)
        self._api_key = api_key
        self._rules = ServerRules(context_tokens, reject, second_system, tool_history_without_tools, tools, alternate)
        self._server: EndpointServer | None = None

    def __enter__(self) -> "ModelEndpoint":
        self._server = EndpointServer(self)
        self._server.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._server is not None:
            self._server.stop()
        self._server = None

    @property
    def base_url(self) -> str:
        """`http://127.0.0.1:PORT/v1`. Raises RuntimeError outside of the `with` block."""
        if self._server is None:
            raise RuntimeError("The endpoint is not running: use it inside `with ModelEndpoint(...) as endpoint:`.")
        return f"http://127.0.0.1:{self._server.server_port}/v1"

    @property
    def requests(self) -> list[Received]:
        """Every request whose body could be read, in the order they came."""
        return self._script.requests

    def assert_finished(self) -> None:
        """Raise AssertionError when steps are unused, a request came too many, or a function of the script failed."""
        self._script.assert_finished()

    def fault(self, problem: str) -> None:
        """Note an error of the script for `assert_finished`; the server calls this."""
        self._script.fault(problem)

    def key_refusal(self, headers: Mapping[str, str]) -> Status | None:
        """The 401 for a wrong key, or None; the server calls this."""
        if self._api_key is None or headers.get("authorization") == f"Bearer {self._api_key}":
            return None
        return Status(401)

    def take(self, headers: Mapping[str, str], raw: bytes) -> Exchange | Status:
        """What a request gets, by its lower-case headers and its body; the server calls this."""
        refusal = self.key_refusal(headers)
        if refusal:
            return refusal
        body = _parsed(raw)
        if body is None:
            return self._rejected(
                Status(400, "We could not parse the JSON body of your request: it is no UTF-8 object.")
            )
        redacted = {name: "REDACTED" if name == "authorization" else value for name, value in headers.items()}
        received = Received(body, redacted)
        refusal = self._rules.refusal(body)
        if refusal:
            self._script.record(received)
            return self._rejected(refusal)
        number, step = self._script.take(received)
        return Exchange(number, body, step)

    def _rejected(self, refusal: Status) -> Status:
        self.rejected.append(refusal.message)
        return refusal


def _parsed(raw: bytes) -> JSONObject | None:
    """The body as an object; None for anything else. A surrogate written as an escape is left for the rules to find."""
    try:
        body = json.loads(raw.decode())
    except (ValueError, RecursionError):
        return None
    return body if isinstance(body, dict) else None
