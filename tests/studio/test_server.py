"""LangGraph's own server, started as a user starts it, driven through its SDK: no key, no network but loopback.

So it is checked through the API; how the hosted Studio page draws it cannot be checked here.
"""

import re
from typing import Any

import pytest
from langgraph_sdk.client import SyncLangGraphClient
from langgraph_sdk.schema import Command
from tests.studio.dev_server import DevServer, asked


def test_schemas_and_drawing(client: SyncLangGraphClient, assistant: str) -> None:
    """Input, output, context have schemas; every edge is drawn, the guard's conditional; nodes describe themselves."""
    schemas: Any = client.assistants.get_schemas(assistant)
    assert all(schemas[name] for name in ("input_schema", "output_schema", "state_schema", "context_schema"))
    limits = schemas["context_schema"]["properties"]["max_model_calls"]
    assert limits["langgraph_nodes"] == ["guard"]
    drawing: Any = client.assistants.get_graph(assistant)
    conditional = {(edge["source"], edge["target"]) for edge in drawing["edges"] if edge.get("conditional")}
    assert conditional == {
        ("guard", goal) for goal in ("call_model", "compress_memory", "execute_tools", "ask", "finish")
    }
    assert len(drawing["edges"]) == 12
    described = {node["id"]: node.get("metadata", {}).get("description") for node in drawing["nodes"]}
    assert all(described[name] for name in described if not name.startswith("__"))


def test_what_a_person_can_type(client: SyncLangGraphClient, assistant: str) -> None:
    """The input is messages; every override has a title, a description, flat values, and the nodes it acts on."""
    schemas: Any = client.assistants.get_schemas(assistant)
    assert "messages" in schemas["input_schema"]["properties"]
    fields = schemas["context_schema"]["properties"]
    for name, shown in fields.items():
        assert shown["title"], name
        assert shown["description"], name
        if name != "user":  # the caller's own data
            assert shown["langgraph_nodes"], name
            kinds = [each.get("type", "enum" if "enum" in each else "") for each in shown.get("anyOf", [shown])]
            assert {*kinds} <= {"string", "integer", "number", "boolean", "null"}, name
    assert fields["max_model_calls"]["anyOf"][0]["minimum"] == 1
    assert fields["system_prompt"]["langgraph_type"] == "prompt"
    assert next(each.get("enum") for each in fields["on_limit"]["anyOf"]) == ["close", "ask"]


def test_the_assistant_says_what_it_is(client: SyncLangGraphClient) -> None:
    """The description of langgraph.json is the assistant's."""
    assert "every decision is a node" in str(client.assistants.search()[0].get("description"))


def test_assistants_with_different_contexts(client: SyncLangGraphClient) -> None:
    """Two assistants of one graph, each with its own limit: one is stopped at it, the other answers."""
    reasons = {}
    for limit in (1, 9):
        made = client.assistants.create("loopwright", name=f"at most {limit}", context={"max_model_calls": limit})
        thread = client.threads.create()["thread_id"]
        result: Any = client.runs.wait(thread, made["assistant_id"], input=asked("What is 12*3?"))
        reasons[limit] = result["stop"]["reason"]
    assert reasons == {1: "model_calls", 9: "answered"}


def test_a_run_streams_its_log_and_its_answer(client: SyncLangGraphClient, assistant: str) -> None:
    """Custom mode carries every event, messages mode the answer; state and history are there afterwards."""
    thread = client.threads.create()["thread_id"]
    kinds, errors, text = [], [], ""
    for part in client.runs.stream(
        thread,
        assistant,
        input=asked("What is 12*3?"),
        stream_mode=["custom", "messages-tuple"],
        context={"max_model_calls": 7},
    ):
        if part.event == "custom":
            kinds.append(part.data["kind"])
        elif part.event == "error":
            errors.append(part.data)
        elif part.event == "messages":
            text += str(part.data[0]["content"])
    assert errors == []
    assert [kinds[0], kinds[-1]] == ["begin", "stop"]
    assert {"decision", "model", "call", "answer"} <= set(kinds)
    assert "36" in text
    values: Any = client.threads.get_state(thread)["values"]
    assert re.search(r"\b36\b", values["answer"])
    assert values["run"]["limits"]["model_calls"] == 7
    assert len(client.threads.get_history(thread, limit=50)) > 8


def test_every_stream_mode(client: SyncLangGraphClient, assistant: str) -> None:
    """Each mode says something, none an error; tokens come once, and those of no other node than call_model."""
    thread = client.threads.create()["thread_id"]
    modes: list[Any] = ["values", "updates", "custom", "messages-tuple", "tasks", "checkpoints"]
    parts = list(client.runs.stream(thread, assistant, input=asked("What is 7*6?"), stream_mode=modes))
    seen = {part.event.partition("|")[0] for part in parts}
    assert {"values", "updates", "custom", "messages", "tasks", "checkpoints"} <= seen
    assert "error" not in seen
    tokens = [part.data for part in parts if part.event == "messages"]
    assert {metadata["langgraph_node"] for message, metadata in tokens if message["type"] == "AIMessageChunk"} == {
        "call_model"
    }
    answer: Any = client.threads.get_state(thread)["values"]["messages"][-1]  # type: ignore[call-overload]
    spoken = [message["content"] for message, _ in tokens if message["id"] == answer["id"]]
    assert "".join(spoken) == answer["content"]


