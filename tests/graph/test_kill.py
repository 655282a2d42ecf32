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


LIMITED = '''
import os, re, signal, sys
from langchain_core.messages import ToolMessage
from langchain_core.tools import tool
from loopwright import Agent, Settings, tool_policy
from loopwright.settings import GuardSettings, MemorySettings
from loopwright.testing import ScriptedModel, call, reply

folder, moment = sys.argv[1:]
def die(now):
    if now == moment and not os.path.exists(folder + "/died"):
        open(folder + "/died", "w").close()
        os.kill(os.getpid(), signal.SIGKILL)

@tool
def pay(number: int) -> str:
    """Pay a bill."""
    with open(folder + "/log.txt", "a") as file:
        file.write(f"{number}\\n"); file.flush(); os.fsync(file.fileno())
    return f"bill {number} is paid. " + "It was for this and that. " * 40

def play(messages):
    if messages[0].text.startswith("You write the memory"):
        die("summary")
        return "Bills were paid, one after the other."
    if "The run ends now" in messages[0].text:
        die("closing")
        return "closed with what was paid"
    told = [m.text for m in messages if isinstance(m, ToolMessage)]
    last = int(re.search(r"bill (\\d+)", told[-1])[1]) if told else 0
    return reply("", call("pay", number=last + 1))

settings = Settings(context_tokens=900, max_model_calls=9, guard=GuardSettings(ask=False),
                    memory=MemorySettings(summary_tokens=100))
agent = Agent(ScriptedModel(play), [tool_policy(pay, effect="write")], settings=settings,
              storage=f"sqlite:///{folder}/runs.db")
stream = agent.stream("pay the bills", thread="t", run_id="r1")
kinds = [item["kind"] for item in stream if isinstance(item, dict)]
print(stream.result.answer, stream.result.stop["reason"], agent.report("t").runs[0].compressions != [])
'''


@pytest.mark.parametrize("moment", ["summary", "closing"])
def test_a_kill_in_a_summary_or_in_the_closing_answer(moment: str, tmp_path: Path) -> None:
    """The same run id goes on to the closing answer; every bill was paid once, those that were folded too."""
    command = [sys.executable, "-c", LIMITED, str(tmp_path), moment]
    first = subprocess.run(command, capture_output=True, text=True, check=False)
    assert first.returncode == -9, first.stdout + first.stderr
    second = subprocess.run(command, capture_output=True, text=True, check=False, env=os.environ.copy())
    assert second.stdout.strip() == "closed with what was paid model_calls True", second.stderr
    assert (tmp_path / "log.txt").read_text().split() == [str(number) for number in range(1, 10)]
