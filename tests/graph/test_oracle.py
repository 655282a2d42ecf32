"""benchmarks/oracle.py: how it reads gold calls, and what it says of lists that it plays through the graph."""

import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

ROOT = Path(__file__).parents[2]
BENCHMARK = ROOT / "benchmarks" / "oracle.py"
BFCL = os.environ.get("LOOPWRIGHT_BFCL")


def _loaded() -> ModuleType:
    path = BENCHMARK.with_name("oracle_bfcl.py")
    spec = importlib.util.spec_from_file_location("oracle_bfcl", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


oracle_bfcl = _loaded()

texts = st.text("ab'\"\\\n{}=(), é书\u2028", max_size=12)
plain = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts
values = st.recursive(plain, lambda inner: st.lists(inner) | st.dictionaries(texts, inner), max_leaves=6)
named = st.dictionaries(st.sampled_from(["folder", "lines", "a", "file_name"]), values)


@given(named)
def test_a_call_survives_writing_and_reading(args: Mapping[str, object]) -> None:
    """Arguments of every kind come back from the text that BFCL's checker is given as what they were."""
    text = oracle_bfcl.written("tail", args)
    assert oracle_bfcl.parsed(text, {"tail": []}) == ("tail", args)


def test_positional_arguments_get_the_names_of_the_signature() -> None:
    """Positional arguments are named in the order of the signature, beside those that have a name."""
    parameters = {"mv": ["source", "destination"]}
    assert oracle_bfcl.parsed(" mv('a', destination=['b', -1])", parameters) == (
        "mv",
        {"source": "a", "destination": ["b", -1]},
    )


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("mv('a'", "never closed"),
        ("mv", "not one plain call"),
        ("shell.mv('a')", "not one plain call"),
        ("rm('a')", "no method rm"),
        ("mv('a', 'b', 'c')", "takes 2 arguments"),
        ("mv('a', source='b')", "two values"),
        ("mv(**{'source': 'a'})", "no name"),
        ("mv(open('a'))", "malformed"),
    ],
)
def test_what_is_no_literal_call_is_refused_with_its_text(text: str, why: str) -> None:
    """A gold call that cannot be played is named, with what is wrong; nothing of it is evaluated."""
    with pytest.raises(ValueError, match=why) as caught:
        oracle_bfcl.parsed(text, {"mv": ["source", "destination"]})
    assert repr(text) in str(caught.value)


@pytest.mark.parametrize(
    ("gold", "shorter"),
    [
        ([["a()", "b()"], ["c()", "d()"]], [["a()", "b()"], ["c()"]]),
        ([["a()"], ["b()"], []], [["a()"], [], []]),
        ([[], []], [[], []]),
    ],
)
def test_the_last_call_of_the_last_turn_with_calls_is_dropped(gold: list[list[str]], shorter: list[list[str]]) -> None:
    """Only the last call goes, however many turns without calls follow it."""
    assert oracle_bfcl.dropped(gold) == shorter


@pytest.mark.parametrize(
    ("name", "effect"),
    [("get_order", "read"), ("ls", "read"), ("displayCarStatus", "read"), ("mv", "write"), ("lsof", "write"),
     ("message_get_login_status", "read"), ("set_budget_limit", "write"), ("findings_clear", "write")],
)  # fmt: skip
def test_effects_are_read_off_the_names(name: str, effect: str) -> None:
    """A method whose name says that it looks is a read; every other one is a write."""

    def method() -> None: ...

    method.__name__ = name
    assert oracle_bfcl.effect_by_name(method) == effect


SHELF = '''
class Shelf:
    """A shelf."""

    def _load_scenario(self, scenario, long_context=False):
        self.books = list(scenario["books"])

    def put(self, book: str, places: int = 1):
        """Put a book on the shelf."""
        self.books.append(book)
        return {"books": self.books}

    def lend(self, book: str):
        """Take a book from the shelf."""
        self.books.remove(book)
        return {"books": self.books}
'''
CHECKER = '''
def multi_turn_checker(steps, gold, record, category, model_name):
    """Whether the same calls were made."""
    as_read = {"put": lambda book, places=1: (book, places), "lend": lambda book: book}
    made = [[eval(text, as_read) for step in turn for text in step] for turn in steps]
    asked = [[eval(text, as_read) for text in turn] for turn in gold]
    return {"valid": made == asked, "error_type": "other calls"}
'''
BACKEND = 'CLASS_FILE_PATH_MAPPING = {"Shelf": "bfcl_eval.shelf"}\nSTATELESS_CLASSES = []\n'


