"""LangGraph's server while memory is compressed: the summary reaches the state, and no listener as an answer."""

from collections.abc import Iterator
from typing import Any

import pytest
from langgraph_sdk.schema import StreamPart
from tests.studio.dev_server import DevServer, asked, dev_server, write_project

from loopwright.testing import ModelEndpoint, call, reply
from loopwright.testing.json_types import JSONObject
from loopwright.testing.steps import EndpointStep

AGENT = '''
import os

from langchain_core.tools import tool
from langchain_openai import ChatOpenAI

from loopwright import Settings, build_graph, tool_policy


@tool
def page(number: int) -> str:
    """A page of the log."""
    return f"page {number}: " + "the pump ran hot and was stopped; " * 60


model = ChatOpenAI(model="scripted", base_url=os.environ["ENDPOINT"], api_key="x")
graph = build_graph(model, [tool_policy(page, effect="read")], Settings(context_tokens=1500))
'''
PAGES = 5
SUMMARY = "Zebra: every page so far tells of a hot pump."
ANSWER = "The pump was stopped on every page."


class Reader:
    """Asks for one page after the other, then answers, and does so again in the next run; sums up where it is asked to.

    A request for a summary is one without tools.
    """

    def __init__(self) -> None:
        self.asked = 0

    def __call__(self, body: JSONObject) -> EndpointStep:
        if not body.get("tools"):
            return SUMMARY
        self.asked += 1
        return reply("", call("page", number=self.asked)) if self.asked % (PAGES + 1) else ANSWER


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DevServer]:
    """The server of that agent."""
    folder = tmp_path_factory.mktemp("reader")
    write_project(folder, AGENT, "reader")
    with ModelEndpoint(Reader()) as endpoint, dev_server(folder, ENDPOINT=endpoint.base_url) as server:
        yield server


def streamed(server: DevServer, mode: Any, **options: Any) -> tuple[list[StreamPart], dict[str, Any]]:
    """What a run on a new thread streams in this mode, and the values that it leaves."""
    thread = server.client.threads.create()["thread_id"]
    parts = list(server.client.runs.stream(thread, "reader", input=asked("Read the log."), stream_mode=mode, **options))
    values: Any = server.client.threads.get_state(thread)["values"]
    return parts, values


@pytest.mark.parametrize("mode", ["messages-tuple", "messages"])
def test_no_token_of_a_summary_is_streamed(reader: DevServer, mode: str) -> None:
    """The answer comes in tokens, the summary in none: it stands in the view that the state holds."""
    parts, values = streamed(reader, mode)
    assert values["view"]["summary"] == SUMMARY
    assert values["answer"] == ANSWER
    messages: list[Any] = [part.data for part in parts if part.event.startswith("messages")]
    said = "".join(each.get("content", "") for pair in messages if isinstance(pair, list) for each in pair)
    assert ANSWER in said
    assert "Zebra" not in said


def test_tokens_of_a_summary_are_marked_in_the_trace(reader: DevServer) -> None:
    """Mode `events` is LangChain's whole trace: what comes of a summary is in it, tagged `nostream` for who filters.

    Its runs have LangChain's recursion limit of 25 unless another is sent.
    """
    parts, values = streamed(reader, "events", config={"recursion_limit": 200})
    assert values["view"]["summary"] == SUMMARY
    assert values["answer"] == ANSWER
    events: list[Any] = [part.data for part in parts if part.event == "events"]
    tokens = [each for each in events if each["event"] == "on_chat_model_stream"]
    assert {(each["metadata"]["langgraph_node"], "nostream" in each["tags"]) for each in tokens} == {
        ("call_model", False),
        ("compress_memory", True),
    }
