"""What the terminal says of a thread is in one language: English or Chinese, as its newest task is."""

import io
import json
import re
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from string import Formatter
from typing import Any, get_args

import pytest
from rich.console import Console
from tests.graph.stop_stories import STORIES, told
from tests.studio.page_story import every_kind
from typer.testing import CliRunner, Result

import loopwright_studio
from loopwright import Agent
from loopwright.errors import UsageError
from loopwright.language import HAN
from loopwright.pending import Pending
from loopwright.report import CallReport, RunReport, fold_report
from loopwright.report.data import RunStatus
from loopwright.shapes import CallStatus, FailureKind, StopReason
from loopwright.testing import ModelEndpoint, ScriptedModel, Status, call, reply
from loopwright_studio.call_line import LONG
from loopwright_studio.console import Screen
from loopwright_studio.deciding import CHOICES, QUIT, VIEW, ask
from loopwright_studio.following import follow
from loopwright_studio.round_view import find_round, show_round
from loopwright_studio.showing import show_report
from loopwright_studio.terminal_wording import TerminalWording, spoken_of
from loopwright_studio.waiting import print_waiting
from loopwright_studio.wording import Counted, Said, Words

TABLE: dict[str, Said | Counted] = {
    name: said
    for table in (Words, TerminalWording)
    for name, said in vars(table).items()
    if isinstance(said, Said | Counted)
}
CHINESE = re.compile(f"[{HAN}]")
WORDS = re.compile(r"[A-Za-z]{2,}(?: [A-Za-z]{2,})+")
"""Two or more English words beside each other: nearly always a sentence, or a part of one."""
NAMES = re.compile(
    r"\b(?:loopwright[^#）\n]*|(?:call_model|guard|ask|finish|fork|begin|compress_memory)\b|token\b|\w+ (?=\w+=))"
    r"|--[\w-]+( [\w:]+)?"
)
"""Commands that can be pasted, names of nodes, the word for tokens, a tool before its arguments, options."""


def english(text: str) -> list[str]:
    """What is left in English in the lines of a Chinese terminal, names of the machine and its commands aside."""
    return WORDS.findall(NAMES.sub("\n", text))


def on_screen(report: RunReport, show: Callable[[Screen], None]) -> str:
    """What is printed of a report, unbroken."""
    screen, written = Screen(spoken_of(report)), io.StringIO()
    screen.console = Console(file=written, width=400, highlight=False, markup=False, emoji=False)
    show(screen)
    return written.getvalue()


def waiting_for_all() -> list[Pending]:
    """An open question of each kind, one with a long argument and a time at which it expires."""
    kinds = [("approval", "付款 需要批准后才能执行。"), ("budget", "是否提高上限？"), ("unknown", "付款生效了吗？")]
    args = [{"金额": 1}, {"model_calls": 2}, {"备注": "字" * (LONG + 1)}]
    return [
        Pending(f"q{n}", "t", f"c{n}", kind, text, {"name": "付款", "args": given}, expires_at=1e9)  # type: ignore[arg-type]
        for n, ((kind, text), given) in enumerate(zip(kinds, args, strict=True))
    ]


def views(report: RunReport) -> Iterator[str]:
    """Everything that `show` can print of a report, and what it waits for."""
    yield on_screen(report, lambda screen: show_report(screen, report, None))
    yield on_screen(report, lambda screen: show_report(screen, report, None, everything=True))
    yield on_screen(report, lambda screen: follow(screen, lambda: report, None, pause=0))
    yield on_screen(report, lambda screen: print_waiting(screen, waiting_for_all(), None))
    for run in report.runs:
        for turn in run.rounds:
            yield on_screen(report, partial(show_round, run=run, turn=turn))


def test_the_rule_finds_english() -> None:
    """What it leaves alone are names and commands; a hint, a sum and a note of English words are found."""
    assert english("   1 ● call_model （tool_calls）  104+6 token  0.0s\n     ◆ guard → ask：limit：已达上限\n") == []
    assert english("  loopwright resume t --reject '理由'  # 查看\n输入 104 token，输出 6") == []
    for text in (
        "Kept in 某处",
        "  loopwright show t  # look at it",
        "1 model call（0.1s）",
        "○ 付款（no outcome yet）",
    ):
        assert english(text) != [], text


