"""The tools `list_files` and `read_file`: what a folder holds, and the lines of a file page by page."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.tools import BaseTool, ToolException

from loopwright_tools.files import MAX_ENTRIES, MAX_LINE_CHARACTERS, list_files_tool, read_file_tool
from loopwright_tools.text import MAX_CHARACTERS, Decoded, decode, fitting
from loopwright_tools.workspace import Workspace


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A small workspace."""
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "one.log").write_text("up\n", encoding="utf-8")
    (tmp_path / "sales.csv").write_text("a,b\n1,2\n", encoding="utf-8")
    (tmp_path / "Notes.TXT").write_text("".join(f"line {n}\n" for n in range(1, 451)), encoding="utf-8")
    return tmp_path


@pytest.fixture
def list_files(root: Path) -> BaseTool:
    """The tool that lists it."""
    return list_files_tool(Workspace(root))


@pytest.fixture
def read_file(root: Path) -> BaseTool:
    """The tool that reads its files."""
    return read_file_tool(Workspace(root))


def test_a_listing_has_a_line_for_each_entry(list_files: BaseTool) -> None:
    """A head with the total, then names, a tab and the size; folders end with a slash."""
    assert list_files.invoke({}) == "[.: 3 entries]\nNotes.TXT\t3942 bytes\nlogs/\tfolder\nsales.csv\t8 bytes"
    assert list_files.invoke({"path": "logs"}) == "[logs: 1 entry]\none.log\t3 bytes"


def test_a_pattern_narrows_a_listing(list_files: BaseTool) -> None:
    """The pattern is of names, case aside; the head says how many there are without it."""
    assert list_files.invoke({"pattern": "*.txt"}) == "[.: 1 entry matching *.txt (of 3 in all)]\nNotes.TXT\t3942 bytes"
    assert list_files.invoke({"pattern": "*.pdf"}) == "[.: 0 entries matching *.pdf (of 3 in all)]"
    assert list_files.invoke({"pattern": "[ab"}) == "[.: 0 entries matching [ab (of 3 in all)]"
    with pytest.raises(ToolException, match="give the folder as path"):
        list_files.invoke({"pattern": "logs/*.log"})


def test_a_long_listing_is_capped(root: Path, list_files: BaseTool) -> None:
    """Beyond the cap the listing says how many are missing and how to narrow it."""
    for number in range(MAX_ENTRIES + 5):
        (root / "logs" / f"{number:04}.log").touch()
    lines = list_files.invoke({"path": "logs"}).splitlines()
    assert lines[0] == f"[logs: {MAX_ENTRIES + 6} entries]"
    assert len(lines) == MAX_ENTRIES + 2
    assert lines[-1] == '(6 more are not shown: narrow the listing with a pattern, such as "a*" or "*.csv")'
    assert "matching 000*" in list_files.invoke({"path": "logs", "pattern": "000*"})


def test_links_and_pipes_are_said_to_be_such(root: Path, list_files: BaseTool) -> None:
    """Nothing is told of what a link leads to."""
    (root / "link").symlink_to("/etc/passwd")
    os.mkfifo(root / "pipe")
    lines = list_files.invoke({}).splitlines()
    assert "link\tlink" in lines
    assert "pipe\tnot a file" in lines


def test_odd_names_stay_on_their_line(root: Path, list_files: BaseTool) -> None:
    """Line ends, tabs, other control characters and undecodable bytes in a name cannot fake another entry."""
    (root / "logs" / "a\nfake\t1 bytes").touch()
    Path(os.fsdecode(os.fsencode(root / "logs") + b"/\xff")).touch()
    lines = list_files.invoke({"path": "logs"}).splitlines()
    assert lines == ["[logs: 3 entries]", "a\\nfake\\t1 bytes\t0 bytes", "one.log\t3 bytes", "\\udcff\t0 bytes"]


def test_a_file_is_read_page_by_page(read_file: BaseTool) -> None:
    """Each page says which lines of how many it shows, and how to go on while there are more."""
    first = read_file.invoke({"path": "Notes.TXT"}).splitlines()
    assert first[0] == "[Notes.TXT, lines 1-200 of 450]"
    assert first[1:201] == [f"line {n}" for n in range(1, 201)]
    assert first[201:] == ["(250 more lines: read on with offset=201)"]
    last = read_file.invoke({"path": "Notes.TXT", "offset": 449, "limit": 9})
    assert last == "[Notes.TXT, lines 449-450 of 450]\nline 449\nline 450"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"offset": 451}, "offset 451 is behind its end: the file has 450 lines, so use an offset from 1 to 450"),
        ({"offset": 0}, "offset 0 is before its first line"),
        ({"offset": -3}, "offset -3 is before"),
        ({"limit": 0}, "limit is 0, but at least 1 line"),
    ],
)
def test_lines_that_are_not_there_are_refused(read_file: BaseTool, arguments: dict[str, int], message: str) -> None:
    """Reading past the end is an error that says where the end is, so that no model reads on and on."""
    with pytest.raises(ToolException, match=message):
        read_file.invoke({"path": "Notes.TXT", **arguments})


def test_an_empty_file_has_no_lines(root: Path, read_file: BaseTool) -> None:
    """It is read without an error, at offset 1 only."""
    (root / "empty").touch()
    assert read_file.invoke({"path": "empty"}) == "[empty, lines 0-0 of 0]"
    with pytest.raises(ToolException, match="the file has 0 lines"):
        read_file.invoke({"path": "empty", "offset": 2})


