"""Tools that belong to the loop itself: reading on in what was shortened, keeping a fact, finding earlier work."""

from loopwright.builtins.long_term import MEMORIES, Memory, forget, keep, memories, search, user_of
from loopwright.builtins.read_result import READ_RESULT, page, read_result_tool
from loopwright.builtins.recall import RECALL, recall, recall_tool, with_transcript
from loopwright.builtins.remember import remember_tool
from loopwright.builtins.results import RESULTS, load_results, store_result
from loopwright.builtins.transcript_answers import answer_from, built_in_tools, kept_out

__all__ = [
    "MEMORIES",
    "READ_RESULT",
    "RECALL",
    "RESULTS",
    "Memory",
    "answer_from",
    "built_in_tools",
    "forget",
    "keep",
    "kept_out",
    "load_results",
    "memories",
    "page",
    "read_result_tool",
    "recall",
    "recall_tool",
    "remember_tool",
    "search",
    "store_result",
    "user_of",
    "with_transcript",
]
