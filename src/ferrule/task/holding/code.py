"""The index of the project's code for `codebase_search`: in the person's state folder, opened when somebody first asks."""

import hashlib
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ferrule.store.private import make_folder, state_folder
from ferrule.task.kind import Opening
from ferrule.tools.base import Tool
from ferrule.tools.read.codebase_search import codebase_search
from ferrule.types.errors import UsageError

from .finding import Finding

if TYPE_CHECKING:
    from ferrule.workspace.codebase.codebase import Codebase
    from ferrule.workspace.codebase.embedding import Embeddings

PATIENCE = 20.0
"""Seconds that a first look through the project may take; what is not known by then is not found yet."""


def code_tool(opening: Opening, finding: Finding) -> Tool:
    """Raises UsageError for embeddings that are configured in part."""
    embeddings = _embeddings(opening)

    async def files() -> Sequence[str]:
        finder = finding.finder()
        await finder.settled(PATIENCE)
        return await finder.files()

    return codebase_search(_codebase(opening, embeddings), files)


def _codebase(opening: Opening, embeddings: "Embeddings | None") -> "Callable[[], Codebase]":
    opened: list[Codebase] = []

    def codebase() -> "Codebase":
        from ferrule.workspace.codebase.codebase import Codebase

        if not opened:
            opened.append(Codebase(opening.place.root, _file(opening), embeddings))
            opening.closers.append(opened[0].close)
        return opened[0]

    return codebase


def _file(opening: Opening) -> Path:
    """By the folder's path. A task that keeps nothing has its own, which goes with it."""
    if opening.options.no_session:
        import tempfile

        folder = Path(tempfile.mkdtemp(prefix="ferrule-code-"))

        async def remove() -> None:
            import shutil

            shutil.rmtree(folder, ignore_errors=True)

        opening.closers.append(remove)
    else:
        folder = state_folder(opening.options.environ) / "code"
        make_folder(folder)
    return folder / f"{hashlib.blake2b(os.fsencode(opening.place.root), digest_size=16).hexdigest()}.db"


def _embeddings(opening: Opening) -> "Embeddings | None":
    search = opening.options.config.search
    if search.embeddings_url is None and search.embeddings_model is None:
        return None
    if search.embeddings_url is None or search.embeddings_model is None:
        raise UsageError("search.embeddings_url and search.embeddings_model must be set together.")
    key = opening.options.environ.get(search.embeddings_key_env) if search.embeddings_key_env else None
    if search.embeddings_key_env and not key:
        raise UsageError(f"search.embeddings_key_env names {search.embeddings_key_env}, which is not set.")
    from ferrule.workspace.codebase.embedding import Embeddings

    return Embeddings(search.embeddings_url, search.embeddings_model, key)
