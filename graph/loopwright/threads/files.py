"""A thread as one versioned JSON file, and back."""

import json
from collections.abc import Sequence
from typing import Any, Literal

from langchain_core.messages import AnyMessage
from pydantic import BaseModel, ConfigDict, JsonValue, ValidationError, field_serializer

from loopwright.builtins import RESULTS
from loopwright.delivery import run_id_of
from loopwright.effects import BY_SIGNATURE, EFFECTS, Record
from loopwright.errors import UsageError
from loopwright.state import FORMAT, Event, Run, StopReport, Verdict, View
from loopwright.steps import drive
from loopwright.storage import Storage
from loopwright.threads.entering import Standing
from loopwright.threads.forking import enter_new
from loopwright.threads.reading import existing, look, reader
from loopwright.threads.stored import Stored, read_stored, write_stored

VERSION = 1
"""Version of the file's layout."""


class ThreadFile(BaseModel):
    """All of a thread that it needs to go on elsewhere: its newest state, its journal, its whole results.

    Left out are the earlier checkpoints, and all metadata but the run id: a caller's own metadata may hold secrets.
    What a tool attached to its result beside the text (an artifact) is kept as far as JSON can say it.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, ser_json_bytes="base64")

    format: Literal["loopwright-thread"] = "loopwright-thread"
    version: int = VERSION
    thread: str
    run_id: str | None
    next: tuple[str, ...]
    run: Run | None
    verdict: Verdict | None
    view: View | None
    repeats: str = ""
    answer: str | None
    stop: StopReport | None
    messages: list[AnyMessage]
    events: list[Event]
    journal: list[Record]
    results: dict[str, str]

    @field_serializer("messages")
    def _plain(self, messages: Sequence[AnyMessage]) -> list[dict[str, JsonValue]]:
        return [_message(message) for message in messages]

    def dumps(self) -> str:
        """The file's text: JSON, indented."""
        return json.dumps(self.model_dump(mode="json"), ensure_ascii=False, indent=1)

    @classmethod
    def loads(cls, text: str | bytes) -> "ThreadFile":
        """The file of this text. Raises UsageError for one that is broken, newer, or something else."""
        try:
            data = json.loads(text)
        except ValueError as error:
            raise UsageError(f"This is no thread file: it cannot be read as JSON ({error}).") from error
        if not isinstance(data, dict) or data.get("format") != "loopwright-thread":
            raise UsageError("This is no thread file of Loopwright: export one with `loopwright threads export`.")
        written = data["run"].get("format") if isinstance(data.get("run"), dict) else FORMAT
        if _newer(data.get("version"), VERSION) or _newer(written, FORMAT):
            raise UsageError("This thread file was written by a newer Loopwright: update Loopwright, then import it.")
        try:
            return cls.model_validate(data)
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            where = ".".join(str(part) for part in first["loc"])
            raise UsageError(f"This thread file is damaged at {where}: {first['msg']}. Export it again.") from error


def export_thread(storage: Storage, thread: str) -> ThreadFile:
    """Where a thread stands now, as a file. Raises UnknownThread."""
    found = existing(reader(storage), thread)
    stored = drive(read_stored(storage.store, thread))
    values = found.values
    return ThreadFile(
        thread=thread,
        run_id=run_id_of(found),
        next=found.next,
        run=values.get("run"),
        verdict=values.get("verdict"),
        view=values.get("view") or None,
        repeats=values.get("repeats", ""),
        answer=values.get("answer"),
        stop=values.get("stop"),
        messages=values.get("messages", []),
        events=values.get("events", []),
        journal=_journal(stored),
        results={ref: value["text"] for ref, value in stored[RESULTS].items()},
    )


def import_thread(storage: Storage, file: ThreadFile, thread: str | None = None) -> str:
    """Write a file's thread into the storage, under its own name or another, and return the name.

    It goes on as it would have where it came from: the next turn, an extension, an unfinished run. What a step in
    progress had not finished is done again or served from the journal, and open questions are put again under new ids.
    Raises UsageError when the thread exists.
    """
    name = thread or file.thread
    graph = reader(storage)
    if look(graph, name).metadata is not None:
        raise UsageError(f"Thread {name!r} exists already: import under another name.")
    drive(write_stored(storage.store, name, _stored(file)))  # first: the thread must not go on without its journal
    drive(enter_new(graph, name, Standing(_values(file), file.next, file.run_id)))
    return name


def _values(file: ThreadFile) -> dict[str, Any]:
    """The file's state by channel."""
    return {
        "messages": file.messages,
        "events": file.events,
        "view": file.view,
        "run": file.run,
        "verdict": file.verdict,
        "repeats": file.repeats or None,
        "answer": file.answer,
        "stop": file.stop,
    }


def _message(message: AnyMessage) -> dict[str, JsonValue]:
    """A message as JSON; of an artifact what JSON can say, and no headers of the model's server."""
    plain: dict[str, JsonValue] = message.model_dump(mode="json", exclude={"artifact", "response_metadata"})
    kept = {key: value for key, value in message.response_metadata.items() if key != "headers"}
    for name, value in (("response_metadata", kept), ("artifact", getattr(message, "artifact", None))):
        if value is not None:
            plain[name] = json.loads(json.dumps(value, default=str))
    return plain


def _journal(stored: Stored) -> list[Record]:
    """The journal's records; those of one signature in the order they were started."""
    ids = [call_id for index in stored[BY_SIGNATURE].values() for call_id in index["call_ids"]]
    records: list[Any] = [stored[EFFECTS][call_id] for call_id in dict.fromkeys(ids) if call_id in stored[EFFECTS]]
    return records


def _stored(file: ThreadFile) -> Stored:
    index: dict[str, dict[str, list[str]]] = {}
    for record in file.journal:
        index.setdefault(record["signature"], {"call_ids": []})["call_ids"].append(record["call_id"])
    return {
        EFFECTS: {record["call_id"]: {**record} for record in file.journal},
        BY_SIGNATURE: {**index},
        RESULTS: {ref: {"text": text} for ref, text in file.results.items()},
    }


def _newer(version: object, known: int) -> bool:
    return isinstance(version, int) and version > known
