"""The rules of the offline demo one by one: what a sentence, a listing and a page are read as."""

import pytest

from loopwright.models.offline.arithmetic import expression_in
from loopwright.models.offline.file_plans import read_page
from loopwright.models.offline.intents import Aggregate, Arithmetic, ListFiles, QuoteLines, ReadFile, TellTime, Unclear
from loopwright.models.offline.listing import files_listed, read_table_listing
from loopwright.models.offline.months import Month, months_in
from loopwright.models.offline.numerals import numeral
from loopwright.models.offline.parts import parts_of
from loopwright.models.offline.paths import FileName, file_in, folder_in
from loopwright.models.offline.places import ZONES
from loopwright.models.offline.wording import beginning

ROWS = (("2026-03-02", "North", "100.25"), ("2026-04-01", "South", "120"))


@pytest.mark.parametrize(
    "text",
    [
        "2 rows, columns: date, region, amount\ndate,region,amount\n2026-03-02,North,100.25\n2026-04-01,South,120",
        "[sales.csv: 2 rows; columns: date, region, amount]\n2026-03-02\tNorth\t100.25\n2026-04-01\tSouth\t120",
        "2 rows\ndate | region | amount\n2026-03-02 | North | 100.25\n2026-04-01 | South | 120\n(that is all)",
        "| date | region | amount |\n|---|---|---|\n| 2026-03-02 | North | 100.25 |\n| 2026-04-01 | South | 120 |",
    ],
)
def test_listings_of_tables_are_read_tolerantly(text: str) -> None:
    """Whatever separates the cells and whether or not the header stands apart, columns, rows and kinds are found."""
    table = read_table_listing(text)
    assert table is not None
    assert table.columns == ("date", "region", "amount")
    assert table.rows == ROWS
    assert [table.kind(column) for column in table.columns] == ["date", "text", "number"]
    assert table.whole


def test_a_listing_of_some_rows_is_not_whole() -> None:
    """A listing that names more rows than it shows does not count as the whole table."""
    table = read_table_listing("90 rows, columns: a, b\na,b\n1,2\n3,4")
    assert table is not None
    assert not table.whole


@pytest.mark.parametrize("text", ["", "an empty table", "[…]"])
def test_a_text_that_is_no_table_has_no_columns(text: str) -> None:
    """Where no columns can be made out there is no table, rather than a guessed one."""
    assert read_table_listing(text) is None


def test_listed_files() -> None:
    """Names come before the tab, folders keep their slash, remarks are no names."""
    assert files_listed("a.txt\t3\ndata/\n2 files in all") == ("a.txt", "data/")


def test_a_page_of_a_file() -> None:
    """Lines get their numbers from the header, and none where lines were left out."""
    page = read_page("[a.txt, lines 5-6 of 9]\nfive\nsix\n[3 more lines: go on with offset=7]")
    assert page.lines == ((5, "five"), (6, "six"))
    assert (page.end, page.total, page.clipped) == (6, 9, False)
    clipped = read_page("[a.txt, lines 1-9 of 9]\none\n[… 50 characters left out …]\nnine")
    assert clipped.lines == ((None, "one"), (None, "nine"))
    assert clipped.clipped


@pytest.mark.parametrize(
    ("text", "months"),
    [
        ("the March rows", [Month(3)]),
        ("in sept 2025", [Month(9, 2025)]),
        ("2026-03 and 2026-04", [Month(3, 2026), Month(4, 2026)]),
        ("三月和十二月", [Month(3), Month(12)]),
        ("2026年3月份", [Month(3, 2026)]),
        ("you may add the second; May I? 2026-03-14 三个月", []),
        ("sum for May", [Month(5)]),
    ],
)
def test_months(text: str, months: list[Month]) -> None:
    """Months are found by name, number or ISO form; words that only look like months are not."""
    assert list(months_in(text)) == months


@pytest.mark.parametrize(("text", "value"), [("十五", 15), ("三十", 30), ("二十五", 25), ("十", 10), ("九", 9)])
def test_chinese_numerals(text: str, value: int) -> None:
    """Numerals up to ninety-nine have their value."""
    assert numeral(text) == value


@pytest.mark.parametrize(
    ("text", "file"),
    [
        ("read data/sales.csv now", FileName("data/sales.csv")),
        ("read sales.csv in examples/workspace", FileName("sales.csv", "examples/workspace")),
        ("把sales.csv三月的amount加起来", FileName("sales.csv")),
        ("读取 会议纪要.txt 里的一行", FileName("会议纪要.txt")),
        ("读取 统计表.csv", FileName("统计表.csv")),
        ('open "my notes.txt"', FileName("my notes.txt")),
        ("3.5 e.g. at example.com 2+2", None),
    ],
)
def test_files_in_a_sentence(text: str, file: FileName | None) -> None:
    """Names are found between spaces, in quotation marks and glued to Chinese words; numbers and hosts are no files."""
    assert file_in(text) == file


def test_folders_in_a_sentence() -> None:
    """A folder is a path with a slash, or a name beside the word."""
    assert folder_in("list the files in the data folder") == "data"
    assert folder_in("列出 examples/workspace 里的文件") == "examples/workspace"
    assert folder_in("list the files in there") == ""


@pytest.mark.parametrize(
    ("text", "expression"),
    [
        ("what is 15 % 4", "15 % 4"),
        ("计算（3＋4）×5", "(3+4)×5"),
        ("1,234 + 1", "1234 + 1"),
        ("tell me 15 % of the total", "@ * 15 / 100"),
        ("what's 5 percent of 80 plus 3", "(80 * 5 / 100) + 3"),
        ("the meeting is on 2026-03-14", None),
        ("I have 3 cats and 4 dogs", None),
    ],
)
def test_expressions(text: str, expression: str | None) -> None:
    """Percentages become products, signs half-width; dates and mere numbers are no arithmetic."""
    assert expression_in(text) == expression


@pytest.mark.parametrize(
    ("task", "kinds"),
    [
        ("Read sales.csv, add up the March rows and tell me 15 % of the total", [Aggregate, Arithmetic]),
        ("Read notes.txt and sales.csv", [ReadFile, ReadFile]),
        ("In sales.csv, what is the average units?", [Aggregate]),
        ("what time is it in Rome and Paris; list files", [TellTime, ListFiles]),
        ("read notes.txt and quote the line with tea, then write a poem", [QuoteLines, Unclear]),
        ("hello, thanks!", []),
        ("", []),
    ],
)
def test_parts_of_a_task(task: str, kinds: list[type]) -> None:
    """A task is cut into what it asks for; reading that a later part does anyway is no part, nor is courtesy."""
    assert [type(part) for part in parts_of(task)] == kinds


def test_every_city_has_a_real_zone() -> None:
    """The table names zones that exist, about forty cities in both languages."""
    from zoneinfo import available_timezones

    assert set(ZONES.values()) <= available_timezones()
    assert len([name for name in ZONES if name.isascii()]) >= 40
    assert ZONES["东京"] == ZONES["tokyo"] == "Asia/Tokyo"


def test_an_excerpt_breaks_no_number() -> None:
    """A text is cut at a line's end, else at white space, else left out."""
    assert beginning("total\n1234567", 9) == "total [...]"
    assert beginning("total 1234567", 9) == "total [...]"
    assert beginning("1234567", 3) == "[...]"
    assert beginning("1234", 4) == "1234"
