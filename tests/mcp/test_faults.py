import asyncio
import json
import math
import time
from pathlib import Path
from typing import Any

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ferrule.tools.mcp import connection
from ferrule.tools.mcp.log import Log
from ferrule.tools.mcp.pipes import MOST_WAITING, Flood, Lines
from ferrule.types.messages import Image
from ferrule.types.tools import Effect

from .serving import Served, faulty, gone, rude, said, serving, stdio_server


def test_tools_carry_their_names_schemas_and_effects(tmp_path: Path) -> None:
    async def test(served: Served) -> None:
        assert served.troubles == ()
        add, count = served.tools["mcp__faulty__add"], served.tools["mcp__faulty__count"]
        assert (add.effect, count.effect) == (Effect.READ, Effect.EXTERNAL)
        assert '"required":["a","b"]' in (add.foreign or "")
        assert {"access_mcp_resource", "get_mcp_prompt", "read_mcp_result"} < served.tools.keys()
        assert await served.text("mcp__faulty__add", a=2, b=3) == "ok: 5"
        assert "Error executing tool fail" in await served.text("mcp__faulty__fail", why="no")
        assert (await served.call("mcp__faulty__fail", why="no")).kind == "error"
        assert (await served.call("mcp__faulty__add", a="two")).kind == "error"
        assert await served.text("access_mcp_resource", server_name="faulty", uri="note://hello") == (
            "ok: (note://hello)\nhello from a resource"
        )
        assert (await served.text("access_mcp_resource", server_name="faulty")).startswith("ok: note://hello · hello")
        assert "greet(name)" in await served.text("get_mcp_prompt", server_name="faulty")
        assert await served.text("get_mcp_prompt", server_name="faulty", name="greet", arguments={"name": "Ann"}) == (
            "ok: [user]\nGreet Ann."
        )
        output = await served.call("mcp__faulty__picture")
        assert said(output) == "ok: a pixel\n(image)"
        assert isinstance(output.parts[1], Image) and output.parts[1].media_type == "image/png"

    serving(tmp_path, faulty(tmp_path), test=test)


def test_a_server_that_dies_in_a_call_is_started_again_and_the_call_is_not_sent_twice(tmp_path: Path) -> None:
    async def test(served: Served) -> None:
        assert await served.text("mcp__faulty__count") == "ok: counted 1"
        died = await served.text("mcp__faulty__crash", word="first")
        assert died.startswith("unknown: The server faulty ended with exit code 3 before it had answered. Its log is ")
        assert "about to die" in died
        assert "Whether it took effect is unknown, and it was not sent again." in died
        assert await served.text("mcp__faulty__count") == (
            "ok: The server faulty ended with exit code 3 and was started again: what it kept in memory is lost.\ncounted 1"
        )
        reading = await served.text("mcp__faulty__crash_reading")
        assert reading.startswith("error: The server faulty ended with exit code 4")
        assert reading.endswith("It only reads, so it may be called again.")
        assert (tmp_path / "notes").read_text() == "first\n"

    serving(tmp_path, faulty(tmp_path), test=test)


def test_restarts_are_bounded_and_the_log_is_named(tmp_path: Path) -> None:
    async def test(served: Served) -> None:
        kinds = [(await served.call("mcp__rude__do")).kind for _ in range(connection.RESTARTS + 2)]
        assert kinds == ["unknown"] * (connection.RESTARTS + 1) + ["error"]
        last = await served.text("mcp__rude__do")
        assert last.startswith(
            "error: The server rude is not started again: it was ended because it wrote a message of more than"
        )
        assert str(tmp_path / "logs" / "rude.log") in last

    serving(tmp_path, rude(tmp_path, "flood"), test=test)


