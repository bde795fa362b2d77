"""Landlock (landlock(7)): limits that a process puts on itself and on everything that it starts.

Imports nothing but built-in modules: the program `inside` pays for it with every command.
"""

import os
import sys
from stat import S_ISDIR

from ferrule.process.guard.table import LINUX, prctl

CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446
VERSION = 1
PATH_BENEATH = 1
NO_NEW_PRIVS = 38
CAPABILITY_VERSION_3 = 0x20080522

WRITE_FILE, TRUNCATE, REFER = 1 << 1, 1 << 14, 1 << 13
CHANGE_FOLDERS = sum(1 << bit for bit in range(4, 13))
"""Removing and making of files, folders, links, sockets, pipes and devices."""
BIND_TCP, CONNECT_TCP = 1, 2
ABSTRACT_SOCKETS, SIGNALS = 1, 2

SINCE = ((WRITE_FILE | CHANGE_FOLDERS, 1), (REFER, 2), (TRUNCATE, 3))
NET_SINCE, SCOPE_SINCE = 4, 6


def abi() -> int:
    """The version that this kernel has, 0 for none."""
    return max(0, _call("syscall", CREATE_RULESET, None, 0, VERSION)) if LINUX else 0


def restrict(version: int, writable: list[str], tcp: bool) -> None:
    """From here on write below `writable` only, reach no process and no abstract socket outside, and unless `tcp` no port.

    What of `writable` is not there is left out. Raises OSError; a limit that `version` does not know is not set.
    """
    rights = sum(right for right, since in SINCE if version >= since)
    net = BIND_TCP | CONNECT_TCP if version >= NET_SINCE and not tcp else 0
    scoped = ABSTRACT_SOCKETS | SIGNALS if version >= SCOPE_SINCE else 0
    ruleset = _checked(_call("syscall", CREATE_RULESET, _words(rights, net, scoped), 24, 0), "Landlock makes no set of rules")
    try:
        for path in writable:
            _allow(ruleset, path, rights)
        prctl(NO_NEW_PRIVS, 1)
        _checked(_call("syscall", RESTRICT_SELF, ruleset, 0), "Landlock does not restrict")
    finally:
        os.close(ruleset)


def renounce() -> None:
    """Give up every right of root (capabilities(7)): after `restrict`, no program that is started brings one back."""
    _checked(
        _call("capset", CAPABILITY_VERSION_3.to_bytes(4, sys.byteorder) + bytes(4), bytes(24)), "capabilities cannot be given up"
    )


def _allow(ruleset: int, path: str, rights: int) -> None:
    try:
        fd = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except FileNotFoundError:
        return
    try:
        folder = S_ISDIR(os.fstat(fd).st_mode)
        allowed = rights if folder else rights & (WRITE_FILE | TRUNCATE)
        rule = _words(allowed) + fd.to_bytes(4, sys.byteorder)
        _checked(_call("syscall", ADD_RULE, ruleset, PATH_BENEATH, rule, 0), f"Landlock takes no rule for {path}")
    finally:
        os.close(fd)


def _words(*numbers: int) -> bytes:
    return b"".join(number.to_bytes(8, sys.byteorder) for number in numbers)


def _checked(result: int, failed: str) -> int:
    if result < 0:
        raise OSError(failed)
    return result


def _call(function: str, *arguments: int | bytes | None) -> int:
    """A function of the C library; needs `_ctypes`, as `prctl` does."""
    import _ctypes

    program = _ctypes.dlopen(None, 0)  # type: ignore[arg-type]  # None is this program, as ctypes.CDLL(None) has it
    result: int = _ctypes.call_function(_ctypes.dlsym(program, function), arguments)
    return result
