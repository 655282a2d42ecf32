"""Says why a run stopped and what to do next, in English and Chinese."""

from typing import NamedTuple, get_args

from loopwright.language import Language
from loopwright.policies.finding import Finding
from loopwright.policies.wording import reply_failure, shown
from loopwright.shapes import Interruption, StopReason, StopReport


class _Stop(NamedTuple):
    """What happened, and what a person can do."""

    what: str
    advice: str


_ENGLISH: dict[StopReason, _Stop] = {
    "answered": _Stop("The task was answered.", "Nothing; ask more on the same thread."),
    "repeat": _Stop(
        "The same call was made over and over and brought nothing new.",
        "Look at the steps named, then correct the task or the tool, and say in a new message how to go on.",
    ),
    "cycle": _Stop(
        "The same few calls went round in a circle.",
        "Look at the steps named, then correct the task or the tools, and say in a new message how to go on.",
    ),
    "no_progress": _Stop(
        "What the model wanted was refused round after round, and nothing new came.",
        "Look at the refused calls, then say in a new message what to do differently.",
    ),
    "errors": _Stop(
        "Every call of several rounds in a row failed.",
        "Repair what the last error names, then say in a new message to go on.",
    ),
    "model_calls": _Stop("The limit of model calls was reached.", "Extend model_calls to go on from here."),
    "tool_calls": _Stop("The limit of tool calls was reached.", "Extend tool_calls to go on from here."),
    "tokens": _Stop("The limit of tokens was reached.", "Extend tokens to go on from here."),
    "cost": _Stop("The limit of cost was reached.", "Extend cost (USD) to go on from here."),
    "seconds": _Stop("The limit of working seconds was reached.", "Extend seconds to go on from here."),
    "steps": _Stop(
        "The caller's recursion limit left no room for another round.",
        "Send a new message with a larger recursion_limit in the config.",
    ),
    "invalid_replies": _Stop(
        "Several replies in a row could not be read.",
        "Use another model, or simpler tools, and send the task again.",
    ),
    "empty_reply": _Stop(
        "Several replies in a row were empty.", "Ask again in other words, or use another model."
    ),
    "length": _Stop(
        "Several replies in a row were cut off at the reply's token limit.",
        "Raise the model's max_tokens (model.max_tokens in Settings, [model_settings] in loopwright.toml), then send "
        "the task again.",
    ),
    "refusal": _Stop("The model refused the task.", "Say in a new message what is wanted and why, or change the task."),
    "content_filter": _Stop(
        "The provider's content filter ended the reply.", "Change the task or the text it works on, and send it again."
    ),
    "context": _Stop(
        "The request does not fit the model's window.",
        "Raise context_tokens, use a model with a larger window, or shorten the system prompt or the task.",
    ),
    "auth": _Stop("The model's server refused the key.", "Check the key and its quota, then resume the thread."),
    "model_error": _Stop(
        "The model's server gave no usable reply.", "Check the endpoint, then resume the thread."
    ),
    "cancelled": _Stop("The run was cancelled.", "Resume the thread to go on."),
    "drained": _Stop("The run was asked to stop between two steps.", "Resume the thread to go on."),
}  # fmt: skip

_CHINESE: dict[StopReason, _Stop] = {
    "answered": _Stop("任务已回答。", "无需操作；可在同一线程继续提问。"),
    "repeat": _Stop("同一调用反复进行，没有带来新内容。", "请查看所列步骤，修正任务或工具，再用新消息说明如何继续。"),
    "cycle": _Stop("几个相同的调用循环往复。", "请查看所列步骤，修正任务或工具，再用新消息说明如何继续。"),
    "no_progress": _Stop(
        "模型要做的事一轮又一轮被拒绝，没有新进展。", "请查看被拒绝的调用，并用新消息说明该如何改变做法。"
    ),
    "errors": _Stop("连续多轮的调用全部失败。", "请解决最后一个错误所指的问题，再用新消息让它继续。"),
    "model_calls": _Stop("已达模型调用次数上限。", "提高 model_calls 后可从此处继续。"),
    "tool_calls": _Stop("已达工具调用次数上限。", "提高 tool_calls 后可从此处继续。"),
    "tokens": _Stop("已达 token 上限。", "提高 tokens 后可从此处继续。"),
    "cost": _Stop("已达费用上限。", "提高 cost（美元）后可从此处继续。"),
    "seconds": _Stop("已达工作时间上限。", "提高 seconds 后可从此处继续。"),
    "steps": _Stop(
        "调用方的 recursion_limit 不足以再进行一轮。", "请在 config 中用更大的 recursion_limit 发送新消息。"
    ),
    "invalid_replies": _Stop("连续多条回复无法解析。", "请更换模型，或使用更简单的工具，然后重新发送任务。"),
    "empty_reply": _Stop("连续多条回复为空。", "请换一种说法再问，或更换模型。"),
    "length": _Stop(
        "连续多条回复因长度上限被截断。",
        "请提高模型的 max_tokens（Settings 中为 model.max_tokens，loopwright.toml 中为 [model_settings]），"
        "然后重新发送任务。",
    ),
    "refusal": _Stop("模型拒绝了该任务。", "请用新消息说明需要什么、为什么需要，或修改任务。"),
    "content_filter": _Stop("服务商的内容过滤器终止了回复。", "请修改任务或所处理的文本，然后重新发送。"),
    "context": _Stop("请求超出模型的上下文窗口。", "请提高 context_tokens，换用窗口更大的模型，或缩短系统提示或任务。"),
    "auth": _Stop("模型服务拒绝了密钥。", "请检查密钥及其额度，然后恢复该线程。"),
    "model_error": _Stop("模型服务没有给出可用的回复。", "请检查服务端点，然后恢复该线程。"),
    "cancelled": _Stop("运行已取消。", "恢复该线程即可继续。"),
    "drained": _Stop("运行被要求在两步之间停下。", "恢复该线程即可继续。"),
}

