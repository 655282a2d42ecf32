"""Many threads at once on one SQLite file, as a web server has them."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import BaseMessage, ToolMessage
from langchain_core.tools import tool

from loopwright import Agent, tool_policy
from loopwright.testing import ScriptedModel, call, reply


@pytest.mark.slow
def test_a_hundred_threads_on_one_file(tmp_path: Path) -> None:
    """A hundred runs at once, awaited on one loop: each ends with its own answer, and each write happened once."""
    log: list[str] = []

    @tool
    def note(text: str) -> str:
        """Note something."""
        log.append(text)
        return f"noted {text}"

    def play(messages: list[BaseMessage]) -> Any:
        asked = next(message.text for message in messages if message.type == "human")
        if isinstance(messages[-1], ToolMessage):
            return f"did {asked}"
        return reply("", call("note", text=asked))

    agent = Agent(ScriptedModel(play), [tool_policy(note, effect="write")], storage=f"sqlite:///{tmp_path}/runs.db")

    async def main() -> list[str]:
        runs = (agent.arun(f"task {number}", thread=f"t{number}") for number in range(100))
        return [result.answer for result in await asyncio.gather(*runs)]

    assert asyncio.run(main()) == [f"did task {number}" for number in range(100)]
    assert sorted(log) == sorted(f"task {number}" for number in range(100))
