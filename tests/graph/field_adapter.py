"""Plays failures that people reported in public: their history, script and tools against a real agent over HTTP."""

import ast
import json
import re
import sqlite3
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage
from langchain_core.tools import BaseTool, StructuredTool
from langchain_openai import ChatOpenAI
from pydantic import SecretStr, create_model

from loopwright import Agent, Policy, RunResult, Settings, Token, default_policies, tool_policy
from loopwright.policies.error_rounds import ErrorRounds
from loopwright.policies.identical_result import IdenticalResult
from loopwright.policies.insistence import Insistence
from loopwright.settings import GuardSettings, MemorySettings, ModelSettings, ToolSettings
from loopwright.state import Effect, Event
from loopwright.stream import RunStream
from loopwright.testing import CutStream, ModelEndpoint, ReplyDict, Status
from loopwright.testing.json_types import JSONObject
from loopwright.testing.steps import EndpointStep
from loopwright_tools.calculator import calculator_tool

FIELD_CASES = Path(__file__).parents[3] / "shared" / "field-cases.json"
PADDING = 80
"""Answers behind the script, for requests that the reported loop never made."""

Log = list[tuple[str, dict[str, Any]]]
"""What ran, in order: the tool's name and its arguments as they arrived."""
Rule = Callable[[JSONObject], str | None]
"""A peculiarity of one server: why it refuses a request body, or None."""
Answer = Callable[[dict[str, Any], int], object]
"""What a tool returns for its arguments, the n-th time that it runs."""
Fields = dict[str, Any]
"""Parameters of a tool: name to type and default, as pydantic's create_model takes them."""


@dataclass(frozen=True)
class FieldCase:
    """One report: what was in the thread, what the model said, which tools there were, how it was set up."""

    id: str
    kind: str
    history: Sequence[ReplyDict]
    script: Sequence[str | ReplyDict]
    settings: dict[str, Any] = field(default_factory=dict)


def field_cases(kinds: str) -> list[FieldCase]:
    """The cases of these kinds in the file's order; none where the file is absent."""
    if not FIELD_CASES.exists():
        return []
    listed = json.loads(FIELD_CASES.read_text(encoding="utf-8", errors="surrogatepass"))
    return [_case(found) for found in listed if found["kind"] in kinds]


def _case(found: dict[str, Any]) -> FieldCase:
    given = found["input"]
    return FieldCase(
        found["id"], found["kind"], given.get("history", ()), given.get("script", ()), given.get("settings", {})
    )


def messages_of(case: FieldCase) -> list[AnyMessage]:
    """The history, and the task behind it where the history does not end with a user message."""
    told = [_message(dict(given)) for given in case.history]
    return told if told and isinstance(told[-1], HumanMessage) else [*told, HumanMessage("Go on.")]


def _message(given: dict[str, Any]) -> AnyMessage:
    content = given["content"]
    text = content["repeat"][0] * content["repeat"][1] if isinstance(content, dict) else content
    if given["role"] == "tool":
        return ToolMessage(text, tool_call_id=given["tool_call_id"])
    if given["role"] == "user":
        return HumanMessage(text)
    calls = [
        {"name": call["name"], "args": json.loads(call["arguments"]), "id": call["id"], "type": "tool_call"}
        for call in given.get("tool_calls", [])
    ]
    return AIMessage(text, tool_calls=calls)


def step_of(given: str | ReplyDict) -> EndpointStep:
    """A step of the script: a reply, or the fault that its text describes."""
    if not isinstance(given, str):
        return given
    cut = re.search(r"id=(\w+) name=(\w+) args='(.*)', then connection closed", given)
    if cut:
        call_id, name, half = cut.groups()
        return CutStream({"tool_calls": [{"id": call_id, "name": name, "arguments": half + half[::-1]}]}, after=2)
    status = Status.parse(given)
    if status.message.startswith("{"):
        return replace(status, message=ast.literal_eval(status.message)["error"]["message"])
    return status


def _shaken() -> str:
    raise ValueError


def _unreachable() -> str:
    raise sqlite3.OperationalError("no route to postgresql://reader:S3cret@10.1.1.1/orders")


def _page(url: str) -> str:
    if "/bad" in url:
        raise ValueError(f"no page {url}")
    return "page"


FIELDS: dict[str, Fields] = {
    "calculator": {"expression": (str, ...)},
    "clock": {"tz": (str, "UTC")},
    "read_file": {"path": (str, ...)},
    "db_query": {"sql": (str, ...)},
    "http_get": {"url": (str, ...)},
    "http_post": {"url": (str, ...), "body": (dict[str, Any], ...)},
    "poll_job": {"job": (str, ...)},
    "save_note": {"text": (str, ...)},
    "send_note": {"text": (str, ...)},
    "save_list": {"items": (list[str], ...), "title": (str, ...)},
}
"""The parameters of each tool where a case says nothing else."""

