import os
from pathlib import Path

import pytest

from ferrule.task.config.layers import listed_folders, load
from ferrule.task.config.trusting import is_trusted, trust, untrust
from ferrule.types.errors import UsageError


class Home:
    def __init__(self, base: Path) -> None:
        self.user = base / "config" / "ferrule" / "config.toml"
        self.state = base / "state"
        self.folder = base / "project"
        (self.folder / "sub").mkdir(parents=True)
        self.environ = {"HOME": str(base), "XDG_CONFIG_HOME": str(base / "config"), "FERRULE_HOME": str(self.state)}

    def write(self, text: str) -> None:
        self.user.parent.mkdir(parents=True, exist_ok=True)
        self.user.write_text(text)

    def worktree(self, source: Path) -> Path:
        """A folder as `--worktree` makes it of `source`."""
        made = self.state / "worktrees" / "project-0" / "one"
        made.mkdir(parents=True)
        (made.parent / "source").write_text(str(source))
        return made


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


@pytest.mark.parametrize(
    ("listed", "asked", "trusted"),
    [
        ((), "", False),
        (("",), "", True),
        (("",), "sub", False),
        (("sub",), "sub", True),
        (("sub",), "", False),
        (("", "sub"), "sub", True),
    ],
)
def test_a_folder_is_trusted_when_it_is_listed_itself(home: Home, listed: tuple[str, ...], asked: str, trusted: bool) -> None:
    for name in listed:
        assert trust(home.folder / name, home.environ)
    assert is_trusted(home.folder / asked, home.environ) is trusted


def test_a_link_to_a_trusted_folder_is_that_folder(home: Home, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(home.folder)
    trust(tmp_path / "link", home.environ)
    assert listed_folders(home.environ) == (home.folder,)
    assert is_trusted(tmp_path / "link", home.environ)


def test_trusting_keeps_what_the_person_wrote_and_stays_valid(home: Home) -> None:
    before = '# mine\nmodel = "openai/gpt-5.1"  # the good one\n\n[limits]\nturns = 3\n'
    home.write(before)
    assert trust(home.folder, home.environ)
    assert not trust(home.folder, home.environ)
    assert home.user.read_text() == f'trusted = ["{home.folder}"]\n\n{before}'
    assert (load(home.folder, home.environ).config.limits.turns, load(home.folder, home.environ).config.model) == (
        3,
        "openai/gpt-5.1",
    )
    assert trust(home.folder / "sub", home.environ)
    assert untrust(home.folder, home.environ)
    assert not untrust(home.folder, home.environ)
    assert home.user.read_text() == f'trusted = ["{home.folder}/sub"]\n\n{before}'


def test_a_list_over_several_lines_keeps_its_comments(home: Home) -> None:
    home.write('trusted = [\n    "/a",  # work\n    "/b",\n]\n')
    trust(home.folder, home.environ)
    assert "# work" in home.user.read_text()
    assert listed_folders(home.environ) == (Path("/a"), Path("/b"), home.folder)


def test_the_first_trusted_folder_makes_the_file(home: Home) -> None:
    trust(home.folder, home.environ)
    assert home.user.read_text() == f'trusted = ["{home.folder}"]\n'


def test_a_file_that_is_a_link_stays_one(home: Home, tmp_path: Path) -> None:
    (tmp_path / "dotfiles.toml").write_text("")
    home.user.parent.mkdir(parents=True)
    home.user.symlink_to(tmp_path / "dotfiles.toml")
    trust(home.folder, home.environ)
    assert home.user.is_symlink()
    assert (tmp_path / "dotfiles.toml").read_text() == f'trusted = ["{home.folder}"]\n'


def test_a_file_that_is_no_toml_is_not_touched(home: Home) -> None:
    home.write("trusted = [")
    with pytest.raises(UsageError, match="is not valid TOML"):
        trust(home.folder, home.environ)
    assert home.user.read_text() == "trusted = ["


def test_a_write_protected_file_is_said_and_stays(home: Home) -> None:
    home.write("")
    home.user.chmod(0o444)
    with pytest.raises(UsageError, match=r"config\.toml cannot be written: it is write-protected"):
        trust(home.folder, home.environ)


def test_a_worktree_of_ours_counts_as_the_folder_it_was_made_of(home: Home) -> None:
    made = home.worktree(home.folder)
    (made / "sub").mkdir()
    assert not is_trusted(made, home.environ)
    trust(home.folder, home.environ)
    assert [is_trusted(made, home.environ), is_trusted(made / "sub", home.environ)] == [True, False]
    trust(home.folder / "sub", home.environ)
    assert is_trusted(made / "sub", home.environ)


def test_a_project_cannot_claim_to_be_a_worktree_of_a_trusted_folder(home: Home, tmp_path: Path) -> None:
    trust(home.folder, home.environ)
    (home.folder / ".git" / "worktrees" / "evil").mkdir(parents=True)
    evil = tmp_path / "evil" / "project-0" / "one"
    evil.mkdir(parents=True)
    (evil.parent / "source").write_text(str(home.folder))
    (evil / ".git").write_text(f"gitdir: {home.folder}/.git/worktrees/evil\n")
    assert not is_trusted(evil, home.environ)
    base = home.state / "worktrees"
    base.mkdir(parents=True)
    os.symlink(evil.parent, base / "project-0")
    assert not is_trusted(base / "project-0" / "one", home.environ)


def test_settings_of_a_worktree_of_a_trusted_folder_count(home: Home) -> None:
    made = home.worktree(home.folder)
    (made / ".ferrule").mkdir()
    (made / ".ferrule" / "config.toml").write_text('approve = "edits"')
    assert load(made, home.environ).config.approve == "ask"
    trust(home.folder, home.environ)
    assert load(made, home.environ).config.approve == "edits"
