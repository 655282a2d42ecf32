"""The effect journal: what was started and what was done, so that no write fires twice unknowingly."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal, NotRequired, cast
from urllib.parse import quote

from langgraph.runtime import get_runtime
from langgraph.store.base import BaseStore, GetOp, Item, Op, PutOp, SearchOp
from typing_extensions import TypedDict

from loopwright.node import thread_here
from loopwright.state import CallStatus
from loopwright.steps import Core, Do

EFFECTS = "effects"
"""Namespace of the journal's records, by call id; under it the encoded thread."""
BY_SIGNATURE = "effects-by-signature"
"""Namespace of the call ids that were started under a signature, oldest first."""
_PAGE = 500
"""Records read from the store at a time."""


class Record(TypedDict):
    """One journaled call: `started` before its effect, `done` with its result after it.

    `repeats` is the permission (see State) of the branch that started it, where it had one; `edited_args` are what a
    person gave in place of the model's arguments.
    """

    state: Literal["started", "done"]
    call_id: str
    signature: str
    tool: str
    run: str
    step: int
    status: CallStatus
    text: str
    repeats: NotRequired[str]
    edited_args: NotRequired[dict[str, Any]]


def encode_thread(thread: str) -> str:
    """A thread id as a namespace label, which may hold no dot and not be empty."""
    return quote(thread, safe="").replace(".", "%2E") or "%"


@dataclass(frozen=True)
class Journal:
    """The journal of one thread."""

    store: BaseStore
    thread: str

    @classmethod
    def here(cls) -> "Journal | None":
        """The running thread's journal; None where there is no store or no thread to keep it for."""
        store, thread = get_runtime().store, thread_here()
        return None if store is None or thread is None else cls(store, thread)

    def _space(self, kind: str) -> tuple[str, str]:
        return (kind, encode_thread(self.thread))

    def _get(self, kind: str, key: str) -> GetOp:
        return GetOp(self._space(kind), key, refresh_ttl=False)  # a look changes nothing

    def lookup(self, call_id: str, signature: str, known: Iterable[str], repeats: str = "") -> "Core[Found]":
        """What the journal knows of a call: its own record, or one of the same signature that this branch never made.

        `known` are the ids of calls with that signature in this branch of the thread. A branch that may repeat effects
        gives its permission as `repeats`: records without it do not count.
        """
        ops = [self._get(EFFECTS, call_id), self._get(BY_SIGNATURE, signature)]
        own, index = yield from self._batch(ops)
        ids: list[str] = index.value["call_ids"] if index else []
        if own is not None and _counts(own, repeats):
            return Found(cast("Record", own.value), own=True, ids=ids)
        branch = {*known, call_id}
        strange = [self._get(EFFECTS, other) for other in reversed(ids) if other not in branch]
        others = (yield from self._batch(strange)) if strange else []
        newest = next((item for item in others if item is not None and _counts(item, repeats)), None)
        return Found(cast("Record", newest.value) if newest else None, own=False, ids=ids)

    def start(self, record: Record, ids: list[str]) -> Core[None]:
        """Write `started`, and the call under its signature: on disk when this returns."""
        yield from self._batch(
            [
                PutOp(self._space(EFFECTS), record["call_id"], dict(record), index=False),
                PutOp(
                    self._space(BY_SIGNATURE),
                    record["signature"],
                    {"call_ids": [*(each for each in ids if each != record["call_id"]), record["call_id"]]},
                    index=False,
                ),
            ]
        )
        return None

    def finish(self, record: Record) -> Core[None]:
        """Write `done`; never raises: an effect that happened must not look failed, so a bad text is dropped."""
        for text in (record["text"], "(the result could not be stored)"):
            try:
                value = {**record, "state": "done", "text": text}
                yield from self._batch([PutOp(self._space(EFFECTS), record["call_id"], value, index=False)])
            except Exception:
                continue
            return None
        return None

    def forget(self, record: Record) -> Core[None]:
        """Drop a record of what did not happen, so that it may be done."""
        yield from self._batch([PutOp(self._space(EFFECTS), record["call_id"], None)])
        return None

    def _batch(self, ops: list[Op] | list[GetOp] | list[PutOp]) -> "Core[list[Item | None]]":
        results: list[Item | None] = yield Do(self.store.batch, self.store.abatch, (ops,))
        return results


def _counts(item: Item, repeats: str) -> bool:
    return not repeats or item.value.get("repeats") == repeats


@dataclass(frozen=True)
class Found:
    """The answer of a lookup: the record, whether it is the call's own, and all ids of the signature."""

    record: Record | None
    own: bool
    ids: list[str]

    @property
    def own_record(self) -> Record | None:
        """The record, if it is the call's own."""
        return self.record if self.own else None


def records(store: BaseStore, thread: str) -> Core[list[Record]]:
    """The journal of a thread: calls that were started and not done first, then as they were written."""
    found: list[Item] = []
    while True:
        op = SearchOp((EFFECTS, encode_thread(thread)), limit=_PAGE, offset=len(found))
        (page,) = yield Do(store.batch, store.abatch, ([op],))
        found += page
        if len(page) < _PAGE:
            break
    found.sort(key=lambda item: (item.value["state"] != "started", item.created_at, item.value["step"]))
    return [cast("Record", item.value) for item in found]
