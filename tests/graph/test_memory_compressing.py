"""Holds the order and the effect of each compressor, the summary's requests, and what the ledger keeps."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langchain_core.messages.tool import tool_call

from loopwright.memory import Compressed, Material, compress, count_message, render
from loopwright.memory.ledger import facts
from loopwright.memory.legality import legal
from loopwright.memory.material import VIEW_BYTES, view_bytes
from loopwright.memory.summarising import accept_summary, chunks, summary_request
from loopwright.settings import MemorySettings
from loopwright.state import EMPTY_VIEW, View
from loopwright.steps import Core, drive
from loopwright.transcript import groups

SETTINGS = MemorySettings(summary_tokens=100)
FILLER = "nothing of interest stands in this line\n"


def round_of(number: int, result: str, *, status: Any = "success", **args: Any) -> list[BaseMessage]:
    """One call and its result."""
    call = tool_call(name="read_file", args=args or {"path": f"f{number}.txt"}, id=f"c{number}")
    answer = ToolMessage(result, tool_call_id=f"c{number}", id=f"result-c{number}", name="read_file", status=status)
    return [AIMessage("", id=f"a{number}", tool_calls=[call]), answer]


def story(rounds: int, lines: int = 40) -> list[BaseMessage]:
    """A task and so many long results, each with a value of its own."""
    found: list[BaseMessage] = [HumanMessage("What do the files say about W3664?", id="u")]
    for number in range(rounds):
        text = FILLER * lines + f"W3664 stands at {7_000 + number} here\n" + FILLER * lines
        found += round_of(number, text)
    return found


def done(
    messages: list[BaseMessage],
    budget: int,
    summarise: Callable[..., Any] | None = None,
    view: View = EMPTY_VIEW,
    **how: Any,
) -> Compressed:
    """The compression of this transcript under this budget."""
    how = {"settings": SETTINGS, "target": int(budget * 0.6), **how}
    return drive(compress(Material(messages, "You are careful.", budget, **how), view, summarise))


def says(text: str | None, asked: list[list[BaseMessage]]) -> Callable[[list[BaseMessage]], Core[str | None]]:
    """A summary model that always says the same and keeps what it was asked."""

    def summarise(request: list[BaseMessage]) -> Core[str | None]:
        asked.append(request)
        return text
        yield  # makes this a core

    return summarise


def seen(messages: list[BaseMessage], view: View) -> str:
    """All text of the request."""
    return "\n".join(message.text for message in render(messages, view, system_prompt="You are careful."))


def test_nothing_happens_within_the_budget() -> None:
    """The very same view comes back."""
    result = done(story(2), 100_000)
    assert result.view is EMPTY_VIEW
    assert (result.stage, result.fits, result.before) == ("none", True, result.after)


def test_old_results_are_clipped_first_and_the_newest_stays_whole() -> None:
    """What is clipped keeps the line with the user's word."""
    messages = story(4)
    whole = done(messages, 100_000).before
    result = done(messages, whole - 1)
    assert result.stage == "clip_results"
    assert list(result.view["clips"]) == ["c0", "c1"]
    assert "W3664 stands at 7000 here" in seen(messages, result.view)
    assert messages[-1].text in seen(messages, result.view)


def test_then_the_oldest_groups_are_folded_into_summary_and_ledger() -> None:
    """The summary stands in the block; each folded call keeps its value; the request meets the target."""
    messages, asked = story(30), list[list[BaseMessage]]()
    result = done(messages, 3_000, says("The goal is W3664; f0 to f9 were read.", asked))
    text = seen(messages, result.view)
    assert (result.stage, result.fits) == ("fold", True)
    assert result.after <= 1_800
    assert "c0" not in result.view["clips"]
    assert asked
    assert result.summary_tokens > 0
    assert "The goal is W3664; f0 to f9 were read." in text
    assert "W3664 stands at 7028 here" in text
    assert "What do the files say about W3664?" in text


@pytest.mark.parametrize("said", [None, "", " ", "I'm sorry, I cannot.", "word " * 900, '{"name": "read_file"}'])
def test_a_summariser_that_brings_nothing_usable_changes_nothing(said: str | None) -> None:
    """The old summary stays, the groups are folded into the ledger all the same, and it is asked no second time."""
    asked: list[list[BaseMessage]] = []
    view: View = {**EMPTY_VIEW, "summary": "Known so far: 12."}
    result = done(story(30), 3_000, says(said, asked), view)
    assert result.view["summary"] == "Known so far: 12."
    assert (result.stage, result.summary_tokens, len(asked)) == ("fold", 0, 1)
    assert result.view["ledger"]


def test_an_echo_of_what_was_to_be_summarised_is_no_summary() -> None:
    """Neither the instructions nor a long piece of the work is taken."""
    of = Material(story(3), "", 6_000, 3_600, settings=SETTINGS)
    source = FILLER * 8
    assert accept_summary(source, of, source * 3) is None
    request = summary_request(of, "", "work")
    assert accept_summary(request[1].text[:200], of, "work") is None
    assert accept_summary("The year was 1944.", of, "Text. The year was 1944. More.") == "The year was 1944."


