"""The report of a thread where the configuration says that threads are kept."""

from loopwright.errors import UnknownThread
from loopwright.report import HEAD, RunReport, read_report
from loopwright.storage import place_of
from loopwright_studio.configuration import Configuration


def stored_report(configuration: Configuration, thread: str, characters: int = HEAD) -> RunReport:
    """The report of a thread of the configured storage, of which nothing is created. Raises UnknownThread."""
    place = place_of(configuration.storage)
    if not place.exists():
        raise UnknownThread(f"There are no threads in {place.url}: name where they are kept with --storage.")
    return read_report(place, thread, characters)
