"""Files that are too large for a repository, and binaries that a build makes."""

from ferrule.workspace.checkers.base import LARGEST, Changed, Checker, CheckFinding, each_file

BUILT = frozenset(".pyc .pyo .pyd .so .dll .dylib .exe .o .obj .a .lib .class .jar .war .whl .egg .node .wasm".split())  # noqa: SIM905
LITTER = frozenset([".DS_Store", "Thumbs.db", "desktop.ini"])
MAGIC = (b"\x7fELF", b"MZ\x90\x00", b"\xcf\xfa\xed\xfe", b"\xca\xfe\xba\xbe")
POINTER = b"version https://git-lfs"


def sizes() -> Checker:
    return Checker("sizes", lambda file: file.mode != 0, each_file(_judge), content=False)


def _judge(file: Changed) -> list[CheckFinding]:
    head = (file.new or b"")[:200]
    if head.startswith(POINTER):
        return []
    found: list[CheckFinding] = []
    grown = file.added or len(file.old or b"") <= LARGEST
    if file.size > LARGEST and grown and (file.added or file.old is not None):
        said = f"This file has {file.size / LARGEST:.1f} MB; everybody who clones the repository will load it for ever."
        found.append(CheckFinding(file.path, None, None, "sizes", "large-file", "should-fix", said))
    if file.added and file.name in LITTER:
        said = "An operating system left this file; it does not belong into a repository."
        found.append(CheckFinding(file.path, None, None, "sizes", "litter", "should-fix", said))
    elif file.added and (head.startswith(MAGIC) or (file.suffix in BUILT and (file.new is None or b"\0" in head))):
        said = "This is the product of a build, not its source."
        found.append(CheckFinding(file.path, None, None, "sizes", "built-binary", "should-fix", said))
    return found
