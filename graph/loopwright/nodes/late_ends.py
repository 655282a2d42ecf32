"""How a write ended that nobody waited for any more: written to the journal when it is known."""

from functools import partial

from loopwright.effects import Journal, Record
from loopwright.steps import drive
from loopwright.storage import Place, place_here
from loopwright.tooling import Outcome
from loopwright.tooling.daemons import in_daemon_thread
from loopwright.tooling.toolbox import Late


def ended(record: Record, outcome: Outcome) -> Record:
    """The record of a call that was done, with what came of it."""
    return {**record, "state": "done", "status": outcome.status, "text": outcome.text}


def late_end(journal: Journal | None, record: Record) -> Late | None:
    """What writes the late end of this call; None where there is no journal.

    It opens the run's storage anew, since the run may be over by then; the process may not be.
    """
    return None if journal is None else partial(_written, journal, place_here(), record)


def _written(journal: Journal, place: Place | None, record: Record, outcome: Outcome) -> None:
    # never on the event loop, which a store's sync side would block
    in_daemon_thread(_write, journal, place, ended(record, outcome))


def _write(journal: Journal, place: Place | None, record: Record) -> None:
    if place is None:
        drive(journal.finish(record))
        return
    with place.open() as storage:
        drive(Journal(storage.store, journal.thread).finish(record))