def test_a_call_without_an_answer_ends_by_the_servers_time_out(tmp_path: Path) -> None:
    async def test(served: Served) -> None:
        text = await served.text("mcp__faulty__hang")
        assert text.startswith("unknown: The server faulty did not answer within 1.5 s. Whether it took effect is unknown")
        assert await served.text("mcp__faulty__add", a=1, b=1) == "ok: 2"

    serving(tmp_path, faulty(tmp_path, timeout=1.5), test=test)


def test_a_server_that_never_gets_ready_costs_its_tools_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "START_LIMIT", 1.0)
    missing = stdio_server(tmp_path, "missing", "no-such-program")

    async def test(served: Served) -> None:
        mute, absent = served.troubles
        assert mute.startswith("The server rude cannot be used: it was not ready within 1 s. Its log is ")
        assert absent.startswith("The server missing cannot be used: it ended with exit code 127. Its log is ")
        assert "no-such-program: not found" in absent
        assert served.tools == {}

    serving(tmp_path, rude(tmp_path, "mute"), missing, test=test)


def test_noise_on_standard_output_goes_to_the_log(tmp_path: Path) -> None:
    async def test(served: Served) -> None:
        assert await served.text("mcp__rude__do", word="it") == "ok: did do it"

    serving(tmp_path, rude(tmp_path, "noise"), test=test)
    log = (tmp_path / "logs" / "rude.log").read_text()
    assert "wrote what is no message to standard output: '{not json}'" in log
    assert "ended with exit code 0" in log


def test_schemas_pass_through_and_names_are_made_distinct(tmp_path: Path) -> None:
    async def test(served: Served) -> None:
        names = [name for name in served.tools if name.startswith("mcp__")]
        assert names[0] == "mcp__rude__good"
        assert "mcp__rude__with_dots_and_blanks" in names
        assert len(names) == len(set(names)) == 6
        assert max(len(name) for name in names) == 64
        long = next(name for name in names if "xxx" in name)
        assert await served.text(long) == "ok: did " + "x" * 100

    serving(tmp_path, rude(tmp_path, "schemas"), test=test)


def test_a_list_that_breaks_the_protocol_is_said(tmp_path: Path) -> None:
    async def test(served: Served) -> None:
        assert served.tools == {}
        assert served.troubles[0].startswith("The server rude gave no answer that can be read: ")

    serving(tmp_path, rude(tmp_path, "bad_list"), test=test)


def test_an_answer_that_breaks_the_protocol_leaves_the_effect_unknown(tmp_path: Path) -> None:
    async def test(served: Served) -> None:
        text = await served.text("mcp__rude__do")
        assert text.startswith("unknown: The server rude gave no answer that can be read: ")

    serving(tmp_path, rude(tmp_path, "nonsense"), test=test)


def test_a_question_of_a_server_is_declined_and_that_is_said(tmp_path: Path) -> None:
    async def test(served: Served) -> None:
        assert await served.text("mcp__rude__do") == (
            "ok: The server asked: 'Who are you?'. Nobody is there to answer, so the question was declined.\nthey said decline"
        )

    serving(tmp_path, rude(tmp_path, "asks"), test=test)


def test_servers_are_told_the_folders_of_the_workspace(tmp_path: Path) -> None:
    async def test(served: Served) -> None:
        assert await served.text("mcp__rude__do") == f"ok: {tmp_path.as_uri()}"

    serving(tmp_path, rude(tmp_path, "roots"), test=test)


def test_long_text_is_cut_and_all_of_it_can_be_read_by_pages(tmp_path: Path) -> None:
    size = 250_000
    whole = "".join(chr(0x61 + at % 26) for at in range(size))

    async def test(served: Served) -> None:
        text = await served.text("mcp__faulty__huge", size=size)
        assert len(text) < 51_000
        assert "[… 200,000 of 250,000 characters left out; read_mcp_result(result=" in text
        digest = text.split('result="')[1].split('"')[0]
        read, offset = "", 0
        while offset < size:
            page = await served.text("read_mcp_result", result=digest, offset=offset)
            head, _, rest = page.partition("\n")
            body, _, more = rest.partition("\n[")
            read += body
            offset = int(more.split("offset=")[1].rstrip("]")) if more else size
            assert head.startswith("ok: Bytes ")
        assert read == whole

    serving(tmp_path, faulty(tmp_path), test=test)


