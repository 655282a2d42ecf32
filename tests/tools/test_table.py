"""The tool `read_table`: rows by conditions, and exact numbers that say which rows they come from."""

import json
import time
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.tools import BaseTool, ToolException

from loopwright_tools.aggregates import NumberedRow, aggregate
from loopwright_tools.conditions import conditions_in
from loopwright_tools.exact import shown
from loopwright_tools.rows import Table, table_in
from loopwright_tools.table import read_table_tool
from loopwright_tools.workspace import Workspace

SALES = """date,region,product,units,amount
2026-02-27,North,tea,4,80.5
2026-03-02,North,tea,5,100.25
2026-03-09,South,coffee,7,210
2026-03-20,North,coffee,3,90.1
2026-03-31,East,green tea,,0.2
2026-04-01,South,tea,6,120
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A workspace with a table in it."""
    (tmp_path / "sales.csv").write_text(SALES, encoding="utf-8")
    return tmp_path


@pytest.fixture
def read_table(root: Path) -> BaseTool:
    """The tool that reads it."""
    return read_table_tool(Workspace(root))


def test_a_listing_names_its_rows_and_columns(read_table: BaseTool) -> None:
    """Rows, columns, then the cells parted by tabs."""
    lines = read_table.invoke({"path": "sales.csv", "limit": 2}).split("\n")
    assert lines == [
        "[sales.csv: 6 of 6 rows; columns: date, region, product, units, amount]",
        "date\tregion\tproduct\tunits\tamount",
        "2026-02-27\tNorth\ttea\t4\t80.5",
        "2026-03-02\tNorth\ttea\t5\t100.25",
        "(4 more rows are not shown: narrow with where or columns, or raise limit up to 200)",
    ]


def test_columns_are_chosen_and_ordered(read_table: BaseTool) -> None:
    """The columns asked for, in their order, case aside."""
    lines = read_table.invoke({"path": "sales.csv", "columns": ["amount", "Region"], "where": ["units = 7"]}).split(
        "\n"
    )
    assert lines[1:] == ["amount\tregion", "210\tSouth"]


@pytest.mark.parametrize(
    ("where", "dates"),
    [
        (["region = North"], ["02-27", "03-02", "03-20"]),
        (["region = north"], ["02-27", "03-02", "03-20"]),
        (["region == 'North'"], ["02-27", "03-02", "03-20"]),
        (['Region="North"'], ["02-27", "03-02", "03-20"]),
        (["region != North"], ["03-09", "03-31", "04-01"]),
        (["region ≠ North"], ["03-09", "03-31", "04-01"]),
        (["date starts 2026-03"], ["03-02", "03-09", "03-20", "03-31"]),
        (["date starts with 2026-03"], ["03-02", "03-09", "03-20", "03-31"]),
        (["product contains TEA"], ["02-27", "03-02", "03-31", "04-01"]),
        (["product starts t"], ["02-27", "03-02", "04-01"]),
        (["amount > 100"], ["03-02", "03-09", "04-01"]),
        (["amount >= 100.25"], ["03-02", "03-09", "04-01"]),
        (["amount < 90.1"], ["02-27", "03-31"]),
        (["amount <= 90.10"], ["02-27", "03-20", "03-31"]),
        (["amount = 210.00"], ["03-09"]),
        (["amount != 210.00"], ["02-27", "03-02", "03-20", "03-31", "04-01"]),
        (["units ≥ 6"], ["03-09", "04-01"]),
        (["units ＜ 4"], ["03-20"]),
        (["units = "], ["03-31"]),
        (["units != "], ["02-27", "03-02", "03-09", "03-20", "04-01"]),
        (["date >= 2026-03-20"], ["03-20", "03-31", "04-01"]),
        (["date < 2026-03"], ["02-27"]),
        (["date <= 2026-03"], ["02-27", "03-02", "03-09", "03-20", "03-31"]),
        (["date > 2026-03"], ["04-01"]),
        (["date = 2026-03"], ["03-02", "03-09", "03-20", "03-31"]),
        (["region > East", "region < South"], ["02-27", "03-02", "03-20"]),
        (["date starts 2026-03", "region = North", "amount > 95"], ["03-02"]),
        (["region = Mars"], []),
    ],
)
def test_conditions(where: list[str], dates: list[str]) -> None:
    """Texts without case, numbers by value, dates as far as the value goes, no order for empty cells; all must hold."""
    table = table_in(SALES, "sales.csv")
    conditions = conditions_in(where, table)
    found = [row[0][5:] for n, row in enumerate(table.rows) if all(condition.holds(row, n) for condition in conditions)]
    assert found == dates


