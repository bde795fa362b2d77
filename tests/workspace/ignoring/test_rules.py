"""Compared with git itself, which is asked by `git check-ignore`."""

import os
import subprocess
import unicodedata
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ferrule.workspace.ignoring.look import Look
from ferrule.workspace.ignoring.rules import LARGEST, Ignored

FILES = ("a", "b.pem", "build/a", "build/deep/b.pem", "src/a", "src/build/x", "src/deep/a", "src/deep/key.txt", "x y", "src/a-b")
PIECES = ("a", "b.pem", "build", "src", "deep", "*", "**", "*.pem", "x y", "?", "[ab]", "[!a]", "key.txt", "a-b", "x\\ y")


@st.composite
def lines(draw: st.DrawFn) -> str:
    body = "/".join(draw(st.lists(st.sampled_from(PIECES), min_size=1, max_size=3)))
    return draw(st.sampled_from(("", "!", "/", "!/"))) + body + draw(st.sampled_from(("", "", "/", "/**")))


def tree(root: Path) -> None:
    for name in FILES:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("x")


def says_git(root: Path) -> set[str]:
    names = "\0".join(FILES)
    asked = ["git", "-C", str(root), "check-ignore", "--no-index", "-z", "--stdin"]
    done = subprocess.run(asked, input=names.encode(), capture_output=True, check=False, env={**os.environ, "HOME": "/nowhere"})
    assert done.returncode in (0, 1), done.stderr
    return set(done.stdout.decode().split("\0")) - {""}


@pytest.fixture(scope="module")
def ours(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("ours").resolve()
    tree(root)
    return root


@pytest.fixture(scope="module")
def gits(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("gits").resolve()
    tree(root)
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    return root


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(top=st.lists(lines(), max_size=4), inner=st.lists(lines(), max_size=3))
def test_what_is_ignored_is_what_git_ignores(ours: Path, gits: Path, top: list[str], inner: list[str]) -> None:
    for root, name in ((ours, ".ferruleignore"), (gits, ".gitignore")):
        (root / name).write_text("\n".join(top))
        (root / "src" / name).write_text("\n".join(inner))
    assert {name for name in FILES if Look().at(str(ours / name))} == says_git(gits)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    tree(tmp_path)
    return tmp_path.resolve()


def test_the_reason_names_file_line_and_pattern(root: Path) -> None:
    (root / ".ferruleignore").write_text("# keys\n\n*.pem\n!b.pem\nb.*  \r\n")
    (root / "src" / ".rooignore").write_text("/deep/\n")
    look = Look()
    assert look.at(f"{root}/b.pem") == Ignored(f"{root}/.ferruleignore", 5, "b.*")
    assert look.at(f"{root}/src/deep/key.txt") == Ignored(f"{root}/src/.rooignore", 1, "/deep/")
    assert look.at(f"{root}/src/a") is None


def test_both_files_of_a_folder_count_and_ours_has_the_last_word(root: Path) -> None:
    (root / ".rooignore").write_text("*.pem\nx*\n")
    (root / ".ferruleignore").write_text("!b.pem\na\n")
    look = Look()
    assert [name for name in ("a", "b.pem", "x y") if look.at(f"{root}/{name}")] == ["a", "x y"]


def directory(path: Path) -> None:
    path.mkdir()


def dangling(path: Path) -> None:
    path.symlink_to("nowhere")


def binary(path: Path) -> None:
    path.write_bytes("*.pem\n".encode("utf-16"))


def endless(path: Path) -> None:
    path.symlink_to("/dev/zero")


def huge(path: Path) -> None:
    path.write_bytes(b"#" * (LARGEST + 1))


def wrong(path: Path) -> None:
    path.write_text("a\n[z-a]x\n")


@pytest.mark.parametrize("make", [directory, dangling, binary, endless, huge, wrong, os.mkfifo], ids=lambda make: make.__name__)
@pytest.mark.parametrize("name", [".ferruleignore", ".rooignore"])
def test_an_ignore_file_that_cannot_be_used_ignores_everything_below_it(
    root: Path, name: str, make: Callable[[Path], None]
) -> None:
    make(root / "src" / name)
    look = Look()
    for below in ("src/a", "src/deep/key.txt", "src/not-there"):
        found = look.at(f"{root}/{below}")
        assert found is not None and found.file == f"{root}/src/{name}"
        assert found.trouble.startswith(("cannot be read (", "cannot be understood (line 2: "))
    assert look.at(f"{root}/a") is look.at(f"{root}/src") is None


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is unreadable for root")
def test_an_ignore_file_without_permission_ignores_everything_below_it(root: Path) -> None:
    (root / ".ferruleignore").touch(mode=0)
    found = Look().at(f"{root}/a")
    assert found == Ignored(f"{root}/.ferruleignore", trouble="cannot be read (Permission denied)")


def test_an_empty_ignore_file_ignores_nothing(root: Path) -> None:
    (root / ".ferruleignore").touch()
    (root / ".rooignore").write_text("\n# nothing\n")
    assert Look().at(f"{root}/a") is None


def test_case_counts_where_it_counts_for_the_file_system(root: Path) -> None:
    (root / ".ferruleignore").write_text("Secret/\n*.PEM\n")
    assert Look().at(f"{root}/secret/x") is Look().at(f"{root}/b.pem") is None
    # What a file system shows that takes both spellings for one name.
    os.link(root / ".ferruleignore", root / ".FERRULEIGNORE")
    assert Look().at(f"{root}/sEcret/x") == Ignored(f"{root}/.ferruleignore", 1, "Secret/")
    assert Look().at(f"{root}/b.pem") == Ignored(f"{root}/.ferruleignore", 2, "*.PEM")


@pytest.mark.parametrize("written", ["NFC", "NFD"])
@pytest.mark.parametrize("asked", ["NFC", "NFD"])
def test_a_name_is_the_same_however_its_accents_are_spelled(root: Path, written: str, asked: str) -> None:
    pattern = unicodedata.normalize(written, "clés/é?.txt")
    (root / ".ferruleignore").write_text(pattern)
    assert Look().at(f"{root}/" + unicodedata.normalize(asked, "clés/éà.txt")) is not None


def test_a_name_that_is_not_utf_8_is_matched_by_its_bytes(root: Path) -> None:
    (root / ".ferruleignore").write_bytes(b"caf\xe9*\n")
    assert Look().at(os.fsdecode(os.fsencode(root) + b"/caf\xe9.txt")) is not None
    assert Look().at(f"{root}/café.txt") is None