_STOPS: dict[Language, dict[StopReason, _Stop]] = {"en": _ENGLISH, "zh": _CHINESE}

_NO_TOOLS: dict[Language, str] = {
    "en": "This model cannot call tools: choose one that can.",
    "zh": "该模型不支持工具调用：请换用支持工具调用的模型。",
}

_BECAUSE: dict[str, dict[Language, str]] = {
    "limit": {"en": "{limit}: {used} of {bound}", "zh": "{limit}：{used} / {bound}"},
    "recursion_limit": {"en": "{remaining} steps left", "zh": "还剩 {remaining} 步"},
    "insistence": {"en": "{call}, {times} times, steps {steps}", "zh": "{call}，共 {times} 次，第 {steps} 步"},
    "same_call": {"en": "{call}, {times} times, steps {steps}", "zh": "{call}，共 {times} 次，第 {steps} 步"},
    "cycle": {"en": "{tools}, {times} times, steps {steps}", "zh": "{tools}，共 {times} 次，第 {steps} 步"},
    "error_rounds": {
        "en": "{times} rounds, steps {steps}; the last error: {error}",
        "zh": "共 {times} 轮，第 {steps} 步；最后的错误：{error}",
    },
    "refused_rounds": {"en": "{times} rounds, steps {steps}", "zh": "共 {times} 轮，第 {steps} 步"},
    "unusable_replies": {"en": "{times} replies: {kind}", "zh": "共 {times} 条：{kind}"},
}
"""What a closing finding adds to its stop reason, by policy."""


def closing_instruction(found: Finding, reason: StopReason, language: Language) -> str:
    """What the model is told in the closing request: why it stops, and what an answer has to say."""
    what = _STOPS[language][reason].what
    because = found.reason
    if found.policy in _BECAUSE and found.facts:
        because = _BECAUSE[found.policy][language].format_map(shown(found.facts, language))
    if language == "zh":
        return (
            f"现在结束：{what}（{because}）不要再调用工具。请现在直接回答用户："
            "说明已经得到的结果（给出具体数值）、还缺什么，以及为什么停下。不要编造没有得到的内容。"
        )
    return (
        f"The run ends now: {what} ({because}) Call no more tools. Answer the user now: give what was found "
        "(with the values themselves), say what is still missing, and why it stops. Invent nothing that was not found."
    )


def what_happened(reason: StopReason, language: Language) -> str:
    """One sentence that says what a stop reason stands for."""
    return _STOPS[language][reason].what


def advice(reason: StopReason, language: Language, error: str = "") -> str:
    """One line that says what to do after a stop; `error` is the last one, which may say more than the reason."""
    if reason == "model_error" and "support tool" in error:
        return _NO_TOOLS[language]
    return _STOPS[language][reason].advice


def render_report(report: StopReport, language: Language, call: str = "") -> str:
    """A stop report as a few lines for a person: why, at which step, which call, the last error, what to do.

    `call` is the stuck call as the model wrote it; without it the call is named by its id.
    """
    what = _STOPS[language][report["reason"]].what
    earlier = ", ".join(map(str, report["earlier_steps"]))
    stuck, used = call or report["call_id"], _used(report["counters"], language)
    reason, policy, step = report["reason"], report["policy"], report["step"]
    error = reply_failure(report["last_error"] or "", language)
    left = reason in get_args(Interruption)
    start = _STARTS[language]["done" if report["complete"] else "left" if left else "stopped"]
    if language == "zh":
        lines = [f"{start}：{what}（原因 {reason}，策略 {policy}，第 {step} 步）"]
        lines += [f"卡住的调用：{stuck}"] if stuck else []
        lines += [f"此前的步骤：{earlier}"] if earlier else []
        lines += [f"最后的错误：{error}"] if error else []
        lines += [f"已用：{used}"] if used else []
        return "\n".join([*lines, f"下一步：{report['advice']}"])
    lines = [f"{start}: {what} (reason {reason}, policy {policy}, step {step})"]
    lines += [f"Stuck call: {stuck}"] if stuck else []
    lines += [f"Earlier at step: {earlier}"] if earlier else []
    lines += [f"Last error: {error}"] if error else []
    lines += [f"Used: {used}"] if used else []
    return "\n".join([*lines, f"What to do: {report['advice']}"])


_STARTS: dict[Language, dict[str, str]] = {
    "en": {"done": "Done", "left": "Interrupted", "stopped": "Stopped"},
    "zh": {"done": "已完成", "left": "已中断", "stopped": "已停止"},
}
_UNITS: dict[Language, dict[str, str]] = {
    "en": {"model_calls": "{:,.0f} model call{s}", "tool_calls": "{:,.0f} tool call{s}", "tokens": "{:,.0f} token{s}",
           "cost": "${:,.4f}", "seconds": "{:,.1f} s"},
    "zh": {"model_calls": "模型调用 {:,.0f} 次", "tool_calls": "工具调用 {:,.0f} 次", "tokens": "{:,.0f} 个 token",
           "cost": "{:,.4f} 美元", "seconds": "{:,.1f} 秒"},
}  # fmt: skip


def _used(counters: dict[str, float], language: Language) -> str:
    """What the run used, in the order of the limits; cost only where it is known."""
    units = _UNITS[language]
    parts = [
        unit.format(counters[name], s="" if round(counters[name]) == 1 else "s")
        for name, unit in units.items()
        if name in counters
    ]
    return (", " if language == "en" else "、").join(parts)
