import asyncio

import pytest
from msgspec.structs import replace

from ferrule.attempt.hooks import NO_HOOKS, CompactVerdict
from ferrule.run.compaction import Compacted, NotCompacted
from ferrule.run.summary import Bounds
from ferrule.types.messages import Assistant, Results
from ferrule.types.records import Shrunk
from ferrule.types.result import Limits

from .compacting import FAST, Case, drive, handover, person, summary, todos, turn, turns

LONG = [person("Repair the parser. Never touch vendor/."), todos("run the tests"), *turns(30)]


def text_of(message):
    return "\n".join(part.text for part in message.parts)


def stored(case: Case) -> list[Shrunk]:
    compacted = case.setup.log.conversation.compacted
    return [] if compacted is None else [compacted]


def test_what_was_said_longest_ago_is_sent_as_a_summary_and_the_rest_as_it_was(tmp_path):
    async def work(case: Case):
        before = list(case.setup.log.conversation.messages)
        result = await case.compact()
        return result, before, list(case.setup.log.conversation.messages), case.sent, case.requests, case.ledger

    result, before, after, sent, requests, ledger = drive(tmp_path, work, LONG, [summary()])
    assert isinstance(result, Compacted)
    assert after == before
    assert sent[1:] == tuple(before[result.shrunk.messages :])
    assert isinstance(sent[1], Assistant)
    front = text_of(sent[0])
    assert "Repair the parser. Never touch vendor/." in front
    assert "run the tests" in front
    assert "The parser was repaired." in front
    assert result.shrunk.after < result.shrunk.before * 0.7
    assert [len(requests), requests[0].tools, ledger.calls] == [1, (), 1]


def test_no_request_for_a_summary_exceeds_the_window(tmp_path):
    window = 6_000
    said = [person("Go."), *turns(60, result="word " * 900, text="thinking aloud " * 100)]

    async def work(case: Case):
        result = await case.compact()
        tokens = [len(text_of(request.messages[0])) / 4 + (request.max_output or 0) for request in case.requests]
        return result, tokens

    result, tokens = drive(tmp_path, work, said, [summary()], window, on_end="repeat_last")
    assert isinstance(result, Compacted)
    assert len(tokens) > 3
    assert max(tokens) < window


def test_each_chunk_takes_in_the_hand_over_of_those_before(tmp_path):
    said = [person("Go."), *turns(30, text="thinking aloud " * 150)]
    steps = [summary(f"Chapter {number}.") for number in range(20)]

    async def work(case: Case):
        await case.compact()
        return [text_of(request.messages[0]) for request in case.requests], case.setup.log.conversation.compacted

    asked, shrunk = drive(tmp_path, work, said, steps, window=8_000)
    assert len(asked) > 2
    assert "the hand-over so far" not in asked[0]
    assert all(f"Chapter {number - 1}." in text for number, text in enumerate(asked) if number)
    assert f"Chapter {len(asked) - 1}." in shrunk.summary


@pytest.mark.parametrize("at", [0, 1, 2])
def test_a_fault_at_a_chunk_keeps_the_summaries_before_it(tmp_path, at):
    said = [person("Go."), *turns(20, text="thinking aloud " * 150)]
    dead = {"fault": {"kind": "http", "status": 503}, "times": "always"}

    async def work(case: Case):
        before = tuple(case.setup.log.conversation.messages)
        return await case.compact(), before, case.sent, case.ledger

    steps = [*(summary(f"Chapter {number}.") for number in range(at)), dead]
    result, before, sent, ledger = drive(tmp_path, work, said, steps, window=12_000)
    assert ledger.calls == at + 3
    if at == 0:
        assert isinstance(result, NotCompacted)
        assert result.fault is not None and result.fault.code == "overloaded"
        assert sent == before
    else:
        assert isinstance(result, Compacted)
        assert f"Chapter {at - 1}." in result.shrunk.summary
        assert not isinstance(sent[1], Results)
        assert sent[1:] == before[result.shrunk.messages :]


def test_a_fault_that_passes_is_tried_again(tmp_path):
    steps = [{"fault": {"kind": "http", "status": 429}}, {"fault": {"kind": "reset"}}, summary()]

    async def work(case: Case):
        return await case.compact(), case.ledger

    result, ledger = drive(tmp_path, work, LONG, steps)
    assert isinstance(result, Compacted)
    assert (ledger.calls, ledger.retries) == (3, 2)


