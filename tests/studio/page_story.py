"""A long run as its log would have it: compressions, errors, a loop at the end, and texts that attack the page."""

from random import Random
from typing import Any, Literal

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage

from loopwright.event_shapes import CallEvent, CompressionEvent, DecisionEvent, Event, ModelEvent, OutcomeEvent
from loopwright.events import Stamp
from loopwright.report import RunReport, fold_report
from loopwright.shapes import CallStatus, Failure, Rung, StopReport

HOSTILE = (
    '<script>document.title="pwned"</script>',
    '"><img src=x onerror=\'document.title="pwned"\'>',
    "</pre></details></main><h1>pwned</h1>",
    "</style></script><script>document.title='pwned'</script>",
    "javascript:document.title='pwned'",
    '<a href="javascript:document.title=1">x</a><iframe srcdoc="<script>parent.document.title=1</script>">',
    "<svg onload=\"document.title='pwned'\"><style>*{display:none}</style>",
    "{{ 7*7 }} {% for x in y %} ${7*7} #{7*7}",
    "\x1b[31mred\x1b[0m\x1b]52;c;cHduZWQ=\x07",
    "file\u202egnp.exe \u2066hidden\u2069 zero\u200bwidth",
    "NUL\x00 BEL\x07 BS\x08 DEL\x7f C1\x9b",
    "' onfocus=document.title='pwned' autofocus x='",
)
"""Script, markup, templates, terminal escapes, direction overrides, NUL, javascript: addresses."""
THREAD = "invoices-oct"
TASK = (
    "Reconcile the October invoices of all customers with the bank export, and list every mismatch with the invoice "
    "number, both amounts and the difference in EUR.\nDo not send anything before I have seen the list."
)
SAID = (
    "I compare the next customer.",
    "Two open invoices have no matching bank row.",
    "先核对十月份的发票,再看银行流水。",
    "",
    "The amounts differ by the rounding of the exchange rate; I need the rate of that day.",
)


