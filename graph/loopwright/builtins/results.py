"""Whole results in the store, by ref: what a request shows shortened is kept here."""

from collections.abc import Mapping

from langgraph.store.base import BaseStore, GetOp, Item, PutOp

from loopwright.effects import encode_thread
from loopwright.steps import Core, Do

RESULTS = "results"
"""Namespace of whole results, by ref; under it the encoded thread."""


def results_of(thread: str) -> tuple[str, str]:
    """The namespace of a thread's results."""
    return RESULTS, encode_thread(thread)


def store_result(store: BaseStore, thread: str, ref: str, text: str) -> Core[None]:
    """Keep a whole result under its ref, for `read_result`."""
    op = PutOp(results_of(thread), ref, {"text": text}, index=False)
    yield Do(store.batch, store.abatch, ([op],))
    return None


def load_results(store: BaseStore, thread: str, refs: list[str]) -> Core[Mapping[str, str]]:
    """The whole results by ref; refs that are not stored are left out."""
    ops = [GetOp(results_of(thread), ref, refresh_ttl=False) for ref in refs]
    items: list[Item | None] = (yield Do(store.batch, store.abatch, (ops,))) if ops else []
    return {item.key: str(item.value["text"]) for item in items if item is not None}
