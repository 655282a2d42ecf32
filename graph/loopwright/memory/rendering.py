"""Transcript and view in, request out: the one pure function that decides what the model sees."""

from collections.abc import Sequence

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage

from loopwright.language import Language, language_of
from loopwright.memory.legality import Spoken, leading_system, legal
from loopwright.memory.profile import PLAIN, Profile
from loopwright.memory.seeing import seen
from loopwright.memory.triples import as_told
from loopwright.memory.wording import WORDING
from loopwright.shapes import View

NOTE_ID = "loopwright-note"
"""Id of a marked user message that is ours; ids are not sent."""


def render(
    messages: Sequence[BaseMessage],
    view: View,
    *,
    system_prompt: str,
    nudge: str = "",
    profile: Profile = PLAIN,
) -> list[BaseMessage]:
    """The request for this transcript, legal for every input, which is never changed.

    One system message comes first: the prompt, system messages that open the transcript, and `nudge`. Then what the
    view shows of the transcript (see `legal` and `seen`). The request begins with a user message and never ends with an
    assistant message: marked user messages fill in. A user's text is never altered unless the view clips it.
    """
    language = language_of(messages)
    system = system_message(messages, system_prompt, "" if profile.nudge_as_user else nudge)
    shown = as_told(seen(legal(messages, language), view, language), view, profile, language)
    return compose(system, shown, nudge, profile, language)


def system_message(messages: Sequence[BaseMessage], system_prompt: str, nudge: str) -> list[SystemMessage]:
    """The one system message; none when there is nothing to say."""
    texts = [text for text in (system_prompt, *leading_system(messages), nudge) if text.strip()]
    return [SystemMessage(content="\n\n".join(texts))] if texts else []


def compose(
    system: Sequence[SystemMessage], shown: Sequence[Spoken], nudge: str, profile: Profile, language: Language
) -> list[BaseMessage]:
    """System message, what is shown, and the notes that a legal request still needs."""
    first = shown[0] if shown else None
    start = [] if isinstance(first, HumanMessage) else [note(WORDING[language].start, language)]
    end = closing_notes(shown, nudge, profile, language)
    if profile.alternate:
        return [*system, *alternating([*start, *shown, *end])]
    return [*system, *start, *shown, *end]


def closing_notes(shown: Sequence[Spoken], nudge: str, profile: Profile, language: Language) -> list[HumanMessage]:
    """What follows the transcript: the nudge where the profile wants it there, or a word to go on after an answer."""
    if profile.nudge_as_user and nudge.strip():
        return [note(nudge, language)]
    if shown and isinstance(shown[-1], AIMessage):
        return [note(WORDING[language].go_on, language)]
    return []


def note(text: str, language: Language) -> HumanMessage:
    """A user-role message that says that the user did not write it."""
    return HumanMessage(content=WORDING[language].note.format(text=text), id=NOTE_ID)


def alternating(spoken: Sequence[Spoken]) -> list[Spoken]:
    """The messages with neighbours of one role joined: users, and an answer with the assistant message behind it."""
    joined: list[Spoken] = []
    for message in spoken:
        before = joined[-1] if joined else None
        if isinstance(message, HumanMessage) and isinstance(before, HumanMessage):
            joined[-1] = HumanMessage(content=_both(before.content, message.content), id=before.id)
        elif isinstance(message, AIMessage) and isinstance(before, AIMessage):
            content = _both(before.content, message.content)
            joined[-1] = message.model_copy(update={"content": content, "id": f"{before.id}+{message.id}"})
        else:
            joined.append(message)
    return joined


def _both(
    first: str | list[str | dict[str, object]], second: str | list[str | dict[str, object]]
) -> str | list[str | dict[str, object]]:
    if isinstance(first, str) and isinstance(second, str):
        return f"{first}\n\n{second}" if second.strip() else first
    return [*_blocks(first), *_blocks(second)]


def _blocks(content: str | list[str | dict[str, object]]) -> list[str | dict[str, object]]:
    if isinstance(content, str):
        return [{"type": "text", "text": content}] if content.strip() else []
    return content
