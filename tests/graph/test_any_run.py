"""Any sequence of model replies and tool outcomes: the run ends, within its limits, with an answer and a reason."""

import asyncio
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from langchain_core.messages import HumanMessage, ToolMessage
from langchain_core.tools import BaseTool, StructuredTool, ToolException
from langchain_openai.chat_models.base import _convert_message_to_dict  # the bytes that are sent, not our idea of them
from langgraph.prebuilt import ToolRuntime
from langgraph.types import Command

from loopwright import Settings, build_graph, tool_policy
from loopwright.settings import ModelSettings, ToolSettings
from loopwright.testing import ModelRequest, ScriptedModel, call, illegal, reply
from loopwright.tooling.bounds import TimedOut

OUTCOMES = (
    "result", "same", "nothing", "odd text", "long", "blocks", "command", "steering", "transient", "denied",
    "permanent", "told", "timeout", "exit", "group", "wordless",
)  # fmt: skip
EFFECTS = ("pure", "read", "idempotent", "write", None)
MODEL_CALLS, TOOL_CALLS = 8, 6


class Wordless(Exception):
    """An exception that cannot be shown."""

    def __str__(self) -> str:
        raise RuntimeError("no")


def acted(how: str, runtime: ToolRuntime[Any, Any]) -> Any:
    """What a tool does when it is told to end in this way."""
    raised: dict[str, BaseException] = {
        "transient": ConnectionError("down"),
        "denied": PermissionError("no"),
        "permanent": ValueError("bad"),
        "told": ToolException("told"),
        "timeout": TimedOut(),
        "exit": SystemExit(1),
        "group": ExceptionGroup("many", [ConnectionError("a"), ValueError("b")]),
        "wordless": Wordless(),
    }
    if how in raised:
        raise raised[how]
    message = ToolMessage("from a command", tool_call_id=runtime.tool_call_id or "")
    returned: dict[str, Any] = {
        "same": "the same",
        "nothing": None,
        "odd text": "\ud800\x00 中文",
        "long": "a line of many\n" * 2_000,
        "blocks": [{"type": "text", "text": "a"}, {"type": "image", "base64": "aGk=", "mime_type": "image/png"}],
        "command": Command(update={"messages": [message, HumanMessage("and this")], "run": {}}),
        "steering": Command(goto="finish", update={"messages": [message]}),
    }
    return returned.get(how, f"result of {how} {runtime.tool_call_id}")


def acting(name: str, effect: Any) -> BaseTool:
    """A tool that ends in the way its argument names."""

    def act(how: str, runtime: ToolRuntime[Any, Any]) -> Any:
        """Act."""
        return acted(how, runtime)

    async def aact(how: str, runtime: ToolRuntime[Any, Any]) -> Any:
        """Act."""
        return acted(how, runtime)

    return tool_policy(StructuredTool.from_function(act, coroutine=aact, name=name), effect=effect)


TOOLS = [acting(f"act_{effect or 'undeclared'}", effect) for effect in EFFECTS]
names = st.sampled_from([*(tool.name for tool in TOOLS), "functions.act_read", "ACT_PURE", "nothing_like_it", ""])
hows = st.sampled_from(OUTCOMES)
raws = st.sampled_from(["", "null", "[]", '{"how": "same"', '{"how": "result"} x', '"{}"', '{"how": NaN}']) | st.text(
    max_size=9
)
calls = st.builds(lambda name, how: call(name, how=how), names, hows) | st.builds(
    lambda name, raw: call(name, raw=raw), names, raws
)
texts = st.sampled_from(["", " ", "an answer", "\ud800", "中文", "<think>x</think>"]) | st.builds(
    '{{"name": "{}", "arguments": {{"how": "{}"}}}}'.format, names, hows
)
finishes = st.sampled_from(["automatic"] * 8 + ["length", "content_filter", "refusal", "stop"])
replies = st.builds(
    lambda text, made, finish: reply(text, *made, finish_reason=finish), texts, st.lists(calls, max_size=4), finishes
)
failures = st.sampled_from([RuntimeError("x"), ConnectionError("y"), TimeoutError("z")])
scripts = st.lists(replies | replies | replies | failures, max_size=14)


def body(request: ModelRequest) -> dict[str, Any]:
    """The request as it would be sent."""
    sent: dict[str, Any] = {"model": "m", "messages": [_convert_message_to_dict(each) for each in request.messages]}
    return {**sent, "tools": request.tools} if request.tools else sent


@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(scripts, st.integers(min_value=6, max_value=60), st.booleans())
def test_any_run_ends_with_a_reason_and_an_answer(script: list[Any], steps: int, run_async: bool) -> None:
    """From a recursion limit of six on: a stop reason and an answer, legal requests, limits kept, nothing raised."""
    model = ScriptedModel([*script, *["the end"] * 60])
    given_settings = Settings(
        model=ModelSettings(retry_delay=0, tries=2),
        tools=ToolSettings(retry_delay=0),
        max_model_calls=MODEL_CALLS,
        max_tool_calls=TOOL_CALLS,
        max_tokens=20_000,
    )
    graph = build_graph(model, TOOLS, given_settings)
    config: Any = {"recursion_limit": steps}
    task: Any = {"messages": [HumanMessage("do it")]}
    out = asyncio.run(graph.ainvoke(task, config)) if run_async else graph.invoke(task, config)
    assert out["stop"]["reason"]
    assert out["stop"]["advice"]
    assert out["answer"].strip()
    assert [problem for request in model.requests if (problem := illegal(body(request)))] == []
    counters = out["stop"]["counters"]
    assert counters["model_calls"] <= MODEL_CALLS + 1  # the closing call
    assert counters["tool_calls"] <= TOOL_CALLS
    answered = [message.tool_call_id for message in out["messages"] if isinstance(message, ToolMessage)]
    assert len(answered) == len(set(answered))
