"""A long run as its log would have it: compressions, errors, a loop at the end, and texts that attack the page."""

from random import Random
from typing import Any

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage

from loopwright.events import Stamp
from loopwright.report import RunReport, fold_report
from loopwright.state import CallEvent, CallStatus, CompressionEvent, DecisionEvent, Event, ModelEvent, Rung, StopReport

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

    def __init__(self, seed: int = 7) -> None:
        self.random = Random(seed)
        self.now = 1_796_076_000.0
        self.tokens = 2_400
        self.events: list[Event] = [
            {
                "run": "r-oct",
                "step": 0,
                "at": self.now,
                "seconds": 0.0,
                "kind": "begin",
                "delivery": "r-oct",
                "extend": None,
            }
        ]
        self.messages: list[AnyMessage] = [HumanMessage(TASK, id="in-r-oct")]

    def stamp(self, step: int, seconds: float) -> Stamp:
        """What every event carries; the clock goes on."""
        self.now += seconds
        return {"run": "r-oct", "step": step, "at": self.now, "seconds": seconds}

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
        policy: str = "", reason: str = "",
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
            "cost_usd": self.tokens * 0.15e-6, "estimated": False, "retries": 0, "failure": None,
        }  # fmt: skip
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
        self.decide(step, "compress_memory", "budget", f"{self.tokens} tokens of 30000")
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

    def told(self, thread: str = "invoices-oct", characters: int = 4_000) -> RunReport:
        """The report of it."""
        limits = {"model_calls": 500.0, "tool_calls": 2_000.0}
        return fold_report(thread, self.events, self.messages, limits=limits, characters=characters)


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
