"""The page about hooks says what is true, and its examples do what it says."""

import re
import tomllib
from pathlib import Path
from typing import get_args

import msgspec
import pytest

from ferrule.run.hooks.answer import TAKES, Answer
from ferrule.run.hooks.hook import CLOSED, Event, Hook
from ferrule.task.config.hooks import hooks_of
from ferrule.task.config.schema import Config
from ferrule.types.outcome import Outcome
from ferrule.types.records import CallFinished
from tests.engine.opening import call, ends, run, step

DOCS = Path(__file__).parents[2] / "docs"
PAGE, CONFIGURATION = (DOCS / "hooks.md").read_text("utf-8"), (DOCS / "configuration.md").read_text("utf-8")


def hooks(page: str) -> tuple[Hook, ...]:
    (example,) = [text for text in re.findall(r"```toml\n(.*?)```", page, re.DOTALL) if "[[hooks]]" in text]
    return hooks_of(tomllib.loads(example)["hooks"], "hooks")


def test_every_event_stands_with_what_it_takes_and_how_it_fails() -> None:
    rows = re.findall(r"^\| `(\w+)` \| [^|]+ \| ([^|]+) \| `(open|closed)` \|$", PAGE, re.MULTILINE)
    said = {event: (frozenset(re.findall(r"`(\w+)`", answers)), fails) for event, answers, fails in rows}
    assert said == {event: (TAKES[event], "closed" if event in CLOSED else "open") for event in get_args(Event)}


@pytest.mark.parametrize("struct", [Hook, Answer])
def test_every_key_is_documented(struct: type[msgspec.Struct]) -> None:
    keys = set(re.findall(r"^\| `(\w+)` \|", PAGE, re.MULTILINE))
    assert {field.encode_name for field in msgspec.structs.fields(struct)} <= keys


def test_the_example_of_the_configuration_page_works(tmp_path: Path) -> None:
    config = Config(approve="all", hooks=hooks(CONFIGURATION))
    changelog = step(call("write_to_file", path="CHANGELOG.md", content="x"))
    notes = step(call("write_to_file", path="NOTES.md", content="A note.\n"))
    ran = run(tmp_path, changelog, ends("Early."), notes, ends("Done."), config=config)
    assert (ran.result.outcome, ran.result.result, ran.result.files_changed) == (Outcome.FINISHED, "Done.", ("NOTES.md",))
    texts = [entry.result.text for entry in ran.entries(CallFinished)]
    assert texts[0].startswith("Denied: Only people edit the changelog.")
    assert texts[1].startswith("Not accepted. The hook notes says: Write what changed into NOTES.md")


def test_the_example_that_changes_arguments_works(tmp_path: Path) -> None:
    ran = run(
        tmp_path,
        step(call("execute_command", command="pytest --version")),
        step(call("execute_command", command="true")),
        ends(),
        config=Config(approve="all", hooks=hooks(PAGE)),
    )
    first, second = (entry.result.text for entry in ran.entries(CallFinished)[:2])
    assert 'The hook limit changed the arguments of this call to {"command":"timeout 60 pytest --version"}' in first
    assert "changed" not in second


def test_the_python_example_works() -> None:
    (example,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    names: dict[str, object] = {}
    exec(example, names)
    function = names["no_force_push"]
    assert callable(function)
    assert function({"arguments": {"command": "git push --force"}})["decision"] == "block"
    assert function({"arguments": {"command": "git push"}}) is None
