"""What a model would still see of recorded runs under a budget: recorded turns stand in for it, nothing is summarised.

    uv run python benchmarks/memory_replay.py [FOLDER] [--budget 3000] [--half even|odd|all] [--recorded-ids] [--lost]

FOLDER holds `*.jsonl` files, one recorded run a line: `{id, messages}` in OpenAI's chat format. One row a source, which
are never pooled. The budget is of messages: the system prompt and the tools are left out of both sides.

Before each recorded reply the request is rendered under the thread's view, and compressed first where it is over the
budget, as the machine does it: clips, ledger and drops, without a model. Counted, a source:
- tokens: those of all requests, in % of what the same requests take in full.
- visible: of the texts and numbers of three characters or more in the arguments of the reply's calls that stand in an
  earlier tool result and neither in the system prompt nor in a user message: the share that stands in the request, as
  a whole word.
- over: requests that are over the budget. illegal: requests that a provider would refuse.
`--recorded-ids` puts the recorded call ids back, some of which a conversation uses twice.
"""

import argparse
import json
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias, cast

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage, convert_to_openai_messages
from langchain_core.messages.tool import tool_call

from loopwright import Settings
from loopwright.memory import Material, compress, count_message, render
from loopwright.state import EMPTY_VIEW, View
from loopwright.steps import drive
from loopwright.testing import illegal

FOLDER = Path(__file__).resolve().parents[2] / "shared" / "trajectories"
SOURCES = ("tau_airline", "whowhen_magentic", "swe_agent_demo")
SHORTEST = 3
"""Characters from which on an argument is looked for: a single digit stands everywhere."""
VISIBLE, TOKENS = 98.5, 82.0
"""Targets for tau_airline at 3,000 tokens: least share visible, most tokens, both in %."""

Recorded: TypeAlias = Mapping[str, Any]


@dataclass
class Replayed:
    """Counts of one source's requests."""

    requests: int = 0
    tokens: int = 0
    full: int = 0
    arguments: int = 0
    visible: int = 0
    over: int = 0
    illegal: int = 0
    lost: list[str] = field(default_factory=list)

    def add(self, other: "Replayed") -> None:
        """Take in the counts of another run."""
        for name, value in vars(other).items():
            setattr(self, name, getattr(self, name) + value)


@dataclass
class Thread:
    """One recorded run on its way: what was said so far and the view that the compressions made of it."""

    budget: int
    settings: Settings
    name: str = ""
    messages: list[BaseMessage] = field(default_factory=list)
    view: View = field(default_factory=lambda: EMPTY_VIEW)
    told: str = ""
    found: str = ""
    counts: Replayed = field(default_factory=Replayed)

    def turn(self, reply: AIMessage) -> None:
        """The request that this recorded reply would have answered."""
        counts = self.counts
        counts.requests += 1
        counts.full += sum(map(count_message, self.messages))
        request = self._request()
        tokens = sum(map(count_message, request))
        counts.tokens += tokens
        counts.over += tokens > self.budget
        counts.illegal += illegal(_wire(request)) is not None
        seen = "\n".join(map(_said, request))
        for value in dict.fromkeys(value for call in reply.tool_calls for value in _values(call["args"])):
            if len(value) >= SHORTEST and _stands(value, self.found) and not _stands(value, self.told):
                counts.arguments += 1
                shown = _stands(value, seen)
                counts.visible += shown
                if not shown:
                    counts.lost.append(f"{self.name} at message {len(self.messages)}: {value}")

    def _request(self) -> list[BaseMessage]:
        memory = self.settings.memory
        request = render(self.messages, self.view, system_prompt="")
        if sum(map(count_message, request)) > self.budget:
            target = int(self.budget * memory.target)
            material = Material(self.messages, "", self.budget, target, settings=memory)
            self.view = drive(compress(material, self.view, None)).view
            request = render(self.messages, self.view, system_prompt="")
        return request

    def say(self, message: BaseMessage) -> None:
        """The transcript grows by this message."""
        self.messages.append(message)
        if isinstance(message, HumanMessage):
            self.told += f"\n{message.text}"
        elif isinstance(message, ToolMessage):
            self.found += f"\n{message.text}"


def replay(
    recording: Recorded, budget: int, *, recorded_ids: bool = False, settings: Settings | None = None
) -> Replayed:
    """One recording under this budget of message tokens."""
    settings = settings or Settings()
    settings = settings.model_copy(update={"memory": settings.memory.model_copy(update={"summary": False})})
    thread = Thread(budget, settings, str(recording["id"]))
    for said in recording["messages"]:
        if said["role"] == "system":
            thread.told += f"\n{said['content']}"
    for message in _messages(recording["messages"], recorded_ids):
        if isinstance(message, AIMessage):
            thread.turn(message)
        thread.say(message)
    return thread.counts


