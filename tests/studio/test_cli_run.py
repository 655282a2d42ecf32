"""`loopwright run`: the answer on stdout, everything else on stderr, the exit code, and where the run is kept."""

import json
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from rich.cells import cell_len
from typer.testing import Result

from loopwright.testing import ModelEndpoint, Status, call, reply
from loopwright_studio.command_lines import command, repeated

FAST = {"OPENAI_API_KEY": "sk-hidden", "LOOPWRIGHT_MODEL_SETTINGS__RETRY_DELAY": "0"}


def test_the_answer_alone_is_on_stdout(invoke: Callable[..., Result], folder: Path) -> None:
    """A task that takes a tool: the answer on stdout; steps, the place and the next commands on stderr."""
    result = invoke("run", "what is 12*(3+4)", "--thread", "t1")
    assert (result.exit_code, result.stdout) == (0, "12*(3+4) = 84\n")
    for part in ("call_model", "calculator expression=12*(3+4)", "guard → finish", "tok", "0.0s"):
        assert part in result.stderr
    assert f"Kept in {folder}/runs.db, thread t1." in result.stderr
    assert "loopwright show t1" in result.stderr
    assert "loopwright resume" not in result.stderr
    assert (folder / "runs.db").exists()


def test_a_printed_command_goes_on_with_the_same_model(invoke: Callable[..., Result]) -> None:
    """What a limit's card offers is pasted as it stands: the model and its server are named, and answer again."""
    with ModelEndpoint([reply("", call("calculator", expression="6*7")), "Not yet.", "42"]) as endpoint:
        words = ("--model", "openai:any", "--base-url", endpoint.base_url)
        stopped = invoke("run", "what is 6*7", "--thread", "t", "--max-model-calls", "1", *words, **FAST)
        assert stopped.exit_code == 3
        (line,) = [line for line in stopped.stderr.splitlines() if line.startswith("  loopwright resume")]
        again = invoke(*shlex.split(line)[1:], **FAST)
    assert (again.exit_code, again.stdout) == (0, "42\n")


def test_what_a_command_repeats() -> None:
    """What goes on needs the options that were given, looking does not; no password in a URL."""
    again = repeated({"model": "openai:m", "base_url": "http://me:secret@h/v1", "user": None, "max_tokens": 9})
    assert again == ("--model", "openai:m", "--base-url", "http://***@h/v1")
    assert command("resume", "t", None, again=("--user", "a b")) == "loopwright resume t --user 'a b'"


def test_tools_do_not_see_where_runs_are_kept(invoke: Callable[..., Result], folder: Path) -> None:
    """The storage lies in the folder that tools read by default, and is no file of the user's."""
    shown = invoke("run", "list the files").output
    assert (folder / "runs.db").exists()
    assert "notes.txt" in shown
    assert "runs.db" not in shown.replace(f"Kept in {folder}/runs.db", "")


def test_without_a_model_the_first_line_says_so(invoke: Callable[..., Result]) -> None:
    """Rules answer where no model is named, which is said first, with the way out; a named model: silence."""
    for variables, words in (
        ({}, "set OPENAI_API_KEY"),
        ({"OPENAI_API_KEY": "sk-hidden"}, "a key is set but no model"),
    ):
        result = invoke("run", "what is 1+1", "--quiet", **variables)
        first = result.stderr.splitlines()[0]
        assert first.startswith("No language model answers")
        assert words in first
        assert "--model openai:NAME" in first
        assert "sk-hidden" not in result.output
    assert invoke("run", "what is 1+1", "-q", LOOPWRIGHT_MODEL="offline:demo").stderr == ""


def test_a_task_from_stdin(invoke: Callable[..., Result]) -> None:
    """`-` reads the task; an empty one is refused before anything is written."""
    assert invoke("run", "-", "-q", input="what is 2*4\n").stdout == "2*4 = 8\n"


