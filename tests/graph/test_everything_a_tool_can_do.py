"""Whatever a tool returns or raises, the run goes on: one call, one tool message, through the whole graph."""

import asyncio
import dataclasses
import io
from collections.abc import AsyncIterator, Callable, Iterator
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.tools import BaseTool, StructuredTool, ToolException
from langgraph.errors import GraphRecursionError
from langgraph.prebuilt import ToolRuntime
from langgraph.types import Command
from pydantic import BaseModel

from loopwright import Agent, RunResult, Settings, tool_policy
from loopwright.settings import ModelSettings, ToolSettings
from loopwright.testing import ScriptedModel, call, reply

FAST = Settings(model=ModelSettings(retry_delay=0), tools=ToolSettings(retry_delay=0))


def agent_with(tool: BaseTool | Callable[..., Any], *calls: Any, storage: str = "memory:") -> Agent:
    """An agent whose model calls this tool once and then says "done"."""
    name = tool.name if isinstance(tool, BaseTool) else tool.__name__
    return Agent(ScriptedModel([reply("", *(calls or (call(name),))), "done"]), [tool], settings=FAST, storage=storage)


def both(tool: BaseTool | Callable[..., Any], *calls: Any, storage: str = "memory:") -> list[RunResult]:
    """What a run with this tool comes to, sync and async."""
    one, two = agent_with(tool, *calls, storage=storage), agent_with(tool, *calls, storage=storage)
    return [one.run("x"), asyncio.run(two.arun("x"))]


def result_in(result: RunResult) -> ToolMessage:
    """The one tool message of a run that went on to its answer."""
    assert result.answer == "done"
    (message,) = [message for message in result.messages if isinstance(message, ToolMessage)]
    return message


def tools_that(act: Callable[[], Any]) -> list[StructuredTool]:
    """A sync and an async tool that do this."""

    async def aact() -> Any:
        return act()

    return [
        StructuredTool.from_function(act, name="act", description="Act."),
        StructuredTool.from_function(coroutine=aact, name="act", description="Act."),
    ]


class Colour(StrEnum):
    """Text that is an enum."""

    RED = "red"


class Point(BaseModel):
    """A pydantic model."""

    x: int = 1


@dataclasses.dataclass
class Pair:
    """A dataclass with a part."""

    left: int
    right: Point


class Frame:
    """What a data frame looks like from outside."""

    def to_string(self) -> str:
        """The table as text."""
        return "a b\n1 2"


class Array:
    """What an array looks like from outside."""

    def tolist(self) -> list[float]:
        """The numbers as a list."""
        return [1.0, 2.5]


class Mute:
    """An object that cannot be shown."""

    def __str__(self) -> str:
        raise RuntimeError("no")


def circle() -> list[Any]:
    """A list that holds itself."""
    ring: list[Any] = [1]
    ring.append(ring)
    return ring


def well() -> list[Any]:
    """A list in a list, 5,000 deep."""
    deep: list[Any] = []
    for _ in range(5_000):
        deep = [deep]
    return deep


async def later() -> str:
    """A coroutine."""
    return "awaited"


def lines() -> Iterator[str]:
    """A generator of lines."""
    yield "one"
    yield "two"


async def rows() -> AsyncIterator[dict[str, int]]:
    """An async generator of rows."""
    yield {"n": 1}
    yield {"n": 2}


PICTURE = {"type": "image", "base64": "aGk=", "mime_type": "image/png"}

