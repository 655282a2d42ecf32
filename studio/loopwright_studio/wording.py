"""Words of ours in English and Chinese: how a table of them is made, and those that terminal and page share.

Names of the machine (guard, nodes, stop reasons, policies) stay as code and docs call them.
"""

from collections.abc import Callable

from loopwright.language import Language
from loopwright.report import CallReport

SAID_BY_STATUS = ("denied", "permanent")
"""Kinds of failure that say nothing more of a call that a person rejected, or of one whose outcome is unknown."""


class Said:
    """A text in both languages; read from a table it is the one of the table's language."""

    def __init__(self, en: str, zh: str) -> None:
        self.en, self.zh = en, zh

    def __get__(self, words: "Words", owner: type["Words"]) -> str:
        return self.zh if words.language == "zh" else self.en


class Counted:
    """A number of things in both languages, of which English alone tells one from many."""

    def __init__(self, one: str, many: str, zh: str) -> None:
        self.one, self.many, self.zh = one, many, zh

    def __get__(self, words: "Words", owner: type["Words"]) -> Callable[[int], str]:
        return lambda n: (self.zh if words.language == "zh" else self.one if n == 1 else self.many).format(n=n)


class Words:
    """The texts of one language; those with placeholders are completed with `str.format`."""

    def __init__(self, language: Language) -> None:
        self.language: Language = language

    def named(self, kind: str, name: str) -> str:
        """The word for a name of the code, as `status_ok` for `ok`; the name itself where it has none."""
        return str(getattr(self, f"{kind}_{name}", name))

    def became(self, call: CallReport) -> list[str]:
        """What became of a call, and how it failed where that says more."""
        said = [] if call.status == "ok" else [self.named("status", call.status)]
        if call.failure is not None and (call.status == "error" or call.failure["kind"] not in SAID_BY_STATUS):
            said.append(self.named("failure", call.failure["kind"]))
        return said

    colon = Said(": ", "：")
    comma = Said(", ", "，")
    and_next = Said(", ", "、")
    tok = Said("tok", "token")
    unreadable = Said("no readable call", "无法读取的调用")
    no_reply = Said("no reply", "无回复")
    failed_calls = Said("{count} failed", "{count} 次失败")
    refused_calls = Said("{count} not run", "{count} 次未执行")
    edited = Said("arguments edited by a person", "参数经人工修改")
    round_of_run = Said("Run {run}, round {round}", "第 {run} 次运行第 {round} 轮")

    # what stands in a command for the words of a person
    new_words = Said("WHAT TO DO DIFFERENTLY", "改变做法的说明")
    new_task = Said("TASK", "新任务")
    reason_word = Said("REASON", "理由")

    # the parts of a request
    part_system = Said("system", "系统提示")
    part_tools = Said("tools", "工具")
    part_summary = Said("summary", "摘要")
    part_pinned = Said("pinned", "固定内容")
    part_recent = Said("recent", "近期消息")

    # what became of a call, and how a call or a reply failed: by the names of the code
    status_ok = Said("ok", "成功")
    status_error = Said("error", "出错")
    status_refused = Said("refused", "被拒绝")
    status_served = Said("served", "直接给出结果")
    status_rejected = Said("rejected", "被人工拒绝")
    status_unknown = Said("unknown", "结果未知")
    status_not_run = Said("not run", "未执行")
    status_open = Said("no outcome yet", "尚无结果")
    failure_transient = Said("transient", "暂时性故障")
    failure_bad_arguments = Said("bad arguments", "参数有误")
    failure_unknown_tool = Said("unknown tool", "未知工具")
    failure_denied = Said("denied", "未获准许")
    failure_permanent = Said("permanent", "永久性错误")
    failure_timeout = Said("timeout", "超时")
    failure_invalid_reply = Said("invalid reply", "回复无效")
    failure_context = Said("context", "超出上下文窗口")
    failure_auth = Said("auth", "认证失败")
    failure_refusal = Said("refusal", "模型拒绝回答")
    failure_content_filter = Said("content filter", "被内容过滤器拦截")
