"""Failures that people reported in public, played against a real agent: each must end the way a user needs."""

import base64
import json
import logging
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from io import StringIO
from pathlib import Path
from typing import Any

import httpx
import pytest
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool, StructuredTool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.errors import GraphRecursionError
from langgraph.store.memory import InMemoryStore
from pydantic import SecretStr
from tests.graph.field_adapter import (
    FIELD_CASES,
    FieldCase,
    Log,
    Stage,
    fake_tool,
    field_cases,
    messages_of,
    results,
    staged,
    step_of,
)

from loopwright import RunResult, Settings, build_graph, tool_policy
from loopwright.memory import count_text
from loopwright.models import BoundModel, Reply, ask_model, load_model
from loopwright.models.failures import retry_after
from loopwright.settings import ModelSettings
from loopwright.state import CompressionEvent
from loopwright.steps import Core
from loopwright.testing import ModelEndpoint, ReplyDict, Status, call, reply
from loopwright.testing.steps import EndpointStep
from loopwright_tools import Workspace, default_tools, query_database_tool
from loopwright_tools.clock import now_tool

pytestmark = pytest.mark.skipif(not FIELD_CASES.exists(), reason="the field cases are not beside this repository")

NOT_YET: dict[str, str] = {}
"""Cases that ask for something Loopwright does not have, with what is missing."""

Check = Callable[[Stage, RunResult], None]
Variant = Callable[[FieldCase, Path], None]

STORED = frozenset({"C22", "D01", "D02", "D06"})
"""Cases that speak of checkpoints: they run on SQLite."""


def texts(result: RunResult) -> list[str]:
    """What each tool message says."""
    return [message.text for message in results(result)]


def completed(result: RunResult) -> bool:
    """Whether the model gave the answer, and not a stop in its stead."""
    return result.complete and result.stop is not None and result.stop["reason"] == "answered"


def reason(result: RunResult) -> str:
    """Why the run ended."""
    assert result.stop is not None
    return result.stop["reason"]


def answers(stage: Stage) -> list[list[dict[str, Any]]]:
    """The messages of each request of the run itself, those for a summary left out."""
    return [request for request in stage.requests if not str(request[0]["content"]).startswith("You write the memory")]


def sent_results(stage: Stage, request: int) -> list[str]:
    """The tool results as one request carried them."""
    return [str(message["content"]) for message in stage.requests[request] if message["role"] == "tool"]


def sent_calls(stage: Stage, request: int) -> list[dict[str, Any]]:
    """The calls of the assistant messages in one request: id, name and arguments as text."""
    return [
        {"id": made["id"], **made["function"]}
        for message in stage.requests[request]
        for made in message.get("tool_calls") or []
    ]


def paired(messages: list[AnyMessage]) -> bool:
    """Whether each call of a transcript is answered once, before anything else is said; a wave may end in any order."""
    waiting: set[str | None] = set()
    for message in messages:
        if isinstance(message, ToolMessage):
            if message.tool_call_id not in waiting:
                return False
            waiting.remove(message.tool_call_id)
        elif waiting:
            return False
        elif isinstance(message, AIMessage):
            waiting = {made["id"] for made in [*message.tool_calls, *message.invalid_tool_calls]}
    return not waiting


def in_call_order(stage: Stage, request: int) -> bool:
    """Whether a request has its results in the order of their calls."""
    answered = [message["tool_call_id"] for message in stage.requests[request] if message["role"] == "tool"]
    return answered == [made["id"] for made in sent_calls(stage, request)]


# A: legal histories


def a01(stage: Stage, result: RunResult) -> None:
    """A window of three messages keeps the call with its result, or drops both: no request begins with a result."""
    for request in answers(stage):
        assert [message["role"] for message in request][:2] == ["system", "user"]
    assert completed(result)


def a14(stage: Stage, result: RunResult) -> None:
    """A window of four messages never opens on a call: the user's question stays in front of the two newest steps."""
    request = answers(stage)[0]
    assert [message["role"] for message in request][:2] == ["system", "user"]
    assert request[1]["content"] == "q"
    assert [message["content"] for message in request if message["role"] == "tool"] == ["12:01", "12:02"]
    assert completed(result)


def a03(stage: Stage, result: RunResult) -> None:
    """A huge old result is shortened, or leaves with its call; the request stays within the budget."""
    assert completed(result)
    assert len(sent_calls(stage, 0)) == len(sent_results(stage, 0))
    assert count_text(json.dumps(stage.requests[0])) < 2_000


def a06(stage: Stage, result: RunResult) -> None:
    """One broken call of three leaves the other two their values; results stand in call order, the run goes on."""
    first, second, third = results(result)
    assert "= 2" in first.text
    assert (second.status, third.text) == ("error", "ok")
    assert len(second.text) < 300
    assert in_call_order(stage, 1)
    assert result.answer == "final"


def a07(stage: Stage, result: RunResult) -> None:
    """An exception without a text is told by its type, under the id of its own call."""
    reply_ = next(message for message in result.messages if isinstance(message, AIMessage))
    failed = results(result)[1]
    assert failed.tool_call_id == reply_.tool_calls[1]["id"]
    assert (failed.name, failed.status) == ("http_get", "error")
    assert "ValueError" in failed.text
    assert completed(result)


