"""Failures of memory that people reported in public, played against a real agent: requests fit, nothing is lost."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage
from langchain_core.tools import BaseTool, tool
from tests.graph.field_adapter import FIELD_CASES, FieldCase, Stage, field_cases, messages_of, staged, step_of

from loopwright import RunResult, Settings
from loopwright.memory import count_message, count_text
from loopwright.memory.encodings import encoding_for
from loopwright.settings import MemorySettings, ModelSettings
from loopwright.testing.json_types import JSONObject
from loopwright.testing.steps import EndpointStep

pytestmark = pytest.mark.skipif(not FIELD_CASES.exists(), reason="the field cases are not beside this repository")

CASES = {case.id: case for case in field_cases("E")}
WRITES_MEMORY = "You write the memory of an assistant"
MEMORY = "[Memory of earlier work"

Script = Sequence[EndpointStep]


def small(budget: int, summary_tokens: int = 200) -> Settings:
    """So many tokens a request, a summary of so many, nothing that waits."""
    memory = MemorySettings(summary_tokens=summary_tokens)
    return Settings(context_tokens=budget, memory=memory, model=ModelSettings(retry_delay=0, tries=2, max_tokens=200))


def is_summary(messages: list[dict[str, Any]]) -> bool:
    """Whether this request asks for a summary."""
    return str(messages[0]["content"]).startswith(WRITES_MEMORY)


def summarised(answer: Callable[[str], str], final: str = "answer", times: int = 40) -> Script:
    """A model whose summaries are made by `answer` from what it is asked; every other request gets `final`."""

    def step(body: JSONObject) -> EndpointStep:
        asked: Any = body["messages"]
        return answer(asked[-1]["content"]) if is_summary(asked) else final

    return [step] * times


def tokens_of(case: FieldCase, *kinds: type[AnyMessage]) -> int:
    """What the case's history takes, or its messages of these kinds."""
    return sum(count_message(m) for m in messages_of(case) if not kinds or isinstance(m, kinds))


def requests(stage: Stage) -> list[list[dict[str, Any]]]:
    """The requests of the run itself."""
    return [messages for messages in stage.requests if not is_summary(messages)]


def text(messages: list[dict[str, Any]]) -> str:
    """All text of a request."""
    return "\n".join(str(message["content"]) for message in messages)


def ended(result: RunResult) -> str:
    """Why the run ended."""
    assert result.stop is not None
    return result.stop["reason"]


def e02(case: FieldCase) -> None:
    """The summariser is given the tool turns, though no user message stands among them."""
    with staged(case, script=summarised(lambda _: "SUMMARY"), settings=small(800)) as stage:
        result = stage.run(messages_of(case))
        asked = [messages for messages in stage.requests if is_summary(messages)]
        assert asked
        assert all(said in text(asked[0]) for said in ("Call clock({})", "Result of", "characters left out"))
        assert result.answer == "answer"
        assert "SUMMARY" in text(requests(stage)[-1])


def e04(case: FieldCase) -> None:
    """What the user forbade stands there word for word after two compressions, whatever the summariser wrote."""
    rule = messages_of(case)[0].text
    lazy = summarised(lambda _: "The user asked about sales.", final="ok " * 400)
    with staged(case, script=lazy, settings=small(1_400)) as stage:
        stage.run(messages_of(case))
        for turn in range(6):
            stage.run(f"and {turn}?")
        assert len([event for event in stage.events if event["kind"] == "compression"]) >= 2
        assert all(rule in text(messages) for messages in requests(stage))


def e05(case: FieldCase) -> None:
    """A summariser that keeps only the end of its input takes nothing away of what the user said."""
    with staged(case, script=summarised(lambda asked: asked[-200:]), settings=small(1_500)) as stage:
        stage.run([*messages_of(case), AIMessage("ok " * 1_000), HumanMessage("What was the ticket's number?")])
        assert any(event["kind"] == "compression" for event in stage.events)
        for messages in requests(stage):
            assert all(value in text(messages) for value in ("eu-west-3", "INC-8841", "14 May"))


def e05_window(case: FieldCase) -> None:
    """With a window of eight messages the summary may lose all values: the user's words stand in every request."""
    windowed = Settings(memory=MemorySettings(window=case.settings["window_messages"], summary_rounds=1))
    with staged(case, script=summarised(lambda _: "nothing of note"), settings=windowed) as stage:
        stage.run([*messages_of(case), *[AIMessage("ok")] * 9, HumanMessage("What was the ticket's number?")])
        assert any(event["kind"] == "compression" and event["stage"] == "window" for event in stage.events)
        for messages in requests(stage):
            assert all(value in text(messages) for value in ("eu-west-3", "INC-8841", "14 May"))


def e06(case: FieldCase) -> None:
    """A summariser that echoes its input never makes the summary grow; there is one memory block at most."""
    budget = tokens_of(case, HumanMessage) + 2_500
    with staged(case, script=summarised(lambda asked: asked, "fine " * 500), settings=small(budget, 300)) as stage:
        stage.run(messages_of(case))
        for turn in range(25):
            stage.run(f"turn {turn}")
        done = [event for event in stage.events if event["kind"] == "compression"]
        assert len(done) >= 5
        assert all(event["summary_tokens"] <= 600 for event in done)
        assert all(text(messages).count(MEMORY) <= 1 for messages in requests(stage))


