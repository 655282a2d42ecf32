"""What LangChain's tools can have and ask for works here as it does in LangGraph's own agent."""

import asyncio
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool, InjectedToolCallId, StructuredTool, ToolException, tool
from langgraph.prebuilt import InjectedState, InjectedStore, ToolRuntime
from langgraph.store.base import BaseStore
from langgraph.types import interrupt
from pydantic import BaseModel, Field

from loopwright import Agent, RunResult, Settings, tool_policy
from loopwright.context import Context
from loopwright.settings import ModelSettings, ToolSettings
from loopwright.state import State
from loopwright.testing import ScriptedModel, call, reply
from loopwright.testing.replies import RawCall

FAST = Settings(model=ModelSettings(retry_delay=0), tools=ToolSettings(retry_delay=0))


def both(given: BaseTool | Callable[..., Any], *calls: RawCall, user: dict[str, Any] | None = None) -> list[RunResult]:
    """What a run whose model makes these calls comes to, sync and async."""
    script: list[Any] = [reply("", *calls), "done"]
    one, two = (Agent(ScriptedModel(list(script)), [given], settings=FAST) for _ in range(2))
    return [one.run("a task", user=user), asyncio.run(two.arun("a task", user=user))]


def results(result: RunResult) -> list[ToolMessage]:
    """The tool messages of a run."""
    return [message for message in result.messages if isinstance(message, ToolMessage)]


def asking_for_everything(
    word: str,
    state: Annotated[dict[str, Any], InjectedState],
    messages: Annotated[list[Any], InjectedState("messages")],
    store: Annotated[BaseStore, InjectedStore()],
    own_id: Annotated[str, InjectedToolCallId],
    runtime: ToolRuntime[Context, State],
    config: RunnableConfig,
) -> str:
    """Ask for all that LangGraph injects."""
    assert store is runtime.store
    assert own_id == runtime.tool_call_id
    assert state["run"]["number"] == 1
    assert config.get("configurable", {}).get("thread_id")
    return f"{word} {messages[0].text} {runtime.context.user['name']}"


async def asking_async(
    word: str, messages: Annotated[list[Any], InjectedState("messages")], runtime: ToolRuntime[Context, State]
) -> str:
    """Ask for some of it."""
    assert runtime.tool_call_id
    return f"{word} {messages[0].text} {runtime.context.user['name']}"


@pytest.mark.parametrize("function", [asking_for_everything, asking_async])
def test_what_is_injected_arrives(function: Callable[..., Any]) -> None:
    """State, store, call id, config and runtime reach sync and async tools, and the model is never asked for them."""
    name = function.__name__
    for result in both(function, call(name, word="hello"), user={"name": "Ada"}):
        assert results(result)[0].text == "hello a task Ada"
    for result in both(function, call(name, word="hello", messages=[], runtime={}), user={"name": "Ada"}):
        assert "no argument 'messages', 'runtime'" in results(result)[0].text


class Lookup(BaseTool):
    """A tool class with state of its own, sync only."""

    name: str = "lookup"
    description: str = "Look up."
    seen: list[str] = Field(default_factory=list)

    def _run(self, word: str) -> str:
        self.seen.append(word)
        return f"found {word}"


def test_a_tool_class_keeps_its_own_state() -> None:
    """A BaseTool subclass is run itself, not a copy: what it counts is seen outside."""
    lookup = Lookup()
    for result in both(lookup, call("lookup", word="x")):
        assert results(result)[0].text == "found x"
    assert lookup.seen == ["x", "x"]


class Kept(BaseModel):
    """Something that a tool hands to the program, not to the model."""

    rows: int


def test_content_and_artifact() -> None:
    """The content goes to the model, the artifact stays on the message; one that cannot be stored stays as text."""

    @tool(response_format="content_and_artifact")
    def fetch(what: str) -> tuple[str, Any]:
        """Fetch."""
        return "two rows", threading.Lock() if what == "lock" else [Kept(rows=2)]

    for result in both(fetch, call("fetch", what="rows")):
        assert results(result)[0].text == "two rows"
        assert "2" in str(results(result)[0].artifact)
    for result in both(fetch, call("fetch", what="lock")):
        assert result.complete
        assert "lock" in str(results(result)[0].artifact)


def test_errors_that_the_tool_handles_itself() -> None:
    """`handle_tool_error` and `handle_validation_error` word the error; it is still an error, counted once."""

    def fail(n: int) -> str:
        """Fail."""
        raise ToolException("inner")

    handled = StructuredTool.from_function(fail, handle_tool_error="worded by the tool", handle_validation_error="n!")
    for args, text in (({"n": 1}, "worded by the tool"), ({"n": "x"}, "n!")):
        for result in both(handled, call("fail", args)):
            (message,) = results(result)
            assert message.status == "error"
            assert text in message.text


@tool(return_direct=True)
def direct(word: str) -> str:
    """Answer the user directly."""
    if word == "bad":
        raise ValueError("bad word")
    return f"straight {word}"


