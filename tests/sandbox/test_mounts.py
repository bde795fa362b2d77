from typing import Literal

import pytest

from ferrule.process.sandbox.mounts import Mount, arguments, layout
from ferrule.process.sandbox.wish import Wish

Mode = Literal["workspace", "strict"]


def placed(wish: Wish, scratch: str = "/tmp/box", needed: tuple[str, ...] = ()) -> list[tuple[str, str]]:
    """How and where everything beside the machine itself is mounted, in order."""
    words = arguments(wish, layout(wish, scratch, needed), new_proc=True)
    at = words.index("/proc") + 1
    found = []
    while at < len(words) and words[at] in ("--bind", "--ro-bind", "--tmpfs"):
        step = 2 if words[at] == "--tmpfs" else 3
        found.append((words[at], words[at + step - 1]))
        at += step
    return found


def test_a_folder_is_mounted_before_what_lies_in_it() -> None:
    wish = Wish("strict", ("/home/p/deep/work", "/tmp/other"), home="/home/p", show=("/home/p/deep", "/home/p/deep/work/in/it"))
    assert placed(wish, needed=("/usr/lib/python", "/home/p/python")) == [
        ("--bind", "/tmp"),
        ("--tmpfs", "/home/p"),
        ("--bind", "/tmp/other"),
        ("--ro-bind", "/home/p/python"),
        ("--ro-bind", "/home/p/deep"),
        ("--bind", "/home/p/deep/work"),
    ]


def test_workspace_mode_mounts_again_only_what_its_temporary_folder_would_hide() -> None:
    wish = Wish("workspace", ("/srv/work",), home="/home/p", show=("/tmp/shown",))
    assert placed(wish, needed=("/home/p/python", "/tmp/python")) == [
        ("--bind", "/tmp"),
        ("--ro-bind", "/tmp/python"),
        ("--ro-bind", "/tmp/shown"),
        ("--bind", "/srv/work"),
    ]


@pytest.mark.parametrize("mode", ["workspace", "strict"])
def test_what_is_not_asked_for_is_not_given(mode: Mode) -> None:
    closed = arguments(Wish(mode, ("/work",), read_only=True), [Mount("--ro-bind", "/work", "/work")], new_proc=True)
    opened = arguments(Wish(mode, ("/work",), network=True), [], new_proc=True)
    for words in (closed, opened):
        assert {"--unshare-user", "--unshare-pid", "--unshare-ipc"} <= set(words)
        assert "--bind" not in words and "--dev-bind" not in words
        assert words[words.index("--cap-drop") + 1] == "ALL" and "--cap-add" not in words
    assert ("--unshare-net" in closed, "--unshare-net" in opened) == (True, False)
    assert [word in closed for word in ("/run", "/var", "/home", "/root", "/sys")] == [False] * 5


@pytest.mark.parametrize("home", ["", "/", "/usr/home", "/etc"])
def test_a_home_that_cannot_be_empty_is_left_as_it_is(home: str) -> None:
    assert placed(Wish("strict", ("/work",), home=home)) == [("--bind", "/tmp"), ("--bind", "/work")]
