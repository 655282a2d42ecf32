"""Gives out a reply's thought and answer while its JSON is still coming, and never the JSON itself."""

from collections.abc import Collection

from loopwright.models.protocols.reading import is_end
from loopwright.models.protocols.text_tools import INPUT

_THOUGHTS = frozenset({"thought", "thoughts", "reasoning"})
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
_BEGINS_JSON = "{[`<"


class Showing:
    """Follows the text of one reply piece by piece.

    It looks at the first object only, and gives out the text fields of its first level that hold a thought or an
    answer: `action_input` when the action that ends stood before it. With `plain` a reply that begins as prose is an
    answer and given out up to the first brace.
    """

    def __init__(self, tools: Collection[str], *, plain: bool) -> None:
        self.answer = ""
        """What was given out of the answer."""
        self.thought = ""
        """What was given out of the thought."""
        self._half = ""
        self._tools, self._plain = tools, plain
        self._start = ""
        self._open: list[str] = []
        self._over = False
        self._key = self._action = self._string = self._quote = self._escape = ""
        self._is_key = False

    def feed(self, piece: str) -> str:
        """What can be given out now that this piece has come."""
        shown = self._half + "".join(map(self._taken, piece))
        self._half = shown[-1:] if "\ud800" <= shown[-1:] <= "\udbff" else ""
        return _in_pairs(shown.removesuffix(self._half))

    def _taken(self, letter: str) -> str:
        if self._over:
            return ""
        if self._quote:
            return self._in_string(letter)
        if not self._open:
            return self._outside(letter)
        if letter in "\"'":
            self._quote, self._string = letter, ""
        elif letter in "{[":
            self._open.append(letter)
            self._is_key = letter == "{"
        elif letter in "}]":
            self._open.pop()
            self._over = not self._open
        elif letter in ":,":
            self._is_key = letter == "," and self._open[-1] == "{"
        return ""

    def _outside(self, letter: str) -> str:
        """In front of the object; what was thought in tags may hold braces that mean nothing."""
        if letter == "{" and not self._thinks():
            self._open, self._is_key, self._plain = ["{"], True, False
            return ""
        if letter.strip() and not self._start.strip() and letter in _BEGINS_JSON:
            self._plain = False
        if len(self._start) < 20 or self._thinks():
            self._start += letter
        if letter == "`":
            self._plain = False
        if not self._plain or not self._start.strip():
            return ""
        self.answer += letter
        return letter

    def _thinks(self) -> bool:
        return self._start.lstrip().startswith("<think") and "</think" not in self._start

    def _in_string(self, letter: str) -> str:
        if self._escape:
            self._escape += letter
            if self._escape.startswith("\\u") and len(self._escape) < 6:
                return ""
            letter, self._escape = _unescaped(self._escape), ""
        elif letter == "\\":
            self._escape = letter
            return ""
        elif letter == self._quote:
            self._ended()
            return ""
        self._string += letter
        return self._given_out(letter)

    def _ended(self) -> None:
        """A string is whole: a name of the first level, or the action that says what the input is."""
        self._quote = ""
        if len(self._open) == 1 and self._is_key:
            self._key = self._string
        elif len(self._open) == 1 and self._key == "action":
            self._action = self._string

    def _given_out(self, letter: str) -> str:
        if len(self._open) != 1 or self._is_key:
            return ""
        if self._key in _THOUGHTS:
            self.thought += letter
            return letter
        if self._key == "final_answer" or (self._key in (INPUT, "answer") and is_end(self._action, self._tools)):
            between = "\n\n" if self.thought and not self.answer else ""
            self.answer += letter
            return between + letter
        return ""


def _in_pairs(text: str) -> str:
    """The text with the halves of letters that JSON escapes in two put together."""
    if text.isascii():
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _unescaped(escape: str) -> str:
    if escape.startswith("\\u"):
        try:
            return chr(int(escape[2:], 16))
        except ValueError:
            return ""
    return _ESCAPES.get(escape[1:], escape[1:])
