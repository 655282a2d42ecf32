"""The HTTP side of the endpoint: reading requests, writing answers and faults, ending cleanly."""

import json
import socket
import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Protocol

from loopwright.testing.json_types import JSONObject
from loopwright.testing.manner import Manner
from loopwright.testing.script import UnexpectedCall
from loopwright.testing.steps import Answer, CutStream, Dropped, EndpointStep, Slow, Status
from loopwright.testing.wire import chunks, completion, request_tokens, written

POLL_SECONDS = 0.02
"""How often a slow answer and the accepting thread look whether the server is to close."""
_ERRORS = {
    400: ("invalid_request_error", None, "The request is not valid."),
    401: ("invalid_request_error", "invalid_api_key", "Incorrect API key provided."),
    404: ("invalid_request_error", "not_found", "Invalid URL."),
    429: ("requests", "rate_limit_exceeded", "Rate limit reached for requests."),
}
_SERVER_ERROR = ("server_error", None, "The server had an error while processing your request.")


@dataclass(frozen=True)
class Exchange:
    """A request that gets a step: its number, its body, and the step."""

    number: int
    body: JSONObject
    step: EndpointStep


class Desk(Protocol):
    """Who decides what a request gets."""

    model: str
    silent_window: int | None
    manner: Manner

    def key_refusal(self, headers: Mapping[str, str]) -> Status | None:
        """The answer to a wrong key."""
        ...

    def take(self, headers: Mapping[str, str], raw: bytes) -> Exchange | Status:
        """The step of a request, or the server's refusal."""
        ...

    def fault(self, problem: str) -> None:
        """Note an error of the script."""
        ...


class EndpointServer(ThreadingHTTPServer):
    """Serves one desk on a free port of 127.0.0.1, each connection in a daemon thread."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, desk: Desk) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.desk = desk
        self._closing = threading.Event()
        self._connections: set[socket.socket] = set()
        self._thread = threading.Thread(target=self.serve_forever, args=(POLL_SECONDS,), daemon=True)

    def start(self) -> None:
        """Begin to accept connections."""
        self._thread.start()

    def stop(self) -> None:
        """Close the port and every connection; answers that still wait are given up."""
        self._closing.set()
        self.shutdown()
        self._thread.join()
        self.server_close()
        for connection in list(self._connections):
            try:
                connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                continue  # the other side was faster

    def wait(self, event: threading.Event) -> bool:
        """Whether the event was set; False when the server closes first."""
        while not event.wait(POLL_SECONDS):
            if self._closing.is_set():
                return False
        return True

    def process_request(self, request: socket.socket | tuple[bytes, socket.socket], client_address: object) -> None:
        """Remember the connection, so that `stop` can end one that is kept alive."""
        assert isinstance(request, socket.socket)
        self._connections.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: socket.socket | tuple[bytes, socket.socket]) -> None:
        """Forget a connection that ended."""
        assert isinstance(request, socket.socket)
        self._connections.discard(request)
        super().shutdown_request(request)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    @property
    def _endpoint(self) -> EndpointServer:
        assert isinstance(self.server, EndpointServer)
        return self.server

    def log_message(self, format: str, *args: object) -> None:
        """Keep a test's output clean."""

    def handle(self) -> None:
        """Serve the connection; a client that goes away, as one that timed out does, is no fault."""
        try:
            super().handle()
        except ConnectionError:
            self.close_connection = True

    def do_GET(self) -> None:
        """The list of models."""
        refusal = self._endpoint.desk.key_refusal(self._lowered())
        if refusal:
            self._send_status(refusal)
        elif self.path != "/v1/models":
            self._send_status(Status(404, f"Invalid URL (GET {self.path})."))
        else:
            name = self._endpoint.desk.model
            listed: JSONObject = {"id": name, "object": "model", "created": 1, "owned_by": "loopwright"}
            self._send_json(200, {"object": "list", "data": [listed]})

    def do_POST(self) -> None:
        """A chat completion."""
        raw = self.rfile.read(int(self.headers.get("content-length") or 0))
        if self.path != "/v1/chat/completions":
            self._send_status(Status(404, f"Invalid URL (POST {self.path})."))
            return
        try:
            taken = self._endpoint.desk.take(self._lowered(), raw)
            if isinstance(taken, Status):
                self._send_status(taken)
            else:
                self._play(taken, taken.step)
        except ConnectionError:
            raise
        except UnexpectedCall as error:
            self._send_status(Status(500, str(error)))
        except Exception as error:  # whatever a script's function raises must show in the test, not on stderr
            self._endpoint.desk.fault(f"The script failed with {error!r}.")
            self._send_status(Status(500, f"The script failed with {error!r}."))

    def _lowered(self) -> dict[str, str]:
        return {name.lower(): value for name, value in self.headers.items()}

    def _play(self, exchange: Exchange, step: EndpointStep) -> None:
        if isinstance(step, Status):
            self._send_status(step)
        elif isinstance(step, Dropped):
            self.close_connection = True
        elif isinstance(step, Slow):
            if self._endpoint.wait(step.event):
                self._play(exchange, step.step)
            else:
                self.close_connection = True
        elif isinstance(step, CutStream):
            self._answer(exchange, step.step, step.after)
        elif callable(step):
            self._play(exchange, step(exchange.body))
        else:
            self._answer(exchange, step, None)

    def _answer(self, exchange: Exchange, answer: Answer, cut_after: int | None) -> None:
        said = self._endpoint.desk.manner.applied(written(answer, exchange.number))
        body = exchange.body
        head: JSONObject = {"id": f"chatcmpl-{exchange.number}", "created": 1, "model": body.get("model")}
        asked = min(request_tokens(body), self._endpoint.desk.silent_window or request_tokens(body))
        if not body.get("stream"):
            self._send_json(200, completion(said, head, asked), cut=cut_after is not None)
            return
        options = body.get("stream_options")
        include_usage = isinstance(options, dict) and bool(options.get("include_usage"))
        events = [json.dumps(chunk) for chunk in chunks(said, head, asked, include_usage=include_usage)]
        if cut_after is None and said.finish_reason is not None:
            events.append("[DONE]")
        self._send_events(events[:cut_after], cut=cut_after is not None)

    def _send_events(self, events: Iterable[str], *, cut: bool) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        for event in events:
            data = f"data: {event}\n\n".encode()
            self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        if cut:
            self.close_connection = True  # without the last chunk of length 0 the client knows that it was cut
        else:
            self.wfile.write(b"0\r\n\r\n")

    def _send_status(self, status: Status) -> None:
        kind, code, message = _ERRORS.get(status.status, _SERVER_ERROR)
        error: JSONObject = {
            "message": status.message or message,
            "type": kind,
            "param": None,
            "code": status.code or code,
        }
        body: JSONObject = {"error": error} if status.body is None else status.body
        headers: dict[str, str] = {}
        if status.retry_after is not None:
            headers["retry-after"] = f"{status.retry_after:g}"
        if status.retry_after_ms is not None:
            headers["retry-after-ms"] = str(status.retry_after_ms)
        self._send_json(status.status, body, headers)

    def _send_json(
        self, status: int, value: JSONObject, headers: Mapping[str, str] | None = None, *, cut: bool = False
    ) -> None:
        data = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        for name, text in (headers or {}).items():
            self.send_header(name, text)
        self.end_headers()
        self.wfile.write(data[: len(data) // 2] if cut else data)
        self.close_connection = self.close_connection or cut
