"""A run in the terminal while it goes on: each step is printed once and stays, above two lines that move."""

import time
from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import Any, Self

from langchain_core.messages import AIMessage, ToolMessage

from loopwright.events import executed
from loopwright.framing import unframed
from loopwright.report import CallReport, CompressionReport, DecisionReport, ModelReport, RunReport
from loopwright.results import Token
from loopwright.event_shapes import CallEvent, DecisionEvent, Event, ModelEvent
from loopwright.stream import RunStream
from loopwright.transcript import all_calls, text_of
from loopwright_studio.console import Row, Screen
from loopwright_studio.footer import Footer, Progress
from loopwright_studio.rows import (
    SHOWN,
    call_rows,
    compression_row,
    decision_row,
    extension_row,
    model_rows,
    outcome_row,
    pause_row,
    stop_row,
)
from loopwright_studio.visible import one_line


class Live:
    """Prints what a run's stream hands out. In a terminal two lines below it say what it waits for and what is used.

    Events carry no texts: what the model says is joined from its tokens; a call's arguments and result are taken from
    what the nodes have written, which is there when the guard decides next. What an earlier process wrote is looked up
    in the thread's report (`look`).
    """

    def __init__(
        self, screen: Screen, stream: RunStream, look: Callable[[], RunReport], limits: Mapping[str, float]
    ) -> None:
        self._screen, self._stream, self._look = screen, stream, look
        self._read = 0
        self._said: dict[str, list[str]] = {}
        self._calls: dict[str, CallEvent] = {}
        self._args: dict[str, tuple[str, dict[str, Any] | str]] = {}
        self._results: dict[str, str] = {}
        self._held: list[Row] = []  # a decision waits for what follows where the moving lines tell it: a print is dear
        self._progress = Progress(limits)
        self._footer = Footer(screen, self._progress) if screen.console.is_terminal else None

    def __enter__(self) -> Self:
        if self._footer:
            self._footer.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._footer:
            self._footer.stop()
        if error is None:
            self._learn()
            self._screen.print(*self._held, *self._due(finished=True))

    def take(self, item: Event | Token) -> None:
        """Print what this item tells."""
        if isinstance(item, Token):
            self._said.setdefault(item.message_id, []).append(item.text)
            return
        if item["kind"] == "call":
            self._calls[item["call_id"]] = item
            self._progress.running.pop(item["call_id"], None)
            return
        self._learn()
        before = self._due(only_run=item["kind"] == "decision")
        rows = [*self._held, *before, *self._rows(item), *self._due()]
        holds = self._footer is not None and item["kind"] == "decision" and not before
        self._held = rows if holds else []
        if not holds:
            self._screen.print(*rows)
        self._note(item)

    def _rows(self, item: Event) -> list[Row]:
        if item["kind"] == "begin" and item["extend"]:
            return [extension_row(item["extend"])]
        if item["kind"] == "decision":
            return [decision_row(self._screen, DecisionReport.model_validate(item))]
        if item["kind"] == "model":
            said = "".join(self._said.pop(item["message_id"], []))
            return model_rows(self._screen, item["step"], ModelReport.model_validate({**item, "said": said}))
        if item["kind"] == "compression":
            return [compression_row(self._screen, CompressionReport.model_validate(item))]
        if item["kind"] == "pause":
            return [pause_row(self._screen, item["question"], item["extend"])]
        if item["kind"] == "outcome":
            return [outcome_row(self._screen, item["question"], item["happened"])]
        return [stop_row(self._screen, item["report"])] if item["kind"] == "stop" else []

    def _note(self, item: Event) -> None:
        """Keep what the two lines say up to date."""
        if item["kind"] == "decision":
            self._progress.wait_for(item["go"])
            self._start(item)
        elif item["kind"] == "model":
            self._spent(item)
            self._progress.wait_for("guard")
        elif item["kind"] == "pause" and item["extend"]:
            self._progress.limits = {**self._progress.limits, **item["extend"]}

    def _start(self, decided: DecisionEvent) -> None:
        if decided["go"] == "execute_tools":
            now = time.monotonic()
            sent = [call_id for call_id, rung in decided["rungs"].items() if rung in ("run", "note", "ask")]
            self._progress.running = {each: (one_line(self._args[each][0]), now) for each in sent if each in self._args}

    def _spent(self, event: ModelEvent) -> None:
        self._progress.step = event["step"]
        self._progress.used += event["tokens_in"] + event["tokens_out"]
        if event["cost_usd"] is not None:
            self._progress.cost = (self._progress.cost or 0.0) + event["cost_usd"]

    def _learn(self) -> None:
        """Read what the nodes have written since."""
        written = self._stream.written
        for message in written[self._read :]:
            if isinstance(message, AIMessage):
                self._args |= {c["id"] or "": (c["name"] or "?", c["args"] or {}) for c in all_calls(message)}
            elif isinstance(message, ToolMessage):
                self._results[message.tool_call_id] = unframed(text_of(message))
        self._read = len(written)

    def _due(self, *, only_run: bool = False, finished: bool = False) -> list[Row]:
        """The calls whose results are there by now; all of them when the run is over.

        With `only_run` those that the guard answered itself are left for after its decision.
        """
        due = [
            call_id
            for call_id, event in self._calls.items()
            if (executed(event) or not only_run) and (finished or call_id in self._results)
        ]
        self._look_up(due)
        return [row for each in due for row in call_rows(self._screen, self._call(self._calls.pop(each)))]

    def _look_up(self, call_ids: Sequence[str]) -> None:
        """Take from the thread's report what is not known of these calls: an earlier process made them."""
        if not all(each in self._args for each in call_ids):
            for each in calls_of(self._look()):
                self._args.setdefault(each.call_id, (each.tool, each.args))

    def _call(self, event: CallEvent) -> CallReport:
        result = self._results.get(event["call_id"])
        edited = event["edited_args"]
        _, args = self._args.get(event["call_id"], ("", {}))
        return CallReport.model_validate({
            **event,
            "args": args if edited is None else edited,
            "edited": edited is not None,
            "result": None if result is None else result[:SHOWN],
            "result_characters": len(result or ""),
        })  # fmt: skip


def calls_of(report: RunReport) -> list[CallReport]:
    """All calls of a thread in the order of the log."""
    return [call for run in report.runs for turn in run.rounds for call in turn.calls]
