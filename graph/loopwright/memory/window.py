"""The window: how much of the latest work a request shows, in messages, tokens or steps."""

from collections.abc import Callable, Sequence

from langchain_core.messages import AIMessage, AnyMessage

from loopwright.memory.legality import legal
from loopwright.memory.profile import PLAIN, Profile
from loopwright.memory.seeing import covered
from loopwright.settings import MemorySettings
from loopwright.shapes import View
from loopwright.transcript import Group, groups


def outgrown(messages: Sequence[AnyMessage], view: View, settings: MemorySettings, profile: Profile = PLAIN) -> bool:
    """Whether work has to leave the window before the next request; looks only at what is not folded yet."""
    if settings.window is None:
        return False
    units = list(groups(legal(_behind(messages, view["folded_through"]))))
    places = {message.id: place for place, unit in enumerate(units) for message in unit.messages if message.id}
    gone = covered(view, places)
    shown = [place for place, unit in enumerate(units) if isinstance(unit.messages[0], AIMessage) and place not in gone]

    def cost(place: int) -> int:
        return sum(profile.count(message) for message in units[place].messages)

    return bool(leaving(units, shown, settings, cost))


def leaving(
    units: Sequence[Group], shown: Sequence[int], settings: MemorySettings, cost: Callable[[int], int]
) -> list[int]:
    """Of the places of the shown groups, those that leave the window: the oldest, and never the newest.

    None while they fit; else as many as bring the rest down to `window_keep`, or just into the window without one.
    `cost` tells the tokens of the group at a place.
    """
    if settings.window is None:
        return []
    sizes = {place: _size(units[place], place, settings, cost) for place in shown}
    left = sum(sizes.values())
    if left <= settings.window:
        return []
    keep = min(settings.window, settings.window_keep or settings.window)
    gone: list[int] = []
    for place in shown[:-1]:
        if left <= keep:
            break
        gone.append(place)
        left -= sizes[place]
    return gone


def _size(unit: Group, place: int, settings: MemorySettings, cost: Callable[[int], int]) -> int:
    if settings.window_unit == "tokens":
        return cost(place)
    return 1 if settings.window_unit == "steps" else len(unit.messages)


def _behind(messages: Sequence[AnyMessage], message_id: str) -> Sequence[AnyMessage]:
    """The messages behind the one of this id; all where there is none."""
    for place in range(len(messages) - 1, -1, -1):
        if message_id and messages[place].id == message_id:
            return messages[place + 1 :]
    return messages
