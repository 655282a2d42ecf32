"""Numbers as a person reads them: tokens, durations, dollars, times of day."""

from collections.abc import Sequence
from datetime import UTC, datetime

from loopwright.language import Language


def tokens(count: float) -> str:
    """A number of tokens in three digits or so: `812`, `12.2 k`, `7.6 M`."""
    if count < 1000:
        return f"{count:.0f}"
    if count < 999_500:
        return f"{count / 1000:.1f} k" if count < 99_950 else f"{count / 1000:.0f} k"
    return f"{count / 1e6:.1f} M"


def tick(count: float) -> str:
    """A round number of tokens at an axis: `8 k`, `2.5 k`."""
    return f"{count:g}" if count < 1000 else f"{count / 1000:g} k" if count < 1e6 else f"{count / 1e6:g} M"


def duration(seconds: float, language: Language = "en") -> str:
    """A duration: `3 ms`, `0.84 s`, `24 min 46 s`, `3 h 05 min`, in Chinese `24 分 46 秒`, `3 小时 05 分`."""
    if seconds < 0.0995:
        return f"{seconds * 1000:.0f} ms"
    if seconds < 99.95:
        return f"{seconds:.2f} s" if seconds < 9.995 else f"{seconds:.1f} s"
    whole = round(seconds)
    hour, minute, second = ("h", "min", "s") if language == "en" else ("小时", "分", "秒")
    if whole < 3600:
        return f"{whole // 60} {minute} {whole % 60:02} {second}"
    return f"{whole // 3600} {hour} {whole % 3600 // 60:02} {minute}"


def dollars(cost: float) -> str:
    """USD, with more digits where it is little."""
    return f"${cost:,.2f}" if cost >= 1 else f"${cost:.4f}"


def moment(unix_time: float) -> str:
    """A time in UTC to the second."""
    return f"{datetime.fromtimestamp(unix_time, UTC):%Y-%m-%d %H:%M:%S} UTC"


def listed(numbers: Sequence[int], language: Language = "en") -> str:
    """Numbers in a sentence: `1, 2 and 3`, in Chinese `1、2、3`."""
    words = [str(number) for number in numbers]
    if language == "zh":
        return "、".join(words)
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)