def a08(stage: Stage, result: RunResult) -> None:
    """One id used three times is three calls: all run, and the ids differ in the transcript and in the request."""
    assert stage.statuses() == ["ok", "ok", "ok"]
    assert len({message.tool_call_id for message in results(result)}) == 3
    ids = [made["id"] for made in sent_calls(stage, -1)]
    assert len(set(ids)) == len(ids) == 3
    assert sent_results(stage, -1) == ["ok", "2*3 = 6", "ok"]


def a10(stage: Stage, result: RunResult) -> None:
    """A message without calls carries no list of calls, not even an empty one."""
    said = [message for message in stage.requests[0] if message["role"] == "assistant"]
    assert [message["content"] for message in said] == ["hm"]
    assert "tool_calls" not in said[0]
    assert completed(result)


def a12(stage: Stage, result: RunResult) -> None:
    """The result that stands in for a lost one is sent right behind its call, before the next question."""
    assert [m["role"] for m in stage.requests[0]] == ["system", "user", "assistant", "tool", "user"]
    assert completed(result)


def a12_stored(case: FieldCase, tmp_path: Path) -> None:
    """The stored transcript has the stand-in right behind its call as well."""
    with staged(case) as stage:
        assert paired(stage.run(messages_of(case)).messages)


def a16(stage: Stage, result: RunResult) -> None:
    """Of two results under one id only one is sent."""
    assert sent_results(stage, 0) == ["a", "b"]
    assert completed(result)


def a16_warning(case: FieldCase, tmp_path: Path) -> None:
    """A result that is not sent is told to whoever reads the log."""
    heard = StringIO()
    handler = logging.StreamHandler(heard)
    logging.getLogger().addHandler(handler)
    try:
        with staged(case) as stage:
            stage.run(messages_of(case))
    finally:
        logging.getLogger().removeHandler(handler)
    assert "c2" in heard.getvalue()


def a17(stage: Stage, result: RunResult) -> None:
    """Where ids of another provider are refused, both sides are rewritten or the answer says what was refused."""
    if stage.refused:
        assert (reason(result), len(stage.refused)) == ("model_error", 1)
        assert "id was call_Zq81Wm27Xk55Tn90Lb36" in result.answer
    else:
        assert completed(result)


# B: repeats and limits


def b01(stage: Stage, result: RunResult) -> None:
    """The third identical write does not run; the run ends long before its thirty replies, with the reason."""
    assert stage.statuses()[0] == "ok"
    assert stage.statuses()[2] == "refused"
    assert 1 <= len(stage.ran("save_note")) <= 2
    assert reason(result) == "repeat"
    assert len(stage.requests) < 10


def b02(stage: Stage, result: RunResult) -> None:
    """A used-up limit is a reason of its own, never an answer: five rounds run, the sixth request closes."""
    assert (reason(result), result.complete) == ("model_calls", False)
    assert len(stage.ran("clock")) == 5
    assert len(stage.requests) == 6


def b03(stage: Stage, result: RunResult) -> None:
    """A poll whose results differ goes on to its end."""
    assert texts(result)[-1] == "done"
    assert len(stage.ran("poll_job")) == 8
    assert result.answer == "job finished"


def b03_cycle(case: FieldCase, tmp_path: Path) -> None:
    """Three calls in a circle that bring nothing new are found and refused in their third round."""
    circle = [reply("", call("db_query", sql=text)) for text in "abc"]
    with staged(case, script=circle * 10, tools=lambda log: [fake_tool("B04", "db_query", log)]) as stage:
        result = stage.run("x")
        assert stage.statuses()[:7] == ["ok"] * 6 + ["refused"]
        assert len(stage.ran("db_query")) == 6
        assert not result.complete
        assert len(stage.requests) < 15


def b04(stage: Stage, result: RunResult) -> None:
    """Calls that differ in a number are different calls: all six run."""
    assert [args["sql"][-2:] for args in stage.ran("db_query")] == ["11", "12", "13", "14", "15", "16"]
    assert completed(result)


def b05(stage: Stage, result: RunResult) -> None:
    """Calls that differ deep inside an argument are different calls: all five run."""
    assert [args["body"]["questions"][0]["id"] for args in stage.ran("http_post")] == [0, 1, 2, 3, 4]
    assert completed(result)


def b08(stage: Stage, result: RunResult) -> None:
    """Three identical calls in one message are three repeats: the third does not run, and each has its result."""
    assert stage.statuses().count("ok") == 2
    assert len(results(result)) == 3
    assert in_call_order(stage, 1)


def b08_four(case: FieldCase, tmp_path: Path) -> None:
    """With a limit of four all three run, and a fourth one in the next message does not."""
    later = FieldCase(case.id, case.kind, case.history, case.script, {"repeat_limit": 4})
    script: list[EndpointStep] = [step_of(case.script[0]), reply("", call("clock")), "done"]
    with staged(later, script=script) as stage:
        result = stage.run("x")
        assert stage.statuses() == ["ok", "ok", "ok", "refused"]
        assert paired(result.messages)
        assert completed(result)


def b09(stage: Stage, result: RunResult) -> None:
    """Reading behind the end over and over stops for want of news, long before the limit."""
    assert (reason(result), result.complete) == ("no_progress", False)
    assert len(stage.requests) < 20


