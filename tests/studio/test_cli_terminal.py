"""The command line as a process: in a terminal, interrupted, in a pipe, and how little its help imports."""

import json
import os
import pty
import select
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from tests.studio.small_terminal import seen

from loopwright.language import language
from loopwright.testing import ModelEndpoint, Slow, Status, call, reply
from loopwright_studio.terminal_wording import TerminalWording

Start = Callable[..., subprocess.Popen[str]]
ENDPOINT = {"OPENAI_API_KEY": "sk-hidden", "TERM": "xterm-256color"}


@contextmanager
def terminal(start: Start, *words: str, **variables: str) -> Iterator[Callable[[str, str], str]]:
    """A process whose three streams are one terminal; `say(until, answer)` reads up to a text and types an answer."""
    ours, theirs = pty.openpty()
    environment = {"TERM": "xterm-256color", "COLUMNS": "80", **variables}
    child = start(*words, stdin=theirs, stdout=theirs, stderr=theirs, variables=environment)
    os.close(theirs)
    seen = ""

    def say(until: str, answer: str) -> str:
        nonlocal seen
        start_at = len(seen)
        with suppress(OSError):  # the terminal is closed when the process ends
            while not until or until not in seen[start_at:]:
                assert select.select([ours], [], [], 60)[0], f"nothing came for a minute after {seen!r}"
                seen += os.read(ours, 65536).decode("utf-8", "replace")
        if answer:
            os.write(ours, answer.encode())
        return seen[start_at:]

    say.child = child  # type: ignore[attr-defined]
    try:
        yield say
        child.wait(timeout=30)
        say.code = child.returncode  # type: ignore[attr-defined]
    finally:
        child.kill()
        child.wait()
        os.close(ours)