@pytest.mark.parametrize(
    ("step", "calls"),
    [
        ({"fault": {"kind": "http", "status": 401}}, 1),
        ({"text": "I can't help with that.", "stop": "refusal"}, 1),
        ({"text": ""}, 3),
        ({"reasoning": "hm"}, 3),
        ({"fault": {"kind": "cut"}, "text": "never whole"}, 3),
    ],
)
def test_without_a_summary_the_conversation_is_as_it_was(tmp_path, step, calls):
    async def work(case: Case):
        before = case.sent
        return await case.compact(), before, case.sent, case.ledger.calls

    result, before, after, made = drive(tmp_path, work, LONG, [{**step, "times": "always"}])
    assert isinstance(result, NotCompacted)
    assert "No summary could be made." in result.why
    assert after == before
    assert made == calls


def test_what_a_failed_compaction_cost_is_recorded(tmp_path):
    async def work(case: Case):
        result = await case.compact()
        return result, case.setup.log.conversation.usage

    step = {"text": "I can't help with that.", "stop": "refusal", "usage": {"input": 700, "output": 7}}
    result, usage = drive(tmp_path, work, LONG, [step])
    assert (result.usage.total, usage.total) == (707, 707)


def test_a_summary_that_saves_too_little_is_not_stored_and_compacting_stops(tmp_path):
    """The smallest case of a compaction whose result is still too large, again and again (openclaw 13624)."""

    async def work(case: Case):
        results = [await case.compact() for _ in range(20)]
        return results, case.ledger.calls, case.sent

    steps = [summary("word " * 9_000)]
    results, calls, sent = drive(tmp_path, work, LONG, steps, on_end="repeat_last")
    assert all(isinstance(result, NotCompacted) for result in results)
    assert "saved too little" in results[0].why
    assert calls <= 20
    assert len(sent) == len(LONG) - 1


def test_compacting_over_and_over_without_progress_stops_by_itself(tmp_path):
    async def work(case: Case):
        results = []
        while isinstance(result := await case.compact(), Compacted):
            results.append(result.shrunk)
            assert len(results) < 10
        return results, result, case.ledger.calls

    results, last, calls = drive(tmp_path, work, LONG, [summary()], on_end="repeat_last")
    assert results
    assert all(one.after <= 0.9 * one.before for one in results)
    assert all(later.after <= 0.75 * later.before for later in results[1:])
    assert calls == len(results)
    assert "nothing to summarise" in last.why or "enough room" in last.why


def test_the_persons_own_words_alone_cost_no_call(tmp_path):
    said = [person("word " * 8_000), *turns(3, result="short")]

    async def work(case: Case):
        return await case.compact(), case.ledger.calls

    result, calls = drive(tmp_path, work, said, [summary()])
    assert isinstance(result, NotCompacted)
    assert "would not make enough room" in result.why
    assert calls == 0


@pytest.mark.parametrize("said", [[], [person("Go.")], [person("Go."), *turns(1)]])
def test_without_a_conversation_there_is_nothing_to_summarise(tmp_path, said):
    async def work(case: Case):
        return await case.compact(why="asked"), case.ledger.calls

    result, calls = drive(tmp_path, work, said, [])
    assert isinstance(result, NotCompacted)
    assert "nothing to summarise" in result.why
    assert calls == 0


def test_two_compactions_in_a_row_keep_calls_with_their_results(tmp_path):
    async def work(case: Case):
        first = await case.compact()
        seen = [case.sent]
        await case.setup.log.add(*turns(30, first=31))
        second = await case.compact()
        return first, second, [*seen, case.sent], case.requests

    steps = [summary("First half."), summary("Both halves.")]
    first, second, views, requests = drive(tmp_path, work, LONG, steps)
    assert second.shrunk.messages > first.shrunk.messages
    assert "First half." in text_of(requests[1].messages[0])
    assert "Both halves." in text_of(views[1][0])
    assert "First half." not in text_of(views[1][0])
    for view in views:
        made = [call.id for message in view if isinstance(message, Assistant) for call in message.calls]
        answered = [part.call_id for message in view if isinstance(message, Results) for part in message.parts]
        assert made == answered
        assert "Repair the parser. Never touch vendor/." in text_of(view[0])


