"""Text from a run, made safe to show."""

import json
import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from loopwright_studio.visible import json_line, one_line, visible


def test_what_a_terminal_obeys_becomes_visible() -> None:
    """Escape sequences, carriage returns, C1 controls, direction overrides and text without width are spelled out."""
    assert visible("\x1b[2J\x07\r") == "␛[2J␇␍"
    assert visible("\x9b31m\u202eexe\u200b\ufeff") == "\\x9b31m\\u202eexe\\u200b\\ufeff"
    assert visible("\U000e0041\ud800") == "\\U000e0041\\ud800"


def test_ordinary_text_stays() -> None:
    """Lines, tabs, Chinese, joined emoji and what looks like markup are left as they are; CRLF is a line end."""
    text = "a\tb\n会议纪要 👩\u200d💻 [red]x[/red] :smile:"
    assert visible(text) == text
    assert visible("a\r\nb") == "a\nb"
    assert one_line("a\r\n  b\t c") == "a b c"


@given(st.text())
def test_nothing_unseen_is_left(text: str) -> None:
    """No control, format or surrogate character comes through, except line ends, tabs and the two joiners."""
    left = {c for c in visible(text) if unicodedata.category(c) in ("Cc", "Cs") or 0x2028 <= ord(c) <= 0x202E}
    assert left <= {"\n", "\t"}
    assert one_line(one_line(text)) == one_line(text)


@given(st.text())
def test_json_lines_are_exact(text: str) -> None:
    """A JSON line gives back exactly what was put in, on one line, without a character that a terminal obeys."""
    line = json_line({"text": text})
    assert json.loads(line) == {"text": text}
    assert not {c for c in line if unicodedata.category(c) == "Cc" or 0x2028 <= ord(c) <= 0x202E}
