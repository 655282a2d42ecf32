"""What a round costs: milliseconds and database bytes of one model call and one tool call, against create_agent.

    uv run python benchmarks/loop_cost.py [--rounds 100 400] [--repeat 5]

Same model double, same 2 kB tool result, same process, alternating; SQLite file, durability sync; medians.
`ours` runs as it is installed (checkpointer's connection synchronous=NORMAL), `ours FULL` with synchronous=FULL, which
is what create_agent's saver runs with.
"""

import argparse
import os
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from langchain.agents import create_agent
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import Runnable
from langchain_core.tools import BaseTool, tool
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.store.sqlite import SqliteStore

from loopwright import Settings, build_graph, tool_policy
from loopwright.settings import ToolSettings

PAYLOAD = "0123456789abcdef " * 120
HIGH = Settings(
    max_model_calls=100_000,
    max_tool_calls=None,
    context_tokens=100_000_000,
    tools=ToolSettings(max_result_tokens=100_000),
)


class Double(BaseChatModel):
    """Asks for `rounds` tool calls, one after the other, then answers."""

    rounds: int

    @property
    def _llm_type(self) -> str:
        return "double"

    def bind_tools(self, tools: Any, **kwargs: Any) -> Runnable[Any, AIMessage]:
        return self.bind(offered=True)

    def _generate(
        self, messages: list[BaseMessage], stop: Any = None, run_manager: Any = None, **kwargs: Any
    ) -> ChatResult:
        done = 0
        for message in reversed(messages):
            if isinstance(message, ToolMessage):
                done = int(message.text.split(":", 1)[0]) + 1
                break
        reply = AIMessage("the end")
        if done < self.rounds:
            reply = AIMessage("", tool_calls=[{"name": "fetch", "args": {"page": done}, "id": f"call{done}"}])
        return ChatResult(generations=[ChatGeneration(message=reply)])


@tool
def fetch(page: int) -> str:
    """Fetch a page."""
    return f"{page}: {PAYLOAD}"


def ours(rounds: int, effect: str, full: bool, path: str) -> None:
    """One run of our graph on a fresh file, connections as `loopwright.storage` opens them."""
    declared: BaseTool = tool_policy(fetch.model_copy(deep=True), effect=effect)  # type: ignore[arg-type]
    with sqlite3.connect(path, check_same_thread=False) as runs:
        saver = SqliteSaver(runs)
        saver.setup()
        runs.execute(f"PRAGMA synchronous={'FULL' if full else 'NORMAL'}")
        store = SqliteStore(sqlite3.connect(path, check_same_thread=False, isolation_level=None))
        store.setup()
        graph = build_graph(Double(rounds=rounds), [declared], HIGH, checkpointer=saver, store=store)
        graph.invoke(*_arguments(), durability="sync")


def theirs(rounds: int, effect: str, full: bool, path: str) -> None:
    """One run of create_agent on a fresh file."""
    with SqliteSaver.from_conn_string(path) as saver:
        saver.setup()
        agent = create_agent(Double(rounds=rounds), [fetch], checkpointer=saver)
        agent.invoke(*_arguments(), durability="sync")


def _arguments() -> tuple[Any, Any]:
    config = {"configurable": {"thread_id": "t"}, "recursion_limit": 100_000, "metadata": {"run_id": "r"}}
    return {"messages": [("user", "fetch all pages")]}, config


def measured(run: Callable[[int, str, bool, str], None], rounds: int, effect: str, full: bool) -> tuple[float, float]:
    """Milliseconds and bytes a round of one run."""
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder, "runs.db"))
        started = time.perf_counter()
        run(rounds, effect, full, path)
        elapsed = time.perf_counter() - started
        connection = sqlite3.connect(path)
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        connection.close()
        return elapsed * 1000 / rounds, os.path.getsize(path) / rounds


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--rounds", type=int, nargs="+", default=[100, 400])
    parser.add_argument("--repeat", type=int, default=5)
    options = parser.parse_args()
    print(
        "| rounds | tool | ours ms | ours FULL ms | create_agent ms | ratio | ratio FULL | ours kB | create_agent kB |"
    )
    print("|---|---|---|---|---|---|---|---|---|")
    for rounds in options.rounds:
        for effect in ("read", "write"):
            rows = [
                (
                    measured(ours, rounds, effect, False),
                    measured(ours, rounds, effect, True),
                    measured(theirs, rounds, effect, False),
                )
                for _ in range(options.repeat)
            ]
            a, f, b = (statistics.median(row[i][0] for row in rows) for i in range(3))
            sizes = rows[0][0][1] / 1000, rows[0][2][1] / 1000
            print(
                f"| {rounds} | {effect} | {a:.2f} | {f:.2f} | {b:.2f} | {a / b:.2f} | {f / b:.2f} "
                f"| {sizes[0]:.1f} | {sizes[1]:.1f} |"
            )


if __name__ == "__main__":
    main()