class Story:
    """Writes the events and the messages of one run, round by round."""

    def __init__(self, task: str = TASK) -> None:
        self.random = Random(7)
        self.now = 1_796_076_000.0
        self.tokens = 2_400
        self.budget: int | None = None
        self.events: list[Event] = []
        self.messages: list[AnyMessage] = [HumanMessage(task, id="in-r-oct")]
        self.begin(0)

    def stamp(self, step: int, seconds: float) -> Stamp:
        """What every event carries; the clock goes on."""
        self.now += seconds
        return {"run": "r-oct", "step": step, "at": self.now, "seconds": seconds}

    def begin(self, step: int, extend: dict[str, float] | None = None) -> None:
        """The run begins, or goes on under larger limits."""
        self.events.append({**self.stamp(step, 0.0), "kind": "begin", "delivery": "r-oct", "extend": extend})

    def fork(self, step: int, checkpoint: str, thread: str, *, edited: bool) -> None:
        """The thread is taken back to a checkpoint."""
        stamp = self.stamp(step, 0.0)
        self.events.append({**stamp, "kind": "fork", "checkpoint": checkpoint, "thread": thread, "edited": edited})

    def pause(self, step: int, extend: dict[str, float] | None) -> None:
        """A person answers the question about a limit."""
        question = "运行已达上限。是否提高上限?"
        self.events.append({**self.stamp(step, 0.0), "kind": "pause", "question": question, "extend": extend})

    def outcome(self, step: int, happened: Literal["yes", "no", "unknown"]) -> None:
        """A person says whether the step's first call happened."""
        stamp, question = self.stamp(step, 0.0), "付款生效了吗?"
        event: OutcomeEvent = {
            **stamp, "kind": "outcome", "call_id": f"c{step}x0", "question": question, "happened": happened
        }  # fmt: skip
        self.events.append(event)

    def decide(
        self, step: int, go: Any, policy: str = "", reason: str = "", rungs: dict[str, Rung] | None = None
    ) -> None:
        """A decision of the guard."""
        event: DecisionEvent = {
            **self.stamp(step, 0.0), "kind": "decision", "go": go, "policy": policy, "reason": reason,
            "rungs": rungs or {},
        }  # fmt: skip
        self.events.append(event)

    def round(
        self, step: int, said: str, calls: list[tuple[str, dict[str, Any], str, CallStatus]], rung: Rung = "run",
        policy: str = "", reason: str = "", *, failure: Failure | None = None, notices: tuple[str, ...] = (),
    ) -> None:  # fmt: skip
        """A model call and its tool calls, with the decision in between."""
        recent = self.tokens - 1_900
        stamp = self.stamp(step, round(self.random.uniform(0.6, 3.1), 3))
        model: ModelEvent = {
            "run": stamp["run"], "step": step, "at": stamp["at"], "seconds": stamp["seconds"], "kind": "model",
            "message_id": f"m{step}",
            "model": "openai:gpt-4o-mini", "finish_reason": "tool_calls" if calls else "stop",
            "request_tokens": self.tokens, "tokens_in": self.tokens, "tokens_out": 60 + 3 * len(said),
            "parts": {"system": 412, "tools": 400, "summary": 748 if step > 40 else 0, "pinned": 340, "recent": recent},
            "cost_usd": self.tokens * 0.15e-6, "estimated": False, "retries": 0, "failure": failure,
        }  # fmt: skip
        if self.budget is not None:
            model["budget"] = self.budget
        if notices:
            model["notices"] = list(notices)
        self.events.append(model)
        ids = [f"c{step}x{number}" for number in range(len(calls))]
        asked = [
            {"name": n, "args": a, "id": i, "type": "tool_call"} for i, (n, a, _, _) in zip(ids, calls, strict=True)
        ]
        self.messages.append(AIMessage(said, id=f"m{step}", tool_calls=asked))
        ran = any(status not in ("refused", "served") for *_, status in calls)
        if calls:
            self.decide(step, "execute_tools" if ran else "call_model", policy, reason, dict.fromkeys(ids, rung))
        for call_id, (tool, args, result, status) in zip(ids, calls, strict=True):
            self.call(step, call_id, tool, args, result, status)
        self.tokens += 60 + sum(len(result) // 4 for *_, result, _ in calls)

    def call(self, step: int, call_id: str, tool: str, args: dict[str, Any], result: str, status: CallStatus) -> None:
        """A tool call and its result."""
        event: CallEvent = {
            **self.stamp(step, round(self.random.uniform(0.05, 0.9), 3) if status in ("ok", "error") else 0.0),
            "kind": "call", "call_id": call_id, "tool": tool, "effect": "read", "signature": f"{tool}{args}",
            "digest": result[:9], "status": status, "retries": 0, "ref": None, "edited_args": None,
            "failure": {"kind": "permanent", "text": result} if status == "error" else None,
        }  # fmt: skip
        self.events.append(event)
        self.messages.append(ToolMessage(result, tool_call_id=call_id, id=f"result-{call_id}"))

    def compress(self, step: int, after: int = 10_300) -> None:
        """The guard sends the run to the memory."""
        self.decide(step, "compress_memory", "context", "the server says the request is too long")
        stamp = self.stamp(step, 1.4)
        event: CompressionEvent = {
            "run": stamp["run"], "step": step, "at": stamp["at"], "seconds": stamp["seconds"],
            "kind": "compression", "before": self.tokens, "after": after, "stage": "fold",
            "folded_through": f"m{step}", "summary_tokens": 748,
        }  # fmt: skip
        self.events.append(event)
        self.tokens = after

    def stop(self, report: StopReport, answer: str) -> None:
        """The closing answer and the stop."""
        step = report["step"] + 1
        self.round(step, answer, [])
        self.decide(step, "finish", report["policy"], "identical call number 5")
        self.events.append({**self.stamp(step, 0.0), "kind": "answer", "message_id": f"m{step}", "complete": False})
        self.events.append({**self.stamp(step, 0.0), "kind": "stop", "report": report})

    def told(self, thread: str = THREAD, holder: str | None = None) -> RunReport:
        """The report of it."""
        limits = {"model_calls": 500.0, "tool_calls": 2_000.0}
        return fold_report(thread, self.events, self.messages, limits=limits, holder=holder, characters=4_000)


def long_run(rounds: int = 400, hostile: tuple[str, ...] = HOSTILE) -> Story:
    """A run that works on for a long time, and is stuck in its last rounds."""
    story = Story()
    for step in range(1, rounds - 4):
        story.decide(step - 1, "call_model")
        story.round(step, SAID[step % len(SAID)], list(_calls(story.random, step, hostile)), *_judged(step))
        if story.tokens > 29_000:
            story.compress(step)
    rate = ("fx_rate", {"currency": "CNY", "date": "2026-10-31"})
    missing = "not found: no rate for 2026-10-31 (Saturday)"
    for step in (rounds - 4, rounds - 3):
        story.decide(step - 1, "call_model")
        story.round(step, SAID[4], [(*rate, missing, "error")])
    for step in (rounds - 2, rounds - 1):
        story.round(step, "", [(*rate, "Not run: it already failed and will fail again unchanged.", "refused")],
                    "block", "repeated_failure", "the same call failed before")  # fmt: skip
    story.round(
        rounds,
        "",
        [(*rate, "Not run: the run is ending.", "not_run")],
        "block",
        "insistence",
        "identical call number 5",
    )
    story.stop(
        {"reason": "repeat", "complete": False, "policy": "insistence", "step": rounds, "call_id": f"c{rounds}x0",
         "earlier_steps": list(range(rounds - 4, rounds)), "last_error": missing,
         "counters": {"model_calls": rounds + 1.0}, "advice": "Look at the steps named, then correct the task or the "
         "tool, and say in a new message how to go on."},
        "I compared 57 of 60 customers. 31 mismatches were found.\n\nINV-48213  paid twice  +812.00 EUR\n"
        "INV-51907  bank 119.00, invoice 131.40  −12.40 EUR\n\nMissing: C-1051, C-1055 and C-1059, whose invoices are "
        "in CNY: the ledger has no exchange rate for 2026-10-31, a Saturday.",
    )  # fmt: skip
    return story


def every_kind() -> Story:
    """A Chinese run in which everything happens that a page can show, each with the texts that the machine writes."""
    story = Story("核对十月份的发票,列出所有不一致的项。")
    story.budget = 4_000
    search, pay = ("查发票", {"客户": "甲"}), ("付款", {"金额": 1})
    refused = "The server refused tools: the request was made again without it, as later ones are."
    story.decide(0, "call_model")
    story.round(1, "先查发票。", [(*search, "三张发票", "ok"), (*pay, "网络中断", "error")], notices=(refused,))
    story.compress(1, 1_900)
    story.decide(1, "call_model")
    story.budget = 6_000
    story.round(2, "", [(*search, "三张发票", "served")], "serve", "served_pure", "same pure call")
    story.decide(2, "ask", "limit", "model_calls: 2 of 2")
    story.now += 90
    story.pause(2, {"model_calls": 9.0})
    story.round(3, "", [(*pay, "用户决定不执行该调用。", "rejected")], "ask", "same_write", "this was done before")
    story.round(4, "", [(*pay, "结果未知", "unknown")])
    story.outcome(4, "yes")
    story.outcome(4, "no")
    story.outcome(4, "unknown")
    story.pause(4, None)
    story.fork(4, "1ef-aaaa", THREAD, edited=True)
    story.round(5, "", [], failure={"kind": "invalid_reply", "text": "empty"})
    story.decide(5, "call_model", "unusable_replies", "unusable reply: empty")
    story.round(6, "", [(*search, "未执行。", "refused")], "block", "identical_result", "same call, same result")
    story.round(7, "", [(*search, "未执行。", "not_run")], "block", "insistence", "identical call number 5")
    stop: StopReport = {
        "reason": "repeat", "complete": False, "policy": "insistence", "step": 7, "call_id": "c7x0",
        "earlier_steps": [1, 2, 6], "last_error": "empty", "counters": {}, "advice": "请修正任务或工具。",
    }  # fmt: skip
    story.stop(stop, "查到三张发票。")
    story.fork(0, "1ef-bbbb", "老线程", edited=False)
    story.begin(8, {"model_calls": 20.0})
    story.round(9, "", [(*pay, "未执行。", "not_run")], "block", "insistence", "identical call number 6")
    story.stop({**stop, "step": 9, "call_id": "c9x0", "last_error": "no call could be read"}, "还有一张没有对上。")
    return story


def _judged(step: int) -> tuple[Rung, str, str]:
    if step % 61 == 17:
        return "note", "no_news", "the same result under other arguments"
    if step % 83 == 29:
        return "serve", "served_pure", "the same call succeeded before"
    return "run", "", ""


def _calls(random: Random, step: int, hostile: tuple[str, ...]) -> Any:
    for number in range(random.choice((1, 1, 1, 2, 3))):
        customer, month = f"C-{random.randrange(1000, 1060)}", f"2026-{random.randrange(1, 11):02}"
        rows = "\n".join(
            f"INV-{random.randrange(40_000, 65_000)} {customer} {month} {random.randrange(10, 9_000)}.00 EUR open"
            for _ in range(random.randrange(2, 14))
        )
        tool, args = random.choice((
            ("search_invoices", {"customer": customer, "month": month, "status": "open"}),
            ("bank_rows", {"account": "DE89 3704 0044 0532 0130 00", "from": f"{month}-01", "to": f"{month}-28"}),
            ("read_file", {"path": f"exports/{month}/bank_{random.randrange(9)}.csv"}),
        ))  # fmt: skip
        if hostile and step % 9 == 4 and number == 0:
            payload = hostile[(step // 9) % len(hostile)]
            yield (
                (f"look{payload[:24]}" if step % 2 else tool),
                {**args, f"q{payload[:30]}": payload},
                f"{payload}\n{rows}",
                "ok",
            )
        elif random.random() < 0.03:
            yield tool, args, "HTTP 503 from the ledger service", "error"
        else:
            yield tool, args, f"{rows}\n{len(rows)} characters", "served" if _judged(step)[0] == "serve" else "ok"
