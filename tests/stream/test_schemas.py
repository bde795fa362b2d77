import json
from typing import Any

import pytest

from ferrule.attempt.filters.catalog import FILTERS
from ferrule.providers.base import Profile
from ferrule.stream.chain import Chain
from ferrule.stream.outbound.schemas import FULL, MOST_TOOLS, lowered
from ferrule.tools.catalog import coding_tools
from ferrule.tools.schema import schema
from ferrule.types.request import ToolSchema

from .playing import PLAIN, at, tool

GOOD = tool("read_file", "path")


def odd(parameters: Any, name: str = "odd") -> ToolSchema:
    return ToolSchema(name, "Odd.", parameters if isinstance(parameters, str) else json.dumps(parameters))


def properties(**given: Any) -> dict[str, Any]:
    return {"type": "object", "properties": given}


@pytest.mark.parametrize(
    ("parameters", "why"),
    [
        ({"anyOf": [properties(a={"type": "string"}), properties(b={"type": "string"})]}, "anyOf at the top"),
        ({"type": "object", "oneOf": []}, "oneOf at the top"),
        ({"type": "object", "allOf": [{"required": ["a"]}]}, "allOf at the top"),
        ({"type": "object", "not": {}}, "not at the top"),
        ({"type": "string"}, "not an object but 'string'"),
        ({"type": ["object", "null"]}, "not an object"),
        (properties(a={"$ref": "#"}), "refers to itself"),
        (properties(a={"$ref": "#/$defs/a"}), "which it does not hold"),
        (properties(a={"$ref": "https://example.org/a.json"}), "another document"),
        ({**properties(a={"$ref": "#/$defs/n"}), "$defs": {"n": properties(next={"$ref": "#/$defs/n"})}}, "refers to itself"),
        (properties(a="text"), "a part of its schema is none"),
        ("[]", "no JSON object"),
        ("{", "no JSON object"),
    ],
)
def test_a_tool_that_cannot_be_lowered_is_left_out_and_named_and_the_others_stay(parameters: Any, why: str) -> None:
    chain = Chain(FILTERS, PLAIN)
    tools = (GOOD, odd(parameters))
    offered, reports = chain.tools(tools)
    assert offered == (GOOD,)
    (report,) = reports
    assert report.by == "schemas"
    assert report.what[0].startswith("the tool odd is not offered: ") and why in report.what[0]
    assert chain.tools(tools) == ((GOOD,), ())


@pytest.mark.parametrize(
    ("given", "sent", "dropped"),
    [
        ({"properties": {"a": {"type": "string"}}}, properties(a={"type": "string"}), ()),
        ({"type": "object"}, properties(), ()),
        ({**properties(a={"$ref": "#/$defs/a"}), "$defs": {"a": {"type": "string"}}}, properties(a={"type": "string"}), ()),
        (
            {**properties(a={"$ref": "#/definitions/x~1y", "description": "D"}), "definitions": {"x/y": {"type": "string"}}},
            properties(a={"type": "string", "description": "D"}),
            (),
        ),
        (
            properties(a={"type": ["string", "null"], "description": "D"}),
            properties(a={"anyOf": [{"type": "string"}, {"type": "null"}], "description": "D"}),
            (),
        ),
        (properties(a={"oneOf": [{"type": "string"}]}), properties(a={"anyOf": [{"type": "string"}]}), ()),
        (properties(a={"const": 3}), properties(a={"enum": [3]}), ()),
        (properties(a={"type": "array"}), properties(a={"type": "array", "items": {}}), ()),
        (
            {**properties(a={"type": "string"}), "required": ["a", "b"]},
            {**properties(a={"type": "string"}), "required": ["a"]},
            (),
        ),
        (properties(a={"type": "string", "pattern": "[a-z]+"}), properties(a={"type": "string"}), ("pattern",)),
        (properties(a={"not": {}, "if": {}, "patternProperties": {}}), properties(a={}), ("if", "not", "patternProperties")),
        (properties(a=True), properties(a={}), ()),
    ],
)
def test_a_schema_is_brought_into_the_form_that_all_take(given: Any, sent: Any, dropped: tuple[str, ...]) -> None:
    (offered,), lines = lowered((odd(given),))
    assert json.loads(offered.parameters) == sent
    assert lines == ([f"the schema of odd is sent without {', '.join(dropped)}"] if dropped else [])
    assert lowered((offered,)) == ((offered,), [])


def test_providers_that_take_more_keywords_get_them() -> None:
    patterned = odd(properties(a={"type": "string", "pattern": "[a-z]+", "minLength": 1}))
    assert lowered((patterned,), FULL) == ((patterned,), [])
    assert Chain(FILTERS, at(Profile(schemas="full"))).tools((patterned,))[0] == (patterned,)
    assert Chain(FILTERS, PLAIN).tools((patterned,))[0] != (patterned,)


def test_doubled_and_impossible_names_and_more_tools_than_a_request_holds_are_left_out() -> None:
    many = tuple(odd(properties(), f"tool_{number}") for number in range(MOST_TOOLS + 2))
    offered, lines = lowered((GOOD, GOOD, odd(properties(), "no name"), *many))
    assert (len(offered), len(lines)) == (MOST_TOOLS, 5)
    assert (offered[0], offered[-1].name) == (GOOD, f"tool_{MOST_TOOLS - 2}")


def test_our_own_tools_are_offered_as_they_are() -> None:
    own = tuple(schema(tool) for tool in coding_tools())
    assert lowered(own) == (own, [])
