"""Who can be asked, from configuration and environment."""

import asyncio
import json
import os
from pathlib import Path
from typing import Any

import pytest

from ferrule.providers.http import timeouts_of
from ferrule.task.config.schema import Config, EndpointConfig, Timeouts
from ferrule.task.models import choose_endpoint
from ferrule.task.open import TaskOptions, open_task
from ferrule.types.errors import UsageError
from ferrule.types.records import ModelChosen

KEYS = {"OPENAI_API_KEY": " k1, k2,,k1 ", "ANTHROPIC_API_KEY": "a1"}


def chosen(environ: dict[str, str], last: ModelChosen | None = None, **config: Any) -> Any:
    return asyncio.run(choose_endpoint(Config(**config), environ, last))


def test_models_stand_in_their_order_each_with_its_keys() -> None:
    found = chosen(KEYS, model="openai/x, anthropic/y,openai/x").lineup().candidates
    assert [(each.model, each.key, each.provider.endpoint.key, each.name) for each in found] == [
        (1, 1, "k1", "openai/x"),
        (1, 2, "k2", "openai/x with key 2"),
        (2, 1, "a1", "anthropic/y"),
    ]


def test_an_endpoint_of_the_configuration_may_have_several_keys_too() -> None:
    server = EndpointConfig("openai", "https://models.example/v1", key_env="MINE")
    found = chosen({"MINE": "m1,m2"}, model="mine/x", endpoints={"mine": server}).endpoints
    assert [(each.key, each.asked) for each in found] == [("m1", "mine/x"), ("m2", "mine/x")]


def test_a_session_goes_on_with_the_model_that_answered_last() -> None:
    found = chosen(KEYS, ModelChosen("anthropic/y", "https://api.anthropic.com"))
    assert [each.name for each in found.endpoints] == ["anthropic/y"]


@pytest.mark.parametrize(
    ("model", "said"),
    [
        ("openai/x,google/y", "google/y needs a key: set GEMINI_API_KEY"),
        ("openai/x,opnai/y", "did you mean openai/y?"),
        ("openai/x,y", "does not begin with a known dialect"),
    ],
)
def test_a_wrong_one_of_several_is_named(model: str, said: str) -> None:
    with pytest.raises(UsageError, match=said.replace("?", r"\?")):
        chosen(KEYS, model=model)


def test_time_outs_of_an_endpoint_come_before_those_of_all() -> None:
    own = EndpointConfig("openai", "http://127.0.0.1:1/v1", idle_timeout=5.0, total_timeout=0.0)
    timeouts = Timeouts(first_event=9.0, idle=7.0, total=60.0)
    found = chosen(KEYS, model="own/x,openai/y", endpoints={"own": own}, timeouts=timeouts).endpoints
    one, two = timeouts_of(found[0]), timeouts_of(found[1])
    assert (one.first_event, one.idle, one.total) == (9.0, 5.0, None)
    assert (two.first_event, two.idle, two.total) == (9.0, 7.0, 60.0)


def test_a_task_opens_everybody_and_closes_them_all(tmp_path: Path) -> None:
    files = [tmp_path / f"{name}.json" for name in "ab"]
    for file in files:
        file.write_text(json.dumps({"version": 1, "steps": []}))

    async def main() -> None:
        options = TaskOptions(
            prompt="Do it.",
            folder=tmp_path,
            config=Config(model=",".join(f"scripted/{file}" for file in files)),
            environ={"PATH": os.environ["PATH"], "HOME": str(tmp_path)},
            user_folder=tmp_path,
            no_session=True,
        )
        task = await open_task(options)
        providers = [candidate.provider for candidate in task.setup.lineup.candidates]
        assert [provider.endpoint.model for provider in providers] == [str(file) for file in files]
        assert task.setup.provider is providers[0]
        assert all(provider.close in task.closers for provider in providers)
        assert any(section in task.setup.optional for section in task.setup.system)
        await task.close()

    asyncio.run(main())


def test_a_script_of_several_that_is_wrong_is_said_at_opening(tmp_path: Path) -> None:
    good = tmp_path / "a.json"
    good.write_text(json.dumps({"version": 1, "steps": []}))
    found = chosen({}, model=f"scripted/{good},scripted/{tmp_path}/none.json")
    with pytest.raises(UsageError, match=r"none\.json cannot be read"):
        found.lineup()
