import os
from pathlib import Path

import pytest

from ferrule.task.config.duration import seconds
from ferrule.task.config.keys import plain_keys
from ferrule.task.config.layers import Flag, Loaded, line_of, load, variable
from ferrule.task.config.schema import Config, EndpointConfig, Environment, Gates, Prompt
from ferrule.types.errors import UsageError
from ferrule.types.result import Limits
from ferrule.types.usage import Price

FULL = """\
model = "local/qwen"
effort = "low"
approve = "edits"
allow = ["execute:make *"]
deny = ["execute:rm *"]
verify = ["make test"]
verify_timeout = "2m"
retention_days = 30

[limits]
turns = 40
tokens = 1000000
cost = 2
time = "1h30m"

[gates]
require_todos_done = false

[env]
pass = ["PGHOST"]

[prompt]
append = "Answer in German."

[endpoints.local]
dialect = "openai"
base_url = "http://127.0.0.1:8080/v1/"
key_env = "LOCAL_KEY"
headers = { X-Team = "a" }
window = 32768
max_output = 4096
price = { input = 0, output = 0.5 }
images = false
reasoning = true
cache_marks = false
tools = "schema"
quirks = ["no_stream_options"]
"""


class Place:
    def __init__(self, base: Path) -> None:
        self.folder = base / "project"
        self.user = base / "config" / "ferrule" / "config.toml"
        self.project = self.folder / ".ferrule" / "config.toml"
        self.environ = {"HOME": str(base / "home"), "XDG_CONFIG_HOME": str(base / "config")}
        for file in (self.user, self.project):
            file.parent.mkdir(parents=True)

    def load(self, *flags: Flag, **environ: str) -> Loaded:
        return load(self.folder, self.environ | environ, flags)

    def trust(self, more: str = "") -> None:
        self.user.write_text(f'trusted = ["{self.folder}"]\n{more}')

    def set_origins(self, loaded: Loaded) -> dict[str, str]:
        return {key: where for key, where in loaded.origins.items() if where != "default"}


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def test_without_any_file_every_value_is_the_default(place: Place) -> None:
    loaded = place.load()
    assert loaded == Loaded(Config(), {".".join(key): "default" for key, _, _ in plain_keys()}, (), ())


def test_a_full_file_becomes_the_whole_configuration(place: Place) -> None:
    place.user.write_text(FULL)
    endpoint = EndpointConfig(
        dialect="openai",
        base_url="http://127.0.0.1:8080/v1",
        key_env="LOCAL_KEY",
        headers={"X-Team": "a"},
        window=32768,
        max_output=4096,
        price=Price(0, 0.5),
        images=False,
        reasoning=True,
        cache_marks=False,
        tools="schema",
        quirks=("no_stream_options",),
    )
    assert place.load().config == Config(
        model="local/qwen",
        effort="low",
        approve="edits",
        allow=("execute:make *",),
        deny=("execute:rm *",),
        verify=("make test",),
        verify_timeout=120.0,
        retention_days=30,
        limits=Limits(40, 1000000, 2.0, 5400.0),
        gates=Gates(require_todos_done=False),
        env=Environment(("PGHOST",)),
        prompt=Prompt("Answer in German."),
        endpoints={"local": endpoint},
    )


def test_later_layers_win_and_each_value_knows_its_origin(place: Place) -> None:
    place.trust('approve = "edits"\nverify = ["user"]\nretention_days = 7\n[limits]\nturns = 1\n')
    place.project.write_text('verify = ["project"]\n\n[limits]\nturns = 2\ntokens = 20\n')
    loaded = place.load(Flag("limits.turns", ("4",), "--max-turns"), FERRULE_LIMITS_TURNS="3", FERRULE_LIMITS_TOKENS="30")
    assert loaded.config == Config(approve="edits", verify=("project",), retention_days=7, limits=Limits(turns=4, tokens=30))
    assert place.set_origins(loaded) == {
        "approve": f"{place.user}:2",
        "retention_days": f"{place.user}:4",
        "verify": f"{place.project}:1",
        "limits.turns": "--max-turns",
        "limits.tokens": "FERRULE_LIMITS_TOKENS",
    }
    assert loaded.files == (str(place.user), str(place.project))