def test_codes_are_no_numbers() -> None:
    """A leading zero belongs to a code: 007 is neither 7 nor 07."""
    table = table_in("code\n007\n7\n07\n", "a.csv")
    [condition] = conditions_in(["code = 7"], table)
    assert [condition.holds(row, 1) for row in table.rows] == [False, True, False]


def test_a_columns_own_name_may_hold_signs_and_words() -> None:
    """The longest column that the condition begins with is meant."""
    table = table_in('a,"a > b",unit price,starts\n1,2,3,4\n', "a.csv")
    texts = [str(c) for c in conditions_in(["a > b = 2", "a > 0", "unit price<=3", "starts = 4", "a starts 1"], table)]
    assert texts == ["a > b = 2", "a > 0", "unit price <= 3", "starts = 4", "a starts 1"]


@pytest.mark.parametrize(
    ("condition", "message"),
    [
        ("nonsense", "not understood: write a column, one of"),
        ("", "not understood"),
        ("= 3", "not understood"),
        ("amount >", 'no value behind ">"'),
        ("product contains", 'no value behind "contains"'),
        (
            "regoin = North",
            "no column 'regoin': the columns are date, region, product, units, amount. Did you mean 'region'",
        ),
        ("price > 3", "no column 'price': the columns are date"),
        ("amount > abc", "Row 1 holds '80.5' in amount, a number, which cannot be ordered against the text 'abc'"),
        ("date > 2026", "a date, which cannot be ordered against the number '2026': compare with a date"),
        ("region < 3", "a text, which cannot be ordered against the number"),
        ("date > 3/5/2026", "a date, which cannot be ordered against the text"),
    ],
)
def test_conditions_that_cannot_be_judged_are_refused(read_table: BaseTool, condition: str, message: str) -> None:
    """Nothing is guessed: the error says how to write a condition, which columns there are, or which row is unfit."""
    with pytest.raises(ToolException) as error:
        read_table.invoke({"path": "sales.csv", "where": [condition]})
    assert message in str(error.value)


def test_rows_that_cannot_be_ordered_are_left_out_by_a_condition_before(root: Path, read_table: BaseTool) -> None:
    """Conditions are judged in their order, as the error says."""
    (root / "mixed.csv").write_text("v\n1\nn/a\n3\n", encoding="utf-8")
    with pytest.raises(ToolException, match="Row 2 holds 'n/a' in v"):
        read_table.invoke({"path": "mixed.csv", "where": ["v > 1"]})
    listing = read_table.invoke({"path": "mixed.csv", "where": ["v != n/a", "v > 1"]})
    assert listing.endswith("\nv\n3")


@pytest.mark.parametrize(
    ("arguments", "result"),
    [
        ({"aggregate": "sum", "column": "amount"}, "sum of amount = 601.05 (6 of 6 rows)"),
        (
            {"aggregate": "sum", "column": "Amount", "where": ["date starts 2026-03"]},
            "sum of amount = 400.55 (4 of 6 rows; where date starts 2026-03)",
        ),
        ({"aggregate": "mean", "column": "amount"}, "mean of amount = 100.175 (6 of 6 rows)"),
        ({"aggregate": "mean", "column": "units"}, "mean of units = 5 (6 of 6 rows; 1 of them empty)"),
        ({"aggregate": "sum", "column": "units"}, "sum of units = 25 (6 of 6 rows; 1 of them empty)"),
        ({"aggregate": "count"}, "count = 6 (6 of 6 rows)"),
        ({"aggregate": "count", "column": "units"}, "count of units = 5 (6 of 6 rows; 1 of them empty)"),
        (
            {"aggregate": "count", "where": ["region = North", "amount > 85"]},
            "count = 2 (2 of 6 rows; where region = North and amount > 85)",
        ),
        ({"aggregate": "min", "column": "amount"}, "min of amount = 0.2 (6 of 6 rows)"),
        ({"aggregate": "max", "column": "amount"}, "max of amount = 210 (6 of 6 rows)"),
        ({"aggregate": "min", "column": "date"}, "min of date = 2026-02-27 (6 of 6 rows; compared as text)"),
        ({"aggregate": "max", "column": "region"}, "max of region = South (6 of 6 rows; compared as text)"),
        (
            {"aggregate": "mean", "column": "units", "where": ["region = East"]},
            "mean of units = no value (1 of 6 rows; where region = East; 1 of them empty)",
        ),
    ],
)
def test_aggregates_say_what_they_come_from(read_table: BaseTool, arguments: dict[str, object], result: str) -> None:
    """The number, of how many of how many rows, by which conditions, and how many cells were empty."""
    assert read_table.invoke({"path": "sales.csv", **arguments}) == result


