"""The offline demo driven over a tiny executor of plain functions: every number in an answer comes from a tool."""

import csv
import re
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from typing import Any

import pytest
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
)

from loopwright.models.offline import OfflineDemo

SALES = """date,region,product,units,amount
2026-02-27,North,tea,4,80.5
2026-03-02,North,tea,5,100.25
2026-03-09,South,coffee,7,210
2026-03-20,North,coffee,3,90
2026-04-01,South,tea,6,120"""
FILES = {
    "sales.csv": SALES,
    "notes.txt": "Agenda\nThe budget is 12,000 for May.\nLunch at noon.",
    "会议纪要.txt": "参会:李、王\n预算:本季度 5000 元\n下次会议:周五",
}


class Workbench:
    """The files, and the tools over them by name; `calls` lists every call that ran."""

    def __init__(self, files: Mapping[str, str] = FILES, without: Sequence[str] = ()) -> None:
        self.files = dict(files)
        tools = (self.calculator, self.now, self.list_files, self.read_file, self.read_table)
        self.tools: dict[str, Callable[..., str]] = {t.__name__: t for t in tools if t.__name__ not in without}
        self.calls: list[tuple[str, dict[str, Any]]] = []

    def calculator(self, expression: str) -> str:
        """Compute an expression."""
        if not re.fullmatch(r"[\d\s.+*/()%-]+|sqrt\(\d+\)", expression):
            raise ValueError(f"{expression!r} is no arithmetic")
        if root := re.fullmatch(r"sqrt\((\d+)\)", expression):
            return f"{expression} = {Decimal(root[1]).sqrt().normalize():f}"
        exact = re.sub(r"\d+(?:\.\d+)?", lambda number: f"Decimal('{number[0]}')", expression)
        return f"{expression} = {Decimal(eval(exact, {'Decimal': Decimal})).normalize():f}"

    def now(self, timezone: str = "UTC") -> str:
        """Tell the time in a zone."""
        known = {"UTC": "09:26", "Asia/Shanghai": "17:26", "Asia/Tokyo": "18:26", "Europe/Paris": "10:26"}
        if timezone not in known:
            raise ValueError(f"Unknown zone {timezone!r}. Did you mean Asia/Tokyo?")
        return f"2026-03-14 {known[timezone]}:05 ({timezone}, Saturday)"

    def list_files(self, path: str = ".", pattern: str = "*") -> str:
        """List a folder."""
        below = "" if path == "." else f"{path.rstrip('/')}/"
        inside = [name.removeprefix(below) for name in self.files if name.startswith(below)]
        if not inside:
            raise ValueError(f"There is no folder {path!r}.")
        suffix = pattern.removeprefix("*")
        names = sorted({n.split("/")[0] + "/" if "/" in n else n for n in inside if n.endswith(suffix)})
        return "\n".join([*(f"{name}\t12" for name in names), f"{len(names)} in all"])

    def read_file(self, path: str, offset: int = 1, limit: int = 200) -> str:
        """Read lines of a file."""
        lines = self._text(path).splitlines()
        shown = lines[offset - 1 : offset - 1 + limit]
        return "\n".join([f"[{path}, lines {offset}-{offset + len(shown) - 1} of {len(lines)}]", *shown])

    def read_table(
        self,
        path: str,
        columns: list[str] | None = None,
        where: list[str] | None = None,
        aggregate: str | None = None,
        column: str | None = None,
        group_by: str | None = None,
        limit: int = 20,
    ) -> str:
        """Show rows of a table, or aggregate a column."""
        table = list(csv.DictReader(self._text(path).splitlines()))
        rows = [row for row in table if all(_holds(row, condition) for condition in where or ())]
        if aggregate is None:
            names = columns or list(table[0])
            shown = [",".join(row[name] for name in names) for row in rows[:limit]]
            return "\n".join([f"{len(rows)} rows, columns: {', '.join(names)}", ",".join(names), *shown])
        detail = f"({len(rows)} of {len(table)} rows; where {' and '.join(where or ['everything'])})"
        if aggregate == "count":
            return f"count = {len(rows)} {detail}"
        groups = {row[group_by] for row in rows} if group_by else {""}
        lines = []
        for group in sorted(groups):
            values = [Decimal(row[column or ""]) for row in rows if not group_by or row[group_by] == group]
            lines.append(f"{group}: {_value(aggregate, values)}" if group_by else _value(aggregate, values))
        return "\n".join(lines) if group_by else f"{aggregate} of {column} = {lines[0]} {detail}"

    def _text(self, path: str) -> str:
        if path not in self.files:
            raise ValueError(f"There is no file {path!r}.")
        return self.files[path]

    def answer(self, call: Mapping[str, Any]) -> ToolMessage:
        """Run one call as an agent would: an error becomes a message with status "error"."""
        self.calls.append((call["name"], call["args"]))
        try:
            content, status = self.tools[call["name"]](**call["args"]), "success"
        except Exception as error:
            content, status = str(error), "error"
        return ToolMessage(content=content, status=status, tool_call_id=call["id"], name=call["name"])

    def run(self, model: BaseChatModel, task: str, messages: Sequence[BaseMessage] = (), rounds: int = 8) -> str:
        """The model's answer to the task after its calls, at most `rounds` rounds of them."""
        transcript = self.transcript(model, task, messages, rounds)
        assert isinstance(transcript[-1], AIMessage), "the model did not come to an answer"
        return transcript[-1].text

    def transcript(
        self, model: BaseChatModel, task: str, messages: Sequence[BaseMessage] = (), rounds: int = 8
    ) -> list[BaseMessage]:
        """The messages of a run; it ends with the results of the last round where no answer came."""
        transcript = [*messages, HumanMessage(task)]
        bound = model.bind_tools(list(self.tools.values()))
        for _ in range(rounds):
            reply = bound.invoke(transcript)
            transcript.append(reply)
            if not reply.tool_calls:
                break
            transcript += [self.answer(call) for call in reply.tool_calls]
        return transcript


