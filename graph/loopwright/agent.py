"""Agent: the doors of the library through which threads are run."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Generic, Self
from uuid import uuid4

from langchain_core.language_models import BaseChatModel
from langchain_core.tools import BaseTool

from loopwright.context import Context
from loopwright.delivery import Decisions, Request, Task
from loopwright.errors import UsageError
from loopwright.graph import build_graph
from loopwright.policies import Policy
from loopwright.results import OutputT, RunResult
from loopwright.settings import Settings
from loopwright.storage import place_of
from loopwright.stream import Graph, RunStream
from loopwright.thread_doors import ThreadDoors
from loopwright.user_doors import UserDoors


class Agent(ThreadDoors, UserDoors, Generic[OutputT]):
    """A tool-calling agent on one storage.

    `model` is a name (`openai:gpt-4o-mini`, `offline:demo`) or any LangChain chat model; an `openai:` name is asked at
    `OPENAI_BASE_URL` where that is set, with the key `OPENAI_API_KEY`. `tools` are LangChain tools or plain functions;
    `storage` is `memory:`, `sqlite:///PATH` or `postgresql://...`, opened by each door and closed again. With `output`,
    a pydantic model, answers are JSON that fits it, and `result.output` holds the instance. The models of `fallback`
    take over, in order, when the one before fails for good. `policies` replace `default_policies(settings)`;
    `summary_model` writes the summaries, else `model` does.

    One agent serves many threads at once, from many Python threads or an event loop. Raises UnknownModel,
    ModelFailure, SettingsError and StorageError; each door raises UsageError's children for what cannot be done as
    asked. What happens in a run (a tool or a server that fails, a limit) is not raised: `result.stop` says it.
    """

    def __init__(
        self,
        model: str | BaseChatModel,
        tools: Sequence[BaseTool | Callable[..., Any]] = (),
        *,
        settings: Settings | None = None,
        policies: Sequence[Policy] | None = None,
        storage: str = "memory:",
        summary_model: BaseChatModel | None = None,
        fallback: Sequence[str | BaseChatModel] = (),
        output: type[OutputT] | None = None,
    ) -> None:
        self.graph: Graph = build_graph(
            model,
            tools,
            settings,
            policies=policies,
            summary_model=summary_model,
            fallback=fallback,
            output=output,
        )
        self.output = output
        self.place = place_of(storage)
        self._running: dict[str, RunStream[OutputT]] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        """Nothing is held between calls, so there is nothing to close."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exc: object) -> None:
        """Nothing is held between calls, so there is nothing to close."""

    def run(
        self,
        input: Task,
        *,
        thread: str | None = None,
        run_id: str | None = None,
        overrides: Mapping[str, Any] | None = None,
        user: Mapping[str, Any] | None = None,
    ) -> RunResult[OutputT]:
        """Run a task to its end, or to where a person is asked: then `result.pending` holds the questions.

        A thread that is new begins, one that is known goes on with this as its next message; without a name it gets a
        UUID, which `result.thread` says. The same `run_id` and input go on after a crash and do nothing after success.
        `overrides` are fields of `Context` for this run alone (`{"max_model_calls": 10}`); `user` is data for tools,
        which find it in `runtime.context.user`, and is not stored. Raises DeliveryConflict, ThreadBusy, UsageError and
        SettingsError.
        """
        return self.stream(input, thread=thread, run_id=run_id, overrides=overrides, user=user).finish()

    async def arun(
        self,
        input: Task,
        *,
        thread: str | None = None,
        run_id: str | None = None,
        overrides: Mapping[str, Any] | None = None,
        user: Mapping[str, Any] | None = None,
    ) -> RunResult[OutputT]:
        """Like `run`, awaiting."""
        return await self.astream(input, thread=thread, run_id=run_id, overrides=overrides, user=user).afinish()

    def resume(
        self,
        thread: str,
        *,
        extend: Mapping[str, float] | None = None,
        decisions: Decisions | None = None,
        run_id: str | None = None,
        overrides: Mapping[str, Any] | None = None,
        user: Mapping[str, Any] | None = None,
        repeat_effects: bool = False,
    ) -> RunResult[OutputT]:
        """Go on with a thread: after a crash, with answers to its open questions, or under larger limits.

        `decisions` are by `Pending.id`: `{"type": "approve"}`, `{"type": "edit", "args": {...}}` with all arguments,
        `{"type": "reject", "message": ...}` or `{"type": "respond", "message": ...}`, which answers for the tool;
        questions without one stay open. `extend` holds new limits, totals and not additions: `model_calls`,
        `tool_calls`, `tokens`, `cost` (USD), `seconds`. `overrides` and `user` are not stored, so give them again.
        With `repeat_effects` this branch of the thread may do again what the journal says was started or done so far.
        Raises UnknownThread, BadDecision, ThreadBusy and UsageError.
        """
        return self.stream(
            thread=thread,
            extend=extend,
            decisions=decisions,
            run_id=run_id,
            overrides=overrides,
            user=user,
            repeat_effects=repeat_effects,
        ).finish()

    async def aresume(
        self,
        thread: str,
        *,
        extend: Mapping[str, float] | None = None,
        decisions: Decisions | None = None,
        run_id: str | None = None,
        overrides: Mapping[str, Any] | None = None,
        user: Mapping[str, Any] | None = None,
        repeat_effects: bool = False,
    ) -> RunResult[OutputT]:
        """Like `resume`, awaiting."""
        return await self.astream(
            thread=thread,
            extend=extend,
            decisions=decisions,
            run_id=run_id,
            overrides=overrides,
            user=user,
            repeat_effects=repeat_effects,
        ).afinish()

    def stream(
        self,
        input: Task | None = None,
        *,
        thread: str | None = None,
        run_id: str | None = None,
        extend: Mapping[str, float] | None = None,
        decisions: Decisions | None = None,
        overrides: Mapping[str, Any] | None = None,
        user: Mapping[str, Any] | None = None,
        repeat_effects: bool = False,
    ) -> RunStream[OutputT]:
        """Run a task, or without one resume the thread, and hand out each event and token as it comes.

        Nothing happens before the stream is iterated, with `for` or `async for`; its `result` is there afterwards. An
        event is a dict with `kind`, a `Token` a piece of the model's text. `astream` is the same: it is not awaited.
        """
        if input is None and thread is None:
            raise UsageError("There is nothing to run: give a task, or the thread to resume.")
        if repeat_effects and (input is not None or decisions):
            raise UsageError("Effects are repeated by a resume alone: its open questions are put again afterwards.")
        request = Request(
            thread=str(uuid4()) if thread is None else thread,
            task=input,
            run_id=run_id,
            extend=dict(extend) if extend else None,
            decisions=decisions,
            context=_context(overrides, user),
            repeat_effects=repeat_effects,
        )
        return RunStream(self.graph, self.place, request, self.output, self._running)

    astream = stream

    def cancel(self, thread: str) -> bool:
        """End the run that this agent has on the thread after the step that is running; False when it has none.

        Callable from any thread and from the event loop. The run's own caller gets its result, with the stop reason
        `cancelled`; `resume` goes on from there.
        """
        stream = self._running.get(thread)
        if stream is not None:
            stream.cancel()
        return stream is not None


def _context(overrides: Mapping[str, Any] | None, user: Mapping[str, Any] | None) -> Context | None:
    if not overrides and not user:
        return None
    return Context.model_validate({**(overrides or {}), **({"user": user} if user else {})})