def test_the_state_is_readable(client: SyncLangGraphClient, assistant: str) -> None:
    """Plain values under plain names, the short ones first, in the schema as in the values."""
    thread = client.threads.create()["thread_id"]
    client.runs.wait(thread, assistant, input=asked("What is 12*3?"))
    values: Any = client.threads.get_state(thread)["values"]
    assert [*values] == ["answer", "stop", "verdict", "run", "messages", "view", "events"]
    assert values["run"]["status"] == "completed"
    assert values["verdict"]["go"] == "finish"
    schemas: Any = client.assistants.get_schemas(assistant)
    assert [name for name in schemas["state_schema"]["properties"] if name in values] == [*values]


def test_a_looping_model_is_stopped_at_an_override(client: SyncLangGraphClient, assistant: str) -> None:
    """A context override holds for its run: one model call, then the closing answer."""
    thread = client.threads.create()["thread_id"]
    result: Any = client.runs.wait(
        thread,
        assistant,
        input=asked("What is 12*3 and what is 4*5?"),
        context={"max_model_calls": 1},
    )
    assert result["stop"]["reason"] == "model_calls"
    assert result["answer"]


@pytest.mark.parametrize(
    ("decision", "said"),
    [({"type": "approve"}, "JST"), ({"type": "respond", "message": "It is noon in Tokyo."}, "noon")],
)
def test_an_approval_over_the_server(
    client: SyncLangGraphClient, assistant: str, decision: dict[str, Any], said: str
) -> None:
    """The thread is interrupted with LangChain's HITLRequest; a chat front end's HITLResponse goes on."""
    thread = client.threads.create()["thread_id"]
    client.runs.wait(thread, assistant, input=asked("What time is it in Tokyo?"))
    state: Any = client.threads.get_state(thread)
    (interrupt,) = state["interrupts"]
    assert interrupt["value"]["action_requests"][0]["name"] == "now"
    assert client.threads.get(thread)["status"] == "interrupted"
    result: Any = client.runs.wait(thread, assistant, command=Command(resume={"decisions": [decision]}))
    assert said in result["answer"]
    assert client.threads.get(thread)["status"] == "idle"


def test_a_budget_over_the_server(client: SyncLangGraphClient, assistant: str) -> None:
    """At a limit the run pauses with an editable action; the edited budget is what it goes on under."""
    thread = client.threads.create()["thread_id"]
    context: dict[str, Any] = {"max_model_calls": 1, "on_limit": "ask"}
    client.runs.wait(thread, assistant, input=asked("What is 12*3?"), context=context)
    edit = {"type": "edit", "edited_action": {"name": "extend_budget", "args": {"model_calls": 9}}}
    result: Any = client.runs.wait(thread, assistant, command=Command(resume={"decisions": [edit]}), context=context)
    assert "36" in result["answer"]
    values: Any = client.threads.get_state(thread)["values"]
    assert values["run"]["limits"]["model_calls"] == 9


def test_an_edit_forks_the_thread(client: SyncLangGraphClient, assistant: str) -> None:
    """The task is edited in the checkpoint before the first decision; the branch answers the new one, the old stays."""
    thread = client.threads.create()["thread_id"]
    client.runs.wait(thread, assistant, input=asked("What is 12*3?"))
    history: Any = client.threads.get_history(thread, limit=100)
    before = next(each for each in reversed(history) if each["next"] == ["guard"])
    task = before["values"]["messages"][0]
    assert task["type"] == "human"
    edited = {"messages": [{**task, "content": "What is 5*5?"}]}
    made: Any = client.threads.update_state(thread, edited, checkpoint=before["checkpoint"], as_node="begin")
    result: Any = client.runs.wait(thread, assistant, input=None, checkpoint_id=made["checkpoint"]["checkpoint_id"])
    assert "25" in result["answer"]
    assert [message["content"] for message in result["messages"] if message["type"] == "human"] == ["What is 5*5?"]
    answers = [each["values"].get("answer", "") for each in client.threads.get_history(thread, limit=100)]  # type: ignore[union-attr]
    assert any("36" in answer for answer in answers)


def test_history_by_metadata(client: SyncLangGraphClient, assistant: str) -> None:
    """Threads are found by their metadata, checkpoints by that of the run that wrote them."""
    thread = client.threads.create(metadata={"customer": "C-7"})["thread_id"]
    client.runs.wait(thread, assistant, input=asked("What is 12*3?"), metadata={"ticket": "first"})
    client.runs.wait(thread, assistant, input=asked("What is 4*5?"), metadata={"ticket": "second"})
    assert [each["thread_id"] for each in client.threads.search(metadata={"customer": "C-7"})] == [thread]
    found: Any = client.threads.get_history(thread, metadata={"ticket": "second"}, limit=100)
    assert found
    assert {each["values"]["run"]["number"] for each in found if each["values"].get("run")} <= {1, 2}
    assert len(found) < len(client.threads.get_history(thread, limit=100))


def test_nothing_blocked_the_event_loop(server: DevServer) -> None:
    """After all of the above the server's log has no blocking call, no traceback and no request to elsewhere."""
    log = "".join(server.said)
    assert "BlockingError" not in log
    assert "Traceback" not in log