def test_a_cut_inside_a_turn_adds_a_summary_of_its_first_part(tmp_path):
    said = [person("First."), *turns(6), person("Then the lexer."), *turns(30, first=7)]
    about_turn = "## Original ask\nThe lexer.\n\n## Done so far\nHalf of it.\n\n## Needed to go on\nlexer.py"

    async def work(case: Case):
        return await case.compact(), [text_of(request.messages[0]) for request in case.requests]

    result, asked = drive(tmp_path, work, said, [summary("The parser."), {"text": about_turn}])
    assert isinstance(result, Compacted)
    assert result.shrunk.summary.index("The parser.") < result.shrunk.summary.index("Half of it.")
    assert "[user]\nThen the lexer." not in asked[0]
    assert "[user]\nThen the lexer." in asked[1]


def test_identifiers_that_are_left_out_are_asked_for_once_and_then_listed(tmp_path):
    said = [person("See https://example.org/spec/7 first."), *turns(30, text="Commit 3f9c2ab81d broke REQ-4711.")]

    async def work(case: Case):
        return await case.compact(), [text_of(request.messages[0]) for request in case.requests]

    result, asked = drive(tmp_path, work, said, [summary("Nothing named."), summary("It was 3f9c2ab81d.")])
    assert isinstance(result, Compacted)
    assert len(asked) == 2
    assert all(name in asked[1] for name in ("https://example.org/spec/7", "3f9c2ab81d", "REQ-4711"))
    record = result.shrunk.summary.partition("## From the record")[2]
    assert "REQ-4711" in record
    assert "https://example.org/spec/7" in record
    assert "3f9c2ab81d" not in record


def test_a_second_summary_is_held_to_the_identifiers_of_the_first_part_too(tmp_path):
    said = [person("See https://example.org/spec/7 first."), *turns(30)]

    async def work(case: Case):
        await case.compact()
        await case.setup.log.add(*turns(30, first=31))
        return await case.compact()

    result = drive(tmp_path, work, said, [summary("Nothing named.")], on_end="repeat_last")
    assert isinstance(result, Compacted)
    assert result.shrunk.summary.count("https://example.org/spec/7") == 1


def test_files_and_failures_are_added_from_the_record(tmp_path):
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "kept.py").write_text("1")
    call, finished = turn("bad", path="nowhere.py")
    failed = finished.__class__(
        finished.result.__class__("bad", "read_file", "error", (finished.result.parts[0].__class__("no such file"),)), 0.0
    )
    said = [person("Go."), *turn("good", path="kept.py"), call, failed, *turns(30)]

    async def work(case: Case):
        return await case.compact()

    record = drive(tmp_path, work, said, [summary()]).shrunk.summary.partition("## From the record")[2]
    assert "Files read: kept.py" in record
    assert "Failed: read_file: no such file" in record


def test_an_oversized_message_is_left_out_with_a_note_and_stays_in_the_journal(tmp_path):
    said = [person("Go."), *turn("big", text="endless " * 9_000), *turns(30)]

    async def work(case: Case):
        result = await case.compact()
        return result, text_of(case.requests[0].messages[0])

    result, asked = drive(tmp_path, work, said, [summary()], window=8_000, on_end="repeat_last")
    assert isinstance(result, Compacted)
    assert "endless" not in asked
    assert "too long to be summarised" in asked


def test_reasoning_and_secrets_do_not_reach_the_request(tmp_path):
    secret = "sk-verysecret-0123456789"
    said = [person("Go."), *turns(30, text=f"The key is {secret}.")]

    async def work(case: Case):
        result = await case.compact()
        return result, text_of(case.requests[0].messages[0])

    leaking = summary(f"The key is {secret}.")
    result, asked = drive(tmp_path, work, said, [leaking], environ={"SERVICE_TOKEN": secret}, on_end="repeat_last")
    assert secret not in asked
    assert secret not in result.shrunk.summary
    assert "[secret SERVICE_TOKEN]" in result.shrunk.summary