def test_both_languages_say_the_same() -> None:
    """Every entry of the table has a text in both languages, with the same blanks."""
    assert len(TABLE) > 100
    for name, said in TABLE.items():
        texts = [said.en] if isinstance(said, Said) else [said.one, said.many]
        assert said.zh, name
        assert {frozenset(blanks(text)) for text in texts} == {frozenset(blanks(said.zh))}, name
        assert not english(said.zh), name


def blanks(text: str) -> set[str]:
    """The names in braces."""
    return {name for _, name, _, _ in Formatter().parse(text) if name}


def test_the_table_knows_every_name_of_the_code() -> None:
    """Each status of a run and of a call, kind of failure, kind of question and choice has its words."""
    wanted = {
        "run": [name for each in get_args(RunStatus) for name in get_args(each)],
        "status": (*get_args(CallStatus), "open"),
        "failure": get_args(FailureKind),
        "happened": ("yes", "no", "unknown"),
        "waiting": get_args(Pending.__dataclass_fields__["kind"].type),
        "choice": "".join(CHOICES.values()) + VIEW + QUIT,
    }
    assert {f"{kind}_{name}" for kind, names in wanted.items() for name in names} <= set(TABLE)
    assert set(CHOICES) == set(wanted["waiting"])
    assert TerminalWording("zh").named("run", "elsewhere") == "elsewhere"


def test_every_word_of_the_table_is_used() -> None:
    """No entry is left over: each is named in the code, or found by a name of the machine."""
    source = "".join(
        path.read_text(encoding="utf-8") for path in Path(str(loopwright_studio.__file__)).parent.glob("*.py")
    )
    used = set(re.findall(r"words(?:\(\))?\.(\w+)|TerminalWording\(.*?\)\.(\w+)", source))
    named = {name for found in used for name in found}
    built = ("run_", "status_", "failure_", "happened_", "waiting_", "choice_", "part_")
    own = [name for name, said in vars(TerminalWording).items() if isinstance(said, Said | Counted)]
    assert [name for name in own if name not in named and not name.startswith(built)] == []


def test_a_chinese_terminal_has_no_english_sentence() -> None:
    """With every kind of event, status and question in it, nothing of ours is left in English."""
    report = every_kind().told()
    shown = list(views(report))
    assert len(shown) > 12
    assert {text: english(text) for text in shown if english(text)} == {}
    assert all(CHINESE.search(text) for text in shown)


def foreign(report: RunReport) -> Iterator[str]:
    """What a model, a server and a tool said."""
    for run in report.runs:
        for turn in run.rounds:
            yield from (each.result or "" for each in turn.calls)
            yield from (
                (turn.model.said, *([turn.model.failure["text"]] if turn.model.failure else [])) if turn.model else ()
            )


@pytest.mark.parametrize("reason", STORIES)
def test_a_stop_leaves_no_other_language_in_the_terminal(reason: StopReason) -> None:
    """However a run stops: a Chinese thread has no English sentence but those of servers, an English one no Chinese."""
    report = told(reason, "zh").report
    shown = on_screen(report, lambda screen: show_report(screen, report, None, everything=True))
    assert {*english(shown)} <= {found for text in foreign(report) for found in WORDS.findall(text)}
    other = told(reason, "en").report
    assert not CHINESE.search(on_screen(other, lambda screen: show_report(screen, other, None, everything=True)))


@pytest.mark.parametrize(
    ("words", "then", "code"),
    [
        (("run", "6*7 等于多少？", "--thread", "t"), (), 0),
        (("run", "6*7 等于多少？", "--storage", "memory:"), (), 0),
        (("run", "6*7 等于多少？", "--thread", "t"), ("resume", "t"), 0),
        (("run", "6*7 等于多少？", "--thread", "t"), ("show", "t", "--round", "9"), 2),
        (("run", "看看 notes.txt", "--thread", "t", "--model", "offline:looper"), ("resume", "t"), 3),
        (("run", "6*7 等于多少？", "--thread", "t", "--max-model-calls", "1"), ("resume", "t"), 4),
        (("run", "6*7 等于多少？", "--thread", "t", "--max-model-calls", "1"), ("resume", "t", "--approve"), 0),
        (("run", "6*7 等于多少？", "--thread", "t", "--max-model-calls", "1"), ("resume", "t", "--edit", "[]"), 2),
        (("run", "6*7 等于多少？", "--thread", "t", "--max-model-calls", "1"), ("resume", "t", "--reject"), 3),
    ],
)
def test_chinese_commands_print_no_english_sentence(
    invoke: Callable[..., Result], folder: Path, words: tuple[str, ...], then: tuple[str, ...], code: int
) -> None:
    """Around a run and around going on with it: how it begins, its lines, its end, what is wrong with an answer."""
    (folder / "notes.txt").write_text("第一行\n", encoding="utf-8")
    result = invoke(*words, LOOPWRIGHT_ON_LIMIT="ask")
    assert english(result.stderr) == []
    if then:
        result = invoke(*then, LOOPWRIGHT_ON_LIMIT="ask")
        assert english(result.stderr) == []
    assert result.exit_code == code
    assert CHINESE.search(result.stderr)


