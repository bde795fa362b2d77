"""The rules of Google generateContent that are about fields, tools and their schemas, and the table of all of them."""

from collections.abc import Iterator

from .body import Json, fields, filled, name_problems, objects, repeated, text_of, texts, whole
from .google import (
    NAME,
    alone_with_responses,
    alternation,
    call_shape,
    calls_after_user,
    content_shape,
    counts,
    first_is_user,
    last_is_user,
    media,
    pairs,
    part_place,
    part_shape,
    responses_after_calls,
    roles,
    signature_of_step,
    signatures,
    text_filled,
)
from .names import camel
from .rule import Rule
from .schema import object_problems

TOP = fields(
    "contents", "model systemInstruction tools toolConfig safetySettings generationConfig cachedContent labels serviceTier store"
)
GENERATION = fields(
    "",
    "candidateCount enableEnhancedCivicAnswers frequencyPenalty logprobs maxOutputTokens mediaResolution presencePenalty"
    " responseJsonSchema responseLogprobs responseMimeType responseModalities responseSchema seed speechConfig stopSequences"
    " temperature thinkingConfig topK topP imageConfig responseFormat",
)
DECLARATION = fields("name description", "parameters parametersJsonSchema response responseJsonSchema behavior")
SCHEMA = fields(
    "",
    "type format title description nullable enum maxItems minItems properties required minProperties maxProperties minLength"
    " maxLength pattern example anyOf propertyOrdering default items minimum maximum",
)
TYPES = {"string", "number", "integer", "boolean", "array", "object", "null"}
FORMATS = {
    "string": {"enum", "date-time"},
    "number": {"float", "double"},
    "integer": {"int32", "int64"},
}


def top_fields(body: Json) -> Iterator[str]:
    yield from TOP.problems(camel(body), "body")


def system_instruction(body: Json) -> Iterator[str]:
    instruction = camel(body).get("systemInstruction")
    if instruction is None:
        return
    if not isinstance(instruction, dict) or not filled(instruction.get("parts")):
        yield "systemInstruction: not a content with at least one part"
        return
    yield from fields("parts", "role").problems(instruction, "systemInstruction")
    for at, part in objects(instruction["parts"]):
        if set(part) != {"text"} or not text_of(part["text"]):
            yield f"systemInstruction.parts[{at}]: not a text with something in it"


def declarations(body: Json) -> Iterator[tuple[str, Json]]:
    for index, tool in objects(camel(body).get("tools")):
        for at, declaration in objects(tool.get("functionDeclarations")):
            yield f"tools[{index}].functionDeclarations[{at}]", declaration


def tools(body: Json) -> Iterator[str]:
    given = camel(body).get("tools")
    if given is not None and (not isinstance(given, list) or len(given) != len(objects(given))):
        yield "tools: not a list of tools"
    for index, tool in objects(given):
        yield from fields("functionDeclarations").problems(tool, f"tools[{index}]")
        if not filled(tool.get("functionDeclarations")):
            yield f"tools[{index}].functionDeclarations: not a list of at least one declaration"
    for where, declaration in declarations(body):
        yield from DECLARATION.problems(declaration, where)
        yield from name_problems(declaration.get("name"), NAME, f"{where}.name")
        if "parameters" in declaration and "parametersJsonSchema" in declaration:
            yield f"{where}: parameters and parametersJsonSchema at once"


def tool_names_once(body: Json) -> Iterator[str]:
    for twice in repeated(text_of(declaration.get("name")) for _, declaration in declarations(body)):
        yield f"tools: the function {twice!r} is declared more than once"


def tool_schemas(body: Json) -> Iterator[str]:
    for where, declaration in declarations(body):
        if "parametersJsonSchema" in declaration:
            yield from object_problems(declaration["parametersJsonSchema"], f"{where}.parametersJsonSchema")
        if "parameters" in declaration:
            yield from subset_problems(declaration["parameters"], f"{where}.parameters")
            root = declaration["parameters"]
            if isinstance(root, dict) and text_of(root.get("type")).lower() != "object":
                yield f"{where}.parameters: type {root.get('type')!r} is not 'OBJECT'"


def subset_problems(schema: object, where: str) -> Iterator[str]:
    """The part of OpenAPI 3.0 that a `parameters` or `responseSchema` may use."""
    if not isinstance(schema, dict):
        yield f"{where}: the schema is not an object"
        return
    schema = camel(schema)
    yield from SCHEMA.problems(schema, where)
    kind = text_of(schema.get("type")).lower()
    if "type" in schema and kind not in TYPES:
        yield f"{where}: type {schema['type']!r} is not one of {', '.join(sorted(TYPES))}"
    if "type" not in schema and "anyOf" not in schema:
        yield f"{where}: no type"
    properties = schema.get("properties", {})
    if kind == "object" and not properties:
        yield f"{where}: properties should be non-empty for an object"
    if not isinstance(properties, dict):
        yield f"{where}: 'properties' is not an object"
        properties = {}
    if missing := [name for name in texts(schema.get("required")) if name not in properties]:
        yield f"{where}: 'required' names {missing}, which 'properties' does not have"
    if kind == "array" and "items" not in schema:
        yield f"{where}: array schema without 'items'"
    yield from value_problems(schema, kind, where)
    for name, child in properties.items():
        yield from subset_problems(child, f"{where}.properties.{name}")
    if "items" in schema:
        yield from subset_problems(schema["items"], f"{where}.items")
    for index, child in objects(schema.get("anyOf")):
        yield from subset_problems(child, f"{where}.anyOf[{index}]")


