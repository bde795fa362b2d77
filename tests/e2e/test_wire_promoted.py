"""Calls that a model writes as text, played by the real command: read where the endpoint says so, run where they only read."""

import json
from pathlib import Path

import pytest

from .wire import DIALECTS, KEY, WIRES, Home, Played, ends

CONFIG = """
[endpoints.lab]
dialect = "{dialect}"
base_url = "BASE_URL"
key_env = "LAB_KEY"
promote = {promote}
"""
LISTS = "<function=list_files><parameter=path>.</parameter></function>"
WRITES = '{"name": "execute_command", "arguments": {"command": "echo ok >> ok.txt"}}'


def play(folder: Path, dialect: str, text: str, promote: bool) -> Played:
    home = Home(folder)
    (home.folder / "here.txt").write_text("x\n")
    config = CONFIG.format(dialect=dialect, promote=str(promote).lower())
    return home.play(dialect, {"text": text}, ends(), model="lab/m", config=config, environ={"LAB_KEY": KEY})


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_written_call_that_only_reads_runs_and_the_model_gets_its_result(tmp_path: Path, dialect: str) -> None:
    played = play(tmp_path, dialect, LISTS, promote=True)
    assert (played.result["outcome"], played.complaints()) == ("finished", [])
    assert "here.txt" in json.dumps(played.bodies[-1])


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_written_call_that_does_more_is_refused_whatever_was_approved(tmp_path: Path, dialect: str) -> None:
    played = play(tmp_path, dialect, WRITES, promote=True)
    assert (played.result["outcome"], played.lines("ok.txt"), played.complaints()) == ("finished", 0, [])
    assert [denial["tool"] for denial in played.result["denials"]] == ["execute_command"]


def test_where_the_endpoint_does_not_say_so_the_text_stays_text(tmp_path: Path) -> None:
    played = play(tmp_path, WIRES["openai"].name, WRITES, promote=False)
    assert (played.lines("ok.txt"), played.result["denials"]) == (0, [])
