from pathlib import Path

import pytest

from ferrule.run.hooks.hook import Hook
from ferrule.task.config.layers import Flag, load
from ferrule.task.config.show import lines
from ferrule.types.errors import UsageError

ONE = '[[hooks]]\nevent = "before_tool"\ncommand = "check"\n'


class Place:
    def __init__(self, base: Path) -> None:
        self.user, self.folder = base / "user.toml", base / "project"
        self.project = self.folder / ".ferrule" / "config.toml"
        self.project.parent.mkdir(parents=True)
        self.user.write_text("")

    def load(self, **environ: str):
        return load(self.folder, {"FERRULE_CONFIG": str(self.user), **environ})


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def test_a_table_is_a_hook_in_the_order_of_the_file(place: Place) -> None:
    place.user.write_text(
        '[[hooks]]\nevent = "before_tool"\ncommand = "check"\nmatch = "edit|write_*"\ntimeout = "2m"\non_failure = "open"\n'
        '[[hooks]]\nevent = "after_task"\npython = "team:told"\nname = "told"\n'
    )
    assert place.load().config.hooks == (
        Hook("before_tool", command="check", match="edit|write_*", timeout=120.0, on_failure="open"),
        Hook("after_task", python="team:told", name="told"),
    )


def test_hooks_of_a_trusted_project_come_after_the_persons_own(place: Place) -> None:
    place.user.write_text(f'trusted = ["{place.folder}"]\n{ONE}')
    place.project.write_text('[[hooks]]\nevent = "after_task"\ncommand = "tell"\n')
    loaded = place.load()
    assert loaded.config.hooks == (Hook("before_tool", command="check"), Hook("after_task", command="tell"))
    assert loaded.origins["hooks"] == f"{place.user}:2, {place.project}:1"


def test_hooks_of_a_folder_that_is_not_trusted_are_not_run_and_that_is_said(place: Place) -> None:
    place.project.write_text(ONE)
    loaded = place.load()
    assert loaded.config.hooks == ()
    assert loaded.notes[0].startswith(f"{place.project} is ignored because its folder is not trusted; ")


def test_they_are_shown_as_they_are_written(place: Place) -> None:
    place.user.write_text(ONE)
    assert f'hooks = [{{ event = "before_tool", command = "check" }}]  # {place.user}:1' in lines(place.load())


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('hooks = ["check"]', "1: hooks must be tables of a configuration file, each written [[hooks]]"),
        ('[hooks]\nevent = "x"', "1: hooks must be tables of a configuration file, each written [[hooks]]"),
        ('[[hooks]]\nevents = "before_tool"', '1: hooks[1]: unknown key "events"; known here: event, command, python, name,'),
        ('[[hooks]]\ncommand = "x"', "1: hooks[1]: event must be one of session_start, before_model, before_tool,"),
        (ONE + '[[hooks]]\nevent = "after_task"', "1: hooks[2]: it needs either command (a line for the shell) or python"),
        (ONE + 'python = "a:b"', "1: hooks[1]: it needs either command (a line for the shell) or python"),
        (ONE + "timeout = 0", "1: hooks[1]: timeout must be a time above 0 and up to 1h, such as 5, 90s or 2m"),
        (ONE + 'timeout = "soon"', "1: hooks[1]: timeout must be a time above 0 and up to 1h, such as 5, 90s or 2m"),
        (ONE + "timeout = nan", "1: hooks[1]: timeout must be a time above 0 and up to 1h, such as 5, 90s or 2m"),
        (ONE + "timeout = []", "1: hooks[1]: Expected `float`, got `array` - at `$.timeout`"),
        (ONE + 'on_failure = "ajar"', "1: hooks[1]: on_failure must be open or closed"),
        (ONE + 'on_failure = ""', "1: hooks[1]: on_failure must be open or closed"),
        (
            '[[hooks]]\nevent = "session_start"\ncommand = "x"\nmatch = "edit"',
            "1: hooks[1]: match is for after_tool, before_finalize, before_tool; session_start is about no call",
        ),
        (
            '[[hooks]]\nevent = "after_task"\ncommand = "x"\non_failure = "closed"',
            "1: hooks[1]: after_task cannot fail closed: the task has ended then",
        ),
    ],
)
def test_what_is_wrong_is_named(place: Place, text: str, problem: str) -> None:
    place.user.write_text(text)
    with pytest.raises(UsageError) as caught:
        place.load()
    assert str(caught.value).startswith(f"{place.user}:{problem}")


def test_no_variable_and_no_flag_can_bring_in_a_hook(place: Place) -> None:
    with pytest.raises(UsageError, match="FERRULE_HOOKS must be tables of a configuration file"):
        place.load(FERRULE_HOOKS="rm -rf .")
    with pytest.raises(UsageError, match="tables of a configuration file"):
        load(place.folder, {"FERRULE_CONFIG": str(place.user)}, [Flag("hooks", ("x",), "--hooks")])
