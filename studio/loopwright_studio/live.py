"""A run in the terminal while it goes on: each step is printed once and stays, above two lines that move."""

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from types import TracebackType
from typing import Self

from langchain_core.messages import AIMessage, ToolMessage

from loopwright.event_shapes import CallEvent, Event
from loopwright.events import executed
from loopwright.framing import unframed
from loopwright.models.thinking import thoughts_apart
from loopwright.report import CallReport, CompressionReport, DecisionReport, ModelReport, RunReport
from loopwright.results import Token
from loopwright.stream import RunStream
from loopwright.transcript import all_calls, text_of
from loopwright_studio.call_line import SHOWN
from loopwright_studio.console import Row, Screen
from loopwright_studio.footer import Footer
from loopwright_studio.progress import Call, Progress
from loopwright_studio.pulse import Pulse, eighths
from loopwright_studio.rows import (
    call_rows,
    compression_row,
    decision_row,
    extension_row,
    is_notable,
    model_rows,
    outcome_row,
    pause_row,
    stop_row,
)


class Live:
    """Prints what a run's stream hands out. In a terminal two lines below it say what it waits for and what is used.

    A decision has a line where the guard did more than let the run go on. Events carry no texts: what the model says is
    joined from its tokens; a call's arguments and result are taken from what the nodes have written, which is there
    when the guard decides next. What an earlier process wrote is looked up in the thread's report (`look`). Off a
    terminal each line is there at once, since logs are followed; in one it comes with the next drawing (`pulse`), and
    at the latest when the block ends, however it ends.
    """

    def __init__(
        self,
        screen: Screen,
        stream: RunStream,
        look: Callable[[], RunReport],
        limits: Mapping[str, float],
        *,
        pulse: Pulse = eighths,
    ) -> None:
        self._screen, self._stream, self._look = screen, stream, look
        self._read, self._begun = 0, False
        self._said: dict[str, list[str]] = {}
        self._calls: dict[str, CallEvent] = {}
        self._made: dict[str, Call] = {}
        self._results: dict[str, str] = {}
        self._progress = Progress(limits)
        self._footer: Footer | None = None
        if screen.console.is_interactive:
            self._footer = Footer(screen, self._progress, pulse, lambda: stream.ended_by is not None)
        self._print = self._footer.put if self._footer else screen.print
        self._shown = self._footer.shown() if self._footer else nullcontext()

    def __enter__(self) -> Self:
        self._shown.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if error is None:
                self._learn()
                self._print(*self._due(finished=True))
        finally:
            self._shown.__exit__(kind, error, trace)

    def take(self, item: Event | Token) -> None:
        """Print what this item tells."""
        if not self._begun:
            self._begun = True
            self._take_up(item)
        if isinstance(item, Token):
            self._said.setdefault(item.message_id, []).append(item.text)
            return
        self._learn()
        self._progress.take(item, self._made)
        if item["kind"] == "call":
            self._calls[item["call_id"]] = item
            return
        before = self._due(only_run=item["kind"] == "decision")
        rows = [*before, *self._rows(item), *self._due()]
        if rows:
            self._print(*rows)

    def _take_up(self, first: Event | Token) -> None:
        """Count from where an earlier command left the run that goes on with this item; a new one begins at nothing."""
        event = None if isinstance(first, Token) else first
        if self._footer is None or (event and event["kind"] == "begin" and not event["step"]):
            return
        for run in self._look().runs[-1:]:
            self._progress.go_on(run, event["at"] if event else time.time())

    def _rows(self, item: Event) -> list[Row]:
        if item["kind"] == "begin" and item["extend"] is not None:
            return [extension_row(self._screen, item["extend"])]
        if item["kind"] == "decision":
            decision = DecisionReport.model_validate(item)
            return [decision_row(self._screen, decision)] if is_notable(decision) else []
        if item["kind"] == "model":
            _, said = thoughts_apart("".join(self._said.pop(item["message_id"], [])))
            return model_rows(self._screen, item["step"], ModelReport.model_validate({**item, "said": said}))
        if item["kind"] == "compression":
            return [compression_row(self._screen, CompressionReport.model_validate(item))]
        if item["kind"] == "pause":
            return [pause_row(self._screen, item["question"], item["extend"])]
        if item["kind"] == "outcome":
            return [outcome_row(self._screen, item["question"], item["happened"])]
        return [stop_row(self._screen, item["report"])] if item["kind"] == "stop" else []

    def _learn(self) -> None:
        """Read what the nodes have written since."""
        written = self._stream.written
        for message in written[self._read :]:
            if isinstance(message, AIMessage):
                self._made |= {c["id"] or "": Call(c["name"] or "?", c["args"] or {}) for c in all_calls(message)}
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
        if not all(each in self._made for each in call_ids):
            for each in calls_of(self._look()):
                self._made.setdefault(each.call_id, Call(each.tool, each.args))

    def _call(self, event: CallEvent) -> CallReport:
        result = self._results.get(event["call_id"])
        edited = event["edited_args"]
        made = self._made.get(event["call_id"])
        return CallReport.model_validate({
            **event,
            "args": edited if edited is not None else made.args if made else {},
            "edited": edited is not None,
            "result": None if result is None else result[:SHOWN],
            "result_characters": len(result or ""),
        })  # fmt: skip


def calls_of(report: RunReport) -> list[CallReport]:
    """All calls of a thread in the order of the log."""
    return [call for run in report.runs for turn in run.rounds for call in turn.calls]
