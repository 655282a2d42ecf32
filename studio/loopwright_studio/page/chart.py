"""The chart of a thread: tokens of each request, and under it on the same x time, errors and the guard."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

from loopwright_studio.page.steps import BetweenStep, RoundStep, Step

HEIGHT, LANE = 100, 20
"""The height of the plot and of a lane, in units of their own: both are stretched to the page's width and height."""
FLATTEST = 4
"""A budget of up to so many times the largest request is drawn: the curve keeps a quarter of the height at least, in
which its rises and falls can still be told apart. A larger one is only named."""


@dataclass(frozen=True)
class Chart:
    """Everything that the template draws: SVG path data with x in rounds, tick labels from top to bottom.

    `budgets` are the different ones that requests had; `budget` is empty where none of them fits on the scale.
    """

    rounds: tuple[RoundStep, ...]
    area: str
    line: str
    budget: str
    budgets: tuple[int, ...]
    compressions: tuple[int, ...]
    runs: tuple[int, ...]
    ticks: tuple[int, ...]
    model_time: str
    tool_time: str
    errors: str
    guard: str
    hard: str

    @property
    def width(self) -> int:
        """The number of rounds."""
        return len(self.rounds)


def chart_of(steps: Sequence[Step]) -> Chart:
    """The chart of all rounds of a thread."""
    rounds = tuple(step for step in steps if isinstance(step, RoundStep))
    tokens = [step.turn.model.request_tokens if step.turn.model else 0 for step in rounds]
    budgets = [step.turn.model.budget if step.turn.model else None for step in rounds]
    largest = max(tokens, default=0)
    top = _round_up(max([largest, *(each for each in budgets if each and each <= FLATTEST * largest)]))
    heights = [round(HEIGHT - HEIGHT * each / top, 2) for each in tokens]
    line = " ".join(f"{at + 0.5:g},{height:g}" for at, height in enumerate(heights))
    slowest = max((_seconds(step) for step in rounds), default=0.0) or 1.0
    model = [_model_seconds(step) / slowest * LANE for step in rounds]
    tools = [step.tool_seconds / slowest * LANE for step in rounds]
    return Chart(
        rounds=rounds,
        area=f"M0.5,{HEIGHT} L{line} L{len(rounds) - 0.5:g},{HEIGHT} Z" if rounds else "",
        line=f"M{line}" if rounds else "",
        budget=_levels(budgets, top),
        budgets=tuple(sorted({each for each in budgets if each})),
        compressions=tuple(each.at for each in steps if isinstance(each, BetweenStep) and each.kind == "compression"),
        runs=tuple(each.at for each in steps if each.kind == "task" and each.at),
        ticks=tuple(round(top * part / 4) for part in (4, 3, 2, 1, 0)),
        model_time=_bars((at, LANE, height) for at, height in enumerate(model)),
        tool_time=_bars((at, LANE - model[at], height) for at, height in enumerate(tools)),
        errors=_marks(rounds, lambda step: step.failed),
        guard=_marks(rounds, lambda step: step.tag is not None and not step.tag.hard),
        hard=_marks(rounds, lambda step: step.tag is not None and step.tag.hard),
    )


def _round_up(most: int) -> int:
    """A round number that is not below the largest one, and that four parts divide well."""
    unit = 4
    while unit * 10 < most:
        unit *= 10
    return next((unit * part for part in (1, 2, 3, 4, 5, 6, 8, 10) if unit * part >= most), unit * 10)


def _levels(budgets: Sequence[int | None], top: int) -> str:
    """A line that steps from budget to budget; broken where one is not known or lies above the scale."""
    path, at = "", 0
    joined = False
    for budget, same in groupby(budgets):
        end = at + len(list(same))
        drawn = bool(budget) and (budget or 0) <= top
        if drawn:
            height = round(HEIGHT - HEIGHT * (budget or 0) / top, 2)
            path += f"V{height:g}H{end}" if joined else f"M{at} {height:g}H{end}"
        at, joined = end, drawn
    return path


def _model_seconds(step: RoundStep) -> float:
    return step.turn.model.seconds if step.turn.model else 0.0


def _seconds(step: RoundStep) -> float:
    return _model_seconds(step) + step.tool_seconds


def _bars(bars: Iterable[tuple[int, float, float]]) -> str:
    """Bars of one round's width as path data: where, from which height, how high."""
    return "".join(f"M{at} {foot:.2f}v{-height:.2f}h1v{height:.2f}z" for at, foot, height in bars if height > 0.005)


def _marks(rounds: Sequence[RoundStep], wanted: Callable[[RoundStep], bool]) -> str:
    return _bars((step.at, LANE, LANE) for step in rounds if wanted(step))
