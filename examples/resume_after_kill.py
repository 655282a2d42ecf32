"""Kill a run in the middle, resume it: what was finished is not done again.

uv run python examples/resume_after_kill.py
"""

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_core.tools import tool

from loopwright import Agent, tool_policy
from loopwright.testing import ScriptedModel, call, reply

FOLDER = Path(os.environ.get("DEMO_FOLDER") or tempfile.mkdtemp())


@tool
def write_line(text: str) -> str:
    """Append a line to a file. Use to record a result."""
    with open(FOLDER / "lines.txt", "a", encoding="utf-8") as file:
        file.write(text + "\n")
    if text == "second" and os.environ.get("DIE"):
        os.kill(os.getpid(), signal.SIGKILL)  # after the effect, before anyone could note it
    return f"wrote {text}"


def play(messages: list[BaseMessage]) -> str | AIMessage:
    """Write three lines, one after the other."""
    done = sum(isinstance(message, ToolMessage) for message in messages)
    words = ["first", "second", "third"]
    return (
        reply("", call("write_line", text=words[done])) if done < 3 else "Done, with one line whose outcome is unknown."
    )


agent = Agent(
    ScriptedModel(play),
    [tool_policy(write_line, effect="write")],
    storage=f"sqlite:///{FOLDER}/runs.db",
)
if os.environ.get("DIE"):
    agent.run("Write three lines", thread="t1")
else:
    killed = subprocess.run([sys.executable, __file__], env={**os.environ, "DIE": "1", "DEMO_FOLDER": str(FOLDER)})
    print("the first process ended with", killed.returncode)
    result = agent.resume("t1")
    for message in result.messages:
        print(f"{message.type:6}", message.text or "(calls a tool)")
    print((FOLDER / "lines.txt").read_text(encoding="utf-8").split())
