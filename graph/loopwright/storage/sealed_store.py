"""A store whose values are encrypted: LangGraph's serializers cover its checkpointers only."""

from base64 import b64decode, b64encode
from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

from langgraph.checkpoint.serde.base import SerializerProtocol
from langgraph.store.base import BaseStore, Item, Op, PutOp, Result, SearchItem, SearchOp

from loopwright.storage.encryption import is_sealing

_ItemT = TypeVar("_ItemT", bound=Item)
_SEALED = "sealed"
_ALL = 1_000_000
"""More items than a search asks for: encrypted values can only be filtered once they are here."""


class SealedStore(BaseStore):
    """Another store, its values encrypted where there is a key; keys and namespaces stay in clear.

    Values written without a key are read as they are. With a key, filters compare for equality, and nothing can be
    found by meaning. Raises StorageError for values written with a key that is not set.
    """

    def __init__(self, inner: BaseStore, serde: SerializerProtocol) -> None:
        self.inner, self._serde, self._sealing = inner, serde, is_sealing(serde)
        self.supports_ttl = inner.supports_ttl
        self.ttl_config = inner.ttl_config

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Do the operations, sealing what is written and opening what is read."""
        asked = list(ops)
        return self._opened(asked, self.inner.batch(self._sealed(asked)))

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """Like `batch`, awaiting."""
        asked = list(ops)
        return self._opened(asked, await self.inner.abatch(self._sealed(asked)))

    def _sealed(self, ops: list[Op]) -> list[Op]:
        return [self._seal(op) for op in ops] if self._sealing else ops

    def _seal(self, op: Op) -> Op:
        if isinstance(op, PutOp) and op.value is not None:
            kind, data = self._serde.dumps_typed(op.value)
            return op._replace(value={_SEALED: [kind, b64encode(data).decode()]}, index=False)
        if isinstance(op, SearchOp) and op.filter:
            return op._replace(filter=None, query=None, limit=_ALL, offset=0)
        return op

    def _opened(self, ops: list[Op], results: Sequence[Result]) -> list[Result]:
        return [self._open(op, result) for op, result in zip(ops, results, strict=True)]

    def _open(self, op: Op, result: Result) -> Result:
        if isinstance(result, Item):
            return self._unseal(result)
        if not (isinstance(op, SearchOp) and isinstance(result, list)):
            return result
        found = [self._unseal(item) for item in result if isinstance(item, SearchItem)]
        if not (self._sealing and op.filter):
            return found
        matching = [item for item in found if all(item.value.get(name) == value for name, value in op.filter.items())]
        return matching[op.offset : op.offset + op.limit]

    def _unseal(self, item: _ItemT) -> _ItemT:
        sealed = item.value.get(_SEALED)
        if sealed is not None:
            kind, data = sealed
            value: dict[str, Any] = self._serde.loads_typed((kind, b64decode(data)))
            item.value = value
        return item
