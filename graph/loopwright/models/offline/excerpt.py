"""The beginning of a text, cut where no number or word is broken."""


def beginning(text: str, limit: int) -> str:
    """At most `limit` characters and a mark, cut at the end of a line, else at white space, else not shown at all."""
    text = text.strip()
    if len(text) <= limit:
        return text
    head = text[: limit + 1]
    cut = max(head.rfind("\n"), 0) or max(head.rfind(" "), 0)
    return f"{head[:cut].rstrip()} [...]".lstrip()