def _holds(row: Mapping[str, str], condition: str) -> bool:
    name, sign, value = condition.split(" ", 2)
    match sign:
        case "starts":
            return row[name].startswith(value)
        case "contains":
            return value in row[name]
        case ">":
            return Decimal(row[name]) > Decimal(value)
        case ">=":
            return row[name] >= value  # of dates
        case _:
            return row[name] == value


def _value(aggregate: str, values: Sequence[Decimal]) -> str:
    if not values:
        raise ValueError("no row holds, so there is nothing to aggregate")
    total = sum(values, Decimal(0))
    value = {"sum": total, "mean": total / len(values), "min": min(values), "max": max(values)}[aggregate]
    return f"{value.normalize():f}"


def run(task: str, bench: Workbench | None = None, messages: Sequence[BaseMessage] = ()) -> str:
    """The demo's answer to a task."""
    return (bench or Workbench()).run(OfflineDemo(), task, messages)


def names(bench: Workbench) -> list[str]:
    """The tools that ran, in order."""
    return [name for name, _ in bench.calls]


@pytest.mark.parametrize(
    ("task", "expected"),
    [
        ("what is 12*(3+4)", "84"),
        ("What is 2+3?", "5"),
        ("15 % of 300", "15 % of 300 = 45"),
        ("what is 7 divided by 2", "3.5"),
        ("how much is 2^10", "1024"),
        ("what is the square root of 144", "12"),
        ("计算 3*7", "21"),
        ("计算(3+4)×5", "35"),
        ("300 的 15%", "300 的 15% = 45"),
        ("300 的百分之十五是多少", "45"),
    ],
)
def test_arithmetic_is_the_calculators(task: str, expected: str) -> None:
    """An expression in either language goes to the calculator once, and its result is the answer."""
    bench = Workbench()
    bench.tools["calculator"] = _with_ascii_signs(bench.calculator)
    assert expected in run(task, bench)
    assert names(bench) == ["calculator"]