def test_silence_has_an_end(tmp_path):
    async def work(case: Case):
        return await case.compact(bounds=Bounds(call_seconds=0.05)), case.ledger.calls

    result, calls = drive(tmp_path, work, LONG, [{**summary(), "fault": {"kind": "stall", "seconds": 60}}])
    assert isinstance(result, NotCompacted)
    assert result.fault is not None and result.fault.code == "timeout"
    assert calls == 1


def test_the_number_of_calls_is_bounded_whatever_the_model_does(tmp_path):
    said = [person("Go."), *turns(400, text="thinking aloud " * 150)]
    bounds = Bounds(calls=5, pause=0.001)

    async def work(case: Case):
        await case.compact(bounds=bounds)
        return case.ledger.calls

    assert drive(tmp_path, work, said, [{"text": "no heading at all"}], on_end="repeat_last") == 5


def test_a_limit_of_the_run_forbids_the_summary(tmp_path):
    async def work(case: Case):
        case.ledger.turns = 3
        return await case.compact(), case.ledger.calls

    result, calls = drive(tmp_path, work, LONG, [summary()], limits=Limits(turns=3))
    assert isinstance(result, NotCompacted)
    assert "--max-turns" in result.why
    assert calls == 0


def test_an_overflow_of_the_summary_itself_is_met_by_smaller_requests(tmp_path):
    overflow = {"fault": {"kind": "http", "status": 400, "says": "context_overflow"}}

    async def work(case: Case):
        return await case.compact(), [len(text_of(request.messages[0])) for request in case.requests]

    result, lengths = drive(tmp_path, work, LONG, [overflow, summary()], window=None, on_end="repeat_last")
    assert isinstance(result, Compacted)
    assert lengths[1] < lengths[0]


def test_cancelling_leaves_nothing_half_done(tmp_path):
    async def work(case: Case):
        before = case.sent
        running = asyncio.create_task(case.compact(bounds=FAST))
        await asyncio.wait_for(case.asked.wait(), 5)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        return before, case.sent, stored(case)

    before, after, records = drive(tmp_path, work, LONG, [{"text": handover(), "fault": {"kind": "stall", "seconds": 60}}])
    assert after == before
    assert records == []


def test_the_focus_is_told_to_the_model(tmp_path):
    async def work(case: Case):
        await case.compact(why="asked", focus="the lexer")
        return text_of(case.requests[0].messages[0])

    assert "above all this is kept" in drive(tmp_path, work, LONG, [summary()])
    assert "the lexer" in drive(tmp_path, work, LONG, [summary()])


class Saying:
    """Hooks of which one speaks before a compaction."""

    def __init__(self, verdict: CompactVerdict) -> None:
        self.verdict = verdict
        self.asked: list[tuple[str, str]] = []

    def __getattr__(self, name: str):
        return getattr(NO_HOOKS, name)

    async def before_compact(self, why: str, tokens: int, focus: str) -> CompactVerdict:
        assert tokens > 0
        self.asked.append((why, focus))
        return self.verdict


def hooked(case: Case, verdict: CompactVerdict) -> tuple[Case, Saying]:
    hooks = Saying(verdict)
    return case._replace(setup=replace(case.setup, hooks=hooks)), hooks


def test_a_hook_may_forbid_a_compaction(tmp_path):
    async def work(case: Case):
        case, hooks = hooked(case, CompactVerdict(cancel="a release is going on"))
        before = case.sent
        return await case.compact(why="asked", focus="x"), case.ledger.calls, case.sent == before, hooks.asked

    result, calls, same, asked = drive(tmp_path, work, LONG, [summary()])
    assert isinstance(result, NotCompacted)
    assert "a release is going on" in result.why
    assert (calls, same, asked) == (0, True, [("asked", "x")])


def test_a_hook_may_write_the_summary(tmp_path):
    async def work(case: Case):
        case, _ = hooked(case, CompactVerdict(summary="Written by hand."))
        return await case.compact(), case.ledger.calls, case.sent

    result, calls, sent = drive(tmp_path, work, LONG, [])
    assert isinstance(result, Compacted)
    assert (calls, result.shrunk.summary) == (0, "Written by hand.")
    assert "Written by hand." in text_of(sent[0])
