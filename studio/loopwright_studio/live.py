"""A run in the terminal while it goes on: each step is printed once and stays."""

from collections.abc import Callable
from types import TracebackType
from typing import Self

from rich.text import Text

from loopwright.events import executed
from loopwright.report import CallReport, CompressionReport, DecisionReport, ModelReport, RunReport
from loopwright.results import Token
from loopwright.state import CallEvent, Event, ModelEvent
from loopwright_studio.console import Screen
from loopwright_studio.rows import (
    call_rows,
    compression_row,
    decision_row,
    extension_row,
    model_rows,
    pause_row,
    stop_row,
)


class Live:
    """Prints what a run's stream hands out. In a terminal a line below says what it waits for.

    Events carry no texts: what the model says is joined from its tokens, and a call's arguments and result are looked
    up in the thread's report (`look`) as soon as they are stored, which is when the guard decides next.
    """

    def __init__(self, screen: Screen, look: Callable[[], RunReport]) -> None:
        self._screen, self._look = screen, look
        self._said: dict[str, list[str]] = {}
        self._calls: dict[str, CallEvent] = {}
        self._status = screen.console.status(Text("begin"), spinner="line") if screen.console.is_terminal else None

    def __enter__(self) -> Self:
        if self._status:
            self._status.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._status:
            self._status.stop()
        if error is None:
            self._print_calls(finished=True)

    def take(self, item: Event | Token) -> None:
        """Print what this item tells."""
        if isinstance(item, Token):
            self._said.setdefault(item.message_id, []).append(item.text)
            return
        if item["kind"] == "call":
            self._calls[item["call_id"]] = item
            return
        self._print_calls(only_run=item["kind"] == "decision")
        self._event(item)
        self._print_calls()

    def _event(self, item: Event) -> None:
        if item["kind"] == "begin" and item["extend"]:
            self._screen.print(extension_row(item["extend"]))
        elif item["kind"] == "decision":
            self._screen.print(decision_row(self._screen, DecisionReport.model_validate(item)))
            self._wait_for(item["go"])
        elif item["kind"] == "model":
            self._model(item)
        elif item["kind"] == "compression":
            self._screen.print(compression_row(self._screen, CompressionReport.model_validate(item)))
        elif item["kind"] == "pause":
            self._screen.print(pause_row(self._screen, item["question"], item["extend"]))
        elif item["kind"] == "stop":
            self._screen.print(stop_row(self._screen, item["report"]))

    def _model(self, event: ModelEvent) -> None:
        said = "".join(self._said.pop(event["message_id"], []))
        done = ModelReport.model_validate({**event, "said": said})
        self._screen.print(*model_rows(self._screen, event["step"], done))
        self._wait_for("guard")

    def _print_calls(self, *, only_run: bool = False, finished: bool = False) -> None:
        """Print the calls whose results are stored by now; all of them when the run is over.

        With `only_run` those that the guard answered itself are left for after its decision.
        """
        due = {call_id for call_id, event in self._calls.items() if executed(event) or not only_run}
        if not due:
            return
        for call in calls_of(self._look()):
            if call.call_id in due and (finished or call.result is not None):
                del self._calls[call.call_id]
                self._screen.print(*call_rows(self._screen, call))

    def _wait_for(self, what: str) -> None:
        if self._status:
            self._status.update(Text(what))


def calls_of(report: RunReport) -> list[CallReport]:
    """All calls of a thread in the order of the log."""
    return [call for run in report.runs for turn in run.rounds for call in turn.calls]