def test_a_task_in_chinese_that_reads_a_table(invoke: Callable[..., Result]) -> None:
    """Chinese in, Chinese out, no line wider than the terminal; the file's numbers are in the answer."""
    result = invoke("run", "把 sales.csv 三月的 amount 加起来")
    assert "300.5" in result.stdout
    steps = result.stderr.splitlines()[1:]
    assert [line for line in steps if cell_len(line) > 80 and not line.startswith(("  loopwright", "已保存在"))] == []


def test_a_stuck_run_shows_the_stop_card(invoke: Callable[..., Result]) -> None:
    """The looper is stopped: exit code 3, its honest answer on stdout; reason, step, call and a way on in the card."""
    result = invoke("run", "--model", "offline:looper", "look at notes.txt", "--thread", "stuck")
    assert result.exit_code == 3
    assert "offline:looper" in result.stdout
    for part in ("reason repeat", "step 5", "Stuck call: read_file(path=notes.txt)", "What to do:", "--thread stuck"):
        assert part in result.stderr
    assert 'Not run: read_file(path="notes.txt") was made 2 times' in result.stderr


def test_a_limit_names_the_command_that_extends_it(invoke: Callable[..., Result]) -> None:
    """The card of a reached limit holds a command that goes on, and that command works."""
    result = invoke("run", "what is 2*3", "--max-model-calls", "1", "--thread", "t", "--quiet")
    assert result.exit_code == 3
    (line,) = [line for line in result.stderr.splitlines() if "--extend" in line]
    again = invoke(*line.split()[1:], "-q")
    assert (again.exit_code, again.stdout) == (0, "2*3 = 6\n")


def test_quiet_prints_the_answer_and_nothing_else(invoke: Callable[..., Result]) -> None:
    """With a model named, a quiet run that completes leaves stderr empty."""
    result = invoke("run", "--model", "offline:demo", "-q", "what is 1+1")
    assert (result.stdout, result.stderr) == ("1+1 = 2\n", "")


def test_json_prints_events_and_a_result(invoke: Callable[..., Result]) -> None:
    """Every line of stdout is one event, the last one the result with its exit code; the answer stands only there."""
    result = invoke("run", "--json", "--model", "offline:demo", "what is 5*5")
    lines = [json.loads(line) for line in result.stdout.splitlines()]
    assert [line["kind"] for line in lines][:2] == ["begin", "decision"]
    assert {"model", "call", "answer", "stop"} <= {line["kind"] for line in lines}
    last = lines[-1]
    assert (last["kind"], last["answer"], last["complete"], last["exit_code"]) == ("result", "5*5 = 25", True, 0)
    assert last["usage"]["tool_calls"] == 1
    assert result.stderr == ""


def test_options_reach_the_request(invoke: Callable[..., Result]) -> None:
    """System prompt, key and tools arrive at the endpoint; the key is nowhere in the output."""
    with ModelEndpoint(["hello"], api_key="sk-hidden") as endpoint:
        words = ("--model", "openai:any", "--base-url", endpoint.base_url, "--system-prompt", "Be brief.")
        result = invoke("run", "hi", *words, **FAST)
        body: Any = endpoint.requests[0].body
    assert (result.exit_code, result.stdout) == (0, "hello\n")
    assert body["messages"][0]["content"].startswith("Be brief.\n\nText between <data")
    assert {each["function"]["name"] for each in body["tools"]} >= {"calculator", "read_file"}
    assert "sk-hidden" not in result.output


def test_several_calls_and_a_failure_are_shown(invoke: Callable[..., Result]) -> None:
    """Each call has its arguments, its status and the head of its result; a retried request says why."""
    wish = reply("I look at both.", call("read_file", path="notes.txt"), call("read_file", path="missing.txt"))
    with ModelEndpoint([Status(503), wish, "done"]) as endpoint:
        result = invoke("run", "hi", "--model", "openai:any", "--base-url", endpoint.base_url, **FAST)
    assert result.stdout == "done\n"
    for part in (
        "I look at both.",
        "read_file path=notes.txt",
        "the budget is 40,000",
        "path=missing.txt (error",
        "503",
    ):
        assert part in result.stderr


