"""A call whose outcome nobody knows, at the command line: the question, its answers, and how `show` tells it."""

import asyncio
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from langchain_core.tools import tool
from typer.testing import Result

from loopwright import Agent, tool_policy
from loopwright.testing import ScriptedModel, call, reply


@pytest.mark.parametrize(
    ("words", "happened"),
    [
        (["--approve"], "it happened"),
        (["--reject"], "it did not happen"),
        (["--answer", "receipt 9"], "it happened"),
        (["--answer", ""], "nobody knows"),
    ],
)
def test_a_person_says_what_became_of_it(
    invoke: Callable[..., Result], folder: Path, words: list[str], happened: str
) -> None:
    """`threads list --waiting` says what each answer means; `resume` takes it, and `show` keeps it."""

    @tool
    async def pay(to: str) -> str:
        """Pay someone."""
        await asyncio.sleep(3600)
        return "never"

    script: list[Any] = [reply("", call("pay", to="bob"))]
    tools = [tool_policy(pay, effect="write", approval=True, timeout=0.01)]
    agent = Agent(ScriptedModel(script), tools, storage=f"sqlite:///{os.fspath(folder)}/runs.db")
    (asked,) = agent.run("pay bob", thread="t").pending
    agent.resume("t", decisions={asked.id: {"type": "approve"}})
    waits = invoke("threads", "list", "--waiting").stdout
    assert "Waiting for you (unknown)" in waits
    assert "--approve  # it happened" in waits
    assert invoke("effects", "t").stdout.splitlines()[1].startswith("OUTCOME UNKNOWN")
    offline = ("-q", "--model", "offline:demo")
    assert "cannot be answered with edit" in invoke("resume", "t", "--edit", '{"to": "eve"}', *offline).stderr
    invoke("resume", "t", *words, *offline)
    assert f"ask {happened} pay was started" in invoke("show", "t").stdout