def b09_forward(case: FieldCase, tmp_path: Path) -> None:
    """Reading on page by page, each with new lines, is left alone."""
    pages = [reply("", call("read_file", path="log.txt", offset=50 * n)) for n in range(20)]

    def paging(log: Log) -> list[BaseTool]:
        return [fake_tool("B09", "read_file", log, answer=lambda args, _: f"lines from {args['offset']}")]

    with staged(case, script=[*pages, "read"], tools=paging) as stage:
        result = stage.run("x")
        assert result.answer == "read"
        assert stage.statuses() == ["ok"] * 20


def b10(stage: Stage, result: RunResult) -> None:
    """White space in the arguments makes no other call: the third one is refused."""
    assert stage.statuses() == ["ok", "ok", "refused", "refused"]
    assert len(stage.ran("clock")) == 2


def b11(stage: Stage, result: RunResult) -> None:
    """Neither the order of nested keys nor 2 against 2.0 makes another call: the note is sent once."""
    assert stage.statuses() == ["ok", "refused", "refused"]
    assert stage.ran("send_note") == [{"payload": {"a": 1, "b": 2}}]


def b13(stage: Stage, result: RunResult) -> None:
    """Failures with a success now and then do not go on for ever: the run ends and says why."""
    assert reason(result) in ("errors", "no_progress", "model_calls")
    assert not result.complete
    assert result.stop is not None
    assert "no page" in str(result.stop["last_error"])
    assert len(stage.requests) < 30


def b15(stage: Stage, result: RunResult) -> None:
    """The guard's own refusals are no errors: they have their own status, and the run stops for the repeat."""
    assert reason(result) == "repeat"
    assert stage.statuses() == ["ok", "refused", "refused", "refused", "not_run"]
    assert stage.agent.report(stage.case.id).totals.failed_calls == 0
    assert all(event["failure"] is None for event in stage.events if event["kind"] == "call")


def b16(stage: Stage, result: RunResult) -> None:
    """A limit belongs to a run: the next message on the thread has all of it again."""
    assert reason(result) == "model_calls"
    second = stage.run("hi")
    assert second.answer == "hello again"
    assert completed(second)
    assert second.usage.model_calls == 1


def b20(stage: Stage, result: RunResult) -> None:
    """Without a limit of the caller's the run ends by itself, and the thread goes on with the next message."""
    assert result.stop is not None
    assert not result.complete
    assert paired(result.messages)
    assert paired(stage.run("and now?").messages)


def b20_graph(case: FieldCase, tmp_path: Path) -> None:
    """Where the recursion limit leaves no step for an answer, LangGraph's error comes, and the next turn is legal."""
    script: list[EndpointStep] = [step_of(given) for given in case.script]
    with ModelEndpoint(script) as endpoint:
        model = load_model("openai:scripted", base_url=endpoint.base_url, api_key=SecretStr("x"))
        log: Log = []
        graph = build_graph(
            model, [fake_tool("B20", "clock", log)], checkpointer=InMemorySaver(), store=InMemoryStore()
        )
        config: RunnableConfig = {
            "configurable": {"thread_id": "t"},
            "recursion_limit": case.settings["langgraph_recursion_limit"],
        }
        with pytest.raises(GraphRecursionError):
            graph.invoke({"messages": [HumanMessage("x")]}, config, durability="sync")
        longer: RunnableConfig = {**config, "recursion_limit": 30}
        out = graph.invoke({"messages": [HumanMessage("y")]}, longer, durability="sync")
        assert out["answer"]
        assert out["stop"]["reason"] in ("answered", "repeat", "steps")
        assert paired(out["messages"])
        assert endpoint.rejected == []


def b22(stage: Stage, result: RunResult) -> None:
    """Nine identical writes in one reply have their effect at most twice, and nine results."""
    assert 1 <= len(stage.ran("send_note")) <= 2
    assert len(results(result)) == 9
    assert paired(result.messages)
    assert in_call_order(stage, 1)
    assert result.answer == "sent"


# C: replies


def c01(stage: Stage, result: RunResult) -> None:
    """Arguments without their closing brace are told to the model under the call's id, and it gets another turn."""
    (told,) = results(result)
    assert told.status == "error"
    assert [told.tool_call_id] == [made["id"] for made in sent_calls(stage, 1)]
    assert "JSON" in told.text
    assert result.answer == "4"


def c03(stage: Stage, result: RunResult) -> None:
    """A reply that ran into its token limit runs no call, however whole it looks; the model is told to be shorter."""
    assert stage.ran("save_note") == []
    (told,) = texts(result)
    assert "cut off" in told
    assert "shorter" in told
    assert result.answer == "done"


def c04(stage: Stage, result: RunResult) -> None:
    """Half a call never runs, and what goes back to the server are arguments that can be parsed."""
    assert stage.ran("save_note") == []
    (made,) = sent_calls(stage, 1)
    assert isinstance(json.loads(made["arguments"]), dict)
    assert result.answer == "ok"


def c04_told(case: FieldCase, tmp_path: Path) -> None:
    """A call that ends where the reply's tokens end is told as cut off, whatever the server calls it."""
    with staged(case) as stage:
        (told,) = texts(stage.run(messages_of(case)))
        assert "cut off" in told


def c04_unstreamed(case: FieldCase, tmp_path: Path) -> None:
    """Half a call does not run with streaming turned off either, while the caller streams the run."""
    settings = Settings(model=ModelSettings(retry_delay=0, stream=False))
    with staged(case, settings=settings) as stage:
        stage.run("x")
        assert stage.ran("save_note") == []


