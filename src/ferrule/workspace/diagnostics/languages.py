"""The language servers that are used where they are installed. None of them may contact anybody or run the project's code."""

import os
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct


class Known(Struct, frozen=True):
    """`languages` are the names of the protocol by suffix; `environment` is added to that of commands.

    `fit` gives the options of `initialize`, None where the program at this path may not be used.
    """

    name: str
    command: tuple[str, ...]
    languages: Mapping[str, str]
    environment: tuple[tuple[str, str], ...] = ()
    fit: Callable[[Path], dict[str, Any] | None] = lambda program: {}


class Server(Struct, frozen=True):
    """A server that is installed."""

    known: Known
    program: str
    options: dict[str, Any]


def _bundled(program: Path) -> dict[str, Any] | None:
    """The pyright of PyPI is a script that downloads the real one."""
    with program.open("rb") as file:
        return None if b"python" in file.readline(200) else {}


def _own_typescript(program: Path) -> dict[str, Any] | None:
    """Without a path it runs the TypeScript of the project, whatever that is, and it downloads types."""
    for folder in (*program.parents[1:3], *program.resolve().parents):
        for below in ("typescript/lib", "node_modules/typescript/lib", "lib/node_modules/typescript/lib"):
            if (folder / below / "tsserver.js").is_file():
                return {"tsserver": {"path": str(folder / below)}, "disableAutomaticTypingAcquisition": True}
    return None


_PYTHON = {".py": "python", ".pyi": "python"}
_SCRIPTS = {
    **dict.fromkeys((".ts", ".mts", ".cts"), "typescript"),
    **dict.fromkeys((".js", ".mjs", ".cjs"), "javascript"),
    ".tsx": "typescriptreact",
    ".jsx": "javascriptreact",
}
_C = {**dict.fromkeys((".c", ".h"), "c"), **dict.fromkeys((".cc", ".cpp", ".cxx", ".hh", ".hpp", ".hxx"), "cpp")}
_RUST = {
    "cargo": {"buildScripts": {"enable": False}, "extraEnv": {"CARGO_NET_OFFLINE": "true"}},
    "procMacro": {"enable": False},
    "checkOnSave": False,
}

SERVERS = (
    Known("pyright", ("pyright-langserver", "--stdio"), _PYTHON, fit=_bundled),
    Known("basedpyright", ("basedpyright-langserver", "--stdio"), _PYTHON),
    Known("pylsp", ("pylsp",), _PYTHON),
    Known("typescript-language-server", ("typescript-language-server", "--stdio"), _SCRIPTS, fit=_own_typescript),
    Known("gopls", ("gopls",), {".go": "go"}, (("GOFLAGS", "-mod=readonly"), ("GOPROXY", "off"), ("GOTOOLCHAIN", "local"))),
    Known("rust-analyzer", ("rust-analyzer",), {".rs": "rust"}, (("CARGO_NET_OFFLINE", "true"),), lambda program: _RUST),
    Known("clangd", ("clangd", "--background-index=false"), _C),
)
"""In the order of preference."""


def installed(suffix: str, path: str, servers: tuple[Known, ...] = SERVERS) -> Server | None:
    """The first server for files of this suffix in the folders of `path` that are absolute."""
    for known in servers:
        if suffix not in known.languages:
            continue
        program = shutil.which(known.command[0], path=os.pathsep.join(filter(os.path.isabs, path.split(os.pathsep))))
        if program is None:
            continue
        try:
            options = known.fit(Path(program))
        except OSError:
            continue
        if options is not None:
            return Server(known, program, options)
    return None
