"""What a compression works on: a thread's transcript in legal form, its budget, and the costs of its parts."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from json import dumps

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage

from loopwright.language import Language, language_of
from loopwright.memory.clipping import rare_words, terms
from loopwright.memory.legality import Spoken, legal
from loopwright.memory.profile import PLAIN, Profile
from loopwright.memory.rendering import compose, system_message
from loopwright.memory.seeing import clip_key, clipped, covered, seen
from loopwright.memory.triples import as_told
from loopwright.memory.window import leaving
from loopwright.settings import MemorySettings
from loopwright.shapes import View
from loopwright.transcript import Group, groups, text_of

VIEW_BYTES = 8_000
"""A view is written into every checkpoint that changes it, so its JSON stays under this."""
KEPT_FREE = 1_500
"""Bytes of the view that clips of old results, summary and ledger leave to the clips of the newest group."""


@dataclass(frozen=True)
class Material:
    """The transcript, what is sent with it, and how many tokens the request may have.

    `budget` is what the request must not pass, `target` what a compression aims at; `tools_tokens` are those of the
    schemas sent with it. `originals` holds the whole results by call id where the transcript has a shortened one.
    The messages come from the state, so they have ids; a group without one is never folded.
    """

    messages: Sequence[BaseMessage]
    system_prompt: str
    budget: int
    target: int
    tools_tokens: int = 0
    nudge: str = ""
    profile: Profile = PLAIN
    settings: MemorySettings = field(default_factory=MemorySettings)
    originals: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def language(self) -> Language:
        """The conversation's language."""
        return language_of(self.messages)

    @cached_property
    def spoken(self) -> list[Spoken]:
        """The transcript in legal form; views speak of its groups."""
        return legal(self.messages, self.language)

    @cached_property
    def units(self) -> list[Group]:
        """The groups of the legal transcript; others speak of them by place."""
        return list(groups(self.spoken))

    @cached_property
    def places(self) -> Mapping[str, int]:
        """The place of each message's group, by message id."""
        return {m.id: place for place, unit in enumerate(self.units) for m in unit.messages if m.id}

    @cached_property
    def work(self) -> list[int]:
        """Places of the assistant's groups, oldest first; the last one is the newest group."""
        return [place for place, unit in enumerate(self.units) if isinstance(unit.messages[0], AIMessage)]

    def has_ids(self, place: int) -> bool:
        """Whether a view can speak of the group at this place."""
        return bool(self.units[place].id and self.units[place].last_id)

    def dropped(self, view: View) -> set[int]:
        """Places of the groups that the view leaves out behind the folded part."""
        return covered(view, self.places).intersection(self.work)

    def old(self, view: View) -> list[int]:
        """Places of the groups that the view still shows, without the newest."""
        folded, gone = self.places.get(view["folded_through"], -1), self.dropped(view)
        return [place for place in self.work[:-1] if place > folded and place not in gone]

    def outside_window(self, view: View) -> list[int]:
        """Places of the groups that have to leave the window; none where there is no window, or all fit it."""
        shown = [place for place in [*self.old(view), *self.work[-1:]] if self.has_ids(place)]
        return leaving(self.units, shown, self.settings, lambda place: self.unit_cost(place, view))

    @cached_property
    def user_texts(self) -> list[str]:
        """The texts of the user's messages."""
        return [text_of(message) for message in self.spoken if isinstance(message, HumanMessage)]

    @cached_property
    def user_words(self) -> frozenset[str]:
        """The words that the user's messages hold."""
        return rare_words(self.user_texts)

    @cached_property
    def _last_use(self) -> Mapping[str, int]:
        """For each word of any call's arguments the place of the last group that used it."""
        return {word: place for place in self.work for word in terms(arguments_text(self.units[place]))}

    @cached_property
    def superseded(self) -> frozenset[str]:
        """Ids of calls that were made again later with the same arguments and succeeded then."""
        newest: dict[str, str] = {}
        older: set[str] = set()
        asked: dict[str, str] = {}
        for message in self.spoken:
            if isinstance(message, AIMessage):
                asked = {call["id"] or "": f"{call['name']}({call['args']!r})" for call in message.tool_calls}
            elif isinstance(message, ToolMessage):
                made = asked[message.tool_call_id]
                if message.status == "success" and made in newest:
                    older.add(newest[made])
                newest[made] = message.tool_call_id
        return frozenset(older)

    @cached_property
    def fixed(self) -> int:
        """Tokens of what never goes: the system prompt, the tools and the user's messages."""
        system = system_message(self.messages, self.system_prompt, self.nudge)
        users = (message for message in self.spoken if isinstance(message, HumanMessage))
        return self.tools_tokens + sum(map(self.cost, system)) + sum(map(self.cost, users))

    def later_words(self, place: int) -> frozenset[str]:
        """The words that calls behind this place used in their arguments."""
        return frozenset(word for word, used in self._last_use.items() if used > place)

    def words(self, place: int) -> frozenset[str]:
        """What makes a line of a result at this place worth keeping."""
        return self.user_words | self.later_words(place)

    def original(self, message: Spoken) -> str:
        """The message's text; of a result that was shortened before it entered the transcript, the whole."""
        text = text_of(message)
        return self.originals.get(message.tool_call_id, text) if isinstance(message, ToolMessage) else text

    @cached_property
    def _costs(self) -> Mapping[int, int]:
        return {id(message): self.profile.count(message) for message in self.spoken}

    def cost(self, message: BaseMessage) -> int:
        """Tokens of one message; those of the transcript are counted once."""
        known = self._costs.get(id(message))
        return self.profile.count(message) if known is None else known

    def unit_cost(self, place: int, view: View) -> int:
        """Tokens that the view spends on this group."""
        shown = (message for message in self.units[place].messages if isinstance(message, AIMessage | ToolMessage))
        clips = view["clips"]
        return sum(
            self.cost(clipped(message, clips[key], self.language) if (key := clip_key(message)) in clips else message)
            for message in shown
        )

    def tokens(self, view: View) -> int:
        """Tokens of the whole request under this view."""
        system = system_message(self.messages, self.system_prompt, "" if self.profile.nudge_as_user else self.nudge)
        shown = as_told(seen(self.spoken, view, self.language), view, self.profile, self.language)
        request = compose(system, shown, self.nudge, self.profile, self.language)
        return self.tools_tokens + sum(map(self.cost, request))


def arguments_text(unit: Group) -> str:
    """The values of a group's call arguments, one a line."""
    reply = unit.messages[0]
    calls = reply.tool_calls if isinstance(reply, AIMessage) else []
    return "\n".join(text for call in calls for text in _values(call["args"]))


def _values(value: object) -> Iterator[str]:
    if isinstance(value, dict):
        for item in value.values():
            yield from _values(item)
    elif isinstance(value, list):
        for item in value:
            yield from _values(item)
    elif value is not None:
        yield str(value)


def view_bytes(view: View) -> int:
    """Bytes of the view as JSON."""
    return len(dumps(view, ensure_ascii=False).encode("utf-8", "surrogatepass"))
