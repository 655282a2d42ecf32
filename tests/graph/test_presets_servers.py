"""Every preset before servers with the habits of local ones: each run ends with the model's answer."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from langchain_core.tools import BaseTool, tool
from langchain_openai import ChatOpenAI
from pydantic import SecretStr

from loopwright import Agent, Settings, tool_policy
from loopwright.models.protocols import FORMS
from loopwright.presets import PRESETS, PresetName
from loopwright.settings import GuardSettings, ModelSettings
from loopwright.testing import ModelEndpoint, call, reply
from loopwright.testing.manner import Manner
from loopwright.testing.steps import EndpointStep

OF_MEMORY = ("You write the memory", "You look at one step")
SERVERS: dict[str, dict[str, Any]] = {
    "content is null, one call at most": {"manner": Manner(null_content=True, parallel_calls=False)},
    "one system message": {"second_system": False, "reject": frozenset({"stream_options"})},
    "no ids": {"manner": Manner(call_ids="missing")},
    "ids repeated": {"manner": Manner(call_ids="repeated")},
    "calls as text": {"manner": Manner(calls_as_text=True)},
    "no choice of tools": {"reject": frozenset({"tool_choice", "parallel_tool_calls", "strict", "response_format"})},
    "no tool history without tools": {"tool_history_without_tools": False},
    "cuts in silence": {"silent_window": 1_000},
}
"""What llama.cpp, Ollama and vLLM do in one version or another."""


@tool
def look(at: str) -> str:
    """Look at a place. Use when a place is named; do not use for anything else."""
    return f"{at} is fine, " + "as far as can be seen from here, " * 20


TOOLS: list[BaseTool] = [tool_policy(look, effect="read")]


def replies(name: PresetName) -> Iterator[EndpointStep]:
    """Three looks and an answer, as a model under the preset's protocol writes them."""
    form = FORMS.get(PRESETS[name].values["protocol"])
    for place in "abc":
        yield form.call("look", {"at": place}, "", {}) if form else reply("", call("look", at=place))
    while True:
        yield form.answer("all is fine", {}) if form else "all is fine"


@contextmanager
def served(name: PresetName, server: str) -> Iterator[ModelEndpoint]:
    """The server, with a model that also writes summaries and reflections when it is asked for one."""
    rest = replies(name)

    def step(body: Any) -> EndpointStep:
        return "in short: fine" if str(body["messages"][0]["content"]).startswith(OF_MEMORY) else next(rest)

    answer: Callable[[Any], EndpointStep] = step
    with ModelEndpoint(answer, **SERVERS[server]) as endpoint:
        yield endpoint


@pytest.mark.parametrize("server", SERVERS)
@pytest.mark.parametrize("name", PRESETS)
def test_every_preset_ends_with_the_answer(name: PresetName, server: str) -> None:
    """Whatever the server refuses is left out or put another way, and the three looks are made once each."""
    with served(name, server) as endpoint:
        model = ChatOpenAI(model=f"{name} {server}", base_url=endpoint.base_url, api_key=SecretStr("x"))
        settings = Settings(preset=name, model=ModelSettings(retry_delay=0), guard=GuardSettings(ask=False))
        result = Agent(model, TOOLS, settings=settings).run("How are a, b and c?")
        assert result.answer == "all is fine"
        assert result.complete
        assert result.usage.tool_calls == 3
        assert len(endpoint.rejected) <= 4
