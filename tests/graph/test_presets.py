"""The five published loops as presets: what a preset fills, each one's own rule, and an answer at every stop."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langchain_core.tools import BaseTool, tool
from langchain_openai import ChatOpenAI
from pydantic import SecretStr, ValidationError

from loopwright import Agent, RunResult, Settings, tool_policy
from loopwright.presets import PRESETS, PresetName, in_language
from loopwright.settings import GuardSettings, MemorySettings, ModelSettings
from loopwright.testing import ModelEndpoint, ScriptedModel, call, reply
from loopwright.testing.steps import EndpointStep

NAMES: Sequence[PresetName] = list(PRESETS)
NATIVE: Sequence[PresetName] = [name for name in NAMES if PRESETS[name].values["protocol"] == "native"]
EVERY = pytest.mark.parametrize("name", NAMES)


def quick(name: PresetName, **more: Any) -> Settings:
    """The preset with native tool calls, nothing that waits, and nobody to be asked."""
    model = ModelSettings(retry_delay=0)
    return Settings(preset=name, **{"protocol": "native", "model": model, "guard": GuardSettings(ask=False), **more})


def looking(answer: Callable[[str], str] = lambda at: f"{at} is fine") -> BaseTool:
    """A reading tool."""

    @tool
    def look(at: str) -> str:
        """Look at something. Use when a place is named; do not use for anything else."""
        return answer(at)

    return tool_policy(look, effect="read")


def missing(at: str) -> str:
    """What a look brings where nothing is."""
    raise ValueError(f"there is no {at}")


def look(at: str) -> AIMessage:
    """A reply that looks at one place."""
    return reply("", call("look", at=at))


def ended(result: RunResult) -> tuple[str, str]:
    """Reason and policy of the end, which is one with an answer."""
    assert result.stop is not None
    assert result.answer.strip()
    return result.stop["reason"], result.stop["policy"]


def play(name: PresetName, script: Sequence[Any], answer: Callable[[str], str] = lambda at: at) -> RunResult:
    """A run of the preset over these replies; the closing answer behind them."""
    rest = iter([*script, *["what was found"] * 9])
    model = ScriptedModel(lambda messages: "A short text." if of_memory(messages[0].content) else next(rest))
    return Agent(model, [looking(answer)], settings=quick(name)).run("look around")


def of_memory(opening: object) -> bool:
    """Whether a request that opens so is for a summary or a reflection."""
    return str(opening).startswith(("You write the memory", "You look at one step"))


@EVERY
def test_a_preset_fills_what_was_not_set(name: PresetName) -> None:
    """Each value of the row arrives, in its group; the prompt is the preset's."""
    dumped = Settings(preset=name).model_dump()
    for key, value in PRESETS[name].values.items():
        if isinstance(value, dict):
            assert {**dumped[key], **value} == dumped[key]
        else:
            assert dumped[key] == value
    assert dumped["system_prompt"] == PRESETS[name].prompts["en"]


@EVERY
def test_what_was_set_wins(name: PresetName) -> None:
    """A flat field and one field of a group, as object or as mapping; the rest of the group stays the preset's."""
    plain = Settings(preset=name)
    own = Settings(preset=name, max_model_calls=20, system_prompt="mine", memory=MemorySettings(target=0.5))
    assert (own.max_model_calls, own.system_prompt, own.memory.target) == (20, "mine", 0.5)
    assert own.memory == plain.memory.model_copy(update={"target": 0.5})
    assert own == Settings.model_validate(
        {"preset": name, "max_model_calls": 20, "system_prompt": "mine", "memory": {"target": 0.5}}
    )


@EVERY
def test_settings_survive_being_written_and_read(name: PresetName) -> None:
    """What was dumped is read back as it was, the preset's values not doubled and not lost."""
    given = Settings(preset=name, max_model_calls=20)
    assert Settings.model_validate(given.model_dump(mode="json")) == given


def test_an_unknown_preset_is_refused_by_name() -> None:
    """The error lists the five."""
    with pytest.raises(ValidationError, match="'rolling-summary', 'hybrid-window'"):
        Settings.model_validate({"preset": "react"})


@EVERY
def test_a_preset_has_a_prompt_in_both_languages(name: PresetName) -> None:
    """Each prompt turns into its own translation; a prompt of the user's is left alone."""
    prompts = PRESETS[name].prompts
    assert in_language(prompts["en"], "zh") == prompts["zh"]
    assert in_language(prompts["zh"], "en") == prompts["en"]
    assert in_language("mine", "zh") == "mine"