RETURNED: dict[str, tuple[Callable[[], Any], Any]] = {
    "nothing": (lambda: None, "(the tool returned nothing)"),
    "an empty text": (lambda: "", "(the tool returned nothing)"),
    "an empty list": (lambda: list[str](), "[]"),
    "a number": (lambda: 0.5, "0.5"),
    "data": (lambda: {"é": [1, None, True], 2: "x"}, '{"é": [1, null, true], "2": "x"}'),
    "texts in a list": (lambda: ["a", "b"], '["a", "b"]'),
    "a coroutine": (later, "awaited"),
    "a generator": (lines, "one\ntwo"),
    "an async generator": (rows, '[{"n": 1}, {"n": 2}]'),
    "bytes of text": (lambda: "é".encode(), "é"),
    "other bytes": (lambda: b"\xff\x00", "(2 bytes that are no text: ff 00)"),
    "a data frame": (Frame, "a b\n1 2"),
    "an array": (Array, "[1.0, 2.5]"),
    "a pydantic model": (lambda: Point(x=2), '{"x": 2}'),
    "a dataclass": (lambda: Pair(1, Point()), '{"left": 1, "right": {"x": 1}}'),
    "a set": (lambda: {"b", "a"}, '["a", "b"]'),
    "a time": (lambda: datetime(2026, 1, 2, 3, 4), "2026-01-02T03:04:00"),
    "a path": (lambda: Path("a/b"), "a/b"),
    "an enum": (lambda: Colour.RED, "red"),
    "a file": (lambda: io.StringIO("x\ny"), "x\n\ny"),
    "no number": (lambda: float("nan"), "NaN"),
    "a huge number": (lambda: 10**5_000, "(an integer of 16610 bits)"),
    "a lone surrogate": (lambda: "a\ud800b", "a\ufffdb"),
    "a NUL": (lambda: "a\x00b", "a\u2400b"),
    "a circle": (circle, '[1, "(circular)"]'),
    "a well": (well, "[" * 50 + '"…"' + "]" * 50),
    "what cannot be shown": (Mute, "(a Mute that cannot be shown as text)"),
    "an object": (lambda: object(), "<object object>"),
    "a picture": (lambda: [PICTURE], [PICTURE]),
    "one block": (lambda: PICTURE, [PICTURE]),
    "text blocks": (lambda: [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}], "a\nb"),
    "a message": (lambda: ToolMessage("mine", tool_call_id="another"), "mine"),
}


@pytest.mark.parametrize("what", RETURNED)
def test_whatever_a_tool_returns_can_be_read(what: str, tmp_path: Path) -> None:
    """Each value becomes the same content from a sync and an async tool, sync and async runs, stored on SQLite."""
    act, content = RETURNED[what]
    for tool in tools_that(act):
        for result in both(tool, storage=f"sqlite:///{tmp_path}/runs.db"):
            message = result_in(result)
            assert (message.content, message.status) == (content, "success")


