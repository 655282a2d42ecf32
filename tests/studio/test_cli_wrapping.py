"""How long texts are broken: within the width, nothing lost, Chinese between characters and never before a comma."""

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from loopwright_studio.wrapping import wrapped

MIXED = st.lists(st.sampled_from([*"，。（）“”步骤调用 \n", "read_file", "(path=notes.txt)", "5", "x" * 30])).map(
    "".join
)


def test_chinese_fills_its_lines() -> None:
    """A Latin word inside a Chinese sentence does not leave the line before it half empty."""
    text = "我调用了read_file五次，没有得到别的东西；除其结果之外，任务没有得到回答。"
    assert wrapped(text, 24).split("\n") == [
        "我调用了read_file五次，",
        "没有得到别的东西；除其结",
        "果之外，任务没有得到回",
        "答。",
    ]
    assert wrapped("three words here", 11) == "three words\nhere"
    assert wrapped("  kept\n\n  too", 80) == "  kept\n\n  too"


@given(MIXED, st.integers(4, 40))
def test_no_line_is_too_wide_and_nothing_is_lost(text: str, width: int) -> None:
    """Only white space goes, where a line ends; each line of the text begins a line of its own."""
    lines = wrapped(text, width).split("\n")
    assert max(map(cell_len, lines)) <= width
    assert "".join("".join(lines).split()) == "".join(text.split())
    assert len(lines) >= len(text.split("\n"))


@given(st.lists(st.sampled_from(["步", "骤，", "调。", "（用）", "：“说”"])).map("".join), st.integers(8, 40))
def test_marks_stay_with_their_character(text: str, width: int) -> None:
    """No line begins with a mark that closes, or ends with one that opens."""
    lines = wrapped(text, width).split("\n")
    assert not any(line.startswith(("，", "。", "）", "”")) or line.endswith(("（", "“")) for line in lines)