@pytest.mark.parametrize(("task", "language"), [("Look around.", "en"), ("请看看周围有什么。", "zh")])
def test_the_prompt_is_sent_in_the_language_of_the_task(task: str, language: str) -> None:
    """A Chinese task gets the Chinese prompt, without anything being set."""
    model = ScriptedModel(["done"])
    Agent(model, [looking()], settings=quick("rolling-summary")).run(task)
    prompt = PRESETS["rolling-summary"].prompts["zh" if language == "zh" else "en"]
    assert str(model.requests[0].messages[0].content).startswith(prompt)


@EVERY
def test_the_step_cap_has_an_end_of_its_own(name: PresetName) -> None:
    """A model that never stops calling is closed at the published step: one reason, one answer, all calls answered."""
    steps = PRESETS[name].values["max_model_calls"]
    result = play(name, [look(f"place {n}") for n in range(steps)])
    assert ended(result) == ("model_calls", "limit")
    assert result.usage.model_calls == steps + 1  # the closing answer
    assert result.answer == "what was found"


def test_rolling_summary_refuses_the_second_identical_call_in_a_row() -> None:
    """It is refused, not ended; another call in between lifts it."""
    result = play("rolling-summary", [look("a"), look("a"), look("b"), look("a"), "done"])
    statuses = [message.status for message in result.messages if isinstance(message, ToolMessage)]
    assert statuses == ["success", "error", "success", "success"]
    assert ended(result) == ("answered", "answer")


def test_hybrid_window_ends_at_the_third_identical_call_of_the_run() -> None:
    """A-B-A-B-A is seen: the calls between do not hide the third A."""
    result = play("hybrid-window", [look("a"), look("b"), look("a"), look("b"), look("a")], lambda at: at * 2)
    assert ended(result) == ("repeat", "same_call")
    assert result.stop is not None
    assert result.stop["earlier_steps"] == [1, 3]


def test_clipped_results_ends_at_two_identical_actions_in_a_row() -> None:
    """The second one does not run and closes the run."""
    assert ended(play("clipped-results", [look("a"), look("a")])) == ("repeat", "same_call")
    assert ended(play("clipped-results", [look("a"), look("b"), look("a"), "done"])) == ("answered", "answer")


@pytest.mark.parametrize(("name", "rounds"), [("json-actions", 2), ("reflective", 3)])
def test_errors_in_a_row_end_the_run(name: PresetName, rounds: int) -> None:
    """One failed call is one error: the run ends after exactly the published number."""
    places = [look(f"place {n}") for n in range(rounds)]
    result = play(name, places, missing)
    assert ended(result) == ("errors", "error_rounds")
    assert sum(isinstance(message, ToolMessage) for message in result.messages) == rounds
    assert ended(play(name, [*places[1:], "done"], missing)) == ("answered", "answer")


def test_one_call_a_turn() -> None:
    """The server is told so; a second call of a reply is answered as not run, and made again in the next turn."""
    script: list[EndpointStep] = [
        reply("", call("look", at="a"), call("look", at="b")),
        reply("", call("look", at="b")),
        "done",
    ]
    with ModelEndpoint(script) as endpoint:
        model = ChatOpenAI(model="scripted", base_url=endpoint.base_url, api_key=SecretStr("x"))
        result = Agent(model, [looking()], settings=quick("rolling-summary")).run("look around")
        assert [request.body.get("parallel_tool_calls") for request in endpoint.requests] == [False] * 3
        assert endpoint.rejected == []
    said = [message.text for message in result.messages if isinstance(message, ToolMessage)]
    assert said[0] == "a is fine"
    assert "only 1 of a reply's calls" in said[1]
    assert said[2] == "b is fine"
    assert ended(result) == ("answered", "answer")


