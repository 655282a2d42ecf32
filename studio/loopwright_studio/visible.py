"""What comes from a run, made safe to show: it cannot move the cursor, change colours, or hide or turn text."""

import json
import re
import sys
from typing import Any

_CONTROLS = {code: chr(0x2400 + code) for code in range(32) if code not in (0x09, 0x0A)} | {0x7F: "\u2421"}
_UNSEEN = re.compile(
    "[\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e007f]"
)
"""C1 controls, direction marks and overrides, text without width, lone surrogates. The joiners that scripts and emoji
need (U+200C, U+200D) stay."""


def visible(text: str) -> str:
    """The text with control characters as their pictures (␛) and unseen characters by their numbers."""
    return _UNSEEN.sub(_numbered, text.replace("\r\n", "\n").translate(_CONTROLS))


def one_line(text: str) -> str:
    """The text made visible on one line: white space of any length becomes one space."""
    return " ".join(visible(text).split())


def json_line(value: Any) -> str:
    """The value as one line of JSON: exact, and with nothing in it that a terminal obeys."""
    reads_unicode = (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"
    text = json.dumps(value, ensure_ascii=not reads_unicode)
    return _UNSEEN.sub(lambda found: "\\u007f" if found[0] == "\x7f" else json.dumps(found[0])[1:-1], text)


def _numbered(found: re.Match[str]) -> str:
    code = ord(found[0])
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