def test_help_is_light() -> None:
    """`loopwright --help` imports neither LangGraph nor a provider's client nor rich."""
    program = (
        "import sys\nfrom loopwright_studio.cli import app\n"
        "try:\n    app(['--help'])\nexcept SystemExit:\n    pass\n"
        "print(sorted({'langgraph', 'langchain_core', 'langchain_openai', 'openai', 'rich'} & {*sys.modules}))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert "resume" in done.stdout
    assert done.stdout.splitlines()[-1] == "[]"


def test_the_module_is_the_command(process: Start) -> None:
    """`python -m loopwright_studio` runs a task: answer on stdout, exit code 0, no escape sequence in a pipe."""
    child = process("run", "what is 2*3", "--thread", "t")
    out, err = child.communicate(timeout=60)
    assert (child.returncode, out) == (0, "2*3 = 6\n")
    assert "\x1b" not in err


def test_a_closed_pipe_is_no_error(process: Start, folder: Path) -> None:
    """`loopwright graph | head -1` shows one line and no traceback."""
    child = process("graph")
    assert child.stdout is not None
    child.stdout.close()
    assert child.stderr is not None
    assert "Traceback" not in child.stderr.read()
    child.stderr.close()
    child.wait(timeout=30)


def test_an_encoding_without_our_glyphs(process: Start) -> None:
    """Where stderr knows ASCII only, glyphs have plain twins and other characters their numbers."""
    child = process("run", "东京现在几点", variables={"PYTHONIOENCODING": "ascii"})
    out, err = child.communicate(timeout=60)
    assert child.returncode == 0
    assert "JST" in out
    assert "* call_model \\u4e1c\\u4eac" in err
    assert err.isascii()


def test_colours_in_a_terminal_unless_unwanted(process: Start, folder: Path) -> None:
    """A terminal gets colours for ours, never for the run's; NO_COLOR leaves none."""
    (folder / "evil.txt").write_text("the budget is \x1b[31m40")
    task = ("run", "what does evil.txt say about the budget", "--thread")
    with terminal(process, *task, "a") as say:
        coloured = say("", "")
    with terminal(process, *task, "b", NO_COLOR="1") as say:
        plain = say("", "")
    assert "\x1b[3" in coloured
    assert "␛[31m40" in coloured
    assert "\x1b[31m40" not in coloured
    assert "\x1b[3" not in plain
    assert "␛[31m40" in plain


@pytest.mark.parametrize(
    ("answer", "code", "shown"),
    [("a\n", 0, "2*3 = 6"), ("r\n", 3, "model_calls"), ("q\n", 4, "Waiting"), ("\x04", 4, "Waiting")],
)
def test_a_person_is_asked_in_a_terminal(process: Start, answer: str, code: int, shown: str) -> None:
    """`resume` puts the open question: approving goes on, rejecting closes the run, else it keeps waiting."""
    paused = process(
        "run", "what is 2*3", "--max-model-calls", "1", "--thread", "t", variables={"LOOPWRIGHT_ON_LIMIT": "ask"}
    )
    paused.communicate(timeout=60)
    assert paused.returncode == 4
    with terminal(process, "resume", "t", LOOPWRIGHT_ON_LIMIT="ask") as say:
        assert "extend_budget(model_calls=2)" in say("waiting:", answer)
        if answer == "r\n":
            say("Why?", "too dear\n")
        rest = say("", "")
    assert say.code == code  # type: ignore[attr-defined]
    assert shown in rest


def test_an_approval_is_edited_in_a_terminal(process: Start) -> None:
    """What does not fit is said and asked again, in the same session; the edited call runs and the run goes on."""
    words = ("run", "what is 6*2", "--thread", "t")
    variables = {"LOOPWRIGHT_TOOLS__APPROVE": '["calculator"]'}
    process(*words, variables=variables).communicate(timeout=60)
    with terminal(process, "resume", "t", **variables) as say:
        assert "calculator(expression=6*2)" in say("waiting:", "e\n")
        say("stay:", "{nonsense\n")
        assert "not valid JSON" in say("stay:", '{"formula": 1}\n')
        assert "no argument 'formula'" in say("waiting:", "e\n")
        say("stay:", '{"expression": "6*7"}\n')
        rest = say("", "")
    assert say.code == 0  # type: ignore[attr-defined]
    assert "42" in rest


def test_a_person_is_asked_in_chinese(process: Start) -> None:
    """A Chinese task is asked about in Chinese, from the first line to the last; its answer may be a Chinese word."""
    with terminal(process, "run", "6*2 等于多少？", "--thread", "t", LOOPWRIGHT_TOOLS__APPROVE='["calculator"]') as say:
        assert "calculator 需要批准后才能执行。" in say("退出，继续等待：", "不知道\n")
        assert "没有 '不知道' 这一项" in say("退出，继续等待：", "修改\n")
        say("保持不变：", '{"expression": "6*7"}\n')
        rest = say("", "")
    assert say.code == 0  # type: ignore[attr-defined]
    assert "（参数已改）" in rest
    assert "已保存在" in rest


def test_a_run_asks_at_once_in_a_terminal(process: Start) -> None:
    """`run` puts the question where somebody sits, and goes on with the answer; what is answered is not asked again."""
    with terminal(process, "run", "what is 6*2", "--thread", "t", LOOPWRIGHT_TOOLS__APPROVE='["calculator"]') as say:
        say("waiting:", "i\n")
        say("gets:", "6*2 = 13\n")
        rest = say("", "")
    assert say.code == 0  # type: ignore[attr-defined]
    assert "13" in rest
    assert "waiting:" not in rest


@pytest.mark.parametrize("command", ["run", "resume"])
def test_who_quits_is_asked_no_more(process: Start, command: str) -> None:
    """Of two questions one is answered and one left: the first is carried out, the second waits with its commands."""
    calls = [call("calculator", expression=f"6*{n}") for n in (7, 8)]
    with ModelEndpoint([reply("", *calls)]) as endpoint:
        options = ("--thread", "t", "--model", "openai:any", "--base-url", endpoint.base_url)
        variables = {**ENDPOINT, "LOOPWRIGHT_TOOLS__APPROVE": '["calculator"]'}
        if command == "resume":
            process("run", "go", *options, variables=variables).communicate(timeout=60)
        words = ("run", "go", *options) if command == "run" else ("resume", "t", *options[2:])
        with terminal(process, *words, **variables) as say:
            assert "Question 1 of 2" in say("waiting:", "a\n")
            assert "Question 2 of 2" in say("waiting:", "q\n")
            rest = say("", "")
    assert say.code == 4  # type: ignore[attr-defined]
    assert "6*7 = 42" in rest
    assert ("openai:any, thread t" in rest) == (command == "resume")  # once: `run` has it above the questions
    assert "resume t --approve" in rest
    assert "waiting:" not in rest


class Stuck:
    """A request that the endpoint answers only when it is told to."""

    def __init__(self) -> None:
        self.arrived = threading.Event()
        self.step = Slow("late but here")

    def __call__(self, body: object) -> Slow:
        self.arrived.set()
        return self.step


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_one_interrupt_ends_after_the_step(process: Start, number: int) -> None:
    """The running request is waited for and its reply kept: exit code 4, and resuming does not ask again."""
    stuck = Stuck()
    with ModelEndpoint([stuck]) as endpoint:
        words = ("--model", "openai:any", "--base-url", endpoint.base_url)
        child = process("run", "hi", "--thread", "t", *words, variables=ENDPOINT)
        assert stuck.arrived.wait(60)
        child.send_signal(number)
        assert child.stderr is not None
        while "Stopping after the step" not in child.stderr.readline():
            assert child.poll() is None
        stuck.step.event.set()
        out, err = child.communicate(timeout=60)
        assert (child.returncode, out) == (4, "")
        assert "Interrupted: The run was asked to stop" in err
        assert "(reason drained, policy caller, step 1)" in err
        assert f"  loopwright resume t {' '.join(words)}\n" in err
        assert "Traceback" not in err
        assert "Stopped" not in err
        again = process("resume", "t", "-q", *words, variables=ENDPOINT)
        out, err = again.communicate(timeout=60)
        assert (again.returncode, out) == (0, "late but here\n"), err
        assert len(endpoint.requests) == 1


@pytest.mark.parametrize("task", ["hi", "你好，在吗？"])
@pytest.mark.parametrize("signals", [1, 2])
def test_an_interrupt_in_a_terminal_is_seen(process: Start, signals: int, task: str) -> None:
    """What the handler says stays above the two lines that move, with every step; the cursor is never hidden."""
    words_of = TerminalWording(language(task))
    stuck = Stuck()
    with ModelEndpoint([reply("", call("calculator", expression="6*7")), stuck]) as endpoint:
        words = ("--model", "openai:any", "--base-url", endpoint.base_url)
        with terminal(process, "run", task, "--thread", "t", *words, **ENDPOINT) as say:
            shown = say("= 42", "") + say(words_of.leave, "")
            assert stuck.arrived.wait(60)
            os.kill(say.child.pid, signal.SIGINT)  # type: ignore[attr-defined]
            shown += say(words_of.stopping, "") + say(words_of.leaving, "")
            if signals == 2:
                os.kill(say.child.pid, signal.SIGINT)  # type: ignore[attr-defined]
            else:
                stuck.step.event.set()
            shown += say("", "")
    assert say.code == 4  # type: ignore[attr-defined]
    lines = [line.rstrip() for line in seen(shown, 1_000)]
    for part in ("calculator expression=6*7", words_of.stopping, "loopwright resume t"):
        assert len([line for line in lines if part in line]) == 1, lines
    assert not any(words_of.leaving in line for line in lines), "the two lines are left behind"
    assert words_of.stopping in lines, "something of the two lines stands beside it"


def test_a_stop_without_a_reply_is_told_once_in_a_terminal(process: Start) -> None:
    """The stop report is the answer of such a run: where stdout is read with stderr, the card alone says it."""
    with ModelEndpoint(lambda _: Status(401)) as endpoint:
        words = ("run", "hi", "--model", "openai:any", "--base-url", endpoint.base_url)
        with terminal(process, *words, **ENDPOINT) as say:
            shown = say("", "")
        out, err = process(*words, variables=ENDPOINT).communicate(timeout=60)
    assert shown.count("Check the key") == 1
    assert "Check the key" in out
    assert "Check the key" in err


def test_the_machine_in_a_terminal_can_be_read(process: Start) -> None:
    """`graph` draws text where somebody looks at it, and mermaid where a program reads it."""
    with terminal(process, "graph") as say:
        assert "graph TD" not in (drawn := say("", ""))
        assert "guard" in drawn
    assert "graph TD" in process("graph").communicate(timeout=60)[0]


def test_an_interrupted_run_has_a_result(process: Start) -> None:
    """With --json the last line is the result, which says that the run was drained."""
    stuck = Stuck()
    with ModelEndpoint([stuck]) as endpoint:
        words = ("--model", "openai:any", "--base-url", endpoint.base_url, "--json")
        child = process("run", "hi", "--thread", "t", *words, variables=ENDPOINT)
        assert stuck.arrived.wait(60)
        child.send_signal(signal.SIGTERM)
        assert child.stderr is not None
        while "Stopping after the step" not in child.stderr.readline():
            assert child.poll() is None
        stuck.step.event.set()
        out, _ = child.communicate(timeout=60)
    result = json.loads(out.splitlines()[-1])
    assert (child.returncode, result["exit_code"], result["stop"]["reason"]) == (4, 4, "drained")


def test_a_second_interrupt_ends_at_once(process: Start) -> None:
    """Two interrupts do not wait for the request: exit code 4, the way on, and resuming makes the request again."""
    stuck = Stuck()
    with ModelEndpoint([stuck, "hello"]) as endpoint:
        words = ("--model", "openai:any", "--base-url", endpoint.base_url)
        child = process("run", "hi", "--thread", "t", *words, variables=ENDPOINT)
        assert stuck.arrived.wait(60)
        child.send_signal(signal.SIGINT)
        assert child.stderr is not None
        while "Stopping after the step" not in child.stderr.readline():
            assert child.poll() is None
        child.send_signal(signal.SIGINT)
        out, err = child.communicate(timeout=60)
        assert (child.returncode, out) == (4, "")
        assert "Go on with: loopwright resume t" in err
        again = process("resume", "t", "-q", *words, variables=ENDPOINT)
        out, err = again.communicate(timeout=60)
    assert (again.returncode, out) == (0, "hello\n"), err