def test_a_huge_result_is_shortened_and_stored() -> None:
    """Fifty megabytes reach the model as a few thousand characters, in seconds."""

    def act() -> str:
        """Act."""
        return "a line of a log\n" * (50_000_000 // 16)

    message = result_in(agent_with(act).run("x"))
    assert len(message.text) < 20_000
    assert "read_result(ref=" in message.text


def test_long_text_beside_a_picture_is_shortened() -> None:
    """Of content blocks the text is capped, and the picture stays."""
    blocks = [{"type": "text", "text": "word " * 50_000}, PICTURE]
    for result in both(tools_that(lambda: blocks)[0]):
        content = result_in(result).content
        assert isinstance(content, list)
        assert content[1] == PICTURE
        assert len(str(content[0])) < 20_000


def test_an_endless_generator_is_stopped() -> None:
    """A generator that never ends is read to a limit, and that is said."""

    def act() -> Iterator[int]:
        """Act."""
        while True:
            yield 1

    assert "left out" in result_in(agent_with(act).run("x")).text


class Wordless(Exception):
    """An exception that cannot be shown."""

    def __str__(self) -> str:
        raise RuntimeError("no")


class Own(BaseException):
    """A user's own BaseException."""


RAISED: list[tuple[BaseException, str]] = [
    (ValueError("bad value"), "ValueError: bad value"),
    (SystemExit(3), "SystemExit: 3"),
    (Own("mine"), "Own: mine"),
    (ExceptionGroup("two", [ValueError("a"), KeyError("b")]), "ExceptionGroup: ValueError: a; KeyError: no entry 'b'"),
    (BaseExceptionGroup("one", [Own("mine")]), "BaseExceptionGroup: Own: mine"),
    (Wordless(), "Wordless"),
    (RecursionError("too deep"), "RecursionError: too deep"),
    (GraphRecursionError("of a graph in the tool"), "GraphRecursionError: of a graph in the tool"),
    (StopIteration(1), "raised StopIteration"),
    (StopAsyncIteration(1), "StopAsyncIteration: 1"),
    (GeneratorExit(), "GeneratorExit"),
    (asyncio.CancelledError(), "ancelled"),
    (MemoryError(), "MemoryError"),
    (ToolException("as it was told"), "Error: as it was told"),
    (UnicodeEncodeError("ascii", "\ud800", 0, 1, "no"), "UnicodeEncodeError"),
]


@pytest.mark.parametrize(("error", "text"), RAISED, ids=[type(error).__name__ for error, _ in RAISED])
def test_whatever_a_tool_raises_is_one_error(error: BaseException, text: str) -> None:
    """Each exception becomes one error message with its text and no traceback, in all four combinations."""

    def act() -> str:
        raise error

    for tool in tools_that(act):
        for result in both(tool):
            message = result_in(result)
            assert message.status == "error"
            assert text in message.text
            assert "Traceback" not in message.text
            assert result.usage.tool_calls == 1


@pytest.mark.parametrize("error", [KeyboardInterrupt(), BaseExceptionGroup("g", [KeyboardInterrupt()])])
def test_a_keyboard_interrupt_passes(error: BaseException) -> None:
    """Ctrl-C inside a tool ends the run as it ends any program, alone or in a group."""

    def act() -> str:
        raise error

    with pytest.raises(KeyboardInterrupt):
        agent_with(tools_that(act)[0]).run("x")
    with pytest.raises(KeyboardInterrupt):
        asyncio.run(agent_with(tools_that(act)[0]).arun("x"))


def test_a_generator_that_fails_on_the_way_is_an_error() -> None:
    """What a generator raises while it is read is the tool's own failure."""

    def act() -> Iterator[str]:
        """Act."""
        yield "one"
        raise ValueError("broke off")

    for result in both(act):
        assert result_in(result).text.startswith("Error: ValueError: broke off")


def test_the_stored_call_does_not_change() -> None:
    """A tool that changes its arguments changes its own copy: transcript and later tries keep what was asked."""

    def act(items: Any) -> str:
        """Act."""
        items.append("more")
        items[0]["deep"] = "changed"
        raise ConnectionError(f"{len(items)} items")

    tool = tool_policy(StructuredTool.from_function(act), effect="read", retries=2)
    for result in both(tool, call("act", items=[{"deep": "kept"}])):
        made = next(m for m in result.messages if isinstance(m, AIMessage)).tool_calls[0]
        assert made["args"] == {"items": [{"deep": "kept"}]}
        assert "2 items" in result_in(result).text


def test_printing_is_the_tools_own_business(capsys: pytest.CaptureFixture[str]) -> None:
    """What a tool prints goes where print goes, and not into the result."""

    def act() -> str:
        """Act."""
        print("working")
        return "result"

    for result in both(act):
        assert result_in(result).text == "result"
    assert capsys.readouterr().out == "working\n" * 2


def test_of_a_command_only_messages_are_taken() -> None:
    """Its tool message is the result, what other messages say stands behind it; steering and channels are not taken."""

    def update(**more: Any) -> Command[Any]:
        messages = [ToolMessage("done that", tool_call_id=own_id[0]), *more.pop("messages", [])]
        return Command(update={"messages": messages, **more.pop("channels", {})}, **more)

    own_id = [""]

    def run(act: Callable[[], Any]) -> ToolMessage:
        def step(messages: Any) -> AIMessage:
            return reply("", call("act"))

        model = ScriptedModel([step, "done"])
        tool = StructuredTool.from_function(with_id(act, own_id), name="act", description="Act.")
        return result_in(Agent(model, [tool], settings=FAST).run("x"))

    assert run(update).text == "done that"
    aside = run(lambda: update(messages=[HumanMessage("look at this"), AIMessage("I did")]))
    assert aside.text == "done that\nlook at this\nI did"
    assert run(lambda: update(channels={"run": {}, "verdict": {}, "nonsense": 1})).text == "done that"
    steering = run(lambda: update(goto="finish"))
    assert steering.status == "error"
    assert "steer" in steering.text


def with_id(act: Callable[[], Any], own_id: list[str]) -> Callable[..., Any]:
    """A tool's function that notes its call's id before it acts."""

    def noting(runtime: ToolRuntime[Any, Any]) -> Any:
        own_id[0] = runtime.tool_call_id or ""
        return act()

    return noting
