"""One real run for each reason a run can stop for, in English and in Chinese."""

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import cache
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import HumanMessage
from langchain_core.tools import BaseTool, ToolException, tool
from langchain_openai import ChatOpenAI
from pydantic import SecretStr

from loopwright import Agent, Policy, RunReport, RunResult, Settings, tool_policy
from loopwright.language import Language
from loopwright.policies.cycle import Cycle
from loopwright.report import fold_report
from loopwright.results import interruption, result_of
from loopwright.settings import GuardSettings, ModelSettings, Price, ToolSettings
from loopwright.state import StopReason
from loopwright.testing import ModelEndpoint, ScriptedModel, Status, call, reply

TASKS: dict[Language, str] = {"en": "What is there?", "zh": "那里有什么?"}
CLOSING = "a closing answer"


@dataclass(frozen=True)
class Story:
    """How a run comes to stop: what the model says, and what is set. `stuck` is whether a call is to be named."""

    script: Sequence[Any]
    settings: Settings
    stuck: bool = False
    earlier: tuple[int, ...] = ()
    step: int = 1
    policies: Sequence[Policy] | None = None
    recursion_limit: int | None = None


@dataclass(frozen=True)
class Told:
    """What a run ended with, and everything it said on the way."""

    result: RunResult
    report: RunReport


def settings(*, model: ModelSettings | None = None, **changes: Any) -> Settings:
    """Settings under which nothing waits and nobody is asked."""
    return Settings(
        model=model or ModelSettings(retry_delay=0),
        tools=ToolSettings(retry_delay=0),
        guard=GuardSettings(ask=False),
        **changes,
    )


def look(at: str) -> Any:
    """A reply with one call of the tool `look`."""
    return reply("", call("look", at=at))


def looks(*places: str) -> list[Any]:
    """Replies with one call each."""
    return [look(at) for at in places]


PRICED = ModelSettings(retry_delay=0, prices={"scripted": Price(input=1000, output=1000)})

STORIES: dict[StopReason, Story] = {
    "answered": Story([look("a"), "a view"], settings(), step=2),
    "repeat": Story([*looks("a", "a", "a", "a", "a"), CLOSING], settings(), True, (1, 2, 3, 4), 5),
    "cycle": Story(
        [*looks(*"abababababa"), CLOSING], settings(), True, (1, 3, 5, 7, 9), 11, policies=[Cycle()]
    ),
    "no_progress": Story([*looks(*"aabbabab"), CLOSING], settings(), True, (3, 4, 6), 8),
    "errors": Story([*looks(*[f"nowhere {n}" for n in range(5)]), CLOSING], settings(), True, (1, 2, 3, 4), 5),
    "model_calls": Story([*looks("a", "b"), CLOSING], settings(max_model_calls=2), step=2),
    "tool_calls": Story([*looks("a", "b"), CLOSING], settings(max_tool_calls=2), step=2),
    "tokens": Story([*looks("a"), CLOSING], settings(max_tokens=30)),
    "cost": Story([*looks("a"), CLOSING], settings(model=PRICED, max_cost_usd=0.01)),
    "seconds": Story([*looks("a"), CLOSING], settings(max_seconds=1e-9)),
    "steps": Story([*looks("a", "b"), CLOSING], settings(), recursion_limit=16, step=2),
    "invalid_replies": Story([reply("", call("look", raw='{"at": '))] * 3 + [CLOSING], settings(), True, (1, 2), 3),
    "empty_reply": Story([""] * 4, settings(), step=3),
    "length": Story([reply("so far", finish_reason="length")] * 4, settings(), step=3),
    "refusal": Story([reply("", refusal="I cannot help with that.")], settings()),
    "content_filter": Story([reply("", finish_reason="content_filter")], settings()),
    "context": Story([Status(400, code="context_length_exceeded")] * 2, settings(), step=2),
    "auth": Story([Status(401)], settings()),
    "model_error": Story([Status(500)], settings(model=ModelSettings(tries=1))),
    "cancelled": Story([*looks("a"), "a view"], settings(), step=2),
    "drained": Story([*looks("a"), "a view"], settings(), step=2),
}  # fmt: skip
"""By reason. The steps at the end: those of the stuck call before it stopped, and the one it stopped at."""


def looking() -> BaseTool:
    """A tool that sees what is there, and fails at every place called nowhere."""

    @tool("look")
    def see(at: str) -> str:
        """Look at a place. Use when the user asks what is there; do not use for anything else."""
        if at.startswith("nowhere"):
            raise ToolException(f"there is no {at.partition(' ')[0]}")
        return f"saw {at}"

    return tool_policy(see, effect="read")


def chat(base_url: str) -> BaseChatModel:
    """A model behind an endpoint; its client makes no retries of its own."""
    return ChatOpenAI(model="scripted", base_url=base_url, api_key=SecretStr("x"), max_retries=0)


@cache
def told(reason: StopReason, language: Language) -> Told:
    """The run that stops for this reason, played to its end."""
    story = STORIES[reason]
    remote = any(isinstance(step, Status) for step in story.script)
    with ModelEndpoint(story.script) if remote else nullcontext() as endpoint:
        model = chat(endpoint.base_url) if endpoint is not None else ScriptedModel(list(story.script))
        return _played(story, reason, model, TASKS[language])


def _played(story: Story, reason: StopReason, model: BaseChatModel, task: str) -> Told:
    agent = Agent(model, [looking()], settings=story.settings, policies=story.policies)
    if story.recursion_limit is not None:
        state: dict[str, Any] = dict(
            agent.graph.invoke(
                {"messages": [HumanMessage(task)]},
                {"recursion_limit": story.recursion_limit},
                stream_mode="values",
                output_keys=["messages", "events", "run", "answer", "stop"],
            )
        )
        return Told(result_of("t", state, ()), fold_report("t", state["events"], state["messages"]))
    result = agent.run(task, thread="t")
    if reason in ("cancelled", "drained"):
        return _left(agent, result, reason)
    return Told(result, agent.report("t"))


def _left(agent: Agent, result: RunResult, reason: Any) -> Told:
    """The report of a run that was left in the middle: no event tells of it, so that it can be resumed."""
    with agent.place.open() as storage:
        graph = agent.graph.copy(update={"checkpointer": storage.saver, "store": storage.store})
        values = graph.get_state({"configurable": {"thread_id": "t"}}).values
    stop = interruption(values, reason)
    left = RunResult("", False, stop, result.usage, "t", result.run_id, (), result.messages)
    return Told(left, agent.report("t"))