@pytest.mark.parametrize(
    ("name", "most"), [("rolling-summary", 2_000), ("hybrid-window", 4_000), ("clipped-results", 400)]
)
def test_a_long_result_keeps_its_ends(name: PresetName, most: int) -> None:
    """A result over the cap keeps half from each end, a marker, and the line that the task asks about."""
    text = "first words\n" + "filler line\n" * 500 + "the zebra is 4711\n" + "filler line\n" * 500 + "last words"
    model = ScriptedModel([look("a"), "done"])
    result = Agent(model, [looking(lambda _: text)], settings=quick(name)).run("where is the zebra?")
    seen = next(message.text for message in result.messages if isinstance(message, ToolMessage))
    assert seen.startswith("first words")
    assert seen.endswith("last words")
    assert "the zebra is 4711" in seen
    assert "characters left out" in seen
    assert most * 0.9 < len(seen) < most * 1.6 + 200
    whole = "x " * (most // 2 - 1)
    kept = Agent(ScriptedModel([look("a"), "done"]), [looking(lambda _: whole)], settings=quick(name)).run("look")
    assert whole in [message.text for message in kept.messages]


def bodies(script: Sequence[EndpointStep], name: PresetName) -> list[list[dict[str, Any]]]:
    """The messages of each request of a run of the preset, played before a strict server."""

    def next_step() -> Callable[[Any], EndpointStep]:
        rest = iter(script)

        def step(body: Any) -> EndpointStep:
            return "a summary" if of_memory(body["messages"][0]["content"]) else next(rest)

        return step

    with ModelEndpoint(next_step()) as endpoint:
        model = ChatOpenAI(model="scripted", base_url=endpoint.base_url, api_key=SecretStr("x"))
        result = Agent(model, [looking(lambda at: f"{at}: " + "word " * 60)], settings=quick(name)).run("the one task")
        assert endpoint.rejected == []
        assert ended(result) == ("answered", "answer")
        bodies: list[Any] = [request.body["messages"] for request in endpoint.requests]
        return bodies


@EVERY
def test_every_request_is_legal_and_holds_the_task(name: PresetName) -> None:
    """No result without its call from the third tool turn on, and the user's words verbatim in each request."""
    turns = PRESETS[name].values["max_model_calls"] - 1
    sent = bodies([*[look(f"place {n}") for n in range(turns)], "done"], name)
    own = [messages for messages in sent if not of_memory(messages[0]["content"])]
    assert len(own) == turns + 1
    for messages in own:
        assert any(message["role"] == "user" and message["content"] == "the one task" for message in messages)


def test_rolling_summary_shows_at_most_six_messages_of_work() -> None:
    """The window holds in every request, and what left it is in the summary."""
    sent = bodies([*[look(f"place {n}") for n in range(7)], "done"], "rolling-summary")
    own = [messages for messages in sent if not of_memory(messages[0]["content"])]
    shown = [sum(message["role"] in ("assistant", "tool") for message in messages) for messages in own]
    assert shown == [0, 2, 4, 6, 6, 6, 6, 6]
    assert all("a summary" in str(messages) for messages in own[4:])


def test_hybrid_window_folds_all_old_messages_at_once() -> None:
    """Twelve messages are held; once they are passed the last six stay."""
    sent = bodies([*[look(f"place {n}") for n in range(7)], "done"], "hybrid-window")
    own = [messages for messages in sent if not of_memory(messages[0]["content"])]
    shown = [sum(message["role"] in ("assistant", "tool") for message in messages) for messages in own]
    assert shown == [0, 2, 4, 6, 8, 10, 12, 6]
    assert len(sent) == len(own) + 1


def test_reflective_tells_steps_and_reflects_on_errors() -> None:
    """The request has no call and no tool message; a failed step gets one hidden sentence, a good one none."""
    model = ScriptedModel([look("nowhere"), "The place is wrong, ask for another.", look("here"), "done"])

    def answer(at: str) -> str:
        return missing(at) if at == "nowhere" else f"{at} is fine"

    result = Agent(model, [looking(answer)], settings=quick("reflective")).run("look around")
    assert ended(result) == ("answered", "answer")
    types = [[message.type for message in request.messages] for request in model.requests]
    assert types == [
        ["system", "human"],
        ["system", "human"],
        ["system", "human", "human"],
        ["system", "human", "human"],
    ]
    told: list[BaseMessage] = model.requests[-1].messages
    assert "Reflection=The place is wrong, ask for another." in str(told[-1].content)
    assert str(told[-1].content).count("Reflection=") == 1
    assert isinstance(told[1], HumanMessage)
    assert result.usage.model_calls == 3


@pytest.mark.parametrize("name", NATIVE)
def test_the_stream_shows_no_summary(name: PresetName) -> None:
    """Tokens of the stream are those of the run's own replies, whatever memory asked of the model."""
    model = ScriptedModel(
        lambda messages: (
            "SECRET SUMMARY" if of_memory(messages[0].content) else look(f"place {len(messages)} {messages[-1].id}")
        )
    )
    stream = Agent(model, [looking()], settings=quick(name, max_model_calls=6)).stream("look around")
    texts = [getattr(item, "text", "") for item in stream]
    assert not any("SECRET" in text for text in texts)
    assert stream.result.stop is not None