def test_return_direct_ends_the_run_with_the_result() -> None:
    """When every call of a reply is of such a tool, their results are the answer and the model is not asked again."""
    for result in both(direct, call("direct", word="a"), call("direct", word="b")):
        assert (result.answer, result.complete) == ("straight a\n\nstraight b", True)
        assert result.usage.model_calls == 1
        assert isinstance(result.messages[-1], AIMessage)
    for result in both(direct, call("direct", word="bad")):
        assert (result.answer, result.usage.model_calls) == ("done", 2)


def test_return_direct_beside_another_tool_goes_on() -> None:
    """With another tool's call beside it the model goes on, as in LangChain's agent; long answers stay whole."""

    @tool
    def look() -> str:
        """Look."""
        return "seen"

    model = ScriptedModel([reply("", call("direct", word="a"), call("look")), "both"])
    assert Agent(model, [direct, look], settings=FAST).run("x").answer == "both"

    @tool(return_direct=True)
    def essay() -> str:
        """Write much."""
        return "word " * 20_000

    assert Agent(ScriptedModel([reply("", call("essay"))]), [essay], settings=FAST).run("x").answer == "word " * 20_000


@pytest.mark.parametrize("effect", ["read", "write", None])
@pytest.mark.parametrize("storage", ["memory:", "sqlite:///{}/runs.db"])
def test_a_tool_may_ask_a_person_itself(effect: Any, storage: str, tmp_path: Path) -> None:
    """`interrupt()` inside a tool, a write too, pauses the run, and returns the answer on resume."""
    ran: list[str] = []

    def book(day: str) -> str:
        """Book."""
        answer = interrupt({"which room on": day})
        ran.append(day)
        return f"booked {answer['room']}"

    async def abook(day: str) -> str:
        """Book."""
        return book(day)

    url = storage.format(tmp_path)
    for sync, function in ((True, book), (True, abook), (False, book), (False, abook)):
        given = StructuredTool.from_function(function) if function is book else None
        given = given or StructuredTool.from_function(coroutine=abook, name="book", description="Book.")
        if effect:
            tool_policy(given, effect=effect)
        agent = Agent(
            ScriptedModel([reply("", call("book", day="Friday")), "done"]), [given], settings=FAST, storage=url
        )
        thread = f"{sync}-{function.__name__}"
        paused = agent.run("x", thread=thread) if sync else asyncio.run(agent.arun("x", thread=thread))
        (question,) = paused.pending
        assert "Friday" in question.description
        answer = {question.id: {"room": "blue"}}
        ended = agent.resume(thread, decisions=answer) if sync else asyncio.run(agent.aresume(thread, decisions=answer))
        assert results(ended)[0].text == "booked blue"
        assert ended.answer == "done"
    assert ran == ["Friday"] * 4


def test_one_sided_tools_run_on_both_sides() -> None:
    """A tool that is only async runs in a sync run, also inside a running event loop; a sync one in an async run."""

    async def only_async() -> str:
        """Run."""
        await asyncio.sleep(0)
        return "async"

    async def sync_inside_a_loop() -> RunResult:
        return Agent(ScriptedModel([reply("", call("only_async")), "done"]), [only_async], settings=FAST).run("x")

    assert results(asyncio.run(sync_inside_a_loop()))[0].text == "async"
    for result in both(only_async, call("only_async")):
        assert results(result)[0].text == "async"


def test_messages_that_a_tool_reads_are_the_threads() -> None:
    """A tool that reads the state sees the user's message and the call it answers."""

    def peek(messages: Annotated[list[Any], InjectedState("messages")]) -> str:
        """Peek."""
        return " ".join(type(message).__name__ for message in messages)

    for result in both(peek, call("peek")):
        assert results(result)[0].text == f"{HumanMessage.__name__} {AIMessage.__name__}"


class Busy(Exception):
    """What an HTTP client raises: a response with a status and headers."""

    def __init__(self, seconds: str) -> None:
        super().__init__("busy")
        self.status_code, self.headers = 429, {"retry-after": seconds}
        self.response = self


def test_a_server_that_asks_for_time_gets_it_up_to_a_limit() -> None:
    """A Retry-After is waited out in place of the usual delay; one beyond the limit of all waiting ends the tries."""
    tries: list[str] = []

    def fetch(seconds: str) -> str:
        """Fetch."""
        tries.append(seconds)
        if tries.count(seconds) % 2:
            raise Busy(seconds)
        return "here"

    given = tool_policy(StructuredTool.from_function(fetch), effect="read")
    slow = Settings(model=ModelSettings(retry_delay=0), tools=ToolSettings(retry_delay=3_600, retry_seconds=1))
    for seconds, text, count in (("0", "here", 2), ("3600", "Error: Busy: busy", 1), ("soon", "Error: Busy: busy", 1)):
        agent = Agent(ScriptedModel([reply("", call("fetch", seconds=seconds)), "done"]), [given], settings=slow)
        assert results(agent.run("x"))[0].text.startswith(text)
        assert tries.count(seconds) == count
