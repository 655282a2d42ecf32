"""What happened in one step, in one line, in English or Chinese."""

from collections.abc import Sequence

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage

from loopwright.language import Language
from loopwright.state import CallEvent, DecisionEvent, Event, ModelEvent
from loopwright.transcript import all_calls, text_of

_WIDTH = 80
_SAID: dict[Language, dict[str, str]] = {
    "en": {
        "input": "a task arrived",
        "user": "user: {text}",
        "update": "forked or edited here",
        "fork": "gone back to here",
        "loop": "nothing was written",
        "begin": "the run begins",
        "extend": "the run goes on with {limits}",
        "failure": "the model's reply failed: {text}",
        "calls": "the model calls {text}",
        "answer": "the model says: {text}",
        "decision": "decided: {go}",
        "because": "decided: {go} ({reason})",
        "compression": "the request is shortened from {before} to {after} tokens",
        "extended": "a person extended the budget: {limits}",
        "declined": "a person answered: {question}",
        "outcome": "a person was asked whether it happened: {happened}",
        "stop": "ended: {reason}",
    },
    "zh": {
        "input": "收到任务",
        "user": "用户：{text}",
        "update": "在此分叉或编辑",
        "fork": "回到此处",
        "loop": "没有写入内容",
        "begin": "运行开始",
        "extend": "运行继续，{limits}",
        "failure": "模型回复失败：{text}",
        "calls": "模型调用 {text}",
        "answer": "模型说：{text}",
        "decision": "决定：{go}",
        "because": "决定：{go}（{reason}）",
        "compression": "请求从 {before} 缩短到 {after} 个 token",
        "extended": "有人提高了上限：{limits}",
        "declined": "有人回答了：{question}",
        "outcome": "已询问是否生效：{happened}",
        "stop": "结束：{reason}",
    },
}


def tell_events(events: Sequence[Event], messages: Sequence[AnyMessage], language: Language) -> str:
    """The events that one step wrote, in one line; calls that ran beside each other are joined."""
    told = [_tell(event, messages, language) for event in events]
    return "; ".join(text for text in told if text)


def tell_source(source: str, messages: Sequence[AnyMessage], language: Language) -> str:
    """What a step without an event was: an input taken in, an edit, a fork."""
    user = next((message for message in reversed(messages) if isinstance(message, HumanMessage)), None)
    if user is not None:
        return _SAID[language]["user"].format(text=_short(text_of(user)))
    return _SAID[language].get(source, source)


def _tell(event: Event, messages: Sequence[AnyMessage], language: Language) -> str:
    said = _SAID[language]
    if event["kind"] == "begin":
        return said["extend"].format(limits=_limits(event["extend"])) if event["extend"] else said["begin"]
    if event["kind"] == "model":
        return _model(event, messages, language)
    if event["kind"] == "decision":
        return _decision(event, language)
    if event["kind"] == "call":
        return _call(event)
    if event["kind"] == "compression":
        return said["compression"].format(before=event["before"], after=event["after"])
    if event["kind"] == "pause":
        if event["extend"]:
            return said["extended"].format(limits=_limits(event["extend"]))
        return said["declined"].format(question=_short(event["question"]))
    if event["kind"] == "outcome":
        return said["outcome"].format(happened=event["happened"])
    return said["stop"].format(reason=event["report"]["reason"]) if event["kind"] == "stop" else ""


def _model(event: ModelEvent, messages: Sequence[AnyMessage], language: Language) -> str:
    said = _SAID[language]
    if event["failure"] is not None:
        return said["failure"].format(text=_short(event["failure"]["text"]))
    reply = next((m for m in messages if isinstance(m, AIMessage) and m.id == event["message_id"]), None)
    calls = ", ".join(f"{call['name']}({_short(str(call['args']), 40)})" for call in all_calls(reply)) if reply else ""
    return said["calls"].format(text=calls) if calls else said["answer"].format(text=_short(text_of(reply or _NONE)))


def _decision(event: DecisionEvent, language: Language) -> str:
    if not event["reason"]:
        return _SAID[language]["decision"].format(go=event["go"])
    return _SAID[language]["because"].format(go=event["go"], reason=_short(event["reason"]))


def _call(event: CallEvent) -> str:
    failure = f": {_short(event['failure']['text'], 60)}" if event["failure"] else ""
    return f"{event['tool']} {event['status']}{failure}"


def _limits(extend: dict[str, float] | None) -> str:
    return ", ".join(f"{name}={limit:g}" for name, limit in (extend or {}).items())


def _short(text: str, width: int = _WIDTH) -> str:
    line = " ".join(text.split())
    return line if len(line) <= width else f"{line[: width - 1]}…"


_NONE = AIMessage("")
