"""BFCL's multi-turn benchmark as it is installed: entries, gold calls, live classes as tools, and the checker."""

import ast
import copy
import functools
import importlib
import inspect
import json
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import Any, TypeAlias

from langchain_core.tools import BaseTool, StructuredTool
from typing_extensions import TypedDict

from loopwright.state import Effect

CATEGORIES = ("base", "miss_func", "miss_param", "long_context")
MORE_TOOLS = "There are more tools now. Please go on with what I asked for."
LOOKS = re.compile(
    r"(get|list|search|view|check|find|estimate|compute|display|verify|retrieve|filter)(_|[A-Z]|$)|\w+_get_"
    r"|(pwd|ls|cat|wc|sort|grep|du|tail|diff|liter_to_gallon|gallon_to_liter)$"
)
"""Names of methods that change nothing."""

GoldCall: TypeAlias = tuple[str, dict[str, object]]
Method: TypeAlias = Callable[..., object]
Steps: TypeAlias = list[list[list[str]]]
"""By turn, by message: the calls as Python text, as BFCL's checker takes them."""


class Record(TypedDict):
    """A line of BFCL's questions: what of it is read here."""

    id: str
    question: list[list[dict[str, str]]]
    initial_config: dict[str, object]
    involved_classes: list[str]


@dataclass(frozen=True)
class Entry:
    """One conversation with the calls that solve it, by turn."""

    record: Record
    gold: list[list[str]]

    @property
    def id(self) -> str:
        """BFCL's name of it, which begins with its category."""
        return self.record["id"]

    @property
    def users(self) -> list[str]:
        """What the user says at each turn; a turn without words is one at which BFCL adds tools."""
        return [turn[0]["content"] if turn else MORE_TOOLS for turn in self.record["question"]]

    @property
    def long_context(self) -> bool:
        """Whether BFCL fills the classes with long texts."""
        return "long_context" in self.id


def parsed(text: str, parameters: Mapping[str, Sequence[str]]) -> GoldCall:
    """Name and arguments of a gold call, the positional ones named by `parameters`, which holds them by method.

    Raises ValueError for what is not one call of a known method with literal arguments.
    """
    try:
        tree = ast.parse(text.strip(), mode="eval").body
        if not isinstance(tree, ast.Call) or not isinstance(tree.func, ast.Name):
            raise ValueError("it is not one plain call")
        name = tree.func.id
        if name not in parameters:
            raise ValueError(f"there is no method {name}")
        if len(tree.args) > len(parameters[name]):
            raise ValueError(f"{name} takes {len(parameters[name])} arguments")
        given = [*zip(parameters[name], tree.args), *((word.arg, word.value) for word in tree.keywords)]  # noqa: B905
        args = {key: ast.literal_eval(value) for key, value in given if key is not None}
        if len(args) < len(given):
            raise ValueError("an argument has no name, or has two values")
    except (SyntaxError, ValueError) as error:
        raise ValueError(f"Gold call {text!r} cannot be played: {error}. Repair the list or leave it out.") from error
    return name, args


def written(name: str, args: Mapping[str, object]) -> str:
    """The call as Python text, every argument by name."""
    return f"{name}({', '.join(f'{key}={value!r}' for key, value in args.items())})"


def dropped(gold: Sequence[Sequence[str]]) -> list[list[str]]:
    """The lists without the last call of the last turn that has one."""
    last = max((number for number, turn in enumerate(gold) if turn), default=-1)
    return [list(turn[:-1] if number == last else turn) for number, turn in enumerate(gold)]


def effect_by_name(method: Method) -> Effect:
    """What the names of a method and of its class say about it."""
    if type(getattr(method, "__self__", None)).__name__ == "MathAPI":
        return "pure"
    return "read" if LOOKS.match(method.__name__) else "write"


class Bfcl:
    """The installed benchmark: its entries, live classes and checker."""

    def __init__(self, folder: Path) -> None:
        """Raises FileNotFoundError when bfcl-eval or mpmath is not in the folder."""
        self.data = folder / "bfcl_eval" / "data"
        if (place := str(folder.resolve())) not in sys.path:
            sys.path.append(place)  # behind our own packages: nothing in there may replace one
        importlib.invalidate_caches()
        missing = "bfcl-eval" if not self.data.is_dir() else None if find_spec("mpmath") else "mpmath"
        if missing:
            raise FileNotFoundError(f"{missing} is not in {folder}: install it there as `--help` says.")
        home = "bfcl_eval.eval_checker.multi_turn_eval.multi_turn"
        backend = importlib.import_module("bfcl_eval.constants.executable_backend_config")
        self._homes: dict[str, str] = backend.CLASS_FILE_PATH_MAPPING
        self._stateless: list[str] = backend.STATELESS_CLASSES
        self._checker = importlib.import_module(f"{home}_checker")
        self._instances = importlib.import_module(f"{home}_utils")
        self._schemas: dict[str, dict[str, Any]] = {}

    def entries(self, category: str, at_most: int | None = None) -> Iterator[Entry]:
        """The first entries of a category."""
        name = f"BFCL_v4_multi_turn_{category}.json"
        with (self.data / name).open(encoding="utf-8") as asked:
            with (self.data / "possible_answer" / name).open(encoding="utf-8") as answers:
                gold = {line["id"]: line["ground_truth"] for line in map(json.loads, answers)}
            for line in islice(asked, at_most):
                record: Record = json.loads(line)
                yield Entry(record, gold[record["id"]])

    def methods(self, entry: Entry) -> dict[str, Method]:
        """The public methods of the entry's classes by name, bound to fresh instances."""
        found: dict[str, Method] = {}
        for name in entry.record["involved_classes"]:
            instance = getattr(importlib.import_module(self._homes[name]), name)()
            if name not in self._stateless:
                scenario = copy.deepcopy(entry.record["initial_config"].get(name, {}))
                instance._load_scenario(scenario, long_context=entry.long_context)
            members = inspect.getmembers(instance, inspect.ismethod)
            found |= {key: method for key, method in members if not key.startswith("_")}
        return found

    def tool(self, name: str, method: Method, received: list[str]) -> BaseTool:
        """The method as a tool that writes down what arrives."""

        @functools.wraps(method)
        def recorded(**args: object) -> object:
            received.append(written(name, args))
            return method(**args)

        if name not in self._schemas:
            self._schemas[name] = StructuredTool.from_function(method).get_input_jsonschema()
        return StructuredTool.from_function(recorded, name=name, args_schema=self._schemas[name])

    def complaint(self, entry: Entry, steps: Steps) -> str:
        """What BFCL's checker has against these calls; "" when it accepts them."""
        outcome = self._checker.multi_turn_checker(steps, entry.gold, entry.record, "", "played")
        for name in [name for name in vars(self._instances) if name.endswith("_instance")]:
            delattr(self._instances, name)  # where it keeps the instances of every entry it ever saw
        return "" if outcome["valid"] else str(outcome["error_type"])