def e07(case: FieldCase) -> None:
    """The user's one request stands in every request, however many calls follow it."""
    script = [step_of(given) for given in case.script]
    with staged(case, script=script, settings=small(900)) as stage:
        result = stage.run("audit these files")
        assert result.answer == "report"
        assert any(event["kind"] == "compression" for event in stage.events)
        assert all("audit these files" in text(messages) for messages in requests(stage))


def e07_window(case: FieldCase) -> None:
    """With a window of ten messages the request stays in front, and each call keeps its result."""
    script = [step_of(given) for given in case.script]
    windowed = Settings(memory=MemorySettings(window=case.settings["window_messages"], summary=False))
    with staged(case, script=script, settings=windowed) as stage:
        result = stage.run("audit these files")
        assert result.answer == "report"
        for messages in requests(stage):
            assert "audit these files" in text(messages)
            assert sum(message["role"] in ("assistant", "tool") for message in messages) <= 10


def e08(case: FieldCase) -> None:
    """A summary request never overflows as well: none of them is refused, and the run goes on."""
    with staged(case, script=summarised(lambda _: "S1")) as stage:
        result = stage.run(messages_of(case))
        assert ended(result) == "answered"
        assert stage.endpoint.rejected == []


def e10(case: FieldCase) -> None:
    """Two huge messages are both shortened; what is sent is within the budget."""
    with staged(case) as stage:
        result = stage.run(messages_of(case))
        assert ended(result) == "answered"
        assert all(event["request_tokens"] <= 4_000 for event in stage.events if event["kind"] == "model")


def e12(case: FieldCase) -> None:
    """A system prompt over the budget ends the run before any request, saying by how much."""
    prompt = "rule " * 400
    with staged(case, settings=small(200).model_copy(update={"system_prompt": prompt})) as stage:
        result = stage.run(messages_of(case))
        assert ended(result) == "context"
        assert stage.requests == []
        assert "more than the budget of 200" in result.answer


def e13(case: FieldCase) -> None:
    """Thirty tool schemas count: with them the request is within the budget."""

    def make(number: int) -> BaseTool:
        @tool(f"tool_{number}", description="One of many tools. " * 12)
        def many(first: str, second: int, third: bool) -> str:
            return f"{first}{second}{third}"

        return many

    many = replace(case, settings={})  # the server's own count of these texts is twice a tokenizer's
    script, tools = summarised(lambda _: "S"), [make(n) for n in range(30)]
    with staged(many, script=script, tools=lambda log: tools, settings=small(4_500)) as stage:
        result = stage.run(messages_of(case))
        assert ended(result) == "answered"
        sent = [event for event in stage.events if event["kind"] == "model"]
        assert any(event["kind"] == "compression" for event in stage.events)
        assert all(event["parts"]["tools"] > 1_500 and event["request_tokens"] <= 4_500 for event in sent)


def e14(case: FieldCase) -> None:
    """Chinese, emoji and Hangul count as a tokenizer counts them, and the request fits the small window."""
    encoding = encoding_for("")
    for message in messages_of(case):
        assert count_text(message.text) >= len(encoding.encode_ordinary(message.text))
    with staged(case, script=summarised(lambda _: "S")) as stage:
        stage.run(messages_of(case))
        assert all(count_text(text(messages)) <= 2_000 for messages in stage.requests)


CHECKS: dict[str, Callable[[FieldCase], None]] = {
    "E02": e02, "E04": e04, "E05": e05, "E06": e06, "E07": e07, "E08": e08, "E10": e10, "E12": e12, "E13": e13,
    "E14": e14,
}  # fmt: skip
ELSEWHERE = {"E15": "test_counting.py: test_counting_needs_neither_network_nor_a_folder"}
"""Cases that are about counting alone, with where they are held."""


WINDOWED: dict[str, Callable[[FieldCase], None]] = {"E05": e05_window, "E07": e07_window}
"""The cases that were reported of a window of messages, with such a window."""


@pytest.mark.parametrize("key", WINDOWED)
def test_reported_of_a_window(key: str) -> None:
    """The same failure under the window that it was reported of."""
    WINDOWED[key](CASES[key])


@pytest.mark.parametrize("key", CHECKS)
def test_reported(key: str) -> None:
    """A reported thread, script and set of tools end as they should: requests fit, the goal stays in sight."""
    CHECKS[key](CASES[key])


def test_every_case_has_its_check() -> None:
    """No case of this kind is left out in silence, and no table names one that is not there."""
    assert {*CHECKS, *ELSEWHERE} == set(CASES)
    for where in ELSEWHERE.values():
        file, name = where.split(": ")
        assert f"def {name}(" in (Path(__file__).parent / file).read_text(encoding="utf-8")