def test_no_row_is_said_to_be_none(read_table: BaseTool) -> None:
    """Where no row fulfils the conditions, the values that there are come with the empty result."""
    arguments = {"path": "sales.csv", "where": ["region = Mars"]}
    advice = "No row fulfils the conditions.\nregion holds: North, South, East"
    summed = read_table.invoke({**arguments, "aggregate": "sum", "column": "amount"})
    assert summed == f"sum of amount = 0 (0 of 6 rows; where region = Mars)\n{advice}"
    mean = read_table.invoke({**arguments, "aggregate": "mean", "column": "amount"})
    assert mean == f"mean of amount = no value (0 of 6 rows; where region = Mars)\n{advice}"
    assert advice in read_table.invoke(arguments)


def test_groups(read_table: BaseTool) -> None:
    """One aggregate for each value, in the order of the values; limit cuts the list, never the numbers."""
    arguments = {"path": "sales.csv", "aggregate": "sum", "column": "units", "group_by": "Region"}
    assert read_table.invoke(arguments).split("\n") == [
        "[sum of units by region: 3 groups, 6 of 6 rows]",
        "East: 0 (1 of them empty)",
        "North: 12",
        "South: 13",
    ]
    assert read_table.invoke({**arguments, "limit": 1}).split("\n")[1:] == [
        "East: 0 (1 of them empty)",
        "(2 more groups are not shown: narrow with where, or raise limit up to 200)",
    ]
    counts = read_table.invoke({"path": "sales.csv", "aggregate": "count", "group_by": "units"})
    assert counts.split("\n")[1] == "(empty): 1"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"aggregate": "sum"}, "sum needs a column to be taken of: the columns are date"),
        ({"aggregate": "sum", "column": "price"}, "no column 'price': the columns are date, region"),
        ({"aggregate": "count", "group_by": "price"}, "no column 'price'"),
        ({"columns": ["price"]}, "no column 'price'"),
        ({"column": "amount"}, "column and group_by go with aggregate"),
        ({"group_by": "region"}, "column and group_by go with aggregate"),
        ({"aggregate": "sum", "column": "region"}, "region holds no numbers, but such as 'North': choose another"),
        ({"limit": 0}, "limit is 0, but at least 1 row"),
    ],
)
def test_questions_that_cannot_be_answered(read_table: BaseTool, arguments: dict[str, object], message: str) -> None:
    """Missing, unknown or unfit columns are answered with what there is."""
    with pytest.raises(ToolException, match=message):
        read_table.invoke({"path": "sales.csv", **arguments})


def test_a_cell_that_is_no_number_is_named(root: Path, read_table: BaseTool) -> None:
    """A sum leaves nothing out silently: the row at fault is named, with the condition that leaves it out."""
    (root / "mixed.csv").write_text("v\n1\nn/a\n3\n", encoding="utf-8")
    for kind in ("sum", "mean", "min", "max"):
        with pytest.raises(ToolException, match=r"Row 2 holds 'n/a' in v, which is not a number.*\"v != n/a\""):
            read_table.invoke({"path": "mixed.csv", "aggregate": kind, "column": "v"})
    left = read_table.invoke({"path": "mixed.csv", "aggregate": "sum", "column": "v", "where": ["v != n/a"]})
    assert left == "sum of v = 4 (2 of 3 rows; where v != n/a)"


