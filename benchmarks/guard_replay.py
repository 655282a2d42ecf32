"""What the default policies would have done to recorded runs of other people's agents, one row a source.

    uv run python benchmarks/guard_replay.py [FOLDER] [--runs 20] [--time]

FOLDER holds `*.jsonl` files, one recorded run a line: `{id, success: true|false|null, messages}` in OpenAI's chat
format. Sources are never pooled: they differ too much in length, tools and what their errors look like.

What the policies are told:
- An error is a tool message whose recorded `error` is true; its text is never read. It counts as a permanent failure,
  which is the strictest reading: a recording does not say which errors were transient.
- Every tool is declared `read`: nothing is served from the store, nobody is asked.
- A user message begins a run: counters and window start anew, the thread's history stays.
- A refused call is an event with status `refused`; the result it had in the recording is withheld from the policies.
  The recorded next turn follows all the same, so that what the model would have done instead cannot be seen.

What is counted, in % of a source's runs:
- block: a call was refused. harm: a call was refused whose recorded result differs from the result the model last saw
  for the same call, or that it had never seen a result of.
- closed: a policy ended the run although the recording goes on to a further call before the next user message. What
  only replaces the recorded answer is no close, and nothing is counted behind a close.
InterCode's agents go on until success or ten turns, so the share of their failures that is closed is flattered.
"""

import argparse
import json
import statistics
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import NotRequired

from typing_extensions import TypedDict

from loopwright import Settings
from loopwright.events import Stamp, fold, since_begin
from loopwright.nodes.pending import histories
from loopwright.nodes.ruling import Ruling, rule, will_not_run
from loopwright.nodes.visit import WINDOW
from loopwright.policies import Finding, GuardView, PendingCall, Policy, default_policies, say
from loopwright.state import (
    FORMAT,
    BeginEvent,
    CallEvent,
    CallStatus,
    DecisionEvent,
    Event,
    Failure,
    Go,
    ModelEvent,
    Run,
)
from loopwright.tooling import digest, signature

FOLDER = Path(__file__).resolve().parents[2] / "shared" / "trajectories"

AT_MOST_CLOSED = dict.fromkeys(("bash", "ctf", "python", "sql", "webshop", "hotpotqa", "tau"), 0) | {"fever": 1}
"""Target: successes closed, in runs."""
AT_LEAST_CLOSED = {"bash": 50, "ctf": 20, "python": 40, "sql": 80}
"""Target: failures closed, in %."""
MILLISECONDS = 0.3
"""Target: what the policies of one guard visit take at 400 rounds."""


class Function(TypedDict):
    name: str
    arguments: str


class RecordedCall(TypedDict):
    id: str
    function: Function


class Message(TypedDict):
    role: str
    content: NotRequired[str | None]
    tool_calls: NotRequired[list[RecordedCall]]
    tool_call_id: NotRequired[str]
    error: NotRequired[bool]


class Recording(TypedDict):
    id: str
    success: bool | None
    messages: list[Message]


@dataclass(frozen=True)
class Replayed:
    """What became of one recording; `closed_by` names the policy that ended it before its last call, else ""."""

    id: str
    success: bool | None
    blocked: bool
    harmed: bool
    closed_by: str


def fresh_run(settings: Settings) -> Run:
    """Counters at a user message."""
    return {
        "format": FORMAT, "id": "recorded", "number": 1, "status": "running", "limits": settings.limits(),
        "model_calls": 0, "tool_calls": 0, "tokens_in": 0, "tokens_out": 0, "cost_usd": None, "working_seconds": 0.0,
        "errors_in_row": 0, "invalid_in_row": 0, "shortened": 0, "seen": 0, "length": 0, "stop": None,
    }  # fmt: skip