def test_failures_are_told_in_chinese(invoke: Callable[..., Result]) -> None:
    """A server that fails and a call that cannot be read: the kind of failure is ours, the text below it is not."""
    with ModelEndpoint(lambda _: Status(401)) as endpoint:
        words = ("--model", "openai:any", "--base-url", endpoint.base_url)
        result = invoke("run", "你好，在吗？", "--thread", "t", *words, OPENAI_API_KEY="sk-hidden")
    assert result.exit_code == 5
    assert "✗ 认证失败：" in result.stderr
    assert "认证失败：" in invoke("show", "t", "--round", "1").stdout


def test_an_error_about_a_thread_speaks_its_language(invoke: Callable[..., Result]) -> None:
    """A question that is not open is refused in Chinese; what is wrong before any task is known, in English."""
    assert (
        invoke(
            "run", "6*7 等于多少？", "--thread", "线程", "--max-model-calls", "1", LOOPWRIGHT_ON_LIMIT="ask"
        ).exit_code
        == 4
    )
    assert "错误：此线程没有待回答的问题 'nope'" in invoke("resume", "线程", "--approve", "--question", "nope").stderr
    assert "\nError: " in "\n" + invoke("show", "没有这样的线程没有这样的线程没有这样的线程").stderr


def test_a_thread_without_a_round_says_so() -> None:
    """No range of rounds is named where there is none."""
    with pytest.raises(UsageError, match=r"^Thread 't' has no round yet\.$"):
        find_round(fold_report("t", [], []), 3)
    with pytest.raises(UsageError, match=r"^线程 'invoices-oct' 没有第 99 轮：它有第 1 到第 10 轮。$"):
        find_round(every_kind().told(), 99)


def test_rules_do_not_take_over_a_chinese_thread(invoke: Callable[..., Result]) -> None:
    """That a language model began a thread and none is named now is said in the thread's language."""
    key = {"OPENAI_API_KEY": "sk-hidden"}
    with ModelEndpoint(["你好"]) as endpoint:
        invoke("run", "你好，在吗？", "--thread", "t", "--model", "openai:any", "--base-url", endpoint.base_url, **key)
    assert "错误：线程 't' 由 any 运行过" in invoke("resume", "t", **key).stderr


def test_the_newest_task_decides(invoke: Callable[..., Result]) -> None:
    """A thread is spoken of as its newest task is, also while it is gone on with; the other languages' runs too."""
    invoke("run", "what is 2*3", "--thread", "t", "-q")
    assert "Run 1 completed" in invoke("show", "t").stdout
    assert invoke("run", "再算 6*7 等于多少？", "--thread", "t").stderr.count("线程 t") == 2
    assert "第 1 次运行 已完成  what is 2*3" in invoke("show", "t").stdout
    assert "（已完成）" in invoke("resume", "t").stderr
    assert "线程 t 的下一个请求" in invoke("show", "t", "--request").stdout


def test_why_a_call_could_not_be_made_is_told_in_chinese() -> None:
    """The guard's reason is then the kind of failure alone; a call without a name is one that could not be read."""
    script: list[Any] = [reply("", call("传送", to="甲")), reply("", call("")), "好了"]
    made = Agent(ScriptedModel(script), [])
    made.run("请传送", thread="t")
    report = made.report("t")
    shown = on_screen(report, lambda screen: show_report(screen, report, None))
    assert "call：未知工具" in shown
    assert "✗ 无法读取的调用" in shown
    assert "unknown tool" not in shown