def test_commas_in_numbers_are_told(root: Path, read_table: BaseTool) -> None:
    """Commas between groups of three are taken as thousand separators, and the result says so."""
    (root / "c.csv").write_text('v\n"1,234"\n0.5\n', encoding="utf-8")
    result = read_table.invoke({"path": "c.csv", "aggregate": "sum", "column": "v"})
    assert result == "sum of v = 1234.5 (2 of 2 rows; commas taken as thousand separators)"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.csv", "n,v\nx,1\ny,2\n"),
        ("b.csv", "n;v\nx;1\ny;2\n"),
        ("c.csv", "n\tv\nx\t1\ny\t2\n"),
        ("d.csv", "n|v\nx|1\ny|2\n"),
        ("e.tsv", "n\tv\nx\t1\ny\t2\n"),
        ("f.txt", "n,v\r\nx,1\r\n\r\ny,2"),
        ("g.csv", ' n , v \n"x", 1 \ny,2\n'),
        ("h.jsonl", '{"n": "x", "v": 1}\n\n{"v": 2, "n": "y"}\n'),
        ("i.ndjson", '{"n": "x", "v": 1}\n{"n": "y", "v": 2}'),
        ("j.json", '[{"n": "x", "v": 1}, {"n": "y", "v": 2}]'),
        ("k.json", '{"n": "x", "v": 1}\n{"n": "y", "v": 2}\n'),
        ("l.log", '{"n": "x", "v": 1}\n{"n": "y", "v": 2}\n'),
    ],
)
def test_forms_of_tables(name: str, text: str) -> None:
    """Separated by comma, semicolon, tab or bar, JSON lines or one JSON array: by suffix, else by how it looks."""
    assert table_in(text, name) == Table(("n", "v"), [("x", "1"), ("y", "2")])


def test_cells_keep_their_digits_and_signs() -> None:
    """Quoted separators and line ends stay in their cell; JSON numbers keep every digit; null is empty."""
    assert table_in('a,b\n"1,5","two\nlines"\n', "a.csv").rows == [("1,5", "two\nlines")]
    line = '{"id": 9007199254740993, "x": 0.10, "y": null, "z": true, "w": ["a"]}\n{"id": 1e400, "x": NaN}'
    assert table_in(line, "a.jsonl") == Table(
        ("id", "x", "y", "z", "w"),
        [("9007199254740993", "0.10", "", "true", '["a"]'), ("1e400", "NaN", "", "", "")],
    )


def test_columns_without_or_with_the_same_name_are_told_apart() -> None:
    """Each column can be asked for."""
    assert table_in("a,,a,a\n1,2,3,4\n", "a.csv").columns == ("a", "column_2", "a_2", "a_3")


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.csv", "", "'a.csv' is empty"),
        ("a.csv", " \n\n", "is empty"),
        ("a.csv", "a,b\n1,2\n1,2,3\n", "Row 2 of 'a.csv' has 3 cells where the header has 2.*use read_file"),
        ("a.csv", "a;b\n1;2\n1\n", "Row 2 of 'a.csv' has 1 cells where the header has 2"),
        ("a.csv", "a,b\n1\n", "Row 1 of 'a.csv' has 1 cells"),
        ("a.csv", 'a,b\n"1,2\n', "cannot be read as a table .*use read_file"),
        ("a.csv", 'a,b\n1,"' + "x" * 200_000 + '"\n', "cannot be read as a table"),
        ("a.txt", "some words\nand more\n", "has no columns, so it is no table: use read_file"),
        ("a.json", "{", "a.json, line 1 is not JSON"),
        ("a.jsonl", '{"a": 1}\n{"a": \n', "a.jsonl, line 2 is not JSON"),
        ("a.json", "[" * 100_000, "is not JSON"),
        ("a.json", "[1, 2]", "each row has to be a JSON object"),
        ("a.json", "[]", "each row has to be a JSON object"),
        ("a.json", "3", "each row has to be a JSON object"),
    ],
)
def test_what_is_no_table_is_refused(name: str, text: str, message: str) -> None:
    """The row or line at fault is named, and the tool that can show it."""
    with pytest.raises(ToolException, match=message):
        table_in(text, name)


def test_cells_cannot_fake_rows(root: Path, read_table: BaseTool) -> None:
    """Line ends and tabs in cells and names are shown as escapes; long cells are cut with a mark."""
    (root / "odd.csv").write_text('"a\nb",c\n"1\n2\t3",' + "x" * 500 + "\n", encoding="utf-8")
    assert read_table.invoke({"path": "odd.csv"}).split("\n") == [
        "[odd.csv: 1 of 1 rows; columns: a\\nb, c]",
        "a\\nb\tc",
        f"1\\n2\\t3\t{'x' * 200} [... 300 more characters]",
    ]


