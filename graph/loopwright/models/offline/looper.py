"""The offline looper: makes one and the same call for ever, so that a newcomer can watch the guard at work."""

from collections.abc import Mapping, Sequence

from langchain_core.messages import AIMessage, BaseMessage, ToolMessage

from loopwright.framing import unframed
from loopwright.language import language
from loopwright.models.offline.bound import Bound, BoundTool
from loopwright.models.offline.history import Arguments, Call, Said, read_history
from loopwright.models.offline.parts import readable
from loopwright.models.offline.paths import file_in, folder_in, without_files
from loopwright.models.offline.rule_based import RuleBasedModel
from loopwright.models.offline.wording import beginning, say

RESULT_SHOWN = 200
"""Characters of the result that the closing answer quotes."""


class OfflineLooper(RuleBasedModel):
    """A rule behind a chat model's interface, no language model: it repeats its first call until it is stopped.

    The call reads: `read_file` of a file that the task names, else `list_files`, else the first bound tool with
    arguments that fit its schema. Once made it is repeated even where that tool is not offered for a round.
    """

    @property
    def model_name(self) -> str:
        """Its name for `load_model`."""
        return "offline:looper"

    def answer(self, messages: Sequence[BaseMessage], tools: Bound) -> Said:
        """The same call again; without any tool an honest account of having repeated it."""
        task = read_history(messages).task
        named = readable(task)
        made = _calls_of(task, messages)
        if tools:
            return Said("", (made[0] if made else _first_call(named, tools),))
        spoken = language(without_files(named))
        if not made:
            return Said(say(spoken, "looper_idle"))
        text = _last_result(messages)
        result = say(spoken, "looped_result", text=text) if text else ""
        return Said(say(spoken, "looped", call=made[0], times=len(made), result=result))


def _calls_of(task: str, messages: Sequence[BaseMessage]) -> list[Call]:
    """The calls made since the message that set the task."""
    start = max(
        (at for at, message in enumerate(messages) if message.type == "human" and message.text == task), default=-1
    )
    replies = (message for message in messages[start + 1 :] if isinstance(message, AIMessage))
    return [Call(call["name"], call["args"]) for reply in replies for call in reply.tool_calls]


def _last_result(messages: Sequence[BaseMessage]) -> str:
    """What the newest call that ran returned, shortened; the newest error where none ran."""
    results = [message for message in messages if isinstance(message, ToolMessage)]
    fine = [message for message in results if message.status != "error"]
    newest = (fine or results)[-1:]
    return beginning(unframed(newest[0].text), RESULT_SHOWN) if newest else ""


def _first_call(task: str, tools: Bound) -> Call:
    file = file_in(task)
    if file and "read_file" in tools:
        return Call("read_file", {"path": file.path})
    if "list_files" in tools:
        folder = folder_in(task)
        return Call("list_files", {"path": folder} if folder else {})
    tool = next(iter(tools.values()))
    return Call(tool.name, _plausible(tool, task))


def _plausible(tool: BoundTool, task: str) -> Arguments:
    """Values for the required arguments, by the types that the schema gives."""
    return {name: _value(name, tool.properties.get(name, {}), task) for name in tool.required}


def _value(name: str, schema: Mapping[str, object], task: str) -> str | int | list[str]:
    choices = schema.get("enum")
    if isinstance(choices, list) and choices:
        return str(choices[0])
    kind = schema.get("type")
    if kind in ("integer", "number", "boolean"):
        return 1
    if kind == "array":
        return []
    if name == "expression":
        return "1 + 1"
    return "." if name == "path" else (" ".join(task.split()[:8]) or "x")
