"""What is kept of a user across threads: facts in LangGraph's store, under the user's own namespace."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import blake2b
from urllib.parse import unquote

from langgraph.store.base import BaseStore, Item, PutOp, SearchItem, SearchOp

from loopwright.builtins.matching import best_matches, words_of
from loopwright.context import Context
from loopwright.effects import encode_thread
from loopwright.steps import Core, Do

MEMORIES = "user-memories"
"""Namespace of the facts, by a digest of their text; under it the user's id, encoded as a thread's is."""
MOST_FOUND = 5
"""Facts that one search returns."""
_PAGE = 500


@dataclass(frozen=True)
class Memory:
    """One fact that was kept of a user, and the thread it comes from."""

    user: str
    key: str
    text: str
    thread: str
    kept_at: datetime


def user_of(context: object) -> str | None:
    """The id of the user a run is for, `user["id"]` of our Context: a text or a whole number; None without one."""
    found = context.user.get("id") if isinstance(context, Context) else None
    if isinstance(found, int) and not isinstance(found, bool):
        return str(found)
    return found if isinstance(found, str) and found.strip() else None


def keep(store: BaseStore, user: str, thread: str, text: str) -> Core[None]:
    """Keep a fact of a user; the same words again replace it. It is indexed by its text where the store embeds."""
    text = " ".join(text.split())
    key = blake2b(text.casefold().encode("utf-8", "surrogatepass"), digest_size=6).hexdigest()
    op = PutOp(_space(user), key, {"text": text, "thread": thread}, index=["text"])
    yield Do(store.batch, store.abatch, ([op],))
    return None


def memories(store: BaseStore, user: str | None = None) -> Core[list[Memory]]:
    """The facts that are kept of a user, or of all users, the newest first."""
    space = (MEMORIES,) if user is None else _space(user)
    found: list[SearchItem] = []
    while True:
        (page,) = yield Do(store.batch, store.abatch, ([SearchOp(space, limit=_PAGE, offset=len(found))],))
        found += page
        if len(page) < _PAGE:
            break
    return sorted(_read(found, user), key=lambda memory: memory.kept_at, reverse=True)


def search(store: BaseStore, user: str, query: str) -> Core[list[Memory]]:
    """The facts of a user that fit a query best: by meaning where the store embeds, else by words."""
    op = SearchOp(_space(user), query=query, limit=MOST_FOUND)
    (found,) = yield Do(store.batch, store.abatch, ([op],))
    ranked: list[SearchItem] = [item for item in found if item.score is not None]
    if ranked:  # only a vector index gives scores
        return list(_read(ranked, user))
    known = yield from memories(store, user)
    oldest_first = known[::-1]
    best = best_matches([memory.text for memory in oldest_first], words_of(query), MOST_FOUND)
    return [oldest_first[place] for place in best]


def forget(store: BaseStore, kept: Sequence[Memory]) -> Core[None]:
    """Delete these facts."""
    ops = [PutOp(_space(memory.user), memory.key, None) for memory in kept]
    for start in range(0, len(ops), _PAGE):
        yield Do(store.batch, store.abatch, (ops[start : start + _PAGE],))
    return None


def _space(user: str) -> tuple[str, str]:
    return MEMORIES, encode_thread(user)


def _read(items: Iterable[Item], user: str | None) -> Iterable[Memory]:
    """The items as facts; those of other users and of other programs left out, should a store hand them out."""
    for item in items:
        text, thread = item.value.get("text"), item.value.get("thread")
        if len(item.namespace) == 2 and isinstance(text, str) and user in (None, unquote(item.namespace[1])):
            kept_at = item.updated_at if item.updated_at.tzinfo else item.updated_at.replace(tzinfo=UTC)
            yield Memory(unquote(item.namespace[1]), item.key, text, str(thread or ""), kept_at)