def test_a_page_ends_when_it_is_full(root: Path, read_file: BaseTool) -> None:
    """Whatever the limit says, a page holds about MAX_CHARACTERS and no line is skipped between pages."""
    lines = [f"{n} " + "word " * 60 for n in range(100)]
    (root / "wide").write_text("\n".join(lines), encoding="utf-8")
    seen: list[str] = []
    while len(seen) < len(lines):
        page = read_file.invoke({"path": "wide", "offset": len(seen) + 1, "limit": 10_000})
        assert len(page) < MAX_CHARACTERS + 200
        seen += [line for line in page.split("\n")[1:] if not line.startswith("(")]
    assert seen == lines


def test_a_long_line_is_cut_at_white_space(root: Path, read_file: BaseTool) -> None:
    """The cut is marked with what is missing, and no word or number before it is broken."""
    (root / "long").write_text("1234567 " * 1_000 + "\nshort", encoding="utf-8")
    head, _, rest = read_file.invoke({"path": "long"}).split("\n")[1].partition(" [... ")
    assert set(head.split()) == {"1234567"}
    assert rest == f"{8_000 - len(head)} more characters of this line are not shown]"
    assert len(head) <= MAX_LINE_CHARACTERS


@pytest.mark.parametrize(
    ("line", "head"),
    [
        ("中" * 5_000, "中" * MAX_LINE_CHARACTERS),
        ("x" * 990 + "123,456.78" * 20, "x" * 990),
        ("a " + "x" * 5_000, "a " + "x" * (MAX_LINE_CHARACTERS - 2)),
    ],
)
def test_a_long_line_without_white_space_is_cut_outside_numbers(
    root: Path, read_file: BaseTool, line: str, head: str
) -> None:
    """A number is shown whole or not at all."""
    (root / "long").write_text(line, encoding="utf-8")
    assert read_file.invoke({"path": "long"}).split("\n")[1].partition(" [... ")[0] == head


@pytest.mark.parametrize(
    ("data", "text", "named"),
    [
        ("预算 café".encode(), "预算 café", ""),
        ("预算".encode("utf-8-sig"), "预算", ""),
        ("预算".encode("utf-16"), "预算", "UTF-16"),
        (b"\xfe\xff" + "预算".encode("utf-16-be"), "预算", "UTF-16"),
        ("预算".encode("utf-32"), "预算", "UTF-32"),
        ("预算为 36000 元,超过须批准".encode("gb18030"), "预算为 36000 元,超过须批准", "GB18030"),
        ("中文".encode("gbk"), "中文", "GB18030"),
        ("Le café est fermé à Besançon".encode("latin-1"), "Le café est fermé à Besançon", "Latin-1"),
        ("Größe: 5 µm, später".encode("latin-1"), "Größe: 5 µm, später", "Latin-1"),
    ],
)
def test_encodings_are_found_and_named(root: Path, read_file: BaseTool, data: bytes, text: str, named: str) -> None:
    """Byte order marks, UTF-8, GB18030, Latin-1, in this order; all but UTF-8 are named in the head."""
    (root / "t.txt").write_bytes(data)
    title = f"t.txt (decoded as {named})" if named else "t.txt"
    assert read_file.invoke({"path": "t.txt"}) == f"[{title}, lines 1-1 of 1]\n{text}"


@pytest.mark.parametrize(
    "data", [b"ab\0cd", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", b"\xff\x01\x02\x03\xfd", b"\x81\x82\x01"]
)
def test_binary_files_are_refused(root: Path, read_file: BaseTool, data: bytes) -> None:
    """NUL bytes, or control characters in what is no UTF-8: described, not dumped."""
    (root / "t.dat").write_bytes(data)
    with pytest.raises(
        ToolException, match=rf"'t.dat' is a binary file \({len(data)} bytes, beginning {data[:2].hex(' ')}"
    ):
        read_file.invoke({"path": "t.dat"})


def test_lines_are_counted_as_editors_do() -> None:
    """LF, CRLF and CR end a line; form feeds and Unicode's separators do not."""
    assert Decoded("a\r\nb\rc\nd\x0ce\u2028f\n", "").lines == ["a", "b", "c", "d\x0ce\u2028f"]
    assert Decoded("a\n\n", "").lines == ["a", ""]


@given(st.binary(max_size=300))
def test_any_bytes_become_text_or_are_binary(data: bytes) -> None:
    """No other error comes out of decoding, and UTF-8 always comes back as it went in."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        text = None
    if b"\0" in data and not data.startswith((b"\xff\xfe", b"\xfe\xff")):
        with pytest.raises(ToolException, match="binary"):
            decode(data, "x")
    elif text is not None and not text.startswith("\ufeff"):
        assert decode(data, "x") == (text, "")


@given(st.lists(st.text(max_size=3_000)))
def test_what_fits_is_the_beginning(lines: list[str]) -> None:
    """The first lines in order, at least one, and no more than there is room for."""
    shown = fitting(lines)
    assert shown == lines[: len(shown)]
    assert bool(shown) == bool(lines)
    assert len(shown) <= 1 or sum(len(line) + 1 for line in shown) <= MAX_CHARACTERS


def test_unknown_arguments_are_refused(list_files: BaseTool, read_file: BaseTool) -> None:
    """A misspelt argument is an error and not silently dropped."""
    with pytest.raises(ValueError, match="file"):
        read_file.invoke({"path": "Notes.TXT", "file": "secret.txt"})
    with pytest.raises(ValueError, match="folder"):
        list_files.invoke({"folder": "logs"})