def test_rules_of_all_layers_add_up(place: Place) -> None:
    place.trust('deny = ["read:user"]')
    place.project.write_text('deny = ["read:project"]')
    loaded = place.load(Flag("deny", ("read:flag", "ask"), "--deny"), FERRULE_DENY="network\nread:variable\n")
    assert loaded.config.deny == ("read:user", "read:project", "network", "read:variable", "read:flag", "ask")
    assert loaded.origins["deny"] == f"{place.user}:2, {place.project}:1, FERRULE_DENY, --deny"


def test_a_project_file_counts_only_in_a_trusted_folder(place: Place) -> None:
    place.project.write_text('approve = "all"')
    loaded = place.load()
    assert loaded.config == Config()
    assert loaded.notes == (
        f"{place.project} is ignored because its folder is not trusted; to trust it: ferrule config trust {place.folder}",
    )


def test_trusting_a_folder_does_not_trust_the_folders_below_it(place: Place) -> None:
    place.user.write_text(f'trusted = ["{place.folder.parent}"]')
    place.project.write_text('approve = "all"')
    assert place.load().config == Config()


def test_an_untrusted_file_is_not_even_opened(place: Place) -> None:
    os.mkfifo(place.project)
    assert place.load().config == Config()


def test_the_variable_for_the_file_replaces_the_usual_place(place: Place, tmp_path: Path) -> None:
    place.user.write_text('approve = "all"')
    other = tmp_path / "other.toml"
    other.write_text('approve = "edits"')
    assert place.load(FERRULE_CONFIG=str(other)).config == Config(approve="edits")


def test_every_key_has_a_variable_of_its_own() -> None:
    names = [variable(key) for key, _, _ in plain_keys()]
    assert names == [
        "FERRULE_MODEL",
        "FERRULE_EFFORT",
        "FERRULE_APPROVE",
        "FERRULE_ALLOW",
        "FERRULE_DENY",
        "FERRULE_VERIFY",
        "FERRULE_VERIFY_TIMEOUT",
        "FERRULE_RETENTION_DAYS",
        "FERRULE_DIAGNOSTICS",
        "FERRULE_LIMITS_TURNS",
        "FERRULE_LIMITS_TOKENS",
        "FERRULE_LIMITS_COST",
        "FERRULE_LIMITS_TIME",
        "FERRULE_TIMEOUTS_TOOL",
        "FERRULE_TIMEOUTS_COMMAND",
        "FERRULE_TIMEOUTS_FIRST_EVENT",
        "FERRULE_TIMEOUTS_IDLE",
        "FERRULE_TIMEOUTS_TOTAL",
        "FERRULE_GATES_REQUIRE_TODOS_DONE",
        "FERRULE_HOOKS",
        "FERRULE_ENV_PASS",
        "FERRULE_SANDBOX_MODE",
        "FERRULE_SANDBOX_NETWORK",
        "FERRULE_SANDBOX_ACCESS",
        "FERRULE_SANDBOX_SHOW",
        "FERRULE_IGNORE_SHOW",
        "FERRULE_PROMPT_APPEND",
        "FERRULE_SEARCH_EMBEDDINGS_URL",
        "FERRULE_SEARCH_EMBEDDINGS_MODEL",
        "FERRULE_SEARCH_EMBEDDINGS_KEY_ENV",
        "FERRULE_MCP_TOOLS",
    ]


def test_a_misspelled_variable_is_named_and_others_are_left_alone(place: Place) -> None:
    loaded = place.load(FERRULE_MODLE="openai/x", FERRULE_HOME="/x", FERRULE_QQQQ="1", FERRULE_MODEL=" ")
    assert loaded.config == Config()
    assert loaded.notes == ("the variable FERRULE_MODLE is no setting and is ignored; did you mean FERRULE_MODEL?",)