CASE_FIELDS: dict[tuple[str, str], Fields] = {
    ("B09", "read_file"): {"path": (str, ...), "offset": (int, 0), "limit": (int, 50)},
    ("C09", "clock"): {},
    ("B11", "send_note"): {"payload": (dict[str, Any], ...)},
    ("C16", "db_query"): {"sql": (str, ...), "id": (int, ...)},
    ("C17", "save_note"): {"code": (str | int, ...)},
    ("C18", "read_file"): {"path": (str, "README.md"), "limit": (int, 100)},
}

ANSWERS: dict[tuple[str, str], Answer] = {
    ("A07", "http_get"): lambda args, turn: _shaken(),
    ("B03", "poll_job"): lambda args, turn: "done" if turn == 8 else f"running {turn}0%",
    ("B09", "read_file"): lambda args, turn: "the last line" if args["offset"] < 50 else "",
    ("B13", "http_get"): lambda args, turn: _page(args["url"]),
    ("C09", "clock"): lambda args, turn: f"12:0{turn}",
    ("D01", "http_get"): lambda args, turn: "bold \ud835 text",
    ("D02", "read_file"): lambda args, turn: "ab\x00cd",
    ("D03", "read_file"): lambda args, turn: "line of text\n" * 400_000,
    ("D04", "read_file"): lambda args, turn: "y" * 9_000,
    ("D05", "http_get"): lambda args, turn: "天地玄黄宇宙洪荒日月盈昃" * 5_000,
    ("D06", "db_query"): lambda args, turn: _unreachable(),
    ("D09", "calculator"): lambda args, turn: sys.exit(3),
    ("D13", "save_note"): lambda args, turn: "",
    ("D13", "clock"): lambda args, turn: None,
    ("D13", "db_query"): lambda args, turn: [],
    ("D16", "db_query"): lambda args, turn: {"name": "中文", "n": 1},
}
"""What a tool answers in a case, by its arguments and how often it ran; "ok" where nothing is said."""

WRITES = frozenset({"http_post", "save_note", "send_note", "save_list"})


def fake_tool(case_id: str, name: str, log: Log, *, answer: Answer | None = None) -> BaseTool:
    """The tool of that name as the case has it; whatever runs is kept in `log`. `answer` replaces the case's own."""
    says = answer or ANSWERS.get((case_id, name))
    if name == "calculator" and says is None:
        return calculator_tool()

    def run(**args: object) -> object:
        log.append((name, args))
        turn = sum(ran == name for ran, _ in log)
        return says(args, turn) if says else "ok"

    fields = CASE_FIELDS.get((case_id, name), FIELDS[name])
    tool = StructuredTool(name=name, description=name, func=run, args_schema=create_model("Arguments", **fields))
    effect: Effect = "write" if name in WRITES else "read"
    return tool_policy(tool, effect=effect)


def tools_of(case: FieldCase, log: Log) -> list[BaseTool]:
    """Every tool that the case's history and script name, and a clock beside them."""
    spoken = [*case.history, *(step for step in case.script if not isinstance(step, str))]
    named = {call.get("name", ""): None for message in spoken for call in message.get("tool_calls") or []}
    return [fake_tool(case.id, name, log) for name in dict.fromkeys(["clock", *named])]