def c06(stage: Stage, result: RunResult) -> None:
    """Arguments that are malformed, not cut, are called so in the stop's reason and in the text for the user."""
    assert reason(result) == "invalid_replies"
    assert "could not be read" in result.answer
    assert "cut off" not in result.answer
    assert "limit" not in result.answer


def c06_half(case: FieldCase, tmp_path: Path) -> None:
    """After a reply that could not be used, half a call of the next one does not run either."""
    broken = [reply("", call("save_note", raw=raw)) for raw in ('{"text": oops', '{"text": "first half of a no')]
    with staged(case, script=broken, tools=lambda log: [fake_tool("C06", "save_note", log)]) as stage:
        stage.run("x")
        assert stage.ran("save_note") == []


def c07(stage: Stage, result: RunResult) -> None:
    """Arguments that are JSON in a JSON string are unwrapped once, or refused with what is wanted: an object."""
    (told,) = results(result)
    assert "= 5" in told.text or (told.status == "error" and "object" in told.text)
    assert result.answer == "5"


def c08(stage: Stage, result: RunResult) -> None:
    """A list that comes as text becomes a list where the schema says list; a text that looks like a number stays."""
    assert stage.ran("save_list") == [{"items": ["a", "b"], "title": "42"}]


def c09(stage: Stage, result: RunResult) -> None:
    """Empty, null and missing arguments of a tool that takes none mean none, and go back as an empty object."""
    assert stage.ran("clock") == [{}, {}, {}]
    assert [made["arguments"] for made in sent_calls(stage, -1)] == ["{}"] * 3
    assert result.answer == "noon"


def c10(stage: Stage, result: RunResult) -> None:
    """Arguments in a Markdown fence are unwrapped, or refused by a text that names the fence."""
    (told,) = results(result)
    assert "= 5" in told.text or (told.status == "error" and ("fence" in told.text or "```" in told.text))


def c13(stage: Stage, result: RunResult) -> None:
    """A call that leaked into a text is not sent on as an example to follow."""
    assert "<invoke" not in json.dumps(stage.requests[0])


def c16(stage: Stage, result: RunResult) -> None:
    """Whole numbers above 2**53 stay exact, in results and in arguments."""
    assert "90071992547409939" in texts(result)[0].split("=")[1]
    assert stage.ran("db_query") == [{"sql": "select :id", "id": 9007199254740995123}]


def c17(stage: Stage, result: RunResult) -> None:
    """A text of digits stays a text where the schema takes either."""
    assert stage.ran("save_note") == [{"code": "007"}]


def c18(stage: Stage, result: RunResult) -> None:
    """An argument that the tool does not have is refused by name, with the names there are."""
    (told,) = results(result)
    assert stage.ran("read_file") == []
    assert told.status == "error"
    assert all(name in told.text for name in ("file", "path", "limit"))


def c20(stage: Stage, result: RunResult) -> None:
    """Both writes run, in the order of their calls."""
    assert [args["text"] for args in stage.ran("save_note")] == ["1", "2"]
    assert paired(result.messages)
    assert completed(result)


def c20_alone(case: FieldCase, tmp_path: Path) -> None:
    """A write ends before the next one begins."""

    def logging(log: Log) -> list[BaseTool]:
        def note(args: dict[str, Any], turn: int) -> str:
            log.append(("end", args))
            return "ok"

        return [fake_tool("C20", "save_note", log, answer=note)]

    with staged(case, tools=logging) as stage:
        stage.run("x")
        assert [(name, args["text"]) for name, args in stage.log] == [
            ("save_note", "1"), ("end", "1"), ("save_note", "2"), ("end", "2"),
        ]  # fmt: skip


def c22(stage: Stage, result: RunResult) -> None:
    """An escaped emoji is one character; half of one is replaced before tool, checkpoint and next request see it."""
    whole, half = (args["text"] for args in stage.ran("save_note"))
    assert whole == "launch \U0001f680"
    assert half.startswith("half ")
    assert half.encode()
    assert completed(result)
    stage.restart()
    assert completed(stage.run("and now?"))


# D: tools


def d01(stage: Stage, result: RunResult) -> None:
    """Half a surrogate in a result is replaced before anything hashes or stores it."""
    assert len(texts(result)) == 2
    assert all(text.startswith("bold ") and text.encode() for text in texts(result))
    assert result.answer == "ok"


def d01_repeat(case: FieldCase, tmp_path: Path) -> None:
    """Equal results that had to be cleaned are still equal: the third call is refused."""
    script: list[EndpointStep] = [step_of(case.script[0])] * 3
    with staged(case, script=script, storage=f"sqlite:///{tmp_path}/runs.db") as stage:
        stage.run("x")
        assert stage.statuses() == ["ok", "ok", "refused"]


def d02(stage: Stage, result: RunResult) -> None:
    """A NUL in a result is replaced once at the entrance: another process reads the thread and goes on."""
    (text,) = texts(result)
    assert "\x00" not in text
    assert (text[:2], text[-2:]) == ("ab", "cd")
    stage.restart()
    assert stage.agent.report(stage.case.id).model_dump_json()
    second = stage.run("and now?")
    assert completed(second)
    assert texts(second) == [text]


