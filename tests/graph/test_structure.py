"""The shape of the code: who may import whom, the front door, and the names that files and vendors may have."""

import ast
import importlib
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from tests.graph.sources import ROOT, parse, tree

import loopwright

MACHINE = ROOT / "graph" / "loopwright"
PACKAGES = {"graph": "loopwright", "tools": "loopwright_tools", "studio": "loopwright_studio"}

LAYERS = (
    {
        "context",
        "errors",
        "event_shapes",
        "events",
        "framing",
        "language",
        "layout",
        "node",
        "redaction",
        "sanitise",
        "presets",
        "settings",
        "shapes",
        "state",
        "steps",
        "strict_schema",
        "transcript",
    },
    {"effects", "memory", "models", "policies", "storage", "tooling"},
    {"builtins"},  # tools like any other, made by tool_policy: above tooling
    {"nodes", "routing"},
    {"graph"},
    {
        "agent",
        "delivery",
        "pending",
        "report",
        "results",
        "soundness",
        "stream",
        "testing",
        "thread_doors",
        "threads",
        "user_doors",
    },
)
"""The parts of the machine from the ground up: a part imports what lies below it."""
PEERS = (0, 5)
"""The layers whose parts may import each other; everywhere else parts stand side by side."""
SHARED = {"digest", "signature"}
"""What a part may take from its neighbour tooling: how calls and results are compared."""

VENDORS = re.compile(r"openai|anthropic|mistral|gemini|ollama|deepseek|qwen|sqlite|postgres|psycopg|redis", re.I)
NAMED_IN = {"models", "storage"}
DRAWERS = {"utils", "util", "helpers", "helper", "legacy"}


class Import(NamedTuple):
    """One imported module and, for `from module import name`, the name."""

    module: str
    name: str
    line: int


def sources(folder: Path) -> list[Path]:
    """The Python files under this folder."""
    return sorted(folder.rglob("*.py"))