def test_a_server_sees_harmless_variables_and_what_its_configuration_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET_OF_OURS", "hidden")

    async def test(served: Served) -> None:
        names, folder = (await served.text("mcp__faulty__environment")).removeprefix("ok: ").splitlines()
        assert "FAULTY_KEY" in names.split() and "PATH" in names.split()
        assert "SECRET_OF_OURS" not in names
        assert folder == str(tmp_path)

    serving(tmp_path, faulty(tmp_path, env=(("FAULTY_KEY", "abc"),)), test=test)


def test_a_server_that_stays_is_ended_with_all_below_it(tmp_path: Path) -> None:
    async def test(served: Served) -> None:
        assert await served.text("mcp__rude__do") == "ok: did do"

    began = time.monotonic()
    serving(tmp_path, rude(tmp_path, "stays"), test=test)
    assert time.monotonic() - began < 20
    assert gone(int((tmp_path / "notes").read_text()))
    assert not list((tmp_path / "logs").glob(".*.in"))
    assert "did not end by itself when its input was closed" in (tmp_path / "logs" / "rude.log").read_text()


def test_cancelling_a_call_leaves_the_server_usable(tmp_path: Path) -> None:
    async def test(served: Served) -> None:
        hanging = asyncio.create_task(served.call("mcp__faulty__hang"))
        while not (tmp_path / "notes").exists():  # noqa: ASYNC110 another process writes it
            await asyncio.sleep(0.01)
        hanging.cancel()
        with pytest.raises(asyncio.CancelledError):
            await hanging
        assert await served.text("mcp__faulty__add", a=1, b=2) == "ok: 3"

    serving(tmp_path, faulty(tmp_path), test=test)


def test_a_log_that_grew_large_is_put_aside(tmp_path: Path) -> None:
    log = tmp_path / "logs" / "rude.log"
    log.parent.mkdir()
    log.write_text("x" * 1_000_001)

    async def test(served: Served) -> None:
        assert await served.text("mcp__rude__do") == "ok: did do"

    serving(tmp_path, rude(tmp_path, "plain"), test=test)
    assert log.with_suffix(".old.log").stat().st_size == 1_000_001
    assert log.stat().st_size < 1000
    assert log.stat().st_mode & 0o777 == 0o600


def test_a_flood_of_messages_that_nobody_takes_is_refused(tmp_path: Path) -> None:
    async def flood() -> None:
        to, taken = anyio.create_memory_object_stream[Any](math.inf)
        lines = Lines(to, Log(tmp_path / "log"))
        line = b'{"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": "x"}}\n'
        lines.feed(line * MOST_WAITING)
        with pytest.raises(Flood, match="wrote more than 10,000 messages that nobody had asked for"):
            lines.feed(line)
        to.close()
        taken.close()

    asyncio.run(flood())


@given(st.lists(st.integers(1, 60), max_size=20))
@settings(max_examples=30)
def test_messages_arrive_whole_however_they_are_cut(cuts: list[int]) -> None:
    async def feed() -> None:
        to, taken = anyio.create_memory_object_stream[Any](math.inf)
        lines = Lines(to, Log(Path("/nonexistent/log")))
        sent = [{"jsonrpc": "2.0", "method": f"notifications/{at}", "params": {"text": "\n\u2028é"}} for at in range(3)]
        data = b"".join(json.dumps(message, ensure_ascii=False).encode() + b"\n" for message in sent)
        for cut in cuts:
            lines.feed(data[:cut])
            data = data[cut:]
        lines.feed(data)
        lines.end()
        assert [message.message.method async for message in taken] == [message["method"] for message in sent]
        taken.close()

    asyncio.run(feed())
