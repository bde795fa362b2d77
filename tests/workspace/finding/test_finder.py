import asyncio
import os
import random
import shutil
import subprocess
import time
from pathlib import Path

import psutil
import pytest

from ferrule.process.protocol import Command, Ended
from ferrule.process.supervisor import Supervisor
from ferrule.workspace.finding.finder import Finder

from .living import PATIENCE, held, live, paths, scanned, until

GIT = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}


def git(folder: Path, *arguments: str) -> None:
    identity = ("-c", "user.name=T", "-c", "user.email=t@example.org", "-c", "protocol.file.allow=always")
    subprocess.run(["git", *identity, *arguments], cwd=folder, env=GIT, check=True, capture_output=True)


def make(root: Path, *names: str) -> None:
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.mkdir() if name.endswith("/") else path.write_text("x")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path.resolve() / "project"
    folder.mkdir()
    return folder


@pytest.fixture
def odd(root: Path) -> Path:
    make(
        root,
        "a b/[id]/c{d}.py",
        "🙂/x",
        "caf\u00e9",
        "cafe\u0301",
        "empty/",
        "line\nfeed",
        "-rf",
        "*?",
        "back\\slash",
        "src/x.log",
    )
    make(root, ".gitignore", "ignored/deep/x", "kept/.gitignore", "kept/x.tmp", "kept/y", ".hidden/z", ".git/config")
    (root / ".gitignore").write_text("ignored/\n*.log\n")
    (root / "kept" / ".gitignore").write_text("*.tmp\n")
    (root / "loop").symlink_to(".")
    (root / "round").symlink_to("round")
    (root / "link").symlink_to("kept/y")
    os.mkfifo(root / "pipe")
    for name in (b"bad\xff", b"worse\xfe/inside"):
        path = os.path.join(os.fsencode(root), name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        os.close(os.open(path, os.O_CREAT))
    return root


@pytest.mark.parametrize("follow", [True, False])
def test_an_odd_tree_is_known_as_a_full_scan_finds_it(odd: Path, follow: bool) -> None:
    async def body(finder: Finder) -> None:
        now = await held(finder)
        assert now == scanned(odd)
        assert {"a b/[id]/c{d}.py", "caf\u00e9", "cafe\u0301", "empty/", "loop", "link", "pipe", "bad\ufffdFF"} <= now
        assert not {"ignored/", "src/x.log", "kept/x.tmp", ".git/", "loop/kept/"} & now
        found = await finder.query("[id]")
        assert (found.complete, paths(found)[0]) == (True, "a b/[id]/")

    live(odd, body, follow)


def test_submodules_and_worktrees_are_known_as_a_full_scan_finds_them(root: Path, tmp_path: Path) -> None:
    inner = tmp_path / "inner"
    inner.mkdir()
    make(inner, "part.py", "part.tmp", ".gitignore")
    (inner / ".gitignore").write_text("*.tmp\n")
    for folder in (inner, root):
        git(folder, "init", "-q")
    git(inner, "add", ".")
    git(inner, "commit", "-qm", "x")
    git(root, "submodule", "add", "-q", str(inner), "vendor/inner")
    git(root, "commit", "-qm", "x")
    git(root, "worktree", "add", "-q", str(root / "trees" / "one"))

    async def body(finder: Finder) -> None:
        now = await held(finder)
        assert now == scanned(root)
        assert {"vendor/inner/part.py", "trees/one/.gitmodules"} <= now
        assert not [path for path in now if ".git/" in path]

    live(root, body)


def test_changes_are_followed(root: Path) -> None:
    make(root, ".gitignore", "src/a.py", "src/deep/b.py")
    (root / ".gitignore").write_text("*.log\n")

    async def body(finder: Finder) -> None:
        make(root, "new.py", "src/no.log", "fresh/x/y/z.py", "fresh/no.log")
        now = await until(finder, lambda now: {"new.py", "fresh/x/y/z.py"} <= now)
        assert now == scanned(root)
        (root / "src").rename(root / "source")
        now = await until(finder, lambda now: "source/deep/b.py" in now and "src/" not in now)
        assert now == scanned(root)
        shutil.rmtree(root / "source")
        (root / "new.py").unlink()
        (root / "new.py").mkdir()
        now = await until(finder, lambda now: "new.py/" in now and not any("source" in path for path in now))
        assert now == scanned(root)

    live(root, body)


def test_other_rules_begin_anew_and_never_show_what_is_ignored_by_then(root: Path) -> None:
    make(root, "a.py", "secret.txt", "sub/secret.txt")

    async def body(finder: Finder) -> None:
        (root / ".gitignore").write_text("secret.txt\n")
        assert await until(finder, lambda now: now == {".gitignore", "a.py", "sub/"})
        (root / ".gitignore").unlink()
        assert await until(finder, lambda now: now == {"a.py", "secret.txt", "sub/", "sub/secret.txt"})
        assert await finder.settled(PATIENCE)

    live(root, body)


@pytest.mark.parametrize("seed", range(3))
def test_after_random_changes_what_is_held_is_what_a_full_scan_finds(root: Path, seed: int) -> None:
    chance = random.Random(seed)
    names = ["a", "b", "c.py", "d.log", "é", "x y"]

    def somewhere() -> Path:
        return root.joinpath(*chance.choices(names, k=chance.randint(1, 3)))

    def change() -> None:
        path, other = somewhere(), somewhere()
        match chance.choice(["file", "folder", "remove", "move", "link", "rules"]):
            case "file":
                path.write_text("x")
            case "folder":
                path.mkdir(parents=True)
            case "remove":
                shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
            case "move":
                path.rename(other)
            case "link":
                path.symlink_to(other)
            case "rules" if chance.random() < 0.2:
                (root / ".gitignore").write_text(chance.choice(["*.log\n", "b/\n", ""]))

    async def body(finder: Finder) -> None:
        for _ in range(6):
            for _ in range(30):
                try:
                    change()
                except OSError:
                    continue
            await until(finder, lambda now: now == scanned(root))
            assert await finder.settled(PATIENCE)

    live(root, body)


def test_changes_during_the_first_look_are_not_missed(root: Path) -> None:
    make(root, *(f"d{number}/f{number}.py" for number in range(200)))

    async def body(finder: Finder) -> None:
        for number in range(0, 200, 2):
            shutil.rmtree(root / f"d{number}")
            make(root, f"late{number}/x.py")
            await asyncio.sleep(0.002)
        assert await finder.settled(PATIENCE)
        await until(finder, lambda now: now == scanned(root))

    live(root, body, settled=False)


def test_an_answer_before_all_was_looked_through_says_so(root: Path) -> None:
    make(root, "a.py")

    async def body(finder: Finder) -> None:
        found = await finder.query("a")
        assert (found.complete, found.remark) == (False, "The folder is still being looked through.")
        assert await finder.settled(PATIENCE)
        found = await finder.query("a")
        assert (paths(found), found.complete, found.remark) == (["a.py"], True, "")

    live(root, body, settled=False)


@pytest.mark.parametrize("name", [".ferruleignore", ".rooignore"])
def test_what_ignore_files_of_ours_mean_is_never_an_answer(root: Path, name: str) -> None:
    make(root, "a1.py", "a2.py", "far/down/a3.py", "far/keys/a4.py", "far/a5.py")
    (root / "far" / name).write_text("keys/\n")

    async def body(finder: Finder) -> None:
        deadline = time.monotonic() + PATIENCE
        early: set[str] = set()
        while not await finder.settled(0.001):
            early |= await shown(finder)
            assert time.monotonic() < deadline
        assert "far/keys/a4.py" not in early
        assert await held(finder) == scanned(root)
        (root / name).write_text("a1.py\nfar/a5.py\n")
        for _ in range(50):
            assert not {"a1.py", "far/a5.py", "far/keys/a4.py"} & await shown(finder)
            await asyncio.sleep(0.002)
        await until(finder, lambda now: now == scanned(root))
        (root / name).unlink()
        await until(finder, lambda now: {"a1.py", "far/a5.py"} <= now)

    async def shown(finder: Finder) -> set[str]:
        return set(paths(await finder.query("a", 3)))

    live(root, body, settled=False)


class Without:
    """Processes of which some programs cannot be started."""

    def __init__(self, word: str) -> None:
        self._real = Supervisor()
        self._word = word

    async def run(self, command: Command, on_output: object) -> Ended:
        if any(self._word in each for each in command.argv):
            return Ended(None, None, 0.0, error="it is not allowed to start")
        return await self._real.run(command, on_output)  # type: ignore[arg-type]

    async def close(self) -> None:
        await self._real.close()


def test_where_changes_cannot_be_followed_the_files_are_listed_anew(root: Path) -> None:
    make(root, "a.py", "empty/")

    async def run() -> None:
        processes = Without("watching")
        finder = Finder.open(root, processes, tuple(os.environ.items()))
        assert await finder.settled(PATIENCE)
        found = await finder.query("")
        assert (paths(found), found.complete) == (["a.py", "empty/"], True)
        assert found.remark == "Changes are not followed: it is not allowed to start."
        make(root, "later.py")
        await until(finder, lambda now: now == {"a.py", "empty/", "later.py"})
        await finder.close()
        await processes.close()

    asyncio.run(run())


def test_where_the_files_cannot_be_listed_that_is_said(root: Path) -> None:
    make(root, "a.py")

    async def run() -> None:
        processes = Without("--files")
        finder = Finder.open(root, processes, tuple(os.environ.items()), follow=False)
        assert await finder.settled(PATIENCE)
        found = await finder.query("")
        assert not found.complete
        assert "Files are missing: listing the files failed: it is not allowed to start." in found.remark
        await finder.close()
        await processes.close()

    asyncio.run(run())


def test_a_cancelled_query_makes_way_for_the_next(root: Path) -> None:
    make(root, *(f"f{number}.py" for number in range(2000)))

    async def body(finder: Finder) -> None:
        started = time.monotonic()
        slow = [asyncio.create_task(finder.query("f", keep=lambda path: time.sleep(0.0005) is None)) for _ in range(20)]
        await asyncio.sleep(0.02)
        for each in slow:
            each.cancel()
        found = await finder.query("f7")
        whole = 20 * 2000 * 0.0005
        assert (paths(found)[0], time.monotonic() - started < whole / 2) == ("f7.py", True)
        assert all(isinstance(each, asyncio.CancelledError) for each in await asyncio.gather(*slow, return_exceptions=True))

    live(root, body)


def test_nothing_is_left_running_after_it_was_closed(root: Path) -> None:
    async def run() -> None:
        processes = Supervisor()
        finder = Finder.open(root, processes, tuple(os.environ.items()))
        assert await finder.settled(PATIENCE)
        await finder.close()
        assert [task for task in asyncio.all_tasks() if task is not asyncio.current_task()] == []
        assert not [each for each in psutil.process_iter(["cmdline"]) if str(root) in (each.info["cmdline"] or ())]
        await processes.close()

    asyncio.run(run())


def test_unreadable_folders_are_passed_over(root: Path) -> None:
    if os.geteuid() == 0:
        pytest.skip("root may read everything")
    make(root, "open/a", "closed/b")
    (root / "closed").chmod(0)

    async def body(finder: Finder) -> None:
        assert await held(finder) == {"open/", "open/a", "closed/"}

    live(root, body)
    (root / "closed").chmod(0o700)


@pytest.mark.long
def test_a_hundred_thousand_files_are_all_known_and_the_last_one_is_found(root: Path) -> None:
    for folder in range(500):
        (root / f"d{folder}").mkdir()
        for number in range(200):
            os.close(os.open(root / f"d{folder}" / f"f{folder}_{number}.py", os.O_CREAT))

    async def body(finder: Finder) -> None:
        found = await finder.query("d499/f499_199", 1)
        assert (paths(found), found.known, found.complete) == (["d499/f499_199.py"], 100_500, True)
        assert await held(finder) == scanned(root)

    live(root, body)
