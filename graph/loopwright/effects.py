"""The effect journal: what was started and what was done, so that no write fires twice unknowingly."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, cast
from urllib.parse import quote

from langgraph.runtime import get_runtime
from langgraph.store.base import BaseStore, GetOp, Item, Op, PutOp
from typing_extensions import TypedDict

from loopwright.state import CallStatus
from loopwright.steps import Core, Do

_EFFECTS = "effects"
_BY_SIGNATURE = "effects-by-signature"


class Record(TypedDict):
    """One journaled call: `started` before its effect, `done` with its result after it."""

    state: Literal["started", "done"]
    call_id: str
    signature: str
    tool: str
    run: str
    step: int
    status: CallStatus
    text: str


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
        runtime = get_runtime()
        info = runtime.execution_info
        if runtime.store is None or info is None or info.thread_id is None:
            return None
        return cls(runtime.store, info.thread_id)

    def _space(self, kind: str) -> tuple[str, str]:
        return (kind, encode_thread(self.thread))

    def lookup(self, call_id: str, signature: str, known: Iterable[str]) -> "Core[Found]":
        """What the journal knows of a call: its own record, or one of the same signature that this branch never made.

        `known` are the ids of calls with that signature in this branch of the thread.
        """
        ops = [GetOp(self._space(_EFFECTS), call_id), GetOp(self._space(_BY_SIGNATURE), signature)]
        own, index = yield from self._batch(ops)
        ids: list[str] = index.value["call_ids"] if index else []
        if own is not None:
            return Found(cast("Record", own.value), own=True, ids=ids)
        branch = {*known, call_id}
        strange = next((other for other in reversed(ids) if other not in branch), None)
        if strange is None:
            return Found(None, own=False, ids=ids)
        (other,) = yield from self._batch([GetOp(self._space(_EFFECTS), strange)])
        return Found(cast("Record", other.value) if other else None, own=False, ids=ids)

    def start(self, record: Record, ids: list[str]) -> Core[None]:
        """Write `started`, and the call under its signature: on disk when this returns."""
        yield from self._batch(
            [
                PutOp(self._space(_EFFECTS), record["call_id"], dict(record), index=False),
                PutOp(
                    self._space(_BY_SIGNATURE),
                    record["signature"],
                    {"call_ids": [*ids, record["call_id"]]},
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
                yield from self._batch([PutOp(self._space(_EFFECTS), record["call_id"], value, index=False)])
            except Exception:
                continue
            return None
        return None

    def _batch(self, ops: list[Op] | list[GetOp] | list[PutOp]) -> "Core[list[Item | None]]":
        results: list[Item | None] = yield Do(self.store.batch, self.store.abatch, (ops,))
        return results


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