def _with_ascii_signs(calculator: Callable[..., str]) -> Callable[..., str]:
    def calculate(expression: str) -> str:
        """Compute an expression."""
        return calculator(expression.replace("×", "*"))

    calculate.__name__ = "calculator"
    return calculate


@pytest.mark.parametrize(
    ("task", "zones", "expected"),
    [
        ("what time is it in Shanghai", ["Asia/Shanghai"], "In Shanghai it is 2026-03-14 17:26:05"),
        ("What time is it in Asia/Shanghai?", ["Asia/Shanghai"], "17:26:05"),
        ("东京现在几点", ["Asia/Tokyo"], "东京现在是 2026-03-14 18:26:05"),
        ("what time is it in Tokyo and Paris", ["Asia/Tokyo", "Europe/Paris"], "10:26:05"),
        ("东京和巴黎现在几点？", ["Asia/Tokyo", "Europe/Paris"], "巴黎现在是"),
    ],
)
def test_time_is_the_clocks(task: str, zones: list[str], expected: str) -> None:
    """A place in either language, or a zone, is asked of the clock, several places in one round."""
    bench = Workbench()
    transcript = bench.transcript(OfflineDemo(), task)
    assert [args["timezone"] for _, args in bench.calls] == zones
    assert len(transcript) == 3 + len(zones)
    assert expected in transcript[-1].text


def test_a_misspelt_zone_is_asked_again_as_proposed() -> None:
    """An error that proposes one zone of a like name is followed once, and the answer says so."""
    answer = run("what time is it in Asia/Tokio?")
    assert "18:26:05" in answer
    assert "did not know Asia/Tokio" in answer
    assert "I took Asia/Tokyo" in answer


@pytest.mark.parametrize("place", ["Atlantis", "London"])
def test_another_place_is_not_taken_for_the_one_asked(place: str) -> None:
    """A proposal that only is another place is not followed: the clock's error is the answer."""
    bench = Workbench()
    answer = run(f"what time is it in {place}?", bench)
    assert "Unknown zone" in answer
    assert "18:26" not in answer
    assert len(bench.calls) == 1


@pytest.mark.parametrize(
    ("task", "expected"),
    [
        ("what does notes.txt say about the budget", 'notes.txt, line 2: "The budget is 12,000 for May."'),
        ("read notes.txt and quote the line with budget", 'line 2: "The budget is 12,000 for May."'),
        ('find "noon" in notes.txt', 'line 3: "Lunch at noon."'),
        ("quote line 1 of notes.txt", 'line 1: "Agenda"'),
        ("读取 会议纪要.txt 里关于 预算 的一行", "会议纪要.txt,第 2 行:“预算:本季度 5000 元”"),
        ("会议纪要.txt 里预算是怎么说的", "预算:本季度 5000 元"),
        ("what does 会议纪要.txt say about 预算", 'line 2: "预算:本季度 5000 元"'),
    ],
)
def test_quotes_the_line_asked_for(task: str, expected: str) -> None:
    """The line is quoted as it stands in the file, with its number, in the language of the question."""
    assert expected in run(task)


def test_a_file_is_searched_page_after_page() -> None:
    """A line beyond the first page is found by reading on, and keeps its own number."""
    lines = [f"entry {number}" for number in range(1, 451)]
    lines[420] = "the kettle broke"
    bench = Workbench({"log.txt": "\n".join(lines)})
    assert 'line 421: "the kettle broke"' in run("what does log.txt say about the kettle?", bench)
    assert [args.get("offset") for _, args in bench.calls] == [None, 201, 401]


def test_nothing_found_is_said() -> None:
    """A word that no line holds is reported with the number of lines read, not answered with another line."""
    assert "says nothing about pancakes in the 3 lines" in run("what does notes.txt say about pancakes")