def test_a_wide_listing_ends_when_it_is_full(root: Path, read_table: BaseTool) -> None:
    """However high the limit, a listing stays short and says what is missing."""
    (root / "wide.csv").write_text("a,b\n" + f"{'x' * 150},{'y' * 150}\n" * 300, encoding="utf-8")
    listing = read_table.invoke({"path": "wide.csv", "limit": 100_000})
    assert len(listing) < 7_000
    assert "more rows are not shown" in listing.split("\n")[-1]


def test_other_encodings_are_named(root: Path, read_table: BaseTool) -> None:
    """A table from a Chinese spreadsheet is read, and its encoding said."""
    (root / "表.csv").write_bytes("月份,金额\n三月,12.5\n四月,7.5\n".encode("gb18030"))
    assert read_table.invoke({"path": "表.csv"}).startswith(
        "[表.csv (decoded as GB18030): 2 of 2 rows; columns: 月份, 金额]"
    )
    assert (
        read_table.invoke({"path": "表.csv", "aggregate": "sum", "column": "金额"}) == "sum of 金额 = 20 (2 of 2 rows)"
    )


def test_paths_are_those_of_the_workspace(read_table: BaseTool) -> None:
    """A file outside is not read."""
    with pytest.raises(ToolException, match="leads outside"):
        read_table.invoke({"path": "../sales.csv"})


def test_unknown_arguments_are_refused(read_table: BaseTool) -> None:
    """A filter under another name is an error: dropped, it would make the sum one of all rows."""
    with pytest.raises(ValueError, match="filter"):
        read_table.invoke({"path": "sales.csv", "aggregate": "sum", "column": "amount", "filter": "region = North"})


_amounts = st.lists(
    st.decimals(-(10**9), 10**9, places=2, allow_nan=False, allow_infinity=False), min_size=1, max_size=50
)


@settings(deadline=None)
@given(amounts=_amounts)
def test_sums_and_means_are_exact(amounts: list[Decimal]) -> None:
    """They are what exact fractions give, in CSV and in JSON lines alike."""
    total = sum(map(Fraction, amounts), Fraction(0))
    texts = {
        "a.csv": "v\n" + "\n".join(map(str, amounts)),
        "a.jsonl": "\n".join(f'{{"v": {amount}}}' for amount in amounts),
        "b.json": json.dumps([{"v": str(amount)} for amount in amounts]),
    }
    for name, text in texts.items():
        result = _aggregated(text, name)
        assert result["sum"] == shown(total)
        assert result["mean"] == shown(total / len(amounts))
        assert result["max"] == shown(max(map(Fraction, amounts)))


def _aggregated(text: str, name: str) -> dict[str, str]:
    rows = [NumberedRow(number, row) for number, row in enumerate(table_in(text, name).rows, 1)]
    return {
        "sum": aggregate("sum", rows, 0, "v").text,
        "mean": aggregate("mean", rows, 0, "v").text,
        "max": aggregate("max", rows, 0, "v").text,
    }


@settings(deadline=None)
@given(st.text(alphabet='ab1,;\t|"\n{}[]: -', max_size=80), st.sampled_from(["a.csv", "a.tsv", "a.txt", "a.json"]))
def test_any_text_is_a_table_or_refused(text: str, name: str) -> None:
    """No other error comes out of reading a table, and every row has a cell for each column."""
    try:
        table = table_in(text, name)
    except ToolException:
        return
    assert all(len(row) == len(table.columns) for row in table.rows)
    assert len(set(table.columns)) == len(table.columns)


def test_a_large_table_takes_seconds_at_most(root: Path, read_table: BaseTool) -> None:
    """A hundred thousand rows are filtered and summed well within the tool's timeout."""
    (root / "big.csv").write_text("date,amount\n" + "2026-03-01,1.25\n2026-04-01,2\n" * 50_000, encoding="utf-8")
    start = time.process_time()
    result = read_table.invoke(
        {"path": "big.csv", "aggregate": "sum", "column": "amount", "where": ["date <= 2026-03"]}
    )
    assert result.startswith("sum of amount = 62500 (50000 of 100000 rows")
    assert time.process_time() - start < 10