def imports(tree: ast.Module, package: str) -> Iterator[Import]:
    """Every import of a module, wherever it stands; relative ones made absolute within `package`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (Import(alias.name, "", node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            parents = package.split(".")[: len(package.split(".")) + 1 - node.level] if node.level else []
            module = ".".join([*parents, *([node.module] if node.module else [])])
            yield from (Import(module, alias.name, node.lineno) for alias in node.names)


def package_of(path: Path, root: Path) -> str:
    """The dotted name of the package that this file lies in."""
    return ".".join(path.relative_to(root).parent.parts)


def part_of(module: str, name: str = "") -> str:
    """The part of the machine that is imported, as `loopwright.memory.clipping` or `from loopwright import memory`."""
    return module.split(".")[1] if "." in module else name


def part_at(path: Path) -> str:
    """The part of the machine that this file belongs to."""
    return path.relative_to(MACHINE).parts[0].removesuffix(".py")


def layer_of(part: str) -> int:
    """Where this part stands, counted from the ground."""
    return next(height for height, parts in enumerate(LAYERS) if part in parts)


def is_shared(other: str, name: str) -> bool:
    """Whether a neighbour may take this: how calls and results are compared is one idea for all."""
    return other == "tooling" and name in SHARED


def violations(part: str, package: str, tree: ast.Module) -> Iterator[str]:
    """What a file of this part imports from above or from beside it."""
    for found in imports(tree, package):
        other = part_of(found.module, found.name)
        if found.module.split(".")[0] != "loopwright" or other == part:
            continue
        if not any(other in parts for parts in LAYERS):
            yield f"line {found.line}: {other} is no part of the machine"
        elif layer_of(other) > layer_of(part):
            yield f"line {found.line}: {other} lies above {part}"
        elif layer_of(other) == layer_of(part) and layer_of(part) not in PEERS and not is_shared(other, found.name):
            yield f"line {found.line}: {part} takes {found.name or other} from its neighbour {other}"


def strings_and_names(tree: ast.Module) -> Iterator[tuple[str, int]]:
    """The names that a file defines, the modules it imports and the strings it holds, docstrings aside."""
    prose = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name, node.lineno
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id, node.lineno
        elif isinstance(node, ast.arg):
            yield node.arg, node.lineno
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in prose:
            yield node.value, node.lineno
    yield from ((found.module, found.line) for found in imports(tree, "loopwright"))


def test_every_part_has_its_layer() -> None:
    """A new file or folder of the machine is given a place in the layers before it can be imported."""
    parts = {path.name.removesuffix(".py") for path in MACHINE.iterdir() if path.suffix == ".py" or path.is_dir()}
    assert parts - {"__init__", "__pycache__"} <= set().union(*LAYERS)


def test_imports_point_downwards() -> None:
    """A part imports only what lies below it; neighbours share nothing but how calls are compared."""
    for path in sources(MACHINE):
        if path != MACHINE / "__init__.py":  # the front door opens on every part
            assert list(violations(part_at(path), package_of(path, MACHINE.parent), tree(path))) == [], path


@pytest.mark.parametrize(
    "code",
    [
        "from loopwright.nodes.guard import guard",
        "import loopwright.graph",
        "from loopwright import nodes",
        "from loopwright import Agent",
        "from ..nodes import guard",
        "def late():\n    from loopwright.routing import after_guard",
        "if TYPE_CHECKING:\n    from loopwright.agent import Agent",
        "from loopwright.memory import clip",
        "from loopwright.tooling import Toolbox, signature",
    ],
)
def test_a_wrong_import_is_noticed(code: str) -> None:
    """In a policy each of these is one violation, wherever and however it is written."""
    assert len(list(violations("policies", "loopwright.policies", parse(code)))) == 1


def test_a_right_import_is_not() -> None:
    """A policy may use the state, its own package and the signatures of calls."""
    code = "from loopwright.state import Run\nfrom .finding import Finding\nfrom loopwright.tooling import signature"
    assert list(violations("policies", "loopwright.policies", parse(code))) == []


def test_the_machine_does_not_know_its_users() -> None:
    """The machine imports neither the shipped tools nor what a person touches."""
    for path in sources(MACHINE):
        tops = {found.module.split(".")[0] for found in imports(tree(path), package_of(path, MACHINE.parent))}
        assert not tops & {"loopwright_tools", "loopwright_studio", "typer", "rich"}, path


def test_tools_use_the_front_door_only() -> None:
    """The shipped tools take from loopwright what `loopwright.__all__` offers, and nothing from Studio."""
    root = ROOT / "tools"
    for path in sources(root):
        for found in imports(tree(path), package_of(path, root)):
            assert not found.module.startswith("loopwright_studio"), f"{path}:{found.line}"
            assert not found.module.startswith("loopwright."), f"{path}:{found.line} passes the front door by"
            if found.module == "loopwright" and found.name:
                assert found.name in loopwright.__all__, f"{path}:{found.line} imports {found.name}"


def test_the_front_door_is_small_and_sorted() -> None:
    """`loopwright.__all__` is sorted, free of doubles and about fifteen names long."""
    assert loopwright.__all__ == sorted(set(loopwright.__all__))
    assert len(loopwright.__all__) <= 16


@pytest.mark.parametrize("name", loopwright.__all__)
def test_the_front_door_opens(name: str) -> None:
    """Each name of the front door can be imported."""
    assert getattr(importlib.import_module("loopwright"), name) is not None


def test_the_front_door_refuses_other_names() -> None:
    """A name that is not there raises AttributeError, as from any module."""
    assert not hasattr(loopwright, "nothing_of_this_name")


def test_importing_loopwright_imports_little() -> None:
    """`import loopwright` brings neither the command line's packages nor a vendor's client."""
    code = "import loopwright, sys; print(*sorted({name.split('.')[0] for name in sys.modules}))"
    process = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONPATH": str(ROOT / "graph")},
    )
    loaded = set(process.stdout.split())
    assert "loopwright" in loaded
    assert not loaded & {"typer", "rich", "openai", "langchain_openai", "tiktoken", "sqlite3", "psycopg"}


@pytest.mark.parametrize("source", PACKAGES)
def test_no_file_is_a_drawer(source: str) -> None:
    """No file, folder, class or function is named utils, helpers or legacy: its name says what it is for."""
    for path in sources(ROOT / source):
        assert not DRAWERS & {part.removesuffix(".py") for part in path.relative_to(ROOT).parts}, path
        for node in ast.walk(tree(path)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                words = set(re.findall(r"[a-z]+", re.sub(r"([A-Z])", r"_\1", node.name).lower()))
                assert not DRAWERS & words, f"{path}:{node.lineno} {node.name}"


def test_vendors_are_named_in_models_and_storage_only() -> None:
    """Elsewhere no import, name or string holds a vendor or a database; what LangChain named after one is its own."""
    for path in sources(MACHINE):
        if part_at(path) not in NAMED_IN:
            assert [each for each in strings_and_names(tree(path)) if VENDORS.search(each[0])] == [], path


def test_private_names_of_other_packages_are_imported_in_one_place() -> None:
    """Only state.py may reach for a private name of LangGraph's: its message reducer, which compares by identity."""
    for path in sources(MACHINE):
        for found in imports(tree(path), package_of(path, MACHINE.parent)):
            if not found.module.startswith(("loopwright", "__")) and path != MACHINE / "state.py":
                private = [part for part in (*found.module.split("."), found.name) if part.startswith("_")]
                assert not private, f"{path}:{found.line} imports {found.module}.{found.name}"


@pytest.mark.parametrize("source", PACKAGES)
def test_each_root_lists_its_files(source: str) -> None:
    """A source root holds one package and a README, in which every file and folder of the package stands."""
    root = ROOT / source
    assert not (root / "__init__.py").exists()
    readme = (root / "README.md").read_text(encoding="utf-8")
    names = {path.name for path in (root / PACKAGES[source]).iterdir() if not path.name.startswith(("_", "."))}
    assert sorted(name for name in names - {"py.typed"} if name not in readme) == []