@dataclass
class Thread:
    """One recording on its way through the guard: the log the policies see, and what they refused."""

    settings: Settings
    policies: Sequence[Policy]
    answers: dict[str, Message]
    run: Run
    log: list[Event] = field(default_factory=list)
    seen: dict[str, str] = field(default_factory=dict)
    """Digest of the newest result the model was shown, by signature."""
    blocks: int = 0
    harmful: int = 0
    withheld: list[str] = field(default_factory=list)
    """Tools that the next request would not offer; the recorded model had all of them."""
    closing: Finding | None = None
    """Found once all calls were answered: a close, if a further call follows."""

    @classmethod
    def of(cls, recording: Recording, settings: Settings) -> "Thread":
        """A thread before its first message."""
        answers = {m["tool_call_id"]: m for m in recording["messages"] if m["role"] == "tool" and "tool_call_id" in m}
        return cls(settings, default_policies(settings), answers, fresh_run(settings))

    def begin(self) -> None:
        """A user message: a new run of the same thread."""
        self.run, self.closing, self.withheld = fresh_run(self.settings), None, []
        event: BeginEvent = {**self.stamp(), "kind": "begin", "delivery": str(len(self.log)), "extend": None}
        self.happened(event)

    def turn(self, calls: Sequence[RecordedCall]) -> Finding | None:
        """A reply with calls, judged as the guard's visits do: before its calls run and once they are answered.

        Returns what closes the run before these calls are made.
        """
        if self.closing is not None:
            return self.closing
        self.happened(model_event(self.run["model_calls"] + 1, self.withheld))
        self.withheld = []
        waiting = [pending(call) for call in calls]
        answered_here = 0
        while waiting:
            ruling = rule(self.policies, self.view(waiting))
            if ruling.run is not None and ruling.run.rung == "close":
                return ruling.run
            wave, answered_here = self.visit(ruling)
            waiting = waiting[answered_here + len(wave) :]
            if wave:
                answered_here = 0
                self.decided("execute_tools")
                self.happened(*[self.result(call) for call in wave])
        after = rule(self.policies, self.view((), answered_here)).run
        self.closing = after if after is not None and after.rung == "close" else None
        self.decided("call_model")
        return None

    def visit(self, ruling: Ruling) -> tuple[list[PendingCall], int]:
        """The calls of the next wave, how many in front of them were refused; the rest waits for what they bring."""
        wave: list[PendingCall] = []
        refused = 0
        for call, found in ruling.calls:
            if found is None or not will_not_run(call, found):
                wave.append(call)
            elif wave:
                break
            else:
                self.refuse(call, found)
                refused += 1
        return wave, refused

    def view(self, calls: Sequence[PendingCall], answered_here: int = 0) -> GuardView:
        """What the policies see; the answers of a visit come on top of its window."""
        window = since_begin(self.log, WINDOW + answered_here)
        return GuardView(self.run, self.settings, window, calls, histories(calls, self.log))

    def refuse(self, call: PendingCall, found: Finding) -> None:
        """Answer in the tool's stead, and look up what that withheld."""
        self.blocks += 1
        self.withheld += [call.tool] if found.withhold else []
        self.harmful += digest(self.answers[call.id].get("content") or "") != self.seen.get(call.signature)
        self.happened(self.call_event(call, "refused", say(found, "en"), None))

    def result(self, call: PendingCall) -> CallEvent:
        """The recorded result, which the model sees now."""
        answer = self.answers[call.id]
        text = answer.get("content") or ""
        self.seen[call.signature] = digest(text)
        if answer.get("error"):
            return self.call_event(call, "error", text, {"kind": "permanent", "text": text})
        return self.call_event(call, "ok", text, None)

    def call_event(self, call: PendingCall, status: CallStatus, text: str, failure: Failure | None) -> CallEvent:
        """The event of an answered call."""
        return {
            **self.stamp(), "kind": "call", "call_id": call.id, "tool": call.tool, "effect": call.effect,
            "signature": call.signature, "digest": digest(text), "status": status, "failure": failure, "retries": 0,
            "ref": None, "edited_args": None,
        }  # fmt: skip

    def decided(self, go: Go) -> None:
        """Decisions are events too: they take their places in the window."""
        event: DecisionEvent = {**self.stamp(), "kind": "decision", "go": go, "policy": "", "reason": "", "rungs": {}}
        self.happened(event)

    def happened(self, *events: Event) -> None:
        """Log the events of one super-step and fold them into the counters."""
        self.log.extend(events)
        self.run = fold(self.run, events)

    def stamp(self) -> Stamp:
        """A recording knows no times."""
        return {"run": self.run["id"], "step": self.run["model_calls"], "at": 0.0, "seconds": 0.0}


def model_event(step: int, withheld: list[str]) -> ModelEvent:
    """A reply that could be used; a recording knows no tokens."""
    return {
        "run": "recorded", "step": step, "at": 0.0, "seconds": 0.0, "kind": "model", "message_id": f"m{step}",
        "model": "recorded", "finish_reason": "tool_calls", "request_tokens": 0,
        "parts": {"system": 0, "tools": 0, "summary": 0, "pinned": 0, "recent": 0}, "tokens_in": 0, "tokens_out": 0,
        "cost_usd": None, "estimated": True, "retries": 0, "failure": None, "withheld": withheld,
    }  # fmt: skip


def pending(call: RecordedCall) -> PendingCall:
    """A recorded call as the policies see it. Raises ValueError where its arguments are no JSON object."""
    tool, args = call["function"]["name"], json.loads(call["function"]["arguments"])
    if not isinstance(args, dict):
        raise ValueError(f"The arguments of recorded call {call['id']} are no JSON object: repair the recording.")
    return PendingCall(call["id"], tool, args, signature(tool, args), effect="read")


def replay(recording: Recording, settings: Settings | None = None) -> Replayed:
    """One recording through the default policies."""
    thread = Thread.of(recording, settings or Settings())
    closed: Finding | None = None
    for message in recording["messages"]:
        calls = message.get("tool_calls")
        if message["role"] == "user":
            thread.begin()
        elif calls and (closed := thread.turn(calls)) is not None:
            break
    closed_by = closed.policy if closed else ""
    return Replayed(recording["id"], recording["success"], thread.blocks > 0, thread.harmful > 0, closed_by)


def recordings(path: Path, at_most: int | None = None) -> Iterator[Recording]:
    """The first recordings of a file."""
    with path.open(encoding="utf-8") as lines:
        for line in islice(lines, at_most):
            recording: Recording = json.loads(line)
            yield recording


