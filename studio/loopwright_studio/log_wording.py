"""What the log says in English alone, said in Chinese: the guard's reasons, failures, notices, who holds a thread.

The machine writes these once, whatever is spoken; page and terminal read them back by their form. What has none of
these forms (a policy of the user's own, a server's error) stays as it is.
"""

import re
from functools import cache
from typing import get_args

from loopwright.language import Language
from loopwright.policies.wording import REPLY_FAILURES
from loopwright.shapes import FailureKind
from loopwright_studio.wording import Words

FORMS = {
    # policies
    "identical call number {n}": "第 {n} 次相同的调用",
    "same call, same result": "调用相同，结果也相同",
    "this call failed before, unchanged": "同样的调用此前已失败",
    "the same error under other arguments": "换了参数，错误仍相同",
    "the same result under other arguments": "换了参数，结果仍相同",
    "{n} rounds of the same {m} calls": "相同的 {m} 个调用循环了 {n} 轮",
    "{n} rounds of errors in a row": "连续 {n} 轮出错",
    "{n} refused rounds without news": "连续 {n} 轮被拒绝，没有新内容",
    "{n} unusable replies in a row": "连续 {n} 条回复无法使用",
    "unusable reply: {text}": "回复无法使用：{text}",
    "more than {n} calls in one turn": "一轮中的调用多于 {n} 个",
    "{limit}: {n} of {m}": "{limit}：已用 {n}，上限 {m}",
    "{tool} ran {n} of {m} times": "{tool} 已运行 {n} 次，上限 {m} 次",
    "{n} steps left of the recursion limit": "recursion_limit 只剩 {n} 步",
    "this was done before": "此操作此前已执行",
    "the same call stands before it": "前面已有相同的调用",
    "same pure call": "与之前的 pure 调用相同",
    "its outcome is not known": "其结果未知",
    "{tool}: its outcome is not known": "{tool}：结果未知",
    "{tool} was not offered at step {n}": "第 {n} 步没有提供 {tool}",
    "{names} of {tool} stands only in text from outside": "{tool} 的参数 {names} 只出现在外部文本中",
    # the guard itself
    "the model answered without a call": "模型直接回答，没有调用工具",
    "the tool's result is the answer": "以工具结果作为回答",
    "the server says the request is too long": "服务器称请求过长",
    "the request takes {n} tokens, {m} more than the budget of {k}": "请求需要 {n} token，比预算 {k} 多 {m}",
    "{reason}; not extended": "{reason}；未提高上限",
    "{model} failed: {text}": "{model} 失败：{text}",
    **REPLY_FAILURES,
    # notices
    "The server refused {part}: the request was made again without it, as later ones are.":
        "服务器拒绝了 {part}：已去掉它重新请求，之后的请求也不再带它。",
    "{why}: the rest of this thread asks for them in JSON (protocol {name}).":
        "{why}：此线程之后改用 JSON 格式的调用（协议 {name}）。",
    "The model wrote its calls as text twice": "模型两次把调用写成了文本",
    "The server takes no tools": "服务器不支持工具",
    "The reply held {n} more JSON objects: the first counted, the others nothing.":
        "回复中另有 {n} 个 JSON 对象：只采用第一个，其余忽略。",
    "The price of {model} is not known, so that the limit of {n} USD does not count its calls: name it in the "
    "settings, model.prices.":
        "{model} 的价格未知，因此 {n} 美元的上限不计入它的调用：请在设置 model.prices 中给出价格。",
    "The server reports {n} prompt tokens where about {m} were sent, and no more for a request a quarter longer than "
    "another: it seems to cut requests in silence. The requests of this run are kept within {k} tokens; give the "
    "server a larger window (num_ctx with Ollama, --max-model-len with vLLM), or set context_tokens.":
        "服务器报告收到 {n} 个提示 token，而实际发送了约 {m} 个，请求再长四分之一也没有增加：它似乎在悄悄截断请求。"
        "本次运行的请求已控制在 {k} token 以内；请为服务器设置更大的窗口"
        "（Ollama 用 num_ctx，vLLM 用 --max-model-len），或设置 context_tokens。",
    # claims
    "{holder} since {n} {time}": "{holder}（{n} {time} 起）",
    "process {n} on {host}": "{host} 上的进程 {n}",
    "this process": "本进程",
    "another process": "另一个进程",
}  # fmt: skip
"""By form: a placeholder of one letter is a number, every other one any text, which may have such a form in turn."""

KINDS = {kind.replace("_", " "): Words("zh").named("failure", kind) for kind in get_args(FailureKind)}
"""Why a call that could not be made was answered."""


def told(text: str, language: Language) -> str:
    """What the log says, in this language as far as its form is known."""
    return text if language == "en" or not text else _in_chinese(text)


@cache
def _in_chinese(text: str) -> str:
    if text in KINDS:
        return KINDS[text]
    for form, chinese in _forms():
        found = form.fullmatch(text)
        if found:
            return chinese.format(**{name: _in_chinese(value) for name, value in found.groupdict().items()})
    return text


@cache
def _forms() -> list[tuple[re.Pattern[str], str]]:
    return [(re.compile(_form(english), re.DOTALL), chinese) for english, chinese in FORMS.items()]


def _form(english: str) -> str:
    """The pattern of a form."""
    parts = re.split(r"\{(\w+)\}", english)  # texts, and between them the names of placeholders
    return "".join(_group(part) if number % 2 else re.escape(part) for number, part in enumerate(parts))


def _group(name: str) -> str:
    return rf"(?P<{name}>[\d.e+-]+)" if len(name) == 1 else f"(?P<{name}>.+?)"
