import os
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import TextIO

import pytest

from ferrule.front.cli.prompt import MOST, PATIENCE, gather
from ferrule.types.errors import UsageError


class Remarks(list[str]):
    def __call__(self, text: str) -> None:
        self.append(text)


@pytest.fixture
def said() -> Remarks:
    return Remarks()


@pytest.fixture
def idle() -> Iterator[TextIO]:
    read, write = os.pipe()
    with open(read) as stream:
        yield stream
        os.close(write)


def piped(data: bytes) -> TextIO:
    read, write = os.pipe()
    os.write(write, data)
    os.close(write)
    return open(read)


def test_the_prompt_stands_alone_where_nothing_is_piped_in(said: Remarks) -> None:
    with open(os.devnull) as null, piped(b" \n") as blank:
        assert [gather("do it", stream, said, False) for stream in (null, blank, None)] == ["do it"] * 3
    assert said == []


def test_piped_text_alone_is_the_prompt(said: Remarks) -> None:
    with piped(b"do it\n") as stream:
        assert gather(None, stream, said, True) == "do it\n"


def test_there_may_be_no_prompt_at_all(said: Remarks) -> None:
    with open(os.devnull) as null:
        assert gather(None, null, said, True) is None


def test_piped_text_follows_the_prompt_in_a_fence_that_it_cannot_close(said: Remarks, tmp_path: Path) -> None:
    with piped(b"diff\n````\n") as stream:
        assert gather("explain", stream, said, False) == "explain\n\nText from standard input:\n`````\ndiff\n````\n`````"
    file = tmp_path / "in"
    file.write_bytes(b"plain \xff")
    with file.open() as stream:
        assert (
            gather("explain", stream, said, False)
            == "explain\n\nText from standard input:\n```\nplain \N{REPLACEMENT CHARACTER}\n```"
        )


def test_a_socket_is_read_as_a_pipe_is(said: Remarks) -> None:
    here, there = socket.socketpair()
    there.sendall(b"do it")
    there.close()
    with here, open(os.dup(here.fileno())) as stream:
        assert gather(None, stream, said, True) == "do it"


def test_a_pipe_that_was_only_left_open_does_not_hold_up_a_prompt(said: Remarks, idle: TextIO) -> None:
    assert gather("do it", idle, said, False) == "do it"
    assert said == ["nothing came on standard input for 3 seconds; going on without it (use </dev/null to say so at once)"]
    assert PATIENCE == 3.0


def test_too_much_text_is_refused(said: Remarks, tmp_path: Path) -> None:
    file = tmp_path / "in"
    with file.open("wb") as out:
        out.truncate(MOST + 1)
    with file.open() as stream, pytest.raises(UsageError) as caught:
        gather("explain", stream, said, False)
    assert str(caught.value) == "standard input holds more than 8 MiB; put it into a file and name the file in the prompt"