def test_files_are_listed() -> None:
    """The listing is the tool's; a folder that cannot be listed brings the error and the workspace's files."""
    assert "notes.txt" in run("list files")
    assert "sales.csv" not in run("list the txt files")
    assert "会议纪要.txt" in run("列出文件")
    answer = run("what files are in the data folder")
    assert "There is no folder 'data'." in answer
    assert "notes.txt" in answer


@pytest.mark.parametrize(
    ("task", "expected", "asked"),
    [
        (
            "add up the March rows of amount in sales.csv",
            "400.25",
            {"aggregate": "sum", "column": "amount", "where": ["date starts 2026-03"]},
        ),
        (
            "average units for region North in sales.csv",
            "is 4 ",
            {"aggregate": "mean", "column": "units", "where": ["region = North"]},
        ),
        ("how many rows in sales.csv have amount over 100?", "3", {"aggregate": "count", "where": ["amount > 100"]}),
        (
            "What is the largest amount for tea in sales.csv?",
            "120",
            {"aggregate": "max", "column": "amount", "where": ["product = tea"]},
        ),
        (
            "min of units since 2026-03-05 in sales.csv",
            "3",
            {"aggregate": "min", "column": "units", "where": ["date >= 2026-03-05"]},
        ),
        (
            "total amount per region in sales.csv",
            "North: 270.75",
            {"aggregate": "sum", "column": "amount", "group_by": "region"},
        ),
        (
            "把 sales.csv 三月的 amount 加起来",
            "400.25",
            {"aggregate": "sum", "column": "amount", "where": ["date starts 2026-03"]},
        ),
        (
            "sales.csv 里 product 是 tea 的 amount 平均是多少",
            "100.25",
            {"aggregate": "mean", "column": "amount", "where": ["product = tea"]},
        ),
        (
            "Which region has the highest total amount in sales.csv?",
            "South: 330",
            {"aggregate": "sum", "column": "amount", "group_by": "region"},
        ),
        (
            "sales.csv 里三月份的金额一共多少",
            "400.25",
            {"aggregate": "sum", "column": "amount", "where": ["date starts 2026-03"]},
        ),
        ("sales.csv 中 amount 大于 100 的有多少行", "3", {"aggregate": "count", "where": ["amount > 100"]}),
    ],
)
def test_tables_are_looked_at_and_then_aggregated(task: str, expected: str, asked: dict[str, Any]) -> None:
    """The first call shows the table's columns, the second lets read_table compute; its number is the answer."""
    bench = Workbench()
    assert expected in run(task, bench)
    assert [name for name, _ in bench.calls] == ["read_table", "read_table"]
    assert "aggregate" not in bench.calls[0][1]
    assert bench.calls[1][1] == {"path": "sales.csv", **asked}


def test_a_month_without_a_year_in_a_table_of_several_years() -> None:
    """Where the table shows more than one year, the month is taken of every year, and the answer says so."""
    bench = Workbench({"sales.csv": SALES + "\n2025-03-05,North,tea,1,10"})
    answer = run("add up the March rows of amount in sales.csv", bench)
    assert bench.calls[1][1]["where"] == ["date contains -03-"]
    assert "410.25" in answer
    assert "every year" in answer


def test_months_by_name() -> None:
    """A column that holds names of months is filtered by the name as it is spelled there."""
    bench = Workbench({"m.csv": "month,amount\nFeb,1\nMar,2\nMar,3"})
    assert "is 5 " in run("sum of amount for March in m.csv", bench)
    assert bench.calls[1][1]["where"] == ["month = Mar"]


def test_words_that_were_not_used_are_named() -> None:
    """A condition that no rule understands is not passed over in silence."""
    assert "no use of these words: customers, Berlin" in run("add up the amounts of customers in Berlin in sales.csv")


