"""The path that a run took through the machine: how often it went along each edge, and the picture of that."""

from collections import Counter

from markupsafe import Markup

from loopwright.language import Language
from loopwright.report import RunEntry
from loopwright_studio.page.wording import PICTURE
from loopwright_studio.pictures import machine_svg

Pair = tuple[str, str]


def path_of(run: RunEntry) -> Counter[Pair]:
    """How often each edge was taken. Calls of one round are one visit to execute_tools."""
    decisions = [decision for turn in run.rounds for decision in turn.decisions]
    path: Counter[Pair] = Counter(("guard", decision.go) for decision in decisions)
    begun = 1 + len(run.extensions)
    path["__start__", "begin"] = path["begin", "guard"] = begun
    path["call_model", "guard"] = sum(turn.model is not None for turn in run.rounds)
    path["compress_memory", "guard"] = len(run.compressions)
    path["ask", "guard"] = len(run.pauses) + len(run.outcomes)
    path["execute_tools", "guard"] = path["guard", "execute_tools"]
    path["finish", "__end__"] = path["guard", "finish"]
    return path


def picture_of(run: RunEntry, language: Language) -> Markup:
    """The machine with the numbers of this run; the way out is marked where it was stopped."""
    stopped = run.stop is not None and not run.stop["complete"]
    return machine_svg(path_of(run), way_out=stopped, words=PICTURE if language == "zh" else {})