WRONG_FILES = {
    'modle = "openai/x"': '{user}:1: unknown key "modle"; did you mean model?',
    "turns = 3": '{user}:1: unknown key "turns"; did you mean limits.turns?',
    "\n[limits]\nturn = 3": '{user}:3: unknown key "limits.turn"; did you mean limits.turns?',
    "[limits]\nqqq = 3": '{user}:2: unknown key "limits.qqq"; known here: limits.cost, limits.time, limits.tokens, limits.turns',
    'limits = { turns = "many" }': '{user}:1: limits.turns must be a whole number of at least 1, not "many"',
    "[limits]\nturns = 0": "{user}:2: limits.turns must be a whole number of at least 1, not 0",
    "[limits]\ncost = nan": "{user}:2: limits.cost must be an amount of US dollars above 0, not nan",
    'verify_timeout = "soon"': '{user}:1: verify_timeout must be a time above 0 such as 90, 90s, 10m or 2h, not "soon"',
    'allow = ["run:x"]': (
        "{user}:1: allow: The rule `run:x` names no kind of action: a rule is KIND or KIND:PATTERN, such as `write:src/**`, "
        "`execute:git status *` or `execute:pytest`. Kinds are read, write, execute, network, mcp, ask."
    ),
    "limits = 3": "{user}:1: limits must be a table, written [limits]",
    "endpoints = 3": "{user}:1: endpoints must be a table, written [endpoints.NAME]",
    'effort = "max"': '{user}:1: effort must be one of none, low, medium, high, not "max"',
    'approve = "yes"': '{user}:1: approve must be one of ask, edits, all, not "yes"',
    'verify = "make"': '{user}:1: verify must be a list of commands, none of them empty, not "make"',
    "gates.require_todos_done = 1": "{user}:1: gates.require_todos_done must be true or false, not 1",
    'env.pass = ["A B"]': "{user}:1: env.pass must be a list of names of environment variables, not a list",
    'model = "gpt"': (
        "{user}:1: model must be DIALECT/NAME or ENDPOINT/NAME, such as openai/NAME or anthropic/NAME, "
        'several separated by commas, not "gpt"'
    ),
    'model = "openai/x,"': (
        "{user}:1: model must be DIALECT/NAME or ENDPOINT/NAME, such as openai/NAME or anthropic/NAME, "
        'several separated by commas, not "openai/x,"'
    ),
    "timeouts.idle = -1": "{user}:1: timeouts.idle must be a time such as 90, 90s, 10m or 2h, or 0 for no limit, not -1",
    'model = "opnai/gpt"': (
        '{user}:1: model "opnai/gpt" begins with neither a dialect nor a configured endpoint; did you mean openai/gpt?'
    ),
    "trusted = 1": "{user}:1: trusted must be a list of folders",
    r'trusted = ["/a\u0000"]': "{user}:1: trusted: embedded null byte",
    'trusted = ["~nobody-of-this-name/x"]': "{user}:1: trusted: Could not determine home directory.",
    '[endpoints.x]\ndialect = "openai"': "{user}:2: endpoints.x needs base_url: a text",
    '[endpoints.x]\ndialect = "openai"\nbase_url = "localhost"': (
        '{user}:3: endpoints.x.base_url must be a URL that begins with http:// or https://, not "localhost"'
    ),
    '[endpoints.x]\ndialect = "openai"\nbase_url = "http://h"\nprice = { input = 1 }': (
        "{user}:4: endpoints.x.price needs output: a number"
    ),
    "[endpoints.openai]": '{user}:1: an endpoint cannot be named "openai", which is a dialect; choose another name',
    "[endpoints.x]\nkeyenv = 1": '{user}:2: unknown key "endpoints.x.keyenv"; did you mean endpoints.x.key_env?',
    "[endpoints.x]\nheaders = { a = 1 }": "{user}:2: endpoints.x.headers must be a table of texts, not a table",
    "a = ": "{user} is not valid TOML: Invalid value (at end of document)",
}