def _messages(recorded: Sequence[Recorded], recorded_ids: bool) -> Iterator[BaseMessage]:
    """The recorded messages, without system prompts, with the ids that a state gives them."""
    old: dict[str, str] = {}
    for place, said in enumerate(recorded):
        content = said.get("content") or ""
        if said["role"] == "user":
            yield HumanMessage(content, id=f"m{place}")
        elif said["role"] == "assistant":
            calls = []
            for call in said.get("tool_calls") or []:
                key = call["id"]
                old[key] = call.get("orig_id", key) if recorded_ids else key
                made = call["function"]
                calls.append(tool_call(name=made["name"], args=json.loads(made["arguments"]), id=old[key]))
            yield AIMessage(content, id=f"m{place}", tool_calls=calls)
        elif said["role"] == "tool":
            key = old.get(said["tool_call_id"], said["tool_call_id"])
            status = "error" if said.get("error") else "success"
            yield ToolMessage(content, tool_call_id=key, id=f"m{place}", name=said.get("name"), status=status)


def _values(value: object) -> Iterator[str]:
    """The texts and numbers anywhere in some arguments."""
    if isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _values(item)
    elif isinstance(value, str) or (isinstance(value, int | float) and not isinstance(value, bool)):
        yield str(value)


def _stands(value: str, text: str) -> bool:
    """Whether the value stands in the text, not as a part of a longer word."""
    return value in text and re.search(rf"(?<!\w){re.escape(value)}(?!\w)", text) is not None


def _said(message: BaseMessage) -> str:
    """All that a model reads of a message."""
    calls = message.tool_calls if isinstance(message, AIMessage) else []
    return "\n".join([message.text, *(value for call in calls for value in _values(call["args"]))])


def _wire(request: Sequence[BaseMessage]) -> Any:
    """The request body as a provider gets it."""
    return {"model": "recorded", "messages": cast("list[Any]", convert_to_openai_messages(list(request)))}


def recordings(path: Path, half: str) -> Iterator[Recorded]:
    """The recordings of a file: all, or every second one."""
    with path.open(encoding="utf-8") as lines:
        for number, line in enumerate(lines):
            if half == "all" or (number % 2 == 0) == (half == "even"):
                yield json.loads(line)


def row(name: str, budget: int, counts: Replayed) -> str:
    """One source's row."""
    tokens = 100 * counts.tokens / max(1, counts.full)
    share = 100 * counts.visible / max(1, counts.arguments)
    missed = ["over"] if counts.over else []
    missed += ["illegal"] if counts.illegal else []
    if name == SOURCES[0] and budget == 3000:
        missed += ["visible"] if share < VISIBLE else []
        missed += ["tokens"] if tokens > TOKENS else []
    verdict = f"MISSED {', '.join(missed)}" if missed else "met"
    cells = [name, str(counts.requests), f"{tokens:.1f}", f"{counts.visible}/{counts.arguments}", f"{share:.1f}"]
    return "| " + " | ".join([*cells, str(counts.over), str(counts.illegal), verdict]) + " |"


def print_table(paths: Iterable[Path], options: argparse.Namespace) -> None:
    """Replay each source and print its row."""
    print("| source | requests | tokens % | visible | visible % | over | illegal | targets |\n|" + "---|" * 8)
    for path in paths:
        counts = Replayed()
        for recording in recordings(path, options.half):
            counts.add(replay(recording, options.budget, recorded_ids=options.recorded_ids))
        print(row(path.stem, options.budget, counts), flush=True)
        if options.lost:
            print("\n".join(counts.lost), file=sys.stderr)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("folder", type=Path, nargs="?", default=FOLDER)
    parser.add_argument("--budget", type=int, default=3000, help="tokens of the messages of a request")
    parser.add_argument("--half", choices=("all", "even", "odd"), default="all", help="which runs of each source")
    parser.add_argument("--recorded-ids", action="store_true", help="with the call ids of the recording")
    parser.add_argument("--lost", action="store_true", help="list the arguments that were out of sight, on stderr")
    options = parser.parse_args()
    paths = [options.folder / f"{name}.jsonl" for name in SOURCES if (options.folder / f"{name}.jsonl").exists()]
    if not paths:
        parser.error(f"{options.folder} holds none of {', '.join(SOURCES)} (.jsonl): name a folder of recorded runs.")
    print_table(paths, options)


if __name__ == "__main__":
    main()