def d03(stage: Stage, result: RunResult) -> None:
    """Millions of characters are cut to the cap, with how much is missing and how to read on; the request fits."""
    (sent,) = sent_results(stage, 1)
    assert count_text(sent) <= 2_100
    assert "read_result" in sent
    assert any(character.isdigit() for character in sent.replace("offset=N", ""))
    assert result.answer == "ok"


def d04(stage: Stage, result: RunResult) -> None:
    """Ten results that each fit are cut together until the request fits; none of them is lost."""
    assert len(stage.ran("read_file")) == 10
    sent = sent_results(stage, -1)
    assert len(sent) == 10
    assert sum(map(len, sent)) < 4 * 8_000
    assert result.answer == "ok"


def d05(stage: Stage, result: RunResult) -> None:
    """The cap counts tokens: Chinese text is cut earlier than its characters would say."""
    (sent,) = sent_results(stage, 1)
    assert count_text(sent) <= 2_100
    assert len(sent) < 60_000
    assert result.answer == "ok"


def d05_base64(case: FieldCase, tmp_path: Path) -> None:
    """Base64 counts by its tokens too: the request stays within the window."""
    blob = base64.b64encode(bytes(n * 97 % 251 for n in range(90_000))).decode()

    def fetching(log: Log) -> list[BaseTool]:
        return [fake_tool("D05", "http_get", log, answer=lambda args, turn: blob)]

    with staged(case, tools=fetching) as stage:
        result = stage.run("x")
        assert count_text(sent_results(stage, 1)[0]) <= 2_100
        assert result.answer == "ok"


def d06(stage: Stage, result: RunResult) -> None:
    """A database error is told by its type."""
    (told,) = results(result)
    assert told.status == "error"
    assert "OperationalError" in told.text
    assert result.answer == "failed"


def d06_secret(case: FieldCase, tmp_path: Path) -> None:
    """A password in an exception's text reaches neither the model nor events nor the disk."""
    with staged(case, storage=f"sqlite:///{tmp_path}/runs.db") as stage:
        stage.run("x")
        assert "S3cret" not in json.dumps(stage.requests)
        assert "S3cret" not in str(stage.events)
    assert not any(b"S3cret" in path.read_bytes() for path in tmp_path.iterdir() if path.is_file())


def d09(stage: Stage, result: RunResult) -> None:
    """A tool that calls sys.exit fails, and neither the run nor the process ends with it."""
    (told,) = results(result)
    assert told.status == "error"
    assert "SystemExit" in told.text
    assert result.answer == "ok"


def d09_interrupt(case: FieldCase, tmp_path: Path) -> None:
    """Ctrl-C inside a tool reaches the caller; the thread can be resumed, and its transcript is in order."""

    def interrupting(log: Log) -> list[BaseTool]:
        def once(args: dict[str, Any], turn: int) -> str:
            if turn == 1:
                raise KeyboardInterrupt
            return "12:00"

        return [fake_tool("D09", "clock", log, answer=once)]

    with staged(case, script=[reply("", call("clock")), "noon"], tools=interrupting) as stage:
        with pytest.raises(KeyboardInterrupt):
            stage.run("x")
        result = stage.resume()
        assert result.answer == "noon"
        assert paired(result.messages)


def d13(stage: Stage, result: RunResult) -> None:
    """Nothing, None and an empty list are each sent as a text that is not empty."""
    assert stage.statuses() == ["ok", "ok", "ok"]
    assert all(text.strip() for text in sent_results(stage, 1))
    assert stage.refused == []
    assert result.answer == "ok"


def d13_list(case: FieldCase, tmp_path: Path) -> None:
    """An empty list is a result, not the absence of one."""
    with staged(case) as stage:
        assert texts(stage.run(messages_of(case)))[2] == "[]"


def d16(stage: Stage, result: RunResult) -> None:
    """Chinese in a structured result is sent as its characters."""
    (sent,) = sent_results(stage, 1)
    assert "中文" in sent
    assert "\\u" not in sent


def shipped(workspace: Path) -> Callable[[Log], list[BaseTool]]:
    """The tools that ship with Loopwright, on this folder."""
    return lambda _: default_tools(workspace)


def d17(case: FieldCase, tmp_path: Path) -> None:
    """GBK bytes are read as such and called so; bytes that are no text are described and not shown."""
    (tmp_path / "t.txt").write_bytes("中文".encode("gbk"))
    (tmp_path / "noise.txt").write_bytes(bytes(n * n * 31 % 256 for n in range(5_000)))
    (tmp_path / "letter.docx").write_bytes(b"PK\x03\x04" + bytes(range(256)) * 8)
    more = reply("", call("read_file", path="noise.txt"), call("read_file", path="letter.docx"))
    script: list[EndpointStep] = [step_of(case.script[0]), more, "ok"]
    with staged(case, script=script, tools=shipped(tmp_path)) as stage:
        result = stage.run("x")
        chinese, *binary = texts(result)
        assert "gb" in chinese.lower()
        assert "中文" in chinese or results(result)[0].status == "error"
        assert all("binary" in text or "not a text" in text for text in binary)
        assert all(len(text) < 500 for text in binary)
        assert result.answer == "ok"


