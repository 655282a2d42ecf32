"""What a thread keeps in the store beside its checkpoints: the journal of its writes and its whole results."""

from collections.abc import Iterator
from typing import Any, TypeAlias

from langgraph.store.base import BaseStore, PutOp, SearchItem, SearchOp

from loopwright.builtins import RESULTS
from loopwright.effects import BY_SIGNATURE, EFFECTS, encode_thread
from loopwright.steps import Core, Do

SPACES = (EFFECTS, BY_SIGNATURE, RESULTS)
"""The namespaces that hold something of a thread, each followed by the encoded thread."""
Stored: TypeAlias = dict[str, dict[str, dict[str, Any]]]
"""Values by namespace and key."""
_PAGE = 1_000


def read_stored(store: BaseStore, thread: str) -> Core[Stored]:
    """All that the store holds of a thread."""
    stored: Stored = {}
    for space in SPACES:
        stored[space] = {}
        while True:
            op = SearchOp((space, encode_thread(thread)), limit=_PAGE, offset=len(stored[space]))
            (found,) = yield Do(store.batch, store.abatch, ([op],))
            items: list[SearchItem] = found
            stored[space].update((item.key, item.value) for item in items)
            if len(items) < _PAGE:
                break
    return stored


def write_stored(store: BaseStore, thread: str, stored: Stored) -> Core[None]:
    """Keep all of it for a thread; what stands under the same keys is replaced."""
    yield from _put(store, thread, ((space, key, value) for space in SPACES for key, value in stored[space].items()))
    return None


def erase_stored(store: BaseStore, thread: str) -> Core[int]:
    """Drop all that the store holds of a thread; returns how many items that was."""
    stored = yield from read_stored(store, thread)
    keys = [(space, key, None) for space in SPACES for key in stored[space]]
    yield from _put(store, thread, iter(keys))
    return len(keys)


def _put(store: BaseStore, thread: str, entries: Iterator[tuple[str, str, dict[str, Any] | None]]) -> Core[None]:
    ops = [PutOp((space, encode_thread(thread)), key, value, index=False) for space, key, value in entries]
    for start in range(0, len(ops), _PAGE):
        yield Do(store.batch, store.abatch, (ops[start : start + _PAGE],))
    return None
