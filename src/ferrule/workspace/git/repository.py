"""The one caller of git: asks a repository, changes nothing in it, and says in words why it can't answer."""

import asyncio
import os
import re
import shutil
import tempfile
from collections.abc import Iterable, Sequence
from functools import cached_property
from pathlib import Path

from ferrule.process.capture import capture
from ferrule.process.protocol import Ended, Processes
from ferrule.types.errors import FerruleError, UsageError
from ferrule.types.names import spell, unspell

from .safe import asking_environment, safe_environment

TIMEOUT = 60.0
"""Seconds for one command."""
SMALL = 1_000_000
OLDEST = (2, 32)
"""Before it, git can't be told to leave the person's configuration alone."""

_BATCH = 16_000_000
"""Bytes of file contents asked for at once."""
_ID = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?\Z")


class Git:
    """One repository with a working tree, found from `folder` upwards.

    `environment` is the complete environment of the commands; of the variables for git only `GIT_INDEX_FILE` counts, which git
    sets for its hooks. Objects that only Ferrule needs go to a temporary folder that `close` removes. The configuration is looked
    at once: use one `Git` for one piece of work. Every method may raise UsageError where there is no such repository, and
    FerruleError where git fails. Paths inside the repository are spelled as `types.names.spell` does.
    """

    def __init__(self, processes: Processes, folder: Path, environment: Iterable[tuple[str, str]]) -> None:
        self.folder = folder
        self._processes = processes
        self._source = dict(environment)
        self._safe: dict[str, str] | None = None
        self._top: Path | None = None
        self._opening = asyncio.Lock()

    @cached_property
    def scratch(self) -> Path:
        """A folder for files that git is handed, and for objects that are not the repository's."""
        return Path(tempfile.mkdtemp(prefix="ferrule-git-"))

    def new_folder(self) -> Path:
        """An empty folder in `scratch`."""
        return Path(tempfile.mkdtemp(dir=self.scratch))

    def close(self) -> None:
        """Remove the temporary folder. May be called again."""
        if "scratch" in self.__dict__:
            shutil.rmtree(self.scratch, ignore_errors=True)

    async def top(self) -> Path:
        """The top folder of the working tree, which is `folder` or above it."""
        if self._top is None:
            async with self._opening:
                self._top = self._top or await self._open()
        return self._top

    async def _open(self) -> Path:
        """From here on git writes objects to our folder, and reads them from there and from the repository."""
        output = await self._output(["rev-parse", "--show-toplevel"], self.folder)
        top = Path(os.fsdecode(output.removesuffix(b"\n")))
        if not self.folder.resolve().is_relative_to(top.resolve()):
            raise UsageError(f"{self.folder} is not in the working tree of its repository, which is at {top}.")
        asked = ["rev-parse", "--path-format=absolute", "--git-path", "objects"]
        path = os.fsdecode((await self._output(asked, top)).removesuffix(b"\n")).replace("\\", "\\\\").replace('"', '\\"')
        own = self.scratch / "objects"
        own.mkdir()
        self._safe = (self._safe or {}) | {"GIT_OBJECT_DIRECTORY": str(own), "GIT_ALTERNATE_OBJECT_DIRECTORIES": f'"{path}"'}
        return top

    async def head(self) -> str | None:
        """The commit that is checked out; None before the first one."""
        await self.top()
        return await self._commit("HEAD")

    async def resolve(self, ref: str) -> str:
        """The full id of the commit that `ref` names. UsageError where it names none, or several."""
        await self.top()
        if not ref or ref.startswith("-") or not ref.isprintable():
            raise UsageError(f"{ref!r} can't be the name of a commit.")
        commit = await self._commit(ref)
        if commit is None and ref in ("HEAD", "@") and await self._commit("HEAD") is None:
            raise UsageError("The repository has no commits yet.")
        if commit is None:
            raise UsageError(
                f"The repository has no commit that is called {ref}, or several. `git log --oneline {ref}` tells more."
            )
        return commit

    async def _commit(self, ref: str) -> str | None:
        ended, output = await self.run(["rev-parse", "--verify", "--quiet", "--end-of-options", f"{ref}^{{commit}}"])
        id = output.decode(errors="replace").strip()
        return id if ended.exit_code == 0 and _ID.match(id) else None

    async def merge_base(self, one: str, other: str) -> str:
        """The best common ancestor of two commits. UsageError where there is none."""
        commits = await self.resolve(one), await self.resolve(other)
        ended, output = await self.run(["merge-base", *commits])
        if ended.exit_code == 0:
            return output.decode().split()[0]
        more = " This is a shallow clone: `git fetch --unshallow` gets the rest." if await self.shallow() else ""
        raise UsageError(f"{one} and {other} have no common ancestor here.{more}")

    async def parents(self, commit: str) -> tuple[str, ...]:
        """The ids of its parents as the commit itself names them, whether they are here or not."""
        head = (await self.output(["cat-file", "commit", commit])).split(b"\n\n", 1)[0]
        return tuple(line[7:].decode() for line in head.split(b"\n") if line.startswith(b"parent "))

    async def has(self, id: str) -> bool:
        ended, _ = await self.run(["cat-file", "-e", id])
        return ended.exit_code == 0

    async def shallow(self) -> bool:
        return await self.output(["rev-parse", "--is-shallow-repository"]) == b"true\n"

    async def tree(self, commit: str | None) -> str:
        """The id of a commit's tree; of the empty tree for None."""
        if commit is None:
            return (await self.output(["hash-object", "-t", "tree", "/dev/null"])).decode().strip()
        return (await self.output(["rev-parse", "--verify", f"{commit}^{{tree}}"])).decode().strip()

    async def git_path(self, name: str) -> Path:
        """Where a file of the repository itself lies, such as `index`."""
        output = await self.output(["rev-parse", "--path-format=absolute", "--git-path", name])
        return Path(os.fsdecode(output.removesuffix(b"\n")))

    async def contents(self, blobs: Iterable[str], most: int = 1_000_000) -> dict[str, bytes]:
        """The bytes of each blob by its id; those of more than `most` bytes, and what is no blob here, are left out."""
        wanted = list(dict.fromkeys(blobs))
        if unfit := [id for id in wanted if not _ID.match(id)]:
            raise ValueError(f"not the id of a blob: {unfit[0]!r}")
        if not wanted:
            return {}
        checked = await self.output(["cat-file", "--batch-check", "--buffer"], feed=_lines(wanted), limit=200 * len(wanted))
        sizes = [line.split() for line in checked.decode().splitlines()]
        found: dict[str, bytes] = {}
        for group in _grouped([(line[0], int(line[2])) for line in sizes if line[1] == "blob" and int(line[2]) <= most]):
            output = await self.output(["cat-file", "--batch", "--buffer"], feed=_lines(group), limit=2 * _BATCH + most)
            found |= _batch(output)
        return found

    async def file_at(self, tree: str, path: str, most: int = 1_000_000) -> bytes | None:
        """The file at `path` of a tree or commit, links inside it followed; None where there is none of at most `most` bytes."""
        if "\n" in path:
            return None
        feed = f"{tree}:".encode() + unspell(path) + b"\n"
        output = await self.output(["cat-file", "--batch", "--follow-symlinks"], feed=feed, limit=most + 1000, whole=False)
        head, _, rest = output.partition(b"\n")
        match head.split():
            case [_, b"blob", size] if int(size) <= most:
                return rest[: int(size)]
        return None

    async def attributes(self, tree: str, paths: Sequence[str], names: Sequence[str]) -> dict[str, dict[str, str]]:
        """What the `.gitattributes` of a tree say of each path: `set`, `unset` or a value. The unspecified is left out."""
        index = {"GIT_INDEX_FILE": str(self.new_folder() / "index")}
        await self.output(["read-tree", tree], environment=index)
        feed = b"".join(unspell(path) + b"\0" for path in paths)
        limit = (len(feed) + 200 * len(paths)) * len(names) + SMALL
        asked = ["check-attr", "--cached", "--stdin", "-z", *names]
        fields = (await self.output(asked, environment=index, feed=feed, limit=limit)).split(b"\0")
        found: dict[str, dict[str, str]] = {path: {} for path in paths}
        for path, name, value in zip(fields[::3], fields[1::3], fields[2::3], strict=False):
            if value != b"unspecified":
                found[spell(path)][name.decode()] = value.decode(errors="replace")
        return found

    async def output(
        self,
        arguments: Sequence[str],
        *,
        limit: int = SMALL,
        environment: dict[str, str] | None = None,
        feed: bytes | None = None,
        whole: bool = True,
    ) -> bytes:
        """What git prints. FerruleError where it fails, or prints more than `limit` bytes and `whole` is asked for."""
        await self.top()
        return await self._output(arguments, None, limit, environment, feed, whole)

    async def _output(
        self,
        arguments: Sequence[str],
        folder: Path | None,
        limit: int = SMALL,
        environment: dict[str, str] | None = None,
        feed: bytes | None = None,
        whole: bool = True,
    ) -> bytes:
        ended, output = await self._run(arguments, folder, limit + 1, environment, feed)
        if ended.exit_code != 0:
            _, said = await self._run(arguments, folder, 10_000, environment, feed, merged=True)
            raise self._failure(arguments[0], said.decode(errors="replace").strip())
        if whole and len(output) > limit:
            raise FerruleError(f"git {arguments[0]} printed more than the {limit:,} bytes that it may.")
        return output[:limit]

    async def run(
        self, arguments: Sequence[str], *, limit: int = SMALL, environment: dict[str, str] | None = None
    ) -> tuple[Ended, bytes]:
        """How git ended and what it printed, cut after `limit` bytes. An exit code other than 0 is the caller's to read."""
        await self.top()
        return await self._run(arguments, None, limit, environment)

    async def _run(
        self,
        arguments: Sequence[str],
        folder: Path | None,
        limit: int,
        environment: dict[str, str] | None = None,
        feed: bytes | None = None,
        merged: bool = False,
    ) -> tuple[Ended, bytes]:
        if self._safe is None:
            self._safe = await self._settle()
        environ = self._safe | (environment or {})
        argv = ["git", "--no-pager", *arguments]
        if feed is not None:
            argv = ["sh", "-c", 'exec "$@" <"$0"', str(self._fed(feed)), *argv]
        return await self._start(argv, str(folder or self._top or self.folder), environ, limit, merged)

    def _fed(self, feed: bytes) -> Path:
        """Commands have no standard input of ours, so they read it from a file."""
        path = self.new_folder() / "input"
        path.write_bytes(feed)
        return path

    async def _start(
        self, argv: Sequence[str], cwd: str, environ: dict[str, str], limit: int, merged: bool = False
    ) -> tuple[Ended, bytes]:
        env = tuple(environ.items())
        ended, output = await capture(self._processes, argv, cwd, env, TIMEOUT, limit_bytes=limit, merged=merged)
        if ended.error:
            raise FerruleError(f"git could not be run: {ended.error}")
        if ended.timed_out:
            raise FerruleError(f"git did not answer within {TIMEOUT:.0f} s: {' '.join(argv)[:200]}")
        return ended, output

    async def _settle(self) -> dict[str, str]:
        """The environment in which no configured program runs, from what the configuration says."""
        if shutil.which("git", path=self._source.get("PATH")) is None:
            raise UsageError("git is not installed, or not on the PATH.")
        if not self.folder.is_dir():
            raise UsageError(f"{self.folder} is not a folder.")
        environ = asking_environment(self._source)
        (_, version), (listed, configuration) = await asyncio.gather(
            self._start(["git", "version"], str(self.folder), environ, 1000),
            self._start(["git", "config", "--list", "--show-scope", "-z"], str(self.folder), environ, SMALL + 1),
        )
        if (found := re.search(rb"(\d+)\.(\d+)", version)) and (int(found[1]), int(found[2])) < OLDEST:
            oldest = ".".join(map(str, OLDEST))
            raise UsageError(f"git {found[0].decode()} is too old: {oldest} is the oldest that can be run safely.")
        if listed.exit_code != 0 or len(configuration) > SMALL:
            raise UsageError("git can't read its configuration. `git config --list` tells why.")
        return safe_environment(self._source, configuration)

    def _failure(self, command: str, said: str) -> FerruleError:
        if "not a git repository" in said:
            return UsageError(f"{self.folder} is not in a git repository. Go into one, or make one with `git init`.")
        if "dubious ownership" in said:
            at = found[1] if (found := re.search(r"repository at '(.+)'", said)) else self.folder
            hint = f"If you trust it: git config --global --add safe.directory {at}"
            return UsageError(f"git does not trust {at}, because another user owns it. {hint}")
        if "must be run in a work tree" in said:
            return UsageError(f"{self.folder} is a bare repository, or the inside of one: there is no working tree.")
        return FerruleError(f"git {command} failed: {said[:1000] or 'without a word'}")


def _lines(ids: Iterable[str]) -> bytes:
    return "".join(f"{id}\n" for id in ids).encode()


def _grouped(sizes: Iterable[tuple[str, int]]) -> list[list[str]]:
    """Ids in groups of which each is one blob, or blobs of at most `_BATCH` bytes together."""
    groups: list[list[str]] = []
    room = 0
    for id, size in sizes:
        if not groups or size + 100 > room:
            groups.append([])
            room = _BATCH
        groups[-1].append(id)
        room -= size + 100
    return groups


def _batch(output: bytes) -> dict[str, bytes]:
    """The answer of `git cat-file --batch` to ids of blobs."""
    found: dict[str, bytes] = {}
    at = 0
    while (end := output.find(b"\n", at)) >= 0:
        id, _, size = output[at:end].split()
        found[id.decode()] = output[end + 1 : end + 1 + int(size)]
        at = end + 2 + int(size)
    return found