def d19(case: FieldCase, tmp_path: Path) -> None:
    """A sibling folder whose name begins like the workspace's is outside, however the path is written."""
    (tmp_path / "agent").mkdir()
    (tmp_path / "agent-victim").mkdir()
    (tmp_path / "agent-victim" / "s.txt").write_text("the secret")
    paths = ["../agent-victim/s.txt", f"{tmp_path}/agent-victim/s.txt", "%2e%2e/agent-victim/s.txt"]
    script: list[EndpointStep] = [reply("", *[call("read_file", path=path) for path in paths]), "denied"]
    with staged(case, script=script, tools=shipped(tmp_path / "agent")) as stage:
        result = stage.run("x")
        assert stage.statuses() == ["error"] * 3
        assert "the secret" not in json.dumps(stage.requests)
        relative, absolute, encoded = texts(result)
        assert str(tmp_path) not in relative + encoded
        assert str(tmp_path / "agent") not in absolute.replace(paths[1], "")
        assert result.answer == "denied"


def d20(case: FieldCase, tmp_path: Path) -> None:
    """A link leads nowhere out of the workspace, be it the file itself or a folder on the way."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "passwd").write_text("the secret")
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    (workspace / "escape").symlink_to(outside)
    (workspace / "h").symlink_to(outside / "passwd")
    with staged(case, tools=shipped(workspace)) as stage:
        result = stage.run("x")
        assert stage.statuses() == ["error", "error"]
        assert "the secret" not in json.dumps(stage.requests)
        assert result.answer == "denied"


def d20_inside(case: FieldCase, tmp_path: Path) -> None:
    """A link that stays inside of the workspace can be read through."""
    (tmp_path / "real.txt").write_text("a line")
    (tmp_path / "link.txt").symlink_to("real.txt")
    with staged(case, script=[reply("", call("read_file", path="link.txt"))], tools=shipped(tmp_path)) as stage:
        assert "a line" in texts(stage.run("x"))[0]


def d22(case: FieldCase, tmp_path: Path) -> None:
    """A statement that deletes behind a CTE, and one that brings a second: both are refused, and no row is gone."""
    with closing(sqlite3.connect(tmp_path / "t.db")) as connection:
        connection.execute("create table t (id integer)")
        connection.execute("insert into t values (1), (2)")
        connection.commit()
    asking = query_database_tool(Workspace(tmp_path))

    def tools(_: Log) -> list[BaseTool]:
        def db_query(sql: str) -> str:
            """Ask the database."""
            return str(asking.invoke({"path": "t.db", "sql": sql}))

        return [tool_policy(StructuredTool.from_function(db_query), effect="read")]

    with staged(case, tools=tools) as stage:
        result = stage.run("x")
        assert result.answer == "denied"
        assert [message.status for message in results(result)] == ["error", "error"]
    with closing(sqlite3.connect(tmp_path / "t.db")) as connection:
        assert connection.execute("select count(*) from t").fetchone() == (2,)


def d23(case: FieldCase, tmp_path: Path) -> None:
    """The clock gives the date of the zone asked for, names the zone it used, and helps with an unknown one."""
    moment = datetime(2025, 8, 8, 4, 30, tzinfo=UTC)
    script: list[EndpointStep] = [
        reply("", call("now", timezone="America/Los_Angeles"), call("now"), call("now", timezone="Mars/Base")),
        "ok",
    ]
    with staged(case, script=script, tools=lambda _: [now_tool(lambda: moment)]) as stage:
        result = stage.run("x")
        west, default, unknown = results(result)
        assert "2025-08-07" in west.text
        assert "-07:00" in west.text
        assert "UTC" in default.text
        assert unknown.status == "error"
        assert "Asia/Shanghai" in unknown.text or "Did you mean" in unknown.text


# G: failures of the model's server


def waits_of(core: Core[Reply]) -> tuple[Reply, list[float]]:
    """The outcome of a request, and the seconds it would have slept between its tries; nothing sleeps."""
    waits: list[float] = []
    try:
        step = next(core)
        while True:
            if step.sync is time.sleep:
                waits.append(step.args[0])
                step = core.send(None)
                continue
            try:
                value = step.sync(*step.args)
            except Exception as error:
                step = core.throw(error)
            else:
                step = core.send(value)
    except StopIteration as done:
        return done.value, waits


def g01(case: FieldCase, tmp_path: Path) -> None:
    """The wait is what the server asked for, three seconds, not a back-off of our own."""
    with ModelEndpoint([step_of(given) for given in case.script]) as endpoint:
        outcome, waits = waits_of(
            ask_model(
                BoundModel(load_model("openai:scripted", base_url=endpoint.base_url, api_key=SecretStr("x"))),
                [HumanMessage("x")],
                ModelSettings(),
                used_ids=set(),
                demands_finish=True,
                on_retry=lambda *_: None,
            )
        )
        assert waits == [3.0]
        assert outcome.message is not None
        assert outcome.message.text == "ok"
        assert endpoint.rejected == []
    with staged(case, script=[Status(429, retry_after=0.01), "ok"]) as stage:
        result = stage.run("x")
        assert (result.answer, len(stage.requests)) == ("ok", 2)


def g01_too_long(case: FieldCase, tmp_path: Path) -> None:
    """A wait of an hour is not waited for: the run ends and says so, and the thread can be resumed."""
    with staged(case, script=[Status(429, retry_after=3_600), "ok"]) as stage:
        result = stage.run("x")
        assert (reason(result), len(stage.requests)) == ("model_error", 1)
        assert "429" in result.answer
        assert stage.resume().answer == "ok"


def g01_headers(case: FieldCase, tmp_path: Path) -> None:
    """A Retry-After that cannot be read counts as none, so that the own back-off holds."""
    assert retry_after(refusal_with("3")) == 3.0
    assert retry_after(refusal_with("abc")) is None


def g01_date(case: FieldCase, tmp_path: Path) -> None:
    """A Retry-After that is a date means the time until then."""
    wait = retry_after(refusal_with(format_datetime(datetime.now(UTC) + timedelta(seconds=30), usegmt=True)))
    assert wait is not None
    assert 20 < wait <= 30


def refusal_with(header: str) -> httpx.HTTPStatusError:
    """A 429 as an HTTP client raises it, with this Retry-After."""
    request = httpx.Request("POST", "http://127.0.0.1/v1/chat/completions")
    response = httpx.Response(429, headers={"retry-after": header}, request=request)
    return httpx.HTTPStatusError("Too Many Requests", request=request, response=response)


def g02(stage: Stage, result: RunResult) -> None:
    """A request that the server finds too long is compressed once and made again; the work so far is kept."""
    assert len(compressions(stage)) == 1
    assert stage.statuses() == ["ok"]
    assert len(stage.requests) == 3
    assert completed(result)
    assert paired(result.messages)


def g02_again(case: FieldCase, tmp_path: Path) -> None:
    """Too long a second time ends the run with that reason; the thread takes the next message."""
    refused = step_of("HTTP 400 code=context_length_exceeded")
    with staged(case, script=[step_of(case.script[0]), refused, refused, "hello"]) as stage:
        result = stage.run("x")
        assert (reason(result), len(stage.requests)) == ("context", 3)
        assert paired(result.messages)
        assert stage.run("and now?").answer == "hello"


def without_summary(case: FieldCase) -> tuple[Stage, RunResult]:
    """The case with sixty rounds before it, so that there is something to summarise; each request has two tries."""
    history: list[AnyMessage] = [HumanMessage("read them all")]
    for n in range(60):
        made: Any = {"name": "read_file", "args": {"path": f"f{n}"}, "id": f"c{n}", "type": "tool_call"}
        history += [AIMessage("", tool_calls=[made]), ToolMessage(f"the text of file number {n}", tool_call_id=f"c{n}")]
    settings = Settings(model=ModelSettings(retry_delay=0, tries=2))
    with staged(case, settings=settings) as stage:
        return stage, stage.run([*history, HumanMessage("go on")])


def compressions(stage: Stage) -> list[CompressionEvent]:
    """The compressions of the stage's runs."""
    return [event for event in stage.events if event["kind"] == "compression"]


