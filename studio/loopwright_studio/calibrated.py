"""What `doctor` says about the tokens of the configured model: counted exactly, or by what its server reported."""

from itertools import islice

from loopwright.memory import calibrated_ratio, is_exact
from loopwright.storage import SqlitePlace, open_storage, place_of, thread_ids
from loopwright.threads.reading import look, reader

THREADS = 20
"""The newest threads that are looked through for a request of the model."""


def counting(model: str, storage: str) -> str:
    """How this model's tokens are counted. Reads a file that is there, and asks no server. Raises StorageError."""
    name = model.partition(":")[2] or model
    if is_exact(name):
        return f"The tokens of {name} are counted exactly."
    known = _newest_ratio(name, storage)
    if known is None:
        return f"The tokens of {name} are counted as a GPT's until its server has reported some: then budgets follow."
    ratio, thread = known
    return f"The server of {name} counts {ratio:.2f} tokens for each of ours (thread {thread}); budgets allow for it."


def _newest_ratio(name: str, storage: str) -> tuple[float, str] | None:
    """What the newest thread that tells something tells, and which it is."""
    place = place_of(storage)
    if not (isinstance(place, SqlitePlace) and place.exists()):
        return None
    with open_storage(storage) as opened:
        graph = reader(opened)
        for thread in islice(thread_ids(opened), THREADS):
            ratio = calibrated_ratio(look(graph, thread).values.get("events", []), name)
            if ratio is not None:
                return ratio, thread
    return None
