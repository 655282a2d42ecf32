"""What the model is told of a call that did not simply run, in English and Chinese."""

from typing import Literal, TypeAlias

from loopwright.language import Language

Sentence: TypeAlias = Literal[
    "nothing", "steers", "timeout", "unknown", "started", "done_before", "arguments", "expected", "no_argument",
    "no_tool", "left", "no_result", "cut_off", "nameless", "unreadable",
]  # fmt: skip

SENTENCES: dict[Sentence, dict[Language, str]] = {
    "nothing": {"en": "(the tool returned nothing)", "zh": "（工具没有返回任何内容）"},
    "steers": {
        "en": "The tool tried to steer the graph (goto or resume), which this agent does not allow.",
        "zh": "该工具试图控制图的走向（goto 或 resume），本智能体不允许这样做。",
    },
    "timeout": {
        "en": "{tool} did not end within {seconds:g} seconds.",
        "zh": "{tool} 未能在 {seconds:g} 秒内结束。",
    },
    "unknown": {
        "en": "OUTCOME UNKNOWN: {text} It may or may not have happened: find out first.",
        "zh": "OUTCOME UNKNOWN（结果未知）：{text} 操作可能已生效，也可能没有：请先查明。",
    },
    "started": {
        "en": "OUTCOME UNKNOWN: {tool} was started at step {step} and no result was recorded, so it may or may not have "
        "happened. It was not started again. Find out with a reading tool whether it happened, or tell the user that this "
        "is not known.",
        "zh": "OUTCOME UNKNOWN（结果未知）：{tool} 已在第 {step} 步启动，但没有记录到结果，操作可能已生效，也可能没有。"
        "没有再次启动它。请用读取类工具查明是否生效，或告知用户结果未知。",
    },
    "done_before": {
        "en": "(This was done before, on another branch of the thread; it was not done again.)",
        "zh": "（该操作此前已在本线程的另一分支上完成，没有再次执行。）",
    },
    "arguments": {
        "en": "The arguments do not fit the tool. {problems}.",
        "zh": "参数不符合该工具的要求。{problems}。",
    },
    "expected": {"en": "Expected: {schemas}", "zh": "应为：{schemas}"},
    "no_argument": {
        "en": "The tool has no argument {named}; its arguments are: {known}.",
        "zh": "该工具没有参数 {named}；它的参数有：{known}。",
    },
    "no_tool": {
        "en": "There is no tool called {name!r}. Available tools: {known}.",
        "zh": "没有名为 {name!r} 的工具。可用的工具：{known}。",
    },
    "left": {
        "en": "Not run: the step was left before this call was made.",
        "zh": "未执行：在进行这个调用之前，该步骤已被中止。",
    },
    "no_result": {
        "en": "No result: the step was left while this call was to run, and nobody knows whether it did.",
        "zh": "没有结果：该步骤在即将执行这个调用时被中止，无法得知它是否已执行。",
    },
    "cut_off": {
        "en": "The reply was cut off before this call was whole, so it did not run. Make the call again, shorter.",
        "zh": "回复在这个调用完整之前被截断，因此没有执行。请重新调用，写得更短。",
    },
    "nameless": {
        "en": "The call names no tool, so it did not run. Name one of the tools.",
        "zh": "这个调用没有写明工具，因此没有执行。请写明其中一个工具。",
    },
    "unreadable": {
        "en": "The arguments are not one whole JSON object, so the call did not run: {error}. Send valid JSON.",
        "zh": "参数不是一个完整的 JSON 对象，因此没有执行：{error}。请发送有效的 JSON。",
    },
}


def told(sentence: Sentence, language: Language, **facts: object) -> str:
    """The sentence with its facts."""
    return SENTENCES[sentence][language].format_map(facts)
