import json
from typing import Annotated, Literal

import pytest
from msgspec import Meta, Struct

from ferrule.tools.base import Tool, ToolContext, no_actions
from ferrule.tools.catalog import coding_tools
from ferrule.tools.schema import parse, schema
from ferrule.types.tools import Effect, ToolOutput


class Answer(Struct, frozen=True):
    """A suggested answer."""

    text: Annotated[str, Meta(description="What it says.")]
    mode: str | None = None


class Params(Struct, frozen=True):
    """Parameters of every kind that tools use."""

    name: Annotated[str, Meta(description="Its name.", min_length=1)]
    answers: Annotated[tuple[Answer, ...], Meta(description="Answers.", min_length=1, max_length=4)]
    count: Annotated[int, Meta(description="How many.", ge=1)] = 3
    ratio: float | None = None
    deep: bool = False
    kind: Literal["one", "two"] = "one"
    note: Annotated[str | None, Meta(description="A note.")] = None


async def run(params: Params, context: ToolContext) -> ToolOutput:
    raise AssertionError("no test runs it")


TOOL = Tool("probe", "A probe.", Params, Effect.READ, no_actions, run)
ANSWERS = [{"text": "yes"}]


def test_a_schema_is_one_closed_object_without_references_or_null() -> None:
    shown = schema(TOOL)
    assert (shown.name, shown.description) == ("probe", "A probe.")
    assert json.loads(shown.parameters) == {
        "type": "object",
        "properties": {
            "name": {"description": "Its name.", "type": "string", "minLength": 1},
            "answers": {
                "description": "Answers.",
                "type": "array",
                "minItems": 1,
                "maxItems": 4,
                "items": {
                    "type": "object",
                    "properties": {"text": {"description": "What it says.", "type": "string"}, "mode": {"type": "string"}},
                    "required": ["text"],
                    "additionalProperties": False,
                },
            },
            "count": {"description": "How many.", "type": "integer", "minimum": 1, "default": 3},
            "ratio": {"type": "number"},
            "deep": {"type": "boolean", "default": False},
            "kind": {"enum": ["one", "two"], "default": "one", "type": "string"},
            "note": {"description": "A note.", "type": "string"},
        },
        "required": ["name", "answers"],
        "additionalProperties": False,
    }


@pytest.mark.parametrize(
    ("given", "params"),
    [
        ({"name": "a"}, Params("a", (Answer("yes"),))),
        ({"name": "a", "count": "12", "deep": "TRUE"}, Params("a", (Answer("yes"),), count=12, deep=True)),
        ({"name": "a", "count": 2.0, "ratio": "1.5"}, Params("a", (Answer("yes"),), count=2, ratio=1.5)),
        ({"name": "a", "count": " 7 ", "ratio": 2, "deep": "false"}, Params("a", (Answer("yes"),), count=7, ratio=2.0)),
        ({"name": "a", "note": None, "count": None}, Params("a", (Answer("yes"),))),
        ({"name": "12", "note": "true"}, Params("12", (Answer("yes"),), note="true")),
        ({"name": "null", "note": "null"}, Params("null", (Answer("yes"),), note="null")),
        ({"name": "a", "answers": '[{"text": "no", "mode": "x"}]'}, Params("a", (Answer("no", "x"),))),
    ],
)
def test_arguments_are_taken_leniently_where_it_does_no_harm(given: dict[str, object], params: Params) -> None:
    assert parse(TOOL, json.dumps({"answers": ANSWERS, **given})) == params


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({}, "`name` is missing; it must be a string."),
        ({"name": None}, "`name` must be a string, got null."),
        ({"name": 3}, "`name` must be a string, got 3."),
        ({"name": ["a"]}, '`name` must be a string, got ["a"].'),
        ({"name": "a", "count": "ten"}, '`count` must be a whole number, got "ten".'),
        ({"name": "a", "count": 1.5}, "`count` must be a whole number, got 1.5."),
        ({"name": "a", "count": True}, "`count` must be a whole number, got true."),
        ({"name": "a", "count": 0}, "`count` must be a whole number >= 1, got 0."),
        ({"name": "a", "ratio": "x"}, '`ratio` must be a number, got "x".'),
        ({"name": "a", "deep": "yes"}, '`deep` must be true or false, got "yes".'),
        ({"name": "a", "deep": 1}, "`deep` must be true or false, got 1."),
        ({"name": "a", "kind": "three"}, '`kind` must be "one" or "two", got "three".'),
        ({"name": "", }, '`name` must be a string of length >= 1, got "".'),
        ({"name": "a", "answers": "yes"}, '`answers` must be a list, got "yes".'),
        ({"name": "a", "answers": []}, "`answers` must be a list of length >= 1, got []."),
        ({"name": "a", "answers": [{}]}, "`answers[0].text` is missing."),
        ({"name": "a", "answers": [{"text": "a"}, {"text": 3}]}, "`answers[1].text` must be a string, got 3."),
        ({"name": "a", "answers": [3]}, "`answers[0]` must be an object, got 3."),
        ({"name": "a", "cuont": 3}, "`cuont` is not a parameter of probe; did you mean `count`?"),
        ({"nme": "a"}, "`nme` is not a parameter of probe; did you mean `name`?"),
        (
            {"name": "a", "zzz": 3},
            "`zzz` is not a parameter of probe; it takes `name`, `answers`, `count`, `ratio`, `deep`, `kind`, `note`.",
        ),
        ({"name": "a", "count": "x" * 70}, f'`count` must be a whole number, got "{"x" * 58}….'),
    ],
)  # fmt: skip
def test_a_wrong_parameter_is_named_with_what_was_expected(given: dict[str, object], sentence: str) -> None:
    assert parse(TOOL, json.dumps({"answers": ANSWERS, **given})) == sentence


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ("{", "The arguments of probe are not valid JSON: Input data was truncated."),
        ("[" * 100_000, "The arguments of probe are nested too deeply."),
        ("[1]", "The arguments of probe must be an object, got [1]."),
        ('"a"', 'The arguments of probe must be an object, got "a".'),
        ("", "`name` is missing; it must be a string."),
    ],
)
def test_what_is_no_object_is_said(arguments: str, sentence: str) -> None:
    assert parse(TOOL, arguments) == sentence


def test_the_tools_of_a_coding_task_stand_in_a_fixed_order_and_are_small() -> None:
    schemas = [schema(tool) for tool in coding_tools()]
    names = (
        "read_file list_files find_files search_files list_code_definitions write_to_file apply_diff edit apply_patch "
        "execute_command read_command_output stop_command"
    )
    assert " ".join(item.name for item in schemas) == names
    assert max(len(item.description) for item in schemas) <= 600
    assert sum(len(item.description) + len(item.parameters) for item in schemas) <= 8_500


@pytest.mark.parametrize("tool", coding_tools(), ids=lambda tool: tool.name)
def test_every_parameter_of_every_tool_is_described(tool: Tool) -> None:
    parameters = json.loads(schema(tool).parameters)
    assert all(field.get("description", "").endswith(".") for field in parameters["properties"].values())
    # One file or several; a text or a pattern; of one command, or a list of all.
    assert parameters["required"] or tool.name in ("read_file", "find_files", "read_command_output")


def test_two_sessions_share_no_tool() -> None:
    first, second = coding_tools(), coding_tools()
    assert first[0].run is not second[0].run
