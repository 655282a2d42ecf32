"""Keeps a result within what the model should see of it; the whole goes to the store, where it can be read on."""

from typing import Any

from langchain_core.messages import ToolCall
from langgraph.runtime import get_runtime

from loopwright.builtins import READ_RESULT, RECALL, store_result
from loopwright.memory import clip, count_text
from loopwright.memory.clipping import head_length, matching, shorten
from loopwright.node import thread_here
from loopwright.nodes.wiring import Wiring
from loopwright.state import ToolTask
from loopwright.steps import Core
from loopwright.tooling import Outcome

LARGEST_SHARE = 1 / 3
"""Share of the request's budget that one result may take when it comes; a round may bring several."""
COUNTED = 100_000
"""Characters of a longer text that are counted; the rest is taken to be like them."""
SEARCHED = 2_000_000
"""Characters that are searched for matching lines: 50 million would take half a minute."""


def capped(
    wiring: Wiring, task: ToolTask, call: ToolCall, outcome: Outcome
) -> Core[tuple[str | list[Any], str | None]]:
    """The content as the model sees it, and the ref of the whole: over the cap it keeps head, matching lines and tail.

    Of content blocks only the text is shortened. The result of a `return_direct` tool is the user's, and stays whole.
    """
    name, whole = call["name"], outcome.content
    text, others = (whole, []) if isinstance(whole, str) else _apart(whole)
    tool = wiring.toolbox.tools.get(name)  # none where the tool was removed since the call was made
    direct = tool is not None and tool.return_direct and outcome.status == "ok"
    ends = None if direct or name in (READ_RESULT, RECALL) else _ends(wiring, name, text)
    if ends is None:
        return whole, None
    ref: str | None = None
    store, thread = get_runtime().store, thread_here()
    if store is not None and thread is not None:
        ref = call["id"] or ""
        yield from store_result(store, thread, ref, text)
    short = _shortened(text, *ends, frozenset(task["words"]), ref)
    return [{"type": "text", "text": short}, *others] if others else short, ref


def _ends(wiring: Wiring, name: str, text: str) -> tuple[int, int] | None:
    """Characters of head and tail that are kept of a result of this tool; None where it is within its cap.

    What the tool's own policy says comes before the settings, where tokens and characters may both be set.
    """
    settings, own = wiring.toolbox.settings, wiring.toolbox.policy(name).max_result_tokens
    cap = min(own or settings.max_result_tokens, max(1, int(wiring.budget(wiring.settings_now()) * LARGEST_SHARE)))
    size = len(text)
    if size > cap and (tokens := _tokens(text)) > cap:
        size = max(1, size * cap // tokens)
    characters = None if own else settings.max_result_characters
    if characters is not None and characters < size:
        return characters // 2, characters // 2
    return None if size == len(text) else (size // 2, size // 4)


def _tokens(text: str) -> int:
    if len(text) <= COUNTED:
        return count_text(text)
    return count_text(text[:COUNTED]) * len(text) // COUNTED


def _shortened(text: str, head: int, tail: int, words: frozenset[str], ref: str | None) -> str:
    """The text's ends and the lines in use, with a marker that says how to read on."""
    following = head_length(text, head)
    hint = f"read on with read_result(ref={ref!r}, offset={following})" if ref else "the rest is not stored"
    if len(text) <= SEARCHED:
        return clip(text, head, tail, words, hint=hint)
    kept = matching(text[:SEARCHED], head, tail, (head + tail) // 2, words)
    return shorten(text, head, tail, kept, hint=hint)


def _apart(blocks: list[Any]) -> tuple[str, list[Any]]:
    """The text of content blocks, and the blocks that are not text."""
    others = [block for block in blocks if not isinstance(block, dict) or block.get("type") != "text"]
    return "\n".join(block["text"] for block in blocks if block not in others), others