@pytest.mark.parametrize(("text", "message"), WRONG_FILES.items())
def test_a_wrong_file_names_the_line_the_key_and_what_is_right(place: Place, text: str, message: str) -> None:
    place.user.write_text(text)
    with pytest.raises(UsageError) as caught:
        place.load()
    assert str(caught.value) == message.format(user=place.user)


def test_only_the_users_own_file_can_trust(place: Place) -> None:
    place.trust()
    place.project.write_text('trusted = ["/"]')
    with pytest.raises(UsageError) as caught:
        place.load()
    assert str(caught.value) == f"{place.project}:1: the list `trusted` counts only in the user's own file"


def test_a_file_that_is_named_must_exist_and_be_text(place: Place, tmp_path: Path) -> None:
    with pytest.raises(UsageError) as missing:
        place.load(FERRULE_CONFIG=str(tmp_path / "none.toml"))
    assert str(missing.value) == f"{tmp_path}/none.toml (named by FERRULE_CONFIG) does not exist"
    with pytest.raises(UsageError) as folder:
        place.load(FERRULE_CONFIG=str(tmp_path))
    assert str(folder.value) == f"{tmp_path} cannot be read: Is a directory"
    place.user.write_bytes(b"model = '\xff'")
    with pytest.raises(UsageError) as binary:
        place.load()
    assert str(binary.value) == f"{place.user} is not UTF-8 text (byte 9)"


def test_a_flag_that_is_no_text_is_refused(place: Place) -> None:
    for key, texts, flag in (("model", ("openai/\udcff",), "--model"), ("verify", ("ok", "\udcff"), "--verify")):
        with pytest.raises(UsageError) as caught:
            place.load(Flag(key, texts, flag))
        assert str(caught.value) == f"{flag} is not UTF-8 text (character {texts[-1].index(chr(0xDCFF)) + 1})"


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("FERRULE_LIMITS_TURNS", "many", 'FERRULE_LIMITS_TURNS must be a whole number of at least 1, not "many"'),
        ("FERRULE_GATES_REQUIRE_TODOS_DONE", "yes", 'FERRULE_GATES_REQUIRE_TODOS_DONE must be true or false, not "yes"'),
        ("FERRULE_APPROVE", "null", 'FERRULE_APPROVE must be one of ask, edits, all, not "null"'),
        ("FERRULE_EFFORT", "null", 'FERRULE_EFFORT must be one of none, low, medium, high, not "null"'),
    ],
)
def test_a_wrong_variable_is_named(place: Place, name: str, text: str, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        place.load(**{name: text})
    assert str(caught.value) == message


def test_variables_are_read_by_the_type_of_their_key(place: Place) -> None:
    loaded = place.load(
        FERRULE_LIMITS_COST="0.5",
        FERRULE_LIMITS_TIME="90s",
        FERRULE_GATES_REQUIRE_TODOS_DONE="false",
        FERRULE_VERIFY="[ -f x ]\n\nmake test",
        FERRULE_EFFORT="none",
    )
    assert loaded.config == Config(
        effort="none", verify=("[ -f x ]", "make test"), limits=Limits(cost=0.5, time=90.0), gates=Gates(False)
    )


@pytest.mark.parametrize(
    ("text", "value"),
    [("90", 90.0), ("1.5", 1.5), ("90s", 90.0), (" 10m ", 600.0), ("2h", 7200.0), ("1h30m", 5400.0)],
)
def test_times_are_written_in_the_usual_ways(text: str, value: float) -> None:
    assert seconds(text) == value


@pytest.mark.parametrize("text", ["", "s", "-1", "1d", "1 h", "1h30", "nan", "1e3", "１"])
def test_what_is_no_time_is_none(text: str) -> None:
    assert seconds(text) is None


def test_lines_are_found_in_tables_dotted_keys_and_inline_tables() -> None:
    text = 'a = 1\n[b]\nc = 2\n[ d . "e" ]\nf.g = 3\nh = { i = 4 }\n'
    assert [line_of(text, tuple(key.split("."))) for key in ("a", "b", "b.c", "d.e", "d.e.f.g", "d.e.h.i", "z")] == [
        1, 2, 3, 4, 5, 6, None,
    ]  # fmt: skip
