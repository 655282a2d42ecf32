"""The script both fakes play: its steps, the requests that came, and every fault, safe for several threads."""

import threading
from collections.abc import Iterable
from typing import Generic, TypeVar

RequestT = TypeVar("RequestT")
StepT = TypeVar("StepT")


class UnexpectedCall(AssertionError):
    """A request came when the script had no step left."""


class Script(Generic[RequestT, StepT]):
    """Hands out one step a request, in order; with `endless` that one step answers every request.

    It is one thing even where its owner is copied: a copy of a model goes on where the original was.
    Raises TypeError for a single text in place of steps.
    """

    def __init__(self, steps: Iterable[StepT] = (), *, endless: StepT | None = None) -> None:
        if isinstance(steps, str):
            raise TypeError(f"The script is one text, {steps!r:.80}: write a list of steps, [{steps!r:.80}].")
        self.requests: list[RequestT] = []
        self._steps = list(steps)
        self._endless = endless
        self._taken = 0
        self._faults: list[str] = []
        self._lock = threading.Lock()

    def __copy__(self) -> "Script[RequestT, StepT]":
        return self

    def __deepcopy__(self, memo: dict[int, object]) -> "Script[RequestT, StepT]":
        return self

    def record(self, request: RequestT) -> None:
        """Remember a request that takes no step."""
        with self._lock:
            self.requests.append(request)

    def take(self, request: RequestT) -> tuple[int, StepT]:
        """The request's number, from 1, and its step. Raises UnexpectedCall when none is left."""
        with self._lock:
            self.requests.append(request)
            number = len(self.requests)
            if self._endless is not None:
                return number, self._endless
            if self._taken < len(self._steps):
                self._taken += 1
                return number, self._steps[self._taken - 1]
            problem = f"Request {number} came when all {len(self._steps)} steps of the script had been played."
            self._faults.append(problem)
        raise UnexpectedCall(problem)

    def fault(self, problem: str) -> None:
        """Remember what went wrong in the script itself: the code under test may swallow an error."""
        with self._lock:
            self._faults.append(problem)

    def assert_finished(self) -> None:
        """Raise AssertionError when steps are unused, or when the script itself failed a request."""
        with self._lock:
            unused, problems = self._steps[self._taken :], list(self._faults)
        if unused:
            problems.append(
                f"{len(unused)} of {len(self._steps)} steps were not played, the next is {unused[0]!r:.200}."
            )
        if problems:
            raise AssertionError(" ".join(problems))
