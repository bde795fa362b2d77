"""Executable bits that a script lost, or that something gained that cannot be executed."""

from ferrule.workspace.checkers.base import EXECUTABLE, REGULAR, Changed, Checker, CheckFinding, each_file

PROGRAMS = (b"#!", b"\x7fELF", b"MZ", b"\xcf\xfa\xed\xfe", b"\xca\xfe\xba\xbe")
WINDOWS = (".bat", ".cmd", ".ps1", ".exe")


def modes() -> Checker:
    return Checker("modes", lambda file: file.mode in (EXECUTABLE, REGULAR), each_file(_judge), content=False)


def _judge(file: Changed) -> list[CheckFinding]:
    if file.mode == file.old_mode or not file.new:
        return []
    if file.mode == REGULAR and file.old_mode == EXECUTABLE and file.new.startswith(b"#!"):
        said = "This script is no longer executable, but begins with `#!`."
        return [CheckFinding(file.path, None, None, "modes", "script-not-executable", "should-fix", said)]
    if file.mode == EXECUTABLE and not file.new.startswith(PROGRAMS) and file.suffix not in WINDOWS:
        said = "This file is executable now, but does not begin with `#!`."
        return [CheckFinding(file.path, None, None, "modes", "executable-not-script", "nit", said)]
    return []