@pytest.mark.parametrize(("fault", "reason"), [(Status(401), "auth"), (Status(400), "model_error")])
def test_a_failing_server_is_exit_code_5(invoke: Callable[..., Result], fault: Status, reason: str) -> None:
    """A refused key or request ends the run with a report as its answer, exit code 5, and the thread can be resumed."""
    with ModelEndpoint([fault, "now it works"]) as endpoint:
        words = ("--model", "openai:any", "--base-url", endpoint.base_url)
        result = invoke("run", "hi", "--thread", "t", *words, **FAST)
        assert result.exit_code == 5
        assert reason in result.stdout
        assert "loopwright resume t" in result.stderr
        again = invoke("resume", "t", *words, "-q", **FAST)
    assert (again.exit_code, again.stdout) == (0, "now it works\n")


def test_an_unreachable_endpoint_is_exit_code_5(invoke: Callable[..., Result]) -> None:
    """Nobody listens on port 9: said in one sentence, without a traceback."""
    words = ("--model", "openai:any", "--base-url", "http://127.0.0.1:9/v1")
    result = invoke("run", "hi", *words, **FAST, LOOPWRIGHT_MODEL_SETTINGS__TRIES="2")
    assert result.exit_code == 5
    assert "No model server answers at http://127.0.0.1:9/v1" in result.stderr
    assert "Traceback" not in result.output


def test_a_pause_is_exit_code_4(invoke: Callable[..., Result]) -> None:
    """With `on_limit = ask` the run waits: the question and the commands that answer it; no answer on stdout."""
    result = invoke("run", "what is 2*3", "--max-model-calls", "1", "--thread", "t", LOOPWRIGHT_ON_LIMIT="ask")
    assert (result.exit_code, result.stdout) == (4, "")
    assert "Waiting for you (budget)" in result.stderr
    assert "loopwright resume t --approve" in result.stderr


def test_what_a_run_says_cannot_touch_the_terminal(invoke: Callable[..., Result], folder: Path) -> None:
    """Escapes, direction overrides and markup from the model and from files stay visible text, on stdout and stderr."""
    (folder / "evil.txt").write_text("\x1b]0;owned\x07 [red]x[/red] \u202egnp")
    wish = reply("\x1b[31mred [link=http://evil]y[/link]", call("read_file", path="evil.txt"))
    with ModelEndpoint([wish, "\x1b[2Jdone\u202e :smile: [/]"]) as endpoint:
        result = invoke(
            "run", "hi\x1b[2J", "--thread", "t", "--model", "openai:any", "--base-url", endpoint.base_url, **FAST
        )
    shown = invoke("show", "t")
    assert result.stdout == "␛[2Jdone\\u202e :smile: [/]\n"
    assert "␛[31mred [link=http://evil]y[/link]" in result.stderr
    for output in (result.stderr, shown.stdout):
        assert "[red]x[/red] \\u202egnp" in output
        assert not {"\x1b", "\x07", "\u202e"} & {*output}


def test_memory_storage_is_said_to_be_lost(invoke: Callable[..., Result], folder: Path) -> None:
    """`memory:` keeps nothing, says so, and writes no file."""
    result = invoke("run", "what is 1+1", "--storage", "memory:")
    assert "not kept" in result.stderr
    assert not (folder / "runs.db").exists()


def test_another_storage_stands_in_every_command(invoke: Callable[..., Result], folder: Path) -> None:
    """With --storage the printed commands carry it, so that they can be pasted."""
    result = invoke("run", "what is 1+1", "--storage", "sqlite:///other.db", "--thread", "a b")
    assert "loopwright show 'a b' --storage sqlite:///other.db" in result.stderr
    assert (folder / "other.db").exists()