def settings_of(case: FieldCase) -> Settings:
    """The case's neutral settings in our names; nothing waits, and nobody is there to be asked."""
    given = case.settings
    model = ModelSettings(retry_delay=0, max_tokens=given.get("max_output_tokens", 1024))
    tools = ToolSettings(retry_delay=0, max_result_tokens=given.get("per_result_chars", 8_000) // 4)
    window = given.get("context_window") or (given.get("max_tokens") if case.id == "A03" else None)
    shown = given.get("window_messages")
    memory = MemorySettings(window=shown, summary=given.get("summarise", shown is None))
    return Settings(
        model=model,
        tools=tools,
        memory=memory,
        guard=GuardSettings(ask=False),
        context_tokens=window,
        max_model_calls=given.get("max_steps", 50),
    )


def policies_of(case: FieldCase, settings: Settings) -> list[Policy]:
    """The default policies with the case's thresholds: N repeats mean that the N-th identical call does not run."""
    changed: dict[str, Policy] = {}
    repeats, errors = case.settings.get("repeat_limit"), case.settings.get("max_consecutive_errors")
    if repeats is not None:
        changed["identical_result"] = IdenticalResult(allowed=repeats - 1)
        changed["insistence"] = Insistence(limit=max(5, repeats))
    if errors is not None:
        changed["error_rounds"] = ErrorRounds(limit=errors)
    return [changed.get(policy.name, policy) for policy in default_policies(settings)]


def _answers_with_short_ids(body: JSONObject) -> str | None:
    ids = re.findall(r'"(?:tool_call_id|id)": "([^"]*)"', json.dumps(body["messages"]))
    return next((f"Tool call id was {one} but must be a-z, A-Z, 0-9, with a length of 9." for one in ids
                 if not re.fullmatch("[A-Za-z0-9]{9}", one)), None)  # fmt: skip


def _messages(body: JSONObject) -> list[dict[str, Any]]:
    listed = body["messages"]
    assert isinstance(listed, list)
    return [dict(message) for message in listed if isinstance(message, dict)]


def _empty_result(body: JSONObject) -> str | None:
    empty = any(m["role"] == "tool" and not m["content"] for m in _messages(body))
    return "The content of a tool message is empty." if empty else None


def _lost_reasoning(body: JSONObject) -> str | None:
    lost = any(m.get("tool_calls") and not m.get("reasoning_content") for m in _messages(body))
    return "The reasoning_content of an assistant message with tool_calls must be passed back." if lost else None


def _fixed_sampling(body: JSONObject) -> str | None:
    problems = []
    if body.get("temperature") not in (None, 1):
        problems.append("Unsupported value: 'temperature' does not support 0 with this model.")
    if body.get("max_tokens") is not None:
        problems.append("Unsupported parameter: 'max_tokens', use 'max_completion_tokens' instead.")
    return problems[0] if problems else None


RULES: dict[str, Rule] = {
    "A17": _answers_with_short_ids,
    "D13": _empty_result,
    "G07": _fixed_sampling,
    "G10": _lost_reasoning,
}
"""What the server of a case refuses beyond the protocol."""


@dataclass
class Stage:
    """A case's agent before its endpoint, with everything that can be looked at afterwards."""

    case: FieldCase
    agent: Agent
    endpoint: ModelEndpoint
    log: Log
    refused: list[str]
    build: Callable[[], Agent]
    events: list[Event] = field(default_factory=list)

    def run(self, task: str | list[AnyMessage]) -> RunResult:
        """The next turn of the case's thread; it must end by itself, with an answer, after legal requests alone."""
        stream = self.agent.stream(task, thread=self.case.id)
        return self._ended(stream)

    def resume(self) -> RunResult:
        """The thread goes on after it broke or failed."""
        return self._ended(self.agent.stream(thread=self.case.id))

    def _ended(self, stream: RunStream) -> RunResult:
        self.events.extend(item for item in stream if not isinstance(item, Token))
        result = stream.result
        assert self.endpoint.rejected == []
        assert result.stop is not None
        assert result.answer.strip()
        return result

    def restart(self) -> None:
        """Go on with a new agent on the same storage, as another process would."""
        self.agent = self.build()

    @property
    def requests(self) -> list[list[dict[str, Any]]]:
        """The messages of each request that came, in order."""
        return [_messages(received.body) for received in self.endpoint.requests]

    def ran(self, name: str) -> list[dict[str, Any]]:
        """The arguments of each execution of a tool."""
        return [args for tool, args in self.log if tool == name]

    def statuses(self) -> list[str]:
        """What became of each call, in the order the events came."""
        return [event["status"] for event in self.events if event["kind"] == "call"]


@contextmanager
def staged(
    case: FieldCase,
    *,
    storage: str = "memory:",
    script: Sequence[EndpointStep] | None = None,
    tools: Callable[[Log], list[BaseTool]] | None = None,
    settings: Settings | None = None,
    model: Callable[[str], BaseChatModel] | None = None,
) -> Iterator[Stage]:
    """The case's agent on its endpoint; script, tools, settings and the model behind a base URL may be the test's."""
    log: Log = []
    refused: list[str] = []
    rule = RULES.get(case.id)

    def ruled(step: EndpointStep) -> EndpointStep:
        def answer(body: JSONObject) -> EndpointStep:
            problem = rule(body) if rule else None
            if problem is None:
                return step
            refused.append(problem)
            return Status(400, problem)

        return answer

    played = [step_of(given) for given in case.script] if script is None else list(script)
    steps = [ruled(step) for step in [*played, *["done"] * PADDING]]
    chosen = settings or settings_of(case)
    offered = tools(log) if tools else tools_of(case, log)
    with ModelEndpoint(steps, context_tokens=case.settings.get("context_window")) as endpoint:
        chat = (model or _chat)(endpoint.base_url)

        def build() -> Agent:
            return Agent(chat, offered, settings=chosen, policies=policies_of(case, chosen), storage=storage)

        yield Stage(case, build(), endpoint, log, refused, build)


def _chat(base_url: str) -> BaseChatModel:
    return ChatOpenAI(model="scripted", base_url=base_url, api_key=SecretStr("x"))


def results(result: RunResult) -> list[ToolMessage]:
    """The tool messages of the transcript, in order."""
    return [message for message in result.messages if isinstance(message, ToolMessage)]
