"""What a tool prints is no answer: on stdout stands the answer alone, or one event a line."""

import json

import pytest
from langchain_core.tools import tool

from loopwright import Agent, tool_policy
from loopwright.testing import ScriptedModel, call, reply
from loopwright_studio.configuration import Configuration
from loopwright_studio.running import Session


@pytest.mark.parametrize("as_json", [True, False])
def test_prints_go_to_stderr(as_json: bool, capsys: pytest.CaptureFixture[str]) -> None:
    """A tool that prints in its thread disturbs neither the events nor the answer."""

    @tool
    def look(at: str) -> str:
        """Look at something."""
        print("looking at", at)
        return "seen"

    agent = Agent(ScriptedModel([reply("", call("look", at="a")), "done"]), [tool_policy(look, effect="read")])
    session = Session(agent, Configuration(), None, quiet=True, as_json=as_json)
    result = session.follow(agent.stream("go"))
    printed = capsys.readouterr()
    assert result.answer == "done"
    assert "looking at a" in printed.err
    assert all(json.loads(line) for line in printed.out.splitlines())
    assert bool(printed.out) == as_json
