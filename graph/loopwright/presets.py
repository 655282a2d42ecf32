"""Five published hand-written agent loops as rows of settings: their numbers and rules, on this machine."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from loopwright.language import Language

PresetName: TypeAlias = Literal["rolling-summary", "hybrid-window", "json-actions", "reflective", "clipped-results"]


@dataclass(frozen=True)
class Preset:
    """One loop: what it is known for, its system prompt in both languages, and every setting that makes it.

    `values` has the names of `Settings`, groups as mappings; what it does not name keeps its default.
    """

    about: str
    prompts: Mapping[Language, str]
    values: Mapping[str, Any]


PRESETS: Mapping[PresetName, Preset] = {
    "rolling-summary": Preset(
        about="one call a turn, a short summary that is rewritten as the oldest messages leave",
        prompts={
            "en": "You are a careful assistant with tools. Call one tool a turn. Obtain facts and numbers from them. "
            "When a result begins with an error, analyse the cause first and retry at most once. A result that was cut "
            "off can be read on in segments. When the task is done, answer without a call.",
            "zh": "你是一个谨慎的助手，可以使用工具。每轮只调用一个工具，事实和数字都要从工具取得。"
            "结果以错误开头时，先分析原因，最多重试一次。被截断的结果可以分段继续读取。任务完成后直接回答，不再调用工具。",
        },
        values={
            "protocol": "native",
            "max_model_calls": 8,
            "memory": {"window": 6, "window_unit": "messages", "summary_characters": 150, "summary_rounds": 1},
            "tools": {"strict": True, "calls_per_turn": 1, "max_result_characters": 2_000},
            "guard": {"same_call": 2, "same_call_in": "row"},
            "model": {"temperature": 0.0},
        },
    ),
    "hybrid-window": Preset(
        about="the last messages as they are, all older ones in summaries that are appended",
        prompts={
            "en": "You are a careful assistant with tools. Use the tools to obtain every value. When a tool reports an "
            "error, read it and change the call; do not make the same call a third time. When a result says that it "
            "was cut off, narrow the question or read on. Answer when all is known, and say what could not be found.",
            "zh": "你是一个谨慎的助手，可以使用工具。所有数值都要通过工具取得。工具报错时，先读懂错误再修改调用，"
            "同一调用不要进行第三次。结果注明被截断时，请缩小范围或继续读取。全部查明后回答，并说明没有查到的内容。",
        },
        values={
            "protocol": "native",
            "max_model_calls": 8,
            "memory": {
                "window": 12, "window_unit": "messages", "window_keep": 6,
                "summary_characters": 300, "summary_append": True, "summary_kept_characters": 1_200,
                "summary_rounds": 1,
            },
            "tools": {"max_result_characters": 4_000, "retries": 2},
            "guard": {"same_call": 3, "same_call_in": "run", "same_call_ends": True},
            "model": {"temperature": 0.0, "timeout": 30.0},
        },
    ),
    "json-actions": Preset(
        about="one JSON action a turn in plain text, for models without tool calling; a small window of tokens",
        prompts={
            "en": "You solve tasks step by step with tools. Take one action a turn. Look at each observation before "
            "the next action; when it is an error, correct the action. Give the final answer as soon as you know it.",
            "zh": "你借助工具一步一步完成任务。每轮只采取一个动作。"
            "先看观察结果再决定下一个动作；结果是错误时，修正动作。一旦知道答案，就给出最终回答。",
        },
        values={
            "protocol": "json_flat",
            "max_model_calls": 5,
            "memory": {"window": 800, "window_unit": "tokens", "summary": False},
            "guard": {"error_rounds": 2},
            "model": {"temperature": 0.2, "max_tokens": 1_024},
        },
    ),
    "reflective": Preset(
        about="steps as action, observation and reflection; a changed strategy after each error",
        prompts={
            "en": "You are a rigorous assistant. Rules: 1. When an observation is an error, analyse its cause and "
            "change the strategy. 2. Call one tool a turn. 3. When the task is solved, finish with the final answer.",
            "zh": "你是一个严谨的助手。规则：1. 观察结果是错误时，必须分析原因并换一种策略。"
            "2. 每轮只能调用一个工具。3. 任务已解决时，结束并给出最终答案。",
        },
        values={
            "protocol": "json_nested",
            "max_model_calls": 8,
            "memory": {
                "window": 5, "window_unit": "steps", "summary_rounds": 1,
                "steps": "triples", "observation_characters": 200, "reflection": "errors",
            },
            "tools": {"calls_per_turn": 1},
            "guard": {"error_rounds": 3},
        },
    ),
    "clipped-results": Preset(
        about="the whole conversation in a large window, every long result clipped to its two ends",
        prompts={
            "en": "You are a helpful assistant with tools. Several calls may be made in one turn when none needs the "
            "result of another. Long results are clipped to their two ends: read on in segments for what lies between. "
            "Never repeat an action unchanged. Answer when everything that was asked is known.",
            "zh": "你是一个可以使用工具的助手。互不依赖的调用可以在同一轮发出。较长的结果只保留首尾："
            "中间的内容请分段读取。不要原样重复同一个动作。所问内容全部查明后再回答。",
        },
        values={
            "protocol": "native",
            "max_model_calls": 6,
            "context_tokens": 30_000,
            "tools": {"max_result_characters": 400},
            "guard": {"same_call": 2, "same_call_in": "row", "same_call_ends": True},
            "model": {"temperature": 0.2, "max_tokens": 2_048},
        },
    ),
}  # fmt: skip
"""The presets by name. Prompts and texts are our own; the numbers are those that were published."""


def filled(given: Mapping[str, Any], name: PresetName) -> dict[str, Any]:
    """The given settings with what they leave out taken from the preset, inside the groups as well."""
    preset = PRESETS[name]
    return _over(given, {**preset.values, "system_prompt": preset.prompts["en"]})


def _over(upper: Mapping[str, Any], lower: Mapping[str, Any]) -> dict[str, Any]:
    both = {**lower, **upper}
    for key in upper.keys() & lower.keys():
        if isinstance(upper[key], Mapping) and isinstance(lower[key], Mapping):
            both[key] = _over(upper[key], lower[key])
    return both


def in_language(prompt: str, language: Language) -> str:
    """A preset's own system prompt in this language; any other prompt as it is."""
    own = (preset.prompts[language] for preset in PRESETS.values() if prompt in preset.prompts.values())
    return next(own, prompt)
