"""A run is killed with SIGKILL at every kind of moment: it goes on from its last step, and no effect is doubled."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from loopwright import Agent
from loopwright.testing import ScriptedModel

PROGRAM = '''
import os, signal, sys
from langchain_core.messages import ToolMessage
from langchain_core.tools import tool
from loopwright import Agent, tool_policy
from loopwright.testing import ScriptedModel, call, reply

folder, moment = sys.argv[1:]
def die(now):
    if now == moment and not os.path.exists(folder + "/died"):
        open(folder + "/died", "w").close()
        os.kill(os.getpid(), signal.SIGKILL)

def note(kind, text):
    with open(folder + "/log.txt", "a") as file:
        file.write(f"{kind} {text}\\n"); file.flush(); os.fsync(file.fileno())

@tool
def look(at: str) -> str:
    """Look."""
    note("look", at); die("in-read"); return "saw " + at

@tool
def pay(to: str) -> str:
    """Pay."""
    die("before-effect"); note("pay", to); die("after-effect"); return "paid " + to

def play(messages):
    done = sum(isinstance(m, ToolMessage) for m in messages)
    die(f"model-{done}")
    return [lambda: reply("", call("look", at="a"), call("look", at="b")), None,
            lambda: reply("", call("pay", to="bob")), lambda: "all done"][done]()

agent = Agent(ScriptedModel(play), [tool_policy(look, effect="read"), tool_policy(pay, effect="write")],
              storage=f"sqlite:///{folder}/runs.db")
result = agent.run("go", thread="t", run_id="r1")
print(result.answer, result.stop["reason"])
'''


@pytest.mark.parametrize("moment", ["model-0", "in-read", "model-2", "before-effect", "after-effect", "model-3"])
def test_the_same_delivery_goes_on_after_a_kill(moment: str, tmp_path: Path) -> None:
    """The same run id sent again ends the run; the payment was made at most once, and never told to have failed."""
    command = [sys.executable, "-c", PROGRAM, str(tmp_path), moment]
    first = subprocess.run(command, capture_output=True, text=True, check=False)
    assert first.returncode == -9, first.stderr
    second = subprocess.run(command, capture_output=True, text=True, check=False, env=os.environ.copy())
    assert second.stdout.strip() == "all done answered", second.stderr
    log = (tmp_path / "log.txt").read_text().splitlines()
    paid = log.count("pay bob")
    result = Agent(ScriptedModel([]), storage=f"sqlite:///{tmp_path}/runs.db").run("go", thread="t", run_id="r1")
    (outcome,) = [message.text for message in result.messages if message.type == "tool" and message.name == "pay"]
    if moment in ("before-effect", "after-effect"):
        assert outcome.startswith("OUTCOME UNKNOWN")
        assert paid == (moment == "after-effect")
    else:
        assert (paid, outcome) == (1, "paid bob")
    if moment.startswith("model"):
        assert log.count("look a") == 1