def g03(case: FieldCase, tmp_path: Path) -> None:
    """When the summary fails too, older work shrinks to a marked block without one, and the run goes on."""
    stage, result = without_summary(case)
    assert (result.answer, len(stage.requests)) == ("answer", 5)
    (done,) = compressions(stage)
    assert (done["stage"], done["summary_tokens"]) == ("fold", 0)
    assert done["after"] < done["before"]
    assert len(sent_results(stage, 4)) < len(sent_results(stage, 1)) == 61
    assert any("Memory of earlier work" in str(message["content"]) for message in stage.requests[4])


def g03_told(case: FieldCase, tmp_path: Path) -> None:
    """That the summary failed, and how, stands in the log of the run."""
    stage, _ = without_summary(case)
    assert "500" in str(compressions(stage))


def g04(stage: Stage, result: RunResult) -> None:
    """A stream that breaks inside a call is asked for again: nothing ran, nothing of it stays in the thread."""
    assert stage.log == []
    assert [message.text for message in result.messages if isinstance(message, AIMessage)] == ["ok"]
    assert len(stage.requests) == 2
    assert stage.requests[0] == stage.requests[1]
    assert stage.run("and now?").answer == "done"


def g07(case: FieldCase, tmp_path: Path) -> None:
    """Without settings neither a temperature nor the old name of the reply's limit is sent."""

    def plain(base_url: str) -> BaseChatModel:
        return load_model("openai:gpt-5", base_url=base_url, api_key=SecretStr("x"))

    with staged(case, model=plain) as stage:
        result = stage.run("x")
        assert stage.refused == []
        assert not {"temperature", "max_tokens"} & stage.endpoint.requests[0].body.keys()
        assert result.answer == "ok"


def g07_explicit(case: FieldCase, tmp_path: Path) -> None:
    """A temperature that the model refuses is left out at once; the reply's limit goes under its new name."""
    settings = ModelSettings(temperature=0, max_tokens=500, retry_delay=0)

    def explicit(base_url: str) -> BaseChatModel:
        return load_model("openai:reasoner", base_url=base_url, api_key=SecretStr("x"), settings=settings)

    with staged(case, model=explicit, settings=Settings(model=settings)) as stage:
        result = stage.run("x")
        body = stage.endpoint.requests[0].body
        assert body["max_completion_tokens"] == 500
        assert "max_tokens" not in body
        assert (completed(result), len(stage.refused)) == (True, 1)
        assert "temperature" not in stage.endpoint.requests[-1].body


def g08(stage: Stage, result: RunResult) -> None:
    """A filtered reply ends the run at once under its own name, not as an empty one."""
    assert (reason(result), result.complete) == ("content_filter", False)
    assert len(stage.requests) == 1


REFUSAL: ReplyDict = {"content": None, "refusal": "I cannot", "finish_reason": "stop"}


