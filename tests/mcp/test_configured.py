import json
from pathlib import Path
from typing import Any

import pytest

from ferrule.task.mcp.entry import secrets_of
from ferrule.task.mcp.files import configured
from ferrule.types.errors import UsageError


class Place:
    """A project, a home, and what they configure."""

    def __init__(self, base: Path) -> None:
        self.folder = base / "project"
        self.home = base / "home"
        self.folder.mkdir()
        self.environ = {"HOME": str(self.home), "FERRULE_HOME": str(base / "state")}
        self.own = self.home / ".config" / "ferrule" / "mcp.json"
        self.own.parent.mkdir(parents=True)

    def trust(self) -> None:
        self.own.with_name("config.toml").write_text(f'trusted = ["{self.folder}"]\n')

    def write(self, path: Path, **servers: Any) -> None:
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps({"mcpServers": servers, "inputs": []}))

    def read(self, **environ: str) -> Any:
        return configured(self.folder, {**self.environ, **environ})


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path.resolve())


def test_nothing_configured_is_no_server(place: Place) -> None:
    assert place.read().servers == () and place.read().notes == ()


def test_a_trusted_project_comes_after_the_persons_own_file(place: Place) -> None:
    place.trust()
    place.write(place.own, one={"command": "own"}, two={"command": "own"}, three={"command": "own"})
    place.write(place.folder / ".roo" / "mcp.json", two={"command": "roo"}, three={"command": "roo"})
    place.write(place.folder / ".mcp.json", three={"command": "project"}, four={"url": "http://127.0.0.1:1/sse", "type": "sse"})
    found = place.read()
    assert [(server.name, server.target) for server in found.servers] == [
        ("one", "own"),
        ("two", "roo"),
        ("three", "project"),
        ("four", "http://127.0.0.1:1/sse"),
    ]
    assert [server.transport for server in found.servers] == ["stdio", "stdio", "stdio", "sse"]
    assert found.servers[2].origin == place.folder / ".mcp.json"
    assert found.notes == ()


def test_a_project_that_is_not_trusted_adds_no_server_and_takes_none_away(place: Place) -> None:
    place.write(place.own, one={"command": "own"})
    (place.folder / ".roo").mkdir()
    (place.folder / ".roo" / "mcp.json").write_text("{ this is not read")
    place.write(place.folder / ".mcp.json", one={"command": "evil"}, two={"command": "evil"})
    found = place.read()
    assert [server.target for server in found.servers] == ["own"]
    assert found.notes == tuple(
        f"{place.folder / name} is ignored because its folder is not trusted; to trust it: ferrule config trust {place.folder}"
        for name in (".roo/mcp.json", ".mcp.json")
    )


def test_all_fields_mean_what_other_agents_mean_by_them(place: Place) -> None:
    place.write(
        place.own,
        files={
            "command": "npx",
            "args": ["-y", "x", "${workspaceFolder}/a", "${MODE:-fast}"],
            "env": {"API_KEY": "${env:TOKEN_OF_MINE}", "LEVEL": "1"},
            "cwd": "sub",
            "timeout": 5,
            "alwaysAllow": ["read", "*"],
            "disabledTools": ["drop"],
            "watchPaths": ["x"],
        },
        far={"type": "streamable-http", "url": "https://${HOST}/mcp", "headers": {"Authorization": "Bearer ${TOKEN_OF_MINE}"}},
        off={"command": "x", "disabled": True},
    )
    found = place.read(TOKEN_OF_MINE="abcdefghijkl", HOST="example.com")
    files, far = found.servers
    assert files.command == ("npx", "-y", "x", f"{place.folder}/a", "fast")
    assert files.env == (("API_KEY", "abcdefghijkl"), ("LEVEL", "1"))
    assert files.cwd == str(place.folder / "sub")
    assert (files.timeout, files.allow, files.hidden) == (5.0, {"read", "*"}, {"drop"})
    assert (far.transport, far.url) == ("http", "https://example.com/mcp")
    assert far.headers == (("Authorization", "Bearer abcdefghijkl"),)
    assert found.disabled == (("off", place.own),)
    assert secrets_of(files) == (("API_KEY of the server files", "abcdefghijkl"),)
    assert secrets_of(far) == (("Authorization of the server far", "abcdefghijkl"),)
    assert files.log.parent == Path(place.environ["FERRULE_HOME"]) / "mcp" and files.log.name.startswith("files-")


@pytest.mark.parametrize(
    ("server", "problem"),
    [
        ({}, 'it needs either "command" (with "args") or "url"'),
        ({"command": "x", "url": "http://x"}, 'it needs either "command" (with "args") or "url"'),
        ({"command": " "}, "its command is empty"),
        ({"url": "ftp://x"}, '"ftp://x" is no URL that begins with http:// or https://'),
        ({"type": "stdio", "url": "http://x"}, 'its type is "stdio", which goes with "command"'),
        ({"type": "sse", "command": "x"}, 'its type is "sse", which goes with "url"'),
        ({"command": "x", "timeout": 0}, "its timeout must be above 0 and at most 3600 seconds"),
        ({"command": "x", "timeout": 3601}, "its timeout must be above 0 and at most 3600 seconds"),
        ({"command": "x", "alwaysAllow": ["re*"]}, 'alwaysAllow holds names of tools, or "*" for all; "re*" is neither'),
        ({"command": "x", "args": "y"}, "Expected `array`, got `str` - at `$.args`"),
    ],
)
def test_a_wrong_server_is_named_with_its_file(place: Place, server: dict[str, Any], problem: str) -> None:
    place.write(place.own, wrong=server)
    with pytest.raises(UsageError) as raised:
        place.read()
    assert str(raised.value) == f"{place.own}: the server wrong: {problem}"


def test_a_variable_that_is_not_set_is_an_error(place: Place) -> None:
    place.write(place.own, one={"command": "x", "env": {"A": "${NOT_SET}"}})
    with pytest.raises(UsageError, match="needs the variable NOT_SET, which is not set"):
        place.read()


@pytest.mark.parametrize("name", ["", "a b", "a/b", "a*", "a:b", "x" * 65])
def test_a_name_that_rules_cannot_spell_is_refused(place: Place, name: str) -> None:
    place.write(place.own, **{name: {"command": "x"}})
    with pytest.raises(UsageError, match="its name must be"):
        place.read()


@pytest.mark.parametrize("text", ["{", "[]", '{"mcpServers": []}', '{"mcpServers": {"a": 1}}', "\xff"])
def test_a_file_that_cannot_be_read_is_an_error_with_its_path(place: Place, text: str) -> None:
    place.own.write_bytes(text.encode("latin-1"))
    with pytest.raises(UsageError, match=str(place.own)):
        place.read()
