"""`loopwright history`, `fork` and `effects`: a thread's past, going on from it, and what it did to the world."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from langchain_core.tools import tool
from typer.testing import Result

from loopwright import Agent, tool_policy
from loopwright.testing import ScriptedModel, call, reply


def test_the_history_names_every_checkpoint(invoke: Callable[..., Result]) -> None:
    """One line a checkpoint, the newest last; the same as JSON."""
    invoke("run", "what is 2*3", "--thread", "t", "-q")
    lines = invoke("history", "t").stdout.splitlines()
    entries = json.loads(invoke("history", "t", "--json").stdout)
    assert lines[0].split() == ["checkpoint", "at", "step", "node", "what", "happened"]
    assert [line.split()[0] for line in lines[1:]] == [entry["checkpoint"] for entry in entries]
    assert [entries[-1]["node"], entries[-1]["text"]] == ["finish", "ended: answered"]


def test_a_fork_goes_on_from_an_old_checkpoint(invoke: Callable[..., Result]) -> None:
    """Another task in its place; the branch that was left stays in the history, marked."""
    invoke("run", "what is 2*3", "--thread", "t", "-q")
    begun = next(e for e in json.loads(invoke("history", "t", "--json").stdout) if e["node"] == "begin")
    result = invoke("fork", "t", begun["checkpoint"], "--edit", "what is 4*5", "-q")
    assert (result.exit_code, result.stdout) == (0, "4*5 = 20\n")
    assert "(left)" in invoke("history", "t").stdout
    result = invoke("fork", "t", begun["checkpoint"], "--into", "u", "-q")
    assert (result.exit_code, result.stdout) == (0, "2*3 = 6\n")


def test_what_cannot_be_forked_is_said(invoke: Callable[..., Result]) -> None:
    """An unknown checkpoint or thread gets one sentence."""
    invoke("run", "what is 2*3", "--thread", "t", "-q")
    for words, sentence in ((("fork", "t", "nope"), "no checkpoint 'nope'"), (("fork", "u", "x"), "no thread 'u'")):
        result = invoke(*words)
        assert result.exit_code == 2
        assert sentence in result.stderr.splitlines()[-1]
    for command in ("history", "effects"):
        assert "no thread 'u'" in invoke(command, "u").stderr


def test_effects_are_listed_open_ones_first(invoke: Callable[..., Result], folder: Path) -> None:
    """What was started and has no known outcome stands above what was done; with arguments and the result's head."""

    @tool
    def pay(to: str) -> str:
        """Pay someone."""
        if to == "eve":
            raise TimeoutError
        return f"paid \x1b[31m{to}"

    script: list[Any] = [reply("", call("pay", to="bob")), reply("", call("pay", to="eve")), "done"]
    agent = Agent(
        ScriptedModel(script), [tool_policy(pay, effect="write")], storage=f"sqlite:///{os.fspath(folder)}/runs.db"
    )
    agent.run("pay them", thread="t")
    head, first, second = invoke("effects", "t").stdout.splitlines()
    assert head.startswith("outcome")
    assert first.startswith("OUTCOME UNKNOWN")
    assert "pay(to=eve)" in first
    assert "pay(to=bob)" in second
    assert "paid ␛[31mbob" in second
    states = [(each["state"], each["args"]) for each in json.loads(invoke("effects", "t", "--json").stdout)]
    assert states == [("started", {"to": "eve"}), ("done", {"to": "bob"})]
    agent = Agent(ScriptedModel(["hi"]), storage=f"sqlite:///{os.fspath(folder)}/runs.db")
    agent.run("hello", thread="u")
    assert invoke("effects", "u").stdout == "No effects.\n"