def percent(hits: Iterable[bool]) -> str:
    """Share of true ones in %."""
    values = list(hits)
    return f"{100 * sum(values) / len(values):.1f}" if values else "-"


def closers(runs: Sequence[Replayed]) -> str:
    """Which policies closed how many runs."""
    counts = Counter(run.closed_by for run in runs if run.closed_by)
    return ", ".join(f"{policy} {count}" for policy, count in counts.most_common()) or "-"


def shares(runs: Sequence[Replayed]) -> list[str]:
    """Cells of one label: runs, block, harm, closed."""
    closed = percent(bool(run.closed_by) for run in runs)
    return [str(len(runs)), percent(run.blocked for run in runs), percent(run.harmed for run in runs), closed]


def targets(source: str, good: Sequence[Replayed], bad: Sequence[Replayed]) -> str:
    """The source's targets, and which of them are missed."""
    name = next((name for name in AT_MOST_CLOSED if name in source), None)
    if name is None:
        return "none"
    closed, share = sum(bool(run.closed_by) for run in good), percent(bool(run.closed_by) for run in bad)
    least = AT_LEAST_CLOSED.get(name)
    missed = ["harm"] if any(run.harmed for run in good) else []
    missed += ["successes closed"] if closed > AT_MOST_CLOSED[name] else []
    missed += ["failures closed"] if least is not None and bad and float(share) < least else []
    text = f"harm 0, closed <= {AT_MOST_CLOSED[name]} runs" + (f", failures >= {least} %" if least else "")
    return f"{text}: {'MISSED ' + ', '.join(missed) if missed else 'met'}"


def print_tables(folder: Path, at_most: int | None) -> None:
    """Replay every source of the folder and print its row."""
    print("| source | successes | block % | harm % | closed % | failures | block % | harm % | closed % "
          "| closed successes by | closed failures by | targets |\n|" + "---|" * 12)  # fmt: skip
    unlabelled: dict[str, list[Replayed]] = {}
    for path in sorted(folder.glob("*.jsonl")):
        runs = [replay(recording) for recording in recordings(path, at_most)]
        good, bad = [run for run in runs if run.success], [run for run in runs if run.success is False]
        unlabelled[path.stem] = [run for run in runs if run.success is None]
        if good or bad:
            cells = [path.stem, *shares(good), *shares(bad), closers(good), closers(bad), targets(path.stem, good, bad)]
            print("| " + " | ".join(cells) + " |", flush=True)
    print("\n| source | without label | block % | harm % | closed % | closed by |\n|" + "---|" * 6)
    for source, runs in unlabelled.items():
        if runs:
            print("| " + " | ".join([source, *shares(runs), closers(runs)]) + " |")


def long_thread(rounds: int) -> tuple[Thread, PendingCall]:
    """A run of rounds whose calls all differ, so that no policy can stop looking early, and its next call."""
    calls: list[RecordedCall] = [
        {"id": str(n), "function": {"name": "fetch", "arguments": json.dumps({"page": n})}} for n in range(rounds + 1)
    ]
    results: list[Message] = [{"role": "tool", "tool_call_id": call["id"], "content": call["id"]} for call in calls]
    settings = Settings(max_model_calls=10 * rounds, max_tool_calls=None)
    thread = Thread.of({"id": "long", "success": None, "messages": results}, settings)
    thread.begin()
    for call in calls[:-1]:
        thread.turn([call])
    return thread, pending(calls[-1])


def print_times(rounds: int = 400, repeat: int = 2000) -> None:
    """Time the policies alone, and with what a visit prepares for them (window, index of signatures, rounds)."""
    thread, call = long_thread(rounds)
    print(f"| visit at {rounds} rounds | policies ms | with their view ms | target |\n|---|---|---|---|")
    for name, waiting in (("a call is pending", [call]), ("all calls answered", [])):
        alone, together = [], []
        for _ in range(repeat):
            started = time.perf_counter()
            view = thread.view(waiting)  # anew each time: it caches its rounds
            seen = time.perf_counter()
            rule(thread.policies, view)
            ended = time.perf_counter()
            alone.append(1000 * (ended - seen))
            together.append(1000 * (ended - started))
        median = statistics.median(alone)
        met = "met" if median <= MILLISECONDS else "MISSED"
        print(f"| {name} | {median:.3f} | {statistics.median(together):.3f} | policies <= {MILLISECONDS} ms: {met} |")


def main() -> None:
    """Print the tables, or the times."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("folder", type=Path, nargs="?", default=FOLDER)
    parser.add_argument("--runs", type=int, help="only the first so many runs of each source")
    parser.add_argument("--time", action="store_true", help="time the policies instead")
    options = parser.parse_args()
    if options.time:
        print_times()
    elif not any(options.folder.glob("*.jsonl")):
        parser.error(f"{options.folder} holds no *.jsonl file: name a folder of recorded runs.")
    else:
        print_tables(options.folder, options.runs)


if __name__ == "__main__":
    main()