def g08_refusal(case: FieldCase, tmp_path: Path) -> None:
    """A streamed refusal of a model that we build ends the run at once: no second request is made."""

    def ours(base_url: str) -> BaseChatModel:
        return load_model("openai:any", base_url=base_url, api_key=SecretStr("x"))

    with staged(case, script=[REFUSAL], model=ours) as stage:
        result = stage.run("x")
        assert (reason(result), len(stage.requests)) == ("refusal", 1)
        assert "I cannot" in result.answer


def g08_refused(case: FieldCase, tmp_path: Path) -> None:
    """A model of langchain-openai's own class, which drops streamed refusals, is asked once more, unstreamed."""
    with staged(case, script=[REFUSAL] * 4) as stage:
        result = stage.run("x")
        assert (reason(result), result.complete) == ("refusal", False)
        assert "I cannot" in result.answer
        assert len(stage.requests) <= 2


def g09(stage: Stage, result: RunResult) -> None:
    """A model without tools is not asked again, and the answer names it."""
    assert (reason(result), len(stage.requests)) == ("model_error", 1)
    assert "deepseek-r1:14b" in result.answer
    assert "tools" in result.answer


def g09_advice(case: FieldCase, tmp_path: Path) -> None:
    """The advice is to take a model that can call tools, not to try again."""
    with staged(case) as stage:
        result = stage.run("x")
        assert result.stop is not None
        assert "tool" in result.stop["advice"]


def g10(stage: Stage, result: RunResult) -> None:
    """Where the server wants its reasoning back, it is sent back, or the answer says what was missing."""
    if stage.refused:
        assert (reason(result), len(stage.refused)) == ("model_error", 1)
        assert "reasoning_content" in result.answer
    else:
        assert completed(result)
    assert stage.statuses() == ["ok"]


CHECKS: dict[str, Check] = {
    "A01": a01, "A03": a03, "A06": a06, "A07": a07, "A08": a08, "A10": a10, "A12": a12, "A14": a14, "A16": a16,
    "A17": a17,
    "B01": b01, "B02": b02, "B03": b03, "B04": b04, "B05": b05, "B08": b08, "B09": b09, "B10": b10, "B11": b11,
    "B13": b13, "B15": b15, "B16": b16, "B20": b20, "B22": b22,
    "C01": c01, "C03": c03, "C04": c04, "C06": c06, "C07": c07, "C08": c08, "C09": c09, "C10": c10, "C13": c13,
    "C16": c16, "C17": c17, "C18": c18, "C20": c20, "C22": c22,
    "D01": d01, "D02": d02, "D03": d03, "D04": d04, "D05": d05, "D06": d06, "D09": d09, "D13": d13, "D16": d16,
    "G02": g02, "G04": g04, "G08": g08, "G09": g09, "G10": g10,
}  # fmt: skip
"""What is asked of a case once it was played as it stands in the file."""

OWN: dict[str, Variant] = {
    "A12-stored": a12_stored, "A16-warning": a16_warning,
    "B03-cycle": b03_cycle, "B08-four": b08_four, "B09-forward": b09_forward,
    "B20-graph": b20_graph, "C04-told": c04_told, "C04-unstreamed": c04_unstreamed,
    "C06-half": c06_half, "C20-alone": c20_alone, "D01-repeat": d01_repeat,
    "D05-base64": d05_base64, "D06-secret": d06_secret, "D09-interrupt": d09_interrupt, "D13-list": d13_list,
    "D17": d17, "D19": d19, "D20": d20, "D20-inside": d20_inside, "D22": d22,
    "D23": d23,
    "G01": g01, "G01-too-long": g01_too_long, "G01-headers": g01_headers, "G01-date": g01_date,
    "G02-again": g02_again, "G03": g03, "G03-told": g03_told, "G07": g07, "G07-explicit": g07_explicit,
    "G08-refusal": g08_refusal, "G08-refused": g08_refused, "G09-advice": g09_advice,
}  # fmt: skip
"""Cases, and further sides of a case, that set their stage themselves."""

CASES = {case.id: case for case in field_cases("ABCDG")}


def marked(key: str) -> Any:
    """A parameter under its own id, skipped where the feature is missing."""
    marks: list[pytest.MarkDecorator] = []
    if key in NOT_YET:
        marks.append(pytest.mark.skip(reason=NOT_YET[key]))
    return pytest.param(key, id=key, marks=marks)


@pytest.mark.parametrize("key", [marked(key) for key in CASES if key in CHECKS or key in NOT_YET])
def test_reported(key: str, tmp_path: Path) -> None:
    """A reported thread, script and set of tools end as they should, with legal requests, a stop reason, an answer."""
    case = CASES[key]
    with staged(case, storage=f"sqlite:///{tmp_path}/runs.db" if key in STORED else "memory:") as stage:
        CHECKS[key](stage, stage.run(messages_of(case)))


@pytest.mark.parametrize("key", [marked(key) for key in OWN])
def test_reported_with_a_stage_of_its_own(key: str, tmp_path: Path) -> None:
    """A reported failure that needs files, a clock, a second agent or another script ends as it should as well."""
    OWN[key](CASES[key.split("-")[0]], tmp_path)


def test_every_case_has_its_check() -> None:
    """No case of these kinds is left out in silence, and no table names one that is not there."""
    checked = {*CHECKS, *NOT_YET, *(key.split("-")[0] for key in OWN)}
    assert checked == set(CASES)