@pytest.mark.parametrize(
    ("status", "kind", "said"),
    [
        ("rejected", "denied", "被人工拒绝"),
        ("unknown", "permanent", "结果未知"),
        ("unknown", "timeout", "结果未知，超时"),
        ("error", "permanent", "出错，永久性错误"),
    ],
)
def test_what_became_of_a_call_is_said_once(status: Any, kind: Any, said: str) -> None:
    """The kind of failure stands beside the status where it says more: who was refused was denied."""
    failed = CallReport(
        call_id="c", tool="付款", args={}, effect="write", status=status, failure={"kind": kind, "text": ""}
    )
    assert "，".join(TerminalWording("zh").became(failed)) == said


def test_a_fork_speaks_the_language_of_what_goes_on(invoke: Callable[..., Result]) -> None:
    """From before the run began there is no run to read it from: it is the thread's; with an edit, that of the edit."""
    invoke("run", "6*7 等于多少？", "--thread", "t", "-q")
    first = json.loads(invoke("history", "t", "--json").stdout)[1]
    assert first["node"] == "__start__"
    told = invoke("fork", "t", first["checkpoint"], "--into", "u").stderr
    assert "已保存在" in told
    assert english(told) == []
    assert not CHINESE.search(invoke("fork", "t", first["checkpoint"], "--edit", "What is 6*7?").stderr)


def test_json_has_no_language(invoke: Callable[..., Result]) -> None:
    """What a program reads has the names of the code, whatever the task is in."""
    result = invoke("run", "6*7 等于多少？", "--thread", "t", "--json")
    assert '"status": "ok"' in result.stdout
    assert '"status": "completed"' in invoke("show", "t", "--json").stdout


def test_an_encoding_without_chinese_speaks_english() -> None:
    """Where the output knows no Chinese characters English is said, not their numbers."""
    with CliRunner(charset="latin-1").isolation():
        assert Screen("zh").words.language == "en"
    with CliRunner(charset="gbk").isolation():
        assert Screen("zh").words.language == "zh"


def question(kind: Any, **args: Any) -> Pending:
    """An open question of this kind."""
    return Pending("q1", "t", "c", kind, "付款 需要批准后才能执行。", {"name": "付款", "args": args})


def asked(question: Pending, typed: str) -> tuple[dict[str, Any] | None, str]:
    """What a person who types this into a Chinese terminal has decided, and what was shown."""
    with CliRunner().isolation(input=typed) as streams:
        decisions = ask([question], TerminalWording("zh"))
        decision = decisions.get("q1")
        return dict(decision) if decision is not None else None, streams[1].getvalue().decode()


@pytest.mark.parametrize(
    ("kind", "typed", "decision"),
    [
        ("approval", "批准\n", {"type": "approve"}),
        ("approval", "ａ\n", {"type": "approve"}),
        ("approval", " Ａ　\n", {"type": "approve"}),
        ("approval", "approve\n", {"type": "approve"}),
        ("approval", "拒绝\n太贵\n", {"type": "reject", "message": "太贵"}),
        ("approval", '修改\n[]\n{坏\n{"金额": 2}\n', {"type": "edit", "args": {"金额": 2}}),
        ("approval", "代答\n已付\n", {"type": "respond", "message": "已付"}),
        ("approval", "退出\n", None),
        ("budget", "代答\nq\n", None),
        ("unknown", "发生了\n", {"type": "approve"}),
        ("unknown", "没发生\n", {"type": "reject"}),
        ("unknown", "跳过\n", {"type": "respond", "message": ""}),
        ("approval", "ae\n批\n同意吧\nr\n\n", {"type": "reject", "message": ""}),
    ],
)
def test_answers_may_be_chinese(kind: str, typed: str, decision: dict[str, Any] | None) -> None:
    """A choice is its letter, also one of full width, or its word; a slip, or two letters, answers nothing."""
    decided, shown = asked(question(kind, 金额=1), typed)
    assert decided == decision
    assert [found for found in english(shown) if "line" not in found and "property" not in found] == []
    assert all(f"[{letter}] " in shown for letter in CHOICES[kind] + QUIT)


def test_a_long_call_is_viewed_whole_in_chinese() -> None:
    """What is cut says how much there is, and 全文 shows the rest."""
    decided, shown = asked(question("approval", 备注="字" * LONG + "尾"), "全文\nq\n")
    assert decided is None
    head, whole = shown.split("[v] 全文", 1)
    assert f"……（共 {LONG + 1:,} 个字符）" in head
    assert "尾" not in head
    assert "字尾" in whole
