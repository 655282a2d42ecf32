"""Pins a sentence to a thread, so that every later request of it holds the sentence word for word."""

from langgraph.types import StateSnapshot

from loopwright.errors import UnknownThread, UsageError
from loopwright.memory import pinned
from loopwright.sanitise import clean_text
from loopwright.soundness import check_clock
from loopwright.state import view_of
from loopwright.steps import Core, Do
from loopwright.threads.entering import standing_of
from loopwright.threads.reading import Graph, config_of


def pin(graph: Graph, thread: str, text: str) -> Core[None]:
    """Pin the sentence to a thread whose run has ended; nothing happens where it is pinned already.

    Raises UnknownThread, and UsageError for an open run, an empty text, and more than about 2,000 characters of pins.
    """
    now: StateSnapshot = yield Do(graph.get_state, graph.aget_state, (config_of(thread),))
    if not now.values:
        raise UnknownThread(f"There is no thread {thread!r} in this storage.")
    if now.next:
        raise UsageError(f"The run of thread {thread!r} has not ended: resume it to its end, then pin.")
    yield from check_clock(now)
    view = view_of(now.values)
    try:
        changed = pinned(view, clean_text(text), by="user")
    except ValueError as error:
        raise UsageError(str(error)) from error
    if changed is not view:
        run_id = standing_of(now).run_id
        config = config_of(thread, run_id=run_id)
        kept = {name: now.values[name] for name in ("answer", "stop") if name in now.values}  # they last one step
        yield Do(graph.update_state, graph.aupdate_state, (config, {**kept, "view": changed}, "finish"))
    return None
