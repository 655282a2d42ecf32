"""The agent behind HTTP: runs, live events, approvals, and a run that ends when its client goes away.

    uv run --with uvicorn --with fastapi python examples/fastapi_app.py
    curl -N localhost:8000/threads/c1/stream -d '{"task": "Refund order A17"}'
    curl localhost:8000/waiting
    curl localhost:8000/threads/c1/decisions -d '{"ID": {"type": "approve"}}'

FastAPI is a Starlette with more: the routes below work in both, so either will do.
"""

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Coroutine, Mapping
from contextlib import asynccontextmanager
from dataclasses import asdict
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_core.tools import tool

from loopwright import Agent, LoopwrightError, RunResult, Token, tool_policy
from loopwright.errors import ThreadBusy, UnknownThread, UsageError
from loopwright.state import Event
from loopwright.stream import RunStream
from loopwright.testing import ScriptedModel, call, reply

try:
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import JSONResponse, Response, StreamingResponse
    from starlette.routing import Route
except ImportError:
    sys.exit("This example needs a web framework: uv run --with uvicorn --with fastapi python examples/fastapi_app.py")
try:
    from fastapi import FastAPI as App
except ImportError:
    App = Starlette  # type: ignore[assignment,misc]


def answered(result: RunResult) -> JSONResponse:
    """A run's end, or the questions it waits with: 202 says that a person is needed."""
    body = {
        "thread": result.thread,
        "answer": result.answer,
        "complete": result.complete,
        "stop": result.stop,
        "questions": [asdict(question) for question in result.pending],
    }
    return JSONResponse(body, 202 if result.pending else 200)


async def disconnected(request: Request) -> None:
    """Return when the client is gone. A framework finds that out by itself only when it has something to send."""
    while (await request.receive())["type"] != "http.disconnect":
        pass


async def while_connected(request: Request, run: Coroutine[Any, Any, RunResult]) -> Response:
    """The run's result; it is cancelled when the client goes away, and its thread can be resumed."""
    running, gone = asyncio.create_task(run), asyncio.create_task(disconnected(request))
    try:
        await asyncio.wait({running, gone}, return_when=asyncio.FIRST_COMPLETED)
        return answered(running.result()) if running.done() else Response(status_code=499)
    finally:
        running.cancel()
        gone.cancel()
        await asyncio.wait({running, gone})  # the thread is free when this returns


async def body_of(request: Request, *needed: str) -> dict[str, Any]:
    """The JSON object that was sent. Raises UsageError, which is a 400 below, for anything else."""
    try:
        body = await request.json()
    except ValueError:
        body = None
    if not isinstance(body, dict) or any(name not in body for name in needed):
        raise UsageError(" ".join(("Send a JSON object", *(f"with {name!r}" for name in needed))) + ".")
    return body


async def run(request: Request) -> Response:
    """Run a task on a thread. The same `run_id` sent again goes on, or gives the answer again."""
    body = await body_of(request, "task")
    agent, thread = request.app.state.agent, request.path_params["thread"]
    return await while_connected(request, agent.arun(body["task"], thread=thread, run_id=body.get("run_id")))


async def resume(request: Request) -> Response:
    """Go on with a thread that was left in the middle."""
    return await while_connected(request, request.app.state.agent.aresume(request.path_params["thread"]))


async def decide(request: Request) -> Response:
    """Answer questions, by their ids, and go on."""
    agent, thread = request.app.state.agent, request.path_params["thread"]
    return await while_connected(request, agent.aresume(thread, decisions=await body_of(request)))


async def stream(request: Request) -> Response:
    """Run a task and send each event and token as a server-sent event; a client that leaves cancels the run."""
    body = await body_of(request, "task")
    live = request.app.state.agent.astream(body["task"], thread=request.path_params["thread"])
    return StreamingResponse(sent(request, live), media_type="text/event-stream")


async def sent(request: Request, live: RunStream) -> AsyncIterator[str]:
    """The run's events and tokens, then its end. An error comes as an event: the response has begun by then."""
    ready: asyncio.Queue[Event | Token | None] = asyncio.Queue()
    running, gone = asyncio.create_task(read(live, ready)), asyncio.create_task(disconnected(request))
    gone.add_done_callback(lambda _: running.cancel())
    try:
        while (item := await ready.get()) is not None:
            yield as_event(item if isinstance(item, dict) else {"kind": "token", **item._asdict()})
        if gone.done():
            return
        await running
        yield as_event({"kind": "result", **json.loads(bytes(answered(live.result).body))})
    except LoopwrightError as error:
        yield as_event({"kind": "error", "error": str(error)})
    finally:
        running.cancel()
        gone.cancel()
        await asyncio.wait({running, gone})


async def read(live: RunStream, ready: "asyncio.Queue[Event | Token | None]") -> None:
    """Run, in one task from beginning to end, and hand out what happens; None is the end."""
    try:
        async for item in live:
            ready.put_nowait(item)
    finally:
        ready.put_nowait(None)


def as_event(data: Mapping[str, Any]) -> str:
    """Data as a server-sent event."""
    return f"data: {json.dumps(data, ensure_ascii=False)}\n\n"


async def questions(request: Request) -> Response:
    """All questions that wait for a person, on every thread."""
    return JSONResponse([asdict(question) for question in await request.app.state.agent.awaiting()])


async def cancel(request: Request) -> Response:
    """End the run on a thread after its step; who asked for it gets what there is."""
    return JSONResponse({"cancelled": request.app.state.agent.cancel(request.path_params["thread"])})


async def refused(_: Request, error: Exception) -> Response:
    """An error of Loopwright is one sentence for the client."""
    known: dict[type[Exception], int] = {UnknownThread: 404, ThreadBusy: 409}
    return JSONResponse({"error": str(error)}, known.get(type(error), 400))


def application(agent: Agent) -> App:
    """The web application around an agent. Nothing is held open between requests."""

    @asynccontextmanager
    async def lifespan(app: App) -> AsyncIterator[None]:
        async with agent:
            app.state.agent = agent
            yield

    routes = [
        Route("/threads/{thread}/runs", run, methods=["POST"]),
        Route("/threads/{thread}/stream", stream, methods=["POST"]),
        Route("/threads/{thread}/resume", resume, methods=["POST"]),
        Route("/threads/{thread}/decisions", decide, methods=["POST"]),
        Route("/threads/{thread}/cancel", cancel, methods=["POST"]),
        Route("/waiting", questions),
    ]
    return App(routes=routes, lifespan=lifespan, exception_handlers={LoopwrightError: refused})


@tool
def refund(order: str, amount: float) -> str:
    """Refund an order. Use only when the customer asked for it; not for exchanges."""
    return f"refunded {amount:g} for {order}"


def play(messages: list[BaseMessage]) -> str | AIMessage:
    """A scripted model stands in for a real one, so that this runs anywhere."""
    if isinstance(messages[-1], ToolMessage):
        return f"Done: {messages[-1].text}."
    return reply("", call("refund", order="A17", amount=250))


if __name__ == "__main__":
    import uvicorn

    shop = Agent(ScriptedModel(play), [tool_policy(refund, effect="write", approval=True)], storage="sqlite:///shop.db")
    # runs that are in the middle when the server is stopped have 30 seconds, are then cancelled, and can be resumed
    uvicorn.run(application(shop), host="127.0.0.1", port=8000, timeout_graceful_shutdown=30)