ENGLISH = "Read sales.csv in examples/workspace, add up the March rows and tell me 15 % of the total"
CHINESE = "读取 examples/workspace 里的 sales.csv，把三月的行加起来，然后告诉我总和的 15%"


@pytest.mark.parametrize(("task", "chosen"), [(ENGLISH, "I took amount"), (CHINESE, "采用了 amount")])
def test_a_combination_feeds_results_on(task: str, chosen: str) -> None:
    """The path is adapted to the listing, a column is chosen and named, and the calculator gets the table's number."""
    bench = Workbench()
    answer = run(task, bench)
    assert "400.25" in answer
    assert "60.0375" in answer
    assert chosen in answer
    assert names(bench) == ["read_table", "list_files", "read_table", "read_table", "calculator"]
    assert bench.calls[0][1]["path"] == "examples/workspace/sales.csv"
    assert bench.calls[-1][1] == {"expression": "400.25 * 15 / 100"}


def test_a_subfolder_is_searched() -> None:
    """A file that the top listing does not show is looked for one folder below."""
    bench = Workbench({"notes.txt": "x", "data/sales.csv": SALES})
    assert "400.25" in run("add up the March rows of amount in sales.csv", bench)
    assert bench.calls[-1][1]["path"] == "data/sales.csv"


def test_a_percentage_of_a_filtered_total_in_one_clause() -> None:
    """'15 % of the March total in FILE' is a total first and a percentage of it second."""
    bench = Workbench()
    assert "60.0375" in run("what is 15 % of the March total in sales.csv", bench)
    assert names(bench) == ["read_table", "read_table", "calculator"]


def test_a_quoted_number_is_fed_on() -> None:
    """The one number of a quoted line can be computed with."""
    assert "10 % of 12000 = 1200" in run("Read notes.txt, quote the budget line and tell me 10% of it")


def test_the_next_task_can_speak_of_the_last_number() -> None:
    """A later message's "that" is the number of the newest earlier result."""
    bench = Workbench()
    earlier = bench.transcript(OfflineDemo(), "add up the March rows of amount in sales.csv")
    assert "40.025" in run("and what is 10 % of that?", bench, earlier)


def test_independent_parts_run_in_one_round() -> None:
    """Parts that do not need each other are called in parallel, and each is answered."""
    bench = Workbench()
    task = "What time is it in Paris, what is 3*4, and what does notes.txt say about lunch?"
    transcript = bench.transcript(OfflineDemo(), task)
    first = transcript[1]
    assert isinstance(first, AIMessage)
    assert [call["name"] for call in first.tool_calls] == ["now", "calculator", "read_file"]
    assert len({call["id"] for call in first.tool_calls}) == 3
    for expected in ("10:26:05", "= 12", "Lunch at noon."):
        assert expected in transcript[-1].text


def test_a_changed_file_changes_the_answer() -> None:
    """Numbers come from the file: another amount there, another answer here, for every later step too."""
    bench = Workbench({"sales.csv": SALES.replace("100.25", "200.25")})
    answer = run(ENGLISH, bench)
    assert "500.25" in answer
    assert "75.0375" in answer
    assert "400.25" not in answer


@pytest.mark.parametrize(
    ("task", "tool"),
    [
        ("what is 2+2", "calculator"),
        ("东京现在几点", "now"),
        ("list files", "list_files"),
        ("what does notes.txt say about lunch", "read_file"),
        ("add up the March rows of amount in sales.csv", "read_table"),
    ],
)
def test_a_removed_tool_is_named(task: str, tool: str) -> None:
    """Without the tool it needs the demo calls nothing, names that tool, and computes nothing itself."""
    bench = Workbench(without=[tool])
    answer = run(task, bench)
    assert tool in answer
    assert not bench.calls
    assert not re.search(r"= 4|18:26|notes\.txt\t|Lunch at noon|400\.25", answer)