def value_problems(schema: Json, kind: str, where: str) -> Iterator[str]:
    if "enum" in schema:
        values = schema["enum"]
        if kind != "string":
            yield f"{where}: 'enum' is only for strings"
        if not isinstance(values, list) or any(not text_of(value) for value in values):
            yield f"{where}: 'enum' is not a list of strings with something in them"
    if "format" in schema and text_of(schema["format"]) not in FORMATS.get(kind, set()):
        yield f"{where}: format {schema['format']!r} is not supported for {kind or 'this'}"


def tool_config(body: Json) -> Iterator[str]:
    config = camel(body).get("toolConfig")
    if config is None:
        return
    calling = config.get("functionCallingConfig") if isinstance(config, dict) else None
    if not isinstance(calling, dict):
        yield "toolConfig: no functionCallingConfig"
        return
    yield from fields("", "mode allowedFunctionNames").problems(calling, "toolConfig.functionCallingConfig")
    mode, allowed = text_of(calling.get("mode", "AUTO")).upper(), calling.get("allowedFunctionNames")
    if mode not in ("AUTO", "ANY", "NONE", "VALIDATED"):
        yield f"toolConfig.functionCallingConfig.mode: {calling['mode']!r} is not AUTO, ANY, NONE or VALIDATED"
    if allowed is None:
        return
    if mode not in ("ANY", "VALIDATED"):
        yield "toolConfig.functionCallingConfig: allowedFunctionNames only with mode ANY or VALIDATED"
    names = [declaration.get("name") for _, declaration in declarations(body)]
    if not isinstance(allowed, list) or any(name not in names for name in allowed):
        yield f"toolConfig.functionCallingConfig.allowedFunctionNames: {allowed!r} are not all declared"


def generation(body: Json) -> Iterator[str]:
    config = camel(body).get("generationConfig")
    if config is None:
        return
    if not isinstance(config, dict):
        yield "generationConfig: not an object"
        return
    yield from GENERATION.problems(config, "generationConfig")
    limit = config.get("maxOutputTokens")
    if limit is not None and (not whole(limit) or limit < 1):
        yield f"generationConfig.maxOutputTokens: {limit!r} is not a number of tokens"
    thinking = config.get("thinkingConfig")
    if isinstance(thinking, dict):
        yield from fields("", "includeThoughts thinkingBudget thinkingLevel").problems(
            thinking, "generationConfig.thinkingConfig"
        )
        if "thinkingBudget" in thinking and "thinkingLevel" in thinking:
            yield "generationConfig.thinkingConfig: thinkingBudget and thinkingLevel at once"
        if (budget := thinking.get("thinkingBudget")) is not None and (not whole(budget) or budget < -1):
            yield f"generationConfig.thinkingConfig.thinkingBudget: {budget!r} is not a number of tokens, 0 or -1"
    elif thinking is not None:
        yield "generationConfig.thinkingConfig: not an object"


def answer_schema(body: Json) -> Iterator[str]:
    config = camel(body).get("generationConfig")
    if not isinstance(config, dict):
        return
    given = [key for key in ("responseSchema", "responseJsonSchema") if key in config]
    if len(given) == 2:
        yield "generationConfig: responseSchema and responseJsonSchema at once"
    if given and config.get("responseMimeType") not in ("application/json", "text/x.enum"):
        yield f"generationConfig: {given[0]} without responseMimeType 'application/json'"
    if "responseSchema" in config:
        yield from subset_problems(config["responseSchema"], "generationConfig.responseSchema")
    if config.get("responseMimeType") == "application/json" and any(True for _ in declarations(body)):
        yield "generationConfig: functions can't be called while responseMimeType is 'application/json'"


RULES = (
    Rule("G2", "no unknown top-level field, none missing", top_fields),
    Rule("G3", "contents have at least one part each", content_shape),
    Rule("G4", "roles are user and model", roles),
    Rule("G5", "a part sets exactly one kind of data and only known fields", part_shape),
    Rule("G6", "no empty text, unless it carries a signature", text_filled),
    Rule("G7", "calls, thoughts and signatures are the model's, responses are not", part_place),
    Rule("G8", "the first content is the user's", first_is_user),
    Rule("G9", "the last content is not the model's", last_is_user),
    Rule("G10", "user and model alternate", alternation, portable=True),
    Rule("G11", "calls come right after the user or a response", calls_after_user),
    Rule("G12", "responses come right after their calls", responses_after_calls),
    Rule("G13", "as many responses in the next content as calls", counts),
    Rule("G14", "responses have the names and ids of the calls, in order", pairs),
    Rule("G15", "responses come before everything else in their content", alone_with_responses),
    Rule("G16", "calls and responses are well formed, args and response are objects", call_shape),
    Rule("G17", "signatures are base64", signatures),
    Rule("G18", "in the open turn every step keeps its signature", signature_of_step),
    Rule("G19", "media are what they say they are", media),
    Rule("G20", "the system instruction is text", system_instruction),
    Rule("G21", "tools hold function declarations", tools),
    Rule("G22", "functions are declared once", tool_names_once),
    Rule("G23", "schemas of functions keep to the subset", tool_schemas),
    Rule("G24", "the calling configuration fits the functions", tool_config),
    Rule("G25", "the generation configuration is well formed", generation),
    Rule("G26", "a schema of the answer is given with its type, and never beside functions", answer_schema),
)
