"""Reads a thread's log once, event by event, and gives its runs."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from langchain_core.messages import AIMessage, AnyMessage, InvalidToolCall, ToolCall

from loopwright.event_shapes import (
    AnswerEvent,
    BeginEvent,
    CallEvent,
    CompressionEvent,
    DecisionEvent,
    Event,
    ForkEvent,
    ModelEvent,
    OutcomeEvent,
    PauseEvent,
    StopEvent,
)
from loopwright.pending import Pending
from loopwright.report.branching import Branch
from loopwright.report.data import (
    CallReport,
    CompressionReport,
    DecisionReport,
    ExtensionReport,
    ForkReport,
    ModelReport,
    OutcomeReport,
    PauseReport,
    RoundReport,
    RunEntry,
    RunReport,
    RunStatus,
    StuckReport,
)  # fmt: skip
from loopwright.report.texts import HEAD, Texts
from loopwright.report.timing import rest_of
from loopwright.report.totals import ratios_of, totals_of
from loopwright.report.waiting import waits
from loopwright.shapes import Status, StopReport
from loopwright.transcript import all_calls, open_calls


def fold_report(
    thread: str,
    events: Sequence[Event],
    messages: Sequence[AnyMessage],
    pending: Sequence[Pending] = (),
    *,
    branches: Sequence[Branch] = (),
    limits: dict[str, float] | None = None,
    holder: str | None = None,
    characters: int = HEAD,
) -> RunReport:
    """The report of a thread from its log and its transcript, in time linear in both (400 rounds: about 20 ms).

    `branches` are those that LangGraph's own API made, `limits` those of the newest run, `holder` is the process that
    makes it. A task, a reply and a result are repeated up to so many `characters`, the answer as a whole.
    """
    fold = _Fold(thread, Texts(messages), limits or {}, characters)
    going: RunStatus = "running" if holder else "paused" if pending else "unfinished"
    for event in events:
        fold.take(event)
    fold.settle()
    fold.branch(branches)
    runs = [fold.entry(run, going if run is fold.current else None) for run in fold.runs]
    return RunReport(
        thread=thread,
        runs=tuple(runs),
        totals=totals_of(events),
        waiting=() if holder else tuple(pending),
        holder=holder,
        token_ratios=ratios_of(events),
    )


@dataclass
class _Round:
    step: int
    decisions: list[DecisionEvent] = field(default_factory=list)
    model: ModelEvent | None = None
    calls: list[CallEvent] = field(default_factory=list)


@dataclass
class _Run:
    number: int
    begun: BeginEvent
    events: list[Event] = field(default_factory=list)
    rounds: list[_Round] = field(default_factory=list)
    leading: list[DecisionEvent] = field(default_factory=list)
    compressions: list[CompressionEvent] = field(default_factory=list)
    pauses: list[PauseEvent] = field(default_factory=list)
    outcomes: list[OutcomeEvent] = field(default_factory=list)
    extensions: list[BeginEvent] = field(default_factory=list)
    forks: list[ForkReport] = field(default_factory=list)
    stop: StopEvent | None = None
    answer: AnswerEvent | None = None


@dataclass
class _Fold:
    """The log read so far.

    `asked_in` is the round whose reply made a call: `begin` closes calls of an earlier run. `forked` holds forks of
    which the next event tells whether the run goes on or another one begins.
    """

    thread: str
    texts: Texts
    limits: dict[str, float]
    characters: int
    runs: list[_Run] = field(default_factory=list)
    current: _Run | None = None
    asked_in: dict[str, _Round] = field(default_factory=dict)
    forked: list[ForkEvent] = field(default_factory=list)

    def take(self, event: Event) -> None:
        """Read the next event."""
        if event["kind"] == "fork":
            self.forked.append(event)
            return
        if event["kind"] == "begin":
            self.current = self._begin(event)
        run = self.current
        if run is None:
            return
        self.settle(begins=event["kind"] == "begin")
        run.events.append(event)
        if event["kind"] == "model":
            self._model(run, event)
        elif event["kind"] == "decision":
            leads = event["go"] in ("call_model", "compress_memory") and not event["rungs"]
            (run.leading if leads or not run.rounds else run.rounds[-1].decisions).append(event)
        elif event["kind"] == "call":
            asking = self.asked_in.get(event["call_id"]) or (run.rounds[-1] if run.rounds else None)
            if asking is not None:
                asking.calls.append(event)
        elif event["kind"] == "compression":
            run.compressions.append(event)
        elif event["kind"] == "pause":
            run.pauses.append(event)
        elif event["kind"] == "outcome":
            run.outcomes.append(event)
        elif event["kind"] == "answer":
            run.answer = event
        elif event["kind"] == "stop":
            run.stop = event

    def settle(self, *, begins: bool = False) -> None:
        """Count the forks so far to the current run, which begins with them or had come to their step."""
        if self.current is not None:
            for each in self.forked:
                self.current.forks.append(ForkReport.model_validate({**each, "step": 0 if begins else each["step"]}))
            self.forked.clear()

    def branch(self, branches: Sequence[Branch]) -> None:
        """Count the forks that LangGraph's own API made; those of ours have an event that names their checkpoint."""
        known = {fork.checkpoint for run in self.runs for fork in run.forks}
        by_id = {run.begun["run"]: run for run in self.runs}
        for each in branches:
            run = by_id.get(each.run)
            if run is not None and each.checkpoint not in known:
                run.forks.append(ForkReport.model_validate({**each._asdict(), "thread": self.thread}))
                run.forks.sort(key=lambda fork: fork.at)

    def _begin(self, event: BeginEvent) -> _Run:
        """The newest run where it goes on, else a new one, which may have an old one's id: a caller can choose it."""
        run = self.current
        if run is None or (run.begun["run"], len(run.rounds)) != (event["run"], event["step"]):
            self.runs.append(_Run(len(self.runs) + 1, event))
            return self.runs[-1]
        run.extensions.append(event)
        run.stop = run.answer = None
        return run

    def _model(self, run: _Run, event: ModelEvent) -> None:
        asking = _Round(event["step"], run.leading, event)
        run.leading = []
        run.rounds.append(asking)
        reply = self.texts.message(event["message_id"])
        if isinstance(reply, AIMessage):
            self.asked_in |= {call["id"] or "": asking for call in all_calls(reply)}

    def entry(self, run: _Run, going: RunStatus | None) -> RunEntry:
        """The run as data; `going` is how the newest one stands while it has not ended.

        Decisions that no model call followed yet stand in a last round without one.
        """
        rounds = [*run.rounds, _Round(len(run.rounds) + 1, run.leading)] if run.leading else run.rounds
        unanswered = open_calls(self.texts.messages) if going else []
        first = next((r.model["message_id"] for r in run.rounds if r.model and r.model["message_id"]), "")
        stop = run.stop["report"] if run.stop else None
        own = [event for event in run.events if event["run"] == run.begun["run"]]  # a later one closes what it left
        rest = rest_of(own, waits(own))
        return RunEntry(
            number=run.number,
            id=run.begun["run"],
            task=self.texts.task(run.begun["delivery"], first)[: self.characters],
            status=_ended(stop) if stop else going or "unfinished",
            rounds=tuple(self._round(each, unanswered) for each in rounds),
            compressions=tuple(CompressionReport.model_validate(each) for each in run.compressions),
            pauses=tuple(PauseReport.model_validate(each) for each in run.pauses),
            outcomes=tuple(OutcomeReport.model_validate(each) for each in run.outcomes),
            extensions=tuple(
                ExtensionReport(step=e["step"], at=e["at"], limits=e["extend"] or {}) for e in run.extensions
            ),
            forks=tuple(run.forks),
            stop=stop,
            stuck=_stuck(stop) if stop else None,
            answer=self.texts.text(run.answer["message_id"]) if run.answer else "",
            totals=totals_of(run.events),
            started=own[0]["at"],
            ended=max(event["at"] for event in own),
            own_seconds=rest.own,
            left_seconds=rest.left,
            limits=self.limits if going else {},
        )

    def _round(self, done: _Round, unanswered: Sequence[ToolCall | InvalidToolCall]) -> RoundReport:
        model = done.model
        ended = {call["call_id"] for call in done.calls}
        waiting = [c for c in unanswered if self.asked_in.get(c["id"] or "") is done and c["id"] not in ended]
        return RoundReport(
            step=done.step,
            decisions=tuple(DecisionReport.model_validate(each) for each in done.decisions),
            model=ModelReport.model_validate({**model, "said": self.texts.text(model["message_id"])[: self.characters]})
            if model
            else None,
            calls=self._in_order([*(self._call(each) for each in done.calls), *(self._open(each) for each in waiting)]),
        )

    def _in_order(self, calls: list[CallReport]) -> tuple[CallReport, ...]:
        """The calls as the reply made them: those that ran together end in any order."""
        places = self.texts.call_places
        return tuple(sorted(calls, key=lambda each: places.get(each.call_id, len(places))))

    def _open(self, call: ToolCall | InvalidToolCall) -> CallReport:
        """A call that nothing answers yet."""
        id = call["id"] or ""
        return CallReport(
            call_id=id, tool=call["name"] or "", args=self.texts.args.get(id, {}), effect=None, status="open"
        )

    def _call(self, call: CallEvent) -> CallReport:
        result = self.texts.results.get(call["call_id"])
        edited = call["edited_args"]
        return CallReport.model_validate({
            **call,
            "args": self.texts.args.get(call["call_id"], {}) if edited is None else edited,
            "edited": edited is not None,
            "result": None if result is None else result[: self.characters],
            "result_characters": len(result or ""),
        })  # fmt: skip


def _ended(stop: StopReport) -> Status:
    if stop["reason"] == "answered":
        return "completed"
    return "failed" if stop["reason"] in ("auth", "model_error") else "stopped"


def _stuck(stop: StopReport) -> StuckReport | None:
    """Where a run got stuck; None where it answered, or only reached a limit."""
    if stop["complete"] or not (stop["call_id"] or stop["earlier_steps"]):
        return None
    return StuckReport(step=stop["step"], began=min([stop["step"], *stop["earlier_steps"]]), call_id=stop["call_id"])