def test_a_removed_calculator_leaves_the_rest_of_a_combination() -> None:
    """What can be done is done and reported, beside the part whose tool is missing."""
    answer = run(ENGLISH, Workbench(without=["calculator"]))
    assert "400.25" in answer
    assert "60.0375" not in answer
    assert "calculator, which is not offered" in answer


def test_a_missing_file_is_reported_with_the_error() -> None:
    """After one look at the listing the tool's own error is quoted, with the files that are there."""
    bench = Workbench()
    answer = run("what does budget.txt say about tea", bench)
    assert "There is no file 'budget.txt'." in answer
    assert "notes.txt" in answer
    assert names(bench) == ["read_file", "list_files"]


def test_an_error_of_the_calculator_is_quoted() -> None:
    """A part that fails is reported with what the tool said."""
    bench = Workbench()
    bench.files.clear()
    answer = run("what is max(3, 4)", bench)
    assert "'max(3, 4)' is no arithmetic" in answer


def test_a_refused_call_is_quoted_and_not_repeated() -> None:
    """A guard's refusal counts as the call's error: the demo says so and does not insist."""
    model = OfflineDemo().bind_tools([Workbench().calculator])
    asked = model.invoke([HumanMessage("what is 2+2")])
    refusal = ToolMessage("Not run: the limit is used up.", status="error", tool_call_id=asked.tool_calls[0]["id"])
    reply = model.invoke([HumanMessage("what is 2+2"), asked, refusal])
    assert not reply.tool_calls
    assert "Not run: the limit is used up." in reply.text


def test_a_refused_repetition_does_not_hide_the_earlier_result() -> None:
    """Of two equal calls the one that succeeded counts."""
    calls = [{"name": "calculator", "args": {"expression": "2+2"}, "id": i} for i in ("a", "b")]
    messages = [
        HumanMessage("what is 2+2"),
        AIMessage("", tool_calls=[calls[0]]),
        ToolMessage("2+2 = 4", tool_call_id="a"),
        AIMessage("", tool_calls=[calls[1]]),
        ToolMessage("Not run: same call.", status="error", tool_call_id="b"),
    ]
    assert OfflineDemo().bind_tools([Workbench().calculator]).invoke(messages).text == "2+2 = 4"


def test_a_clipped_file_is_said_to_be_clipped() -> None:
    """Where part of a result was left out the quoted line gets no number, and a miss is not called certain."""
    call = {"name": "read_file", "args": {"path": "log.txt"}, "id": "a"}
    text = "[log.txt, lines 1-200 of 200]\nfirst\n[… 5,000 characters left out …]\nthe kettle broke"
    for word, expected in (("kettle", 'log.txt, a line: "the kettle broke"'), ("tea", "may have missed lines")):
        messages = [
            HumanMessage(f"what does log.txt say about {word}?"),
            AIMessage("", tool_calls=[call]),
            ToolMessage(text, tool_call_id="a"),
        ]
        assert expected in OfflineDemo().bind_tools([Workbench().read_file]).invoke(messages).text


CLOSING = SystemMessage("The run ends now. Call no more tools. Answer the user now: give what was found.")


def test_the_closing_call_gives_what_was_found_and_what_is_missing() -> None:
    """Without tools the demo calls nothing: it reports the finished parts and names the call that is still needed."""
    transcript = Workbench().transcript(OfflineDemo(), ENGLISH, rounds=4)
    reply = OfflineDemo().invoke([CLOSING, *transcript])
    assert not reply.tool_calls
    assert "400.25" in reply.text
    assert "Still missing" in reply.text
    assert "calculator(expression='400.25 * 15 / 100')" in reply.text
    assert "60.0375" not in reply.text


def test_a_closing_call_before_any_part_is_done() -> None:
    """Where no part is finished the results so far are shown as they came."""
    transcript = Workbench().transcript(OfflineDemo(), "把 sales.csv 三月的 amount 加起来", rounds=1)
    reply = OfflineDemo().invoke([CLOSING, *transcript])
    assert "read_table: 5 rows" in reply.text
    assert "还缺" in reply.text
    assert "400.25" not in reply.text


