"""Tools whose result is the answer itself: LangChain's `return_direct`."""

from collections.abc import Sequence

from langchain_core.messages import AIMessage, AnyMessage, ToolMessage

from loopwright.framing import unframed
from loopwright.nodes.wiring import Wiring
from loopwright.transcript import text_of


def direct_answer(wiring: Wiring, messages: Sequence[AnyMessage]) -> str:
    """The results that end the run: those of the last reply's calls, where every one is of such a tool and succeeded.

    Empty where the model has to go on, as in LangChain's own agent when other tools were called beside; a failed call
    goes back to the model too, which may mend it.
    """
    results: dict[str, ToolMessage] = {}
    for message in reversed(messages):
        if isinstance(message, AIMessage):
            return _joined(wiring, message, results)
        if not isinstance(message, ToolMessage):
            break
        results[message.tool_call_id] = message
    return ""


def _joined(wiring: Wiring, reply: AIMessage, results: dict[str, ToolMessage]) -> str:
    texts = []
    for call in reply.tool_calls:
        tool, result = wiring.toolbox.tools.get(call["name"]), results.get(call["id"] or "")
        if tool is None or not tool.return_direct or result is None or result.status != "success":
            return ""
        texts.append(unframed(text_of(result)))
    return "" if reply.invalid_tool_calls else "\n\n".join(texts)