def test_summaries_are_written_from_the_originals() -> None:
    """A result that was shortened when it came is summarised from what is stored; clips do not count either."""
    messages, asked = story(40), list[list[BaseMessage]]()
    clips = {f"c{n}": [40, 40] for n in range(20)}
    view: View = {**EMPTY_VIEW, "clips": clips}
    done(messages, 3_000, says("Found values.", asked), view, originals={"c0": "the stored whole says 190344"})
    heard = "\n".join(request[1].text for request in asked)
    assert "the stored whole says 190344" in heard
    assert "W3664 stands at 7001 here" in heard


@pytest.mark.parametrize("budget", [700, 1_500, 3_000])
def test_long_work_is_summarised_in_few_requests_that_fit(budget: int) -> None:
    """Chunks are cut between words, fit the budget with the reply kept free, and are four at most."""
    of = Material(story(60), "", budget, budget // 2, settings=SETTINGS)
    longest = "word " * (2 * min(100, budget // 5) - 5)
    parts = chunks(of, longest, of.work)
    assert 1 <= len(parts) <= 4
    for part in parts:
        request = summary_request(of, longest, part)
        assert sum(map(count_message, request)) + min(100, budget // 5) <= budget
        assert re.search(r"(?i)summarise", request[1].text)


def test_the_summary_is_asked_for_in_the_conversations_language() -> None:
    """Chinese users get a Chinese memory."""
    of = Material([HumanMessage("统计所有文件", id="u"), *round_of(1, "很长")], "", 3_000, 1_800)
    assert "不超过" in summary_request(of, "", "x")[1].text


def test_the_newest_group_is_clipped_when_it_alone_is_over_the_budget() -> None:
    """Parallel results share what is left; a short one stays whole."""
    calls = [tool_call(name="read_file", args={"path": f"f{n}"}, id=f"p{n}") for n in range(4)]
    answers = [ToolMessage(FILLER * 300, tool_call_id=f"p{n}", id=f"result-p{n}") for n in range(3)]
    short = ToolMessage("the short one: 5", tool_call_id="p3", id="result-p3")
    messages: list[BaseMessage] = [HumanMessage("go", id="u"), AIMessage("", id="a", tool_calls=calls), *answers, short]
    result = done(messages, 3_000)
    assert (result.stage, result.fits) == ("clip_newest", True)
    assert result.after > 2_000
    assert "the short one: 5" in seen(messages, result.view)


def test_long_arguments_of_the_newest_call_are_clipped_when_results_are_not_enough() -> None:
    """A file that the model wrote does not block the run."""
    messages: list[BaseMessage] = [HumanMessage("go", id="u"), *round_of(1, "written", text=FILLER * 900)]
    result = done(messages, 1_000)
    assert (result.stage, result.fits) == ("clip_newest", True)


def test_a_user_message_over_half_the_budget_is_clipped_and_others_are_not() -> None:
    """The task's beginning and end stay, and so does what the newest call brought."""
    messages: list[BaseMessage] = [
        HumanMessage("Begin here. " + FILLER * 900 + "Answer in German.", id="u"), *round_of(1, FILLER * 20),
        HumanMessage("and be brief, as always, in all that you say to me", id="v"),
    ]  # fmt: skip
    result = done(messages, 3_000)
    text = seen(messages, result.view)
    assert result.fits
    assert "u" in result.view["clips"]
    assert "v" not in result.view["clips"]
    assert "Begin here." in text
    assert "Answer in German." in text


def test_what_cannot_fit_says_by_how_many_tokens() -> None:
    """A system prompt over the budget ends at once."""
    messages: list[BaseMessage] = [HumanMessage("go", id="u")]
    of = Material(messages, "rule " * 400, 200, 120)
    result = drive(compress(of, EMPTY_VIEW, None))
    assert not result.fits
    assert result.over == result.after - 200 > 0


def test_a_second_compression_builds_on_the_first() -> None:
    """The fold moves on, the summary is replaced by one that saw the old one, and the view stays small."""
    asked: list[list[BaseMessage]] = []
    messages = story(20)
    first = done(messages, 3_000, says("First summary.", asked))
    longer = [*messages, *(m for n in range(20, 60) for m in round_of(n, f"{FILLER * 30}W3664 at {n}"))]
    second = done(longer, 3_000, says("Second summary.", asked), first.view)
    assert "First summary." in asked[-1][1].text or "Second summary." in asked[-1][1].text
    assert second.view["summary"] == "Second summary."
    assert "First summary." not in seen(longer, second.view)
    assert second.view["folded_through"] != first.view["folded_through"]
    assert view_bytes(second.view) < VIEW_BYTES


def test_facts_prefer_what_later_calls_used() -> None:
    """An id that a later call named survives among many that none did."""
    text = " ".join(f"id_{n}" for n in range(500))
    messages: list[BaseMessage] = [HumanMessage("go", id="u"), *round_of(1, text)]
    group = list(groups(legal(messages)))[1]
    fact = facts(group, frozenset(), frozenset({"id_471"}), originals={})[0]
    assert "id_471" in fact["text"].split(": ", 1)[1].split("; ")
    assert len(fact["text"]) <= 300


def test_failed_attempts_stay_known_with_their_reason() -> None:
    """What failed is one line: the call and why."""
    failed = round_of(1, "Error: no such file: a.txt", status="error")
    messages: list[BaseMessage] = [HumanMessage("go", id="u"), *failed]
    group = list(groups(legal(messages)))[1]
    fact = facts(group, frozenset(), frozenset(), originals={})[0]
    assert fact["text"] == 'path="f1.txt": failed: Error: no such file: a.txt'


def test_no_fact_holds_a_piece_of_a_number() -> None:
    """Numbers with separators stay whole, and so do words at the limit."""
    text = "; ".join(f"sum {n},{n + 100},000.50" for n in range(100, 300))
    messages: list[BaseMessage] = [HumanMessage("go", id="u"), *round_of(1, text)]
    group = list(groups(legal(messages)))[1]
    said = facts(group, frozenset({"250"}), frozenset(), originals={})[0]["text"]
    numbers = set(re.findall(r"[\d,.]*\d", said.replace("f1.txt", "")))
    assert numbers <= set(re.findall(r"[\d,.]*\d", text))


def test_each_folded_result_may_have_a_line_of_its_own() -> None:
    """Few requests for what is folded together, within the budget; a result without a line keeps its fact."""
    asked: list[list[BaseMessage]] = []
    each = MemorySettings(summary_tokens=100, per_result_summary=True)
    said = "Here they are:\n1: The first file speaks of apples.\n2) " + "word " * 80 + "\n99: nothing"
    result = done(story(30), 3_000, says(said, asked), settings=each)
    lines = {fact["call_id"]: fact["text"] for fact in result.view["ledger"]}
    assert any(text.endswith(": The first file speaks of apples.") for text in lines.values())
    assert all(len(text.split()) <= 51 for text in lines.values())
    assert any("W3664 stands at" in text for text in lines.values())
    assert (result.view["summary"], result.summary) == ("", "written")
    assert 1 <= len(asked) <= 4
    assert all(sum(map(count_message, request)) <= 3_000 for request in asked)
    refused = done(story(30), 3_000, says("I'm sorry.", asked), settings=each)
    assert (refused.summary, refused.fits) == ("unusable", True)


def test_a_further_summary_waits_for_eight_steps() -> None:
    """Until then the ledger alone holds what was folded; the next summary is asked for all of it."""
    asked: list[list[BaseMessage]] = []
    view = done(story(10), 3_000, says("First summary.", asked)).view
    summaries: list[str] = []
    for rounds in range(12, 40, 2):
        result = done(story(rounds), 2_000, says(f"Summary of {rounds}.", asked), view)
        view = result.view
        summaries.append(result.summary)
    assert summaries.count("written") <= 4
    assert summaries.count("written") >= 2
    told = "\n".join(request[1].text for request in asked)
    through = int(view.get("summarised_through", "").removeprefix("result-c"))
    assert all(f"W3664 stands at {7_000 + number} here" in told for number in range(through + 1))


def test_a_compression_tells_what_left_the_request() -> None:
    """Steps, clipped messages and tools; nothing where nothing was done."""
    result = done(story(30), 3_000)
    assert (result.folded > 0, result.tools, result.summary) == (True, ("read_file",), "")
    still = done(story(2), 100_000)
    assert (still.folded, still.dropped, still.clipped, still.tools) == (0, 0, 0, ())


def test_of_a_call_made_again_only_the_last_result_is_kept() -> None:
    """A state that was read twice stands in the ledger once, as it was last seen; a failure never replaces it."""
    messages: list[BaseMessage] = [HumanMessage("watch the state", id="u")]
    for number in range(20):
        messages += round_of(number, f"the state is {100 + number}\n" + FILLER * 30, path="state.txt")
    messages += round_of(20, "no such file", status="error", path="state.txt")
    kept = [fact["call_id"] for fact in done(messages, 1_500).view["ledger"]]
    assert len(kept) <= 1


def test_users_who_said_much_are_clipped_together_as_a_last_resort() -> None:
    """In a conversation whose user messages alone are over the budget the long ones go down; the short stay whole."""
    messages: list[BaseMessage] = []
    for number in range(20):
        messages += [HumanMessage(f"Part {number}. {FILLER * 30}", id=f"u{number}"), AIMessage("fine", id=f"a{number}")]
    messages += [HumanMessage("Answer in German, please.", id="last")]
    result = done(messages, 3_000)
    text = seen(messages, result.view)
    assert (result.stage, result.fits) == ("clip_user", True)
    assert text.endswith("Answer in German, please.")
    assert all(f"read_result(ref='u{number}'" in text for number in range(20))