def test_a_number_that_never_came_is_not_invented() -> None:
    """What counts with an earlier number says that there is none where the earlier part failed."""
    answer = run("add up the March rows of amount in gone.csv and tell me 15 % of the total")
    assert "There is no file 'gone.csv'." in answer
    assert "no number came before" in answer


def test_tool_choice_none_means_no_tools() -> None:
    """A request that offers tools but forbids them gets an answer without calls."""
    bound = OfflineDemo().bind_tools([Workbench().calculator], tool_choice="none")
    assert not bound.invoke("what is 2+2").tool_calls


def test_messages_that_an_agent_marked_are_no_task() -> None:
    """Memory blocks and notes in the user's place do not replace the user's task, nor hide its progress."""
    bench = Workbench()
    transcript = bench.transcript(OfflineDemo(), "what is 2+2", rounds=1)
    memory = HumanMessage("[Memory of earlier work, not from the user. This is data.]\n\nSummary:\nwhat is 9*9")
    note = HumanMessage("[Automatic note, not from the user] Go on with the task.")
    reply = OfflineDemo().bind_tools(list(bench.tools.values())).invoke([memory, *transcript, note])
    assert reply.text == "2+2 = 4"


@pytest.mark.parametrize("task", ["write me a poem", "delete notes.txt", "I have 3 cats and 4 dogs", "删除 notes.txt"])
def test_what_no_rule_knows_is_said_plainly(task: str) -> None:
    """Other requests are named as not possible, with a short list of what is; no tool is called."""
    bench = Workbench()
    answer = run(task, bench)
    assert "offline:demo" in answer
    assert task in answer
    assert not bench.calls


def test_a_known_part_is_done_beside_an_unknown_one() -> None:
    """One request that no rule knows does not keep the others from being answered."""
    answer = run("what is 2+2 and write me a poem")
    assert "2+2 = 4" in answer
    assert 'I cannot do this: "write me a poem"' in answer


@pytest.mark.parametrize("limit", [20, 40, 80])
def test_a_summary_request_gets_an_extract_within_its_limit(limit: int) -> None:
    """Asked to summarise without tools, the demo extracts whole sentences, within the words allowed, inventing none."""
    material = [
        "The total was 400.25.",
        "It rained a lot.",
        "sales.csv holds 24 rows.",
        "read_file failed: no budget.txt.",
    ]
    material += [f"Nothing happened in hour {hour} of the day." for hour in range(12)]
    request = HumanMessage(f"Summarise the work below in at most {limit} words.\n" + "\n".join(material))
    text = OfflineDemo().invoke([SystemMessage("You write the memory."), request]).text
    label, *lines = text.splitlines()
    assert len(text.split()) <= limit
    assert set(lines) <= set(material)
    assert "400.25" in text
    assert "rules" in label


def test_a_chinese_summary_request() -> None:
    """The extract of a Chinese request is Chinese, and counts characters."""
    request = HumanMessage("请把下面的工作总结为不超过 40 字:\n合计是 400.25。今天下雨了。预算在 notes.txt 第 2 行。")
    text = OfflineDemo().invoke([request]).text
    assert text.startswith("摘录")
    assert "400.25" in text
    assert len(re.findall("[\u3400-\u9fff]", text)) <= 40


def test_the_reply_is_a_pure_function_of_the_messages() -> None:
    """The same messages give the same reply on another instance: progress is read from the transcript alone."""
    transcript = Workbench().transcript(OfflineDemo(), ENGLISH, rounds=3)
    tools = list(Workbench().tools.values())
    replies = [OfflineDemo().bind_tools(tools).invoke(transcript) for _ in range(2)]
    assert replies[0].tool_calls == replies[1].tool_calls
    assert replies[0].tool_calls
