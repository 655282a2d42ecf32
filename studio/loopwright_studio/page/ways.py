"""What a person can do next: sentences with command lines that can be pasted."""

from collections.abc import Sequence
from typing import NamedTuple

from loopwright.pending import Pending
from loopwright.policies.limits import LIMITS
from loopwright.report import ForkReport, RunReport
from loopwright.shapes import StopReport
from loopwright_studio.after_stop import larger
from loopwright_studio.command_lines import command
from loopwright_studio.page.steps import RoundStep
from loopwright_studio.page.wording import Wording


class Way(NamedTuple):
    """Something that a person can do: a sentence and a command line."""

    what: str
    command: str


class Ways:
    """The ways on from where a thread stands. `storage` is the option as it was given, for the command lines."""

    def __init__(self, report: RunReport, storage: str | None, words: Wording) -> None:
        self._thread, self._storage, self._words = report.thread, storage, words
        self._newest = {turn.step: run.number for run in report.runs for turn in run.rounds}
        self._back = Way(words.find_checkpoint, self._command("history"))  # events name no checkpoint to fork from

    def after_answer(self) -> tuple[Way, ...]:
        """Asking more."""
        return (Way(self._words.ask_more, self._run_again(self._words.new_task)),)

    def after_stop(self, stop: StopReport) -> tuple[Way, ...]:
        """The way on that fits the reason, and one to look at how it came to that."""
        look = Way(self._words.read_in_terminal, self._command("show"))
        if stop["reason"] in LIMITS:
            return (Way(self._words.extend_limit, self._command("resume", "--extend", larger(stop))), look)
        if stop["reason"] in ("auth", "model_error"):
            return (Way(self._words.go_on_repaired, self._command("resume")), look)
        again = Way(self._words.say_differently, self._run_again(self._words.new_words))
        return (again, self._back if stop["earlier_steps"] else look)

    def of_running(self) -> tuple[Way, ...]:
        """Looking on: a thread that is held takes no command that would change it."""
        return (Way(self._words.watch, self._command("show", "--follow")),)

    def of_left(self) -> tuple[Way, ...]:
        """Going on, and seeing whether it does so by itself."""
        return (
            Way(self._words.go_on, self._command("resume")),
            Way(self._words.see_whether_it_moves, self._command("show", "--follow")),
        )

    def answers(self, waiting: Sequence[Pending]) -> tuple[Way, ...]:
        """At most three answers to the first open questions; where there are several, each names its question."""
        words = self._words
        sentences = {
            "approval": (words.let_it_run, words.refuse_it),
            "budget": (words.let_it_go_on, words.let_it_close),
            "unknown": (words.it_did_happen, words.it_did_not),
        }
        found: list[Way] = []
        for question in waiting[:2]:
            named = ("--question", question.id) if len(waiting) > 1 else ()
            yes, no = sentences[question.kind]
            found.append(Way(yes, self._command("resume", "--approve", *named)))
            found.append(Way(no, self._command("resume", "--reject", words.reason_word, *named)))
        return tuple(found[:3])

    def in_round(self, step: RoundStep) -> tuple[Way, ...]:
        """All of a round, where no later run has one of its number, and the checkpoints around it."""
        if self._newest[step.turn.step] != step.run.number:
            return (self._back,)
        return (Way(self._words.whole_round, self._command("show", "--round", str(step.turn.step))), self._back)

    def at_fork(self, fork: ForkReport) -> Way:
        """The same fork once more: of another thread into a new one, since that thread went on by itself."""
        into = () if fork.thread == self._thread else ("--into", self._words.new_thread)
        return Way(self._words.fork_again, command("fork", fork.thread, self._storage, fork.checkpoint, *into))

    def _command(self, name: str, *more: str) -> str:
        return command(name, self._thread, self._storage, *more)

    def _run_again(self, words: str) -> str:
        return command("run", self._thread, self._storage, before=(words, "--thread"))