def small_bfcl(folder: Path, *turns: Sequence[str]) -> Path:
    """A folder laid out like the installed benchmark, with one class and one entry."""
    evaluation = "bfcl_eval/eval_checker/multi_turn_eval"
    entry = {
        "id": "multi_turn_base_0",
        "question": [[{"role": "user", "content": f"Please do part {number}."}] for number in range(len(turns))],
        "initial_config": {"Shelf": {"books": ["Emma"]}},
        "involved_classes": ["Shelf"],
    }
    files = {
        "mpmath.py": "",
        "bfcl_eval/shelf.py": SHELF,
        "bfcl_eval/constants/executable_backend_config.py": BACKEND,
        f"{evaluation}/multi_turn_checker.py": CHECKER,
        f"{evaluation}/multi_turn_utils.py": "",
        "bfcl_eval/data/BFCL_v4_multi_turn_base.json": json.dumps(entry),
        "bfcl_eval/data/possible_answer/BFCL_v4_multi_turn_base.json": json.dumps(
            {"id": entry["id"], "ground_truth": turns}
        ),
    }
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def played(folder: Path | str, *options: str) -> tuple[int, list[dict[str, Any]], str]:
    """Exit code of the benchmark, the lines it printed as JSON, and what it complained of."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "graph"), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, str(BENCHMARK), "--bfcl", str(folder), "--json", "--category", "base", *options]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False, timeout=300)
    return done.returncode, [json.loads(line) for line in done.stdout.splitlines()], done.stderr


def test_a_list_without_repeats_arrives_whole(tmp_path: Path) -> None:
    """Calls of two turns reach the live class with the gold's arguments, whatever their annotation says of them."""
    code, lines, _ = played(small_bfcl(tmp_path, ["put('Ulysses', places='two')"], ["lend('Emma')"]))
    assert (code, lines[0]["findings"], lines[0]["complaint"]) == (0, [], "")
    assert lines[0]["counts"] == {"entries": 1, "calls": 2, "arrived": 2, "accepted": 1}


def test_a_refused_call_is_named_and_misses_the_target(tmp_path: Path) -> None:
    """A gold call that the guard refuses is listed with its arguments, and the benchmark ends with 1."""
    code, lines, _ = played(small_bfcl(tmp_path, ["lend('Dune')", "lend('Dune')"]))
    assert code == 1
    assert lines[0]["counts"] == {"entries": 1, "calls": 2, "arrived": 1, "error": 1, "refused": 1, "accepted": 0}
    assert lines[0]["findings"][1].startswith("refused lend(book='Dune') at step 2: ")
    assert lines[0]["complaint"] == "other calls"


def test_what_a_person_is_asked_is_approved_and_counted(tmp_path: Path) -> None:
    """With effects by name a repeated write is a question; approved, it arrives, and the target is missed."""
    code, lines, _ = played(small_bfcl(tmp_path, ["put('Dune')", "put('Dune')"]), "--effects", "named")
    assert (code, lines[0]["counts"]["asked"], lines[0]["counts"]["arrived"]) == (1, 1, 2)


def test_a_dropped_call_that_matters_is_missed_by_the_checker(tmp_path: Path) -> None:
    """Without its last call the list is rejected, with the graph in between and without it."""
    code, lines, _ = played(small_bfcl(tmp_path, ["put('Dune')", "put('Ulysses')"]), "--drop-last", "--batched")
    assert (code, lines[0]["matters"], lines[0]["complaint"]) == (0, True, "other calls")


def test_without_bfcl_one_sentence_says_what_to_do(tmp_path: Path) -> None:
    """A folder without BFCL is a usage error that names the folder."""
    code, lines, complaint = played(tmp_path)
    assert (code, lines) == (2, [])
    assert f"bfcl-eval is not in {tmp_path}: install it there" in complaint


@pytest.mark.slow
@pytest.mark.skipif(not BFCL, reason="LOOPWRIGHT_BFCL names no folder with bfcl-eval")
def test_gold_lists_of_bfcl_are_left_alone() -> None:
    """In the first entries of BFCL every call runs, and its own checker accepts what came through the graph."""
    assert BFCL
    code, lines, complaint = played(BFCL, "--limit", "5")
    assert (code, len(lines), [line["findings"] for line in lines]) == (0, 5, [[]] * 5), complaint
