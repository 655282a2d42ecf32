"""What still fits into the steps that the caller's recursion limit leaves: everything leaves room for the end."""

from dataclasses import dataclass


@dataclass(frozen=True)
class StepsLeft:
    """The super-steps that are left, this visit of the guard counted."""

    steps: int

    @property
    def fit_a_fallback(self) -> bool:
        """A failed request is made to the next model: the call, the visit after it and the end."""
        return self.steps > 4

    @property
    def fit_another_answer(self) -> bool:
        """An answer of another form is asked for again, with a compression first if need be."""
        return self.steps > 6

    @property
    def fit_a_shorter_request(self) -> bool:
        """A request is shortened and made again, which takes five with this visit."""
        return self.steps >= 6

    @property
    def fit_a_question(self) -> bool:
        """A question about the past is put: asking takes two, the closing answer six."""
        return self.steps > 8

    @property
    def fit_remembering(self) -> bool:
        """Work leaves its window, or is reflected on, before the next request: the turn and the answer come first."""
        return self.steps >= 10
