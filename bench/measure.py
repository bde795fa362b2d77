"""Runs a command and says what it cost: wall, CPU of it and everything it reaped, peak memory of its largest process."""

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Cost:
    """Seconds, seconds, megabytes."""

    wall: float
    cpu: float
    peak: float
    exit_code: int
    out: bytes


def run(argv: Sequence[str], environ: Mapping[str, str] | None = None, cwd: str | None = None) -> Cost:
    began = time.perf_counter()
    process = subprocess.Popen(
        argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, env=environ, cwd=cwd
    )
    assert process.stdout is not None
    assert process.stderr is not None
    out = process.stdout.read()
    err = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - began
    process.returncode = os.waitstatus_to_exitcode(status)
    process.stdout.close()
    process.stderr.close()
    return Cost(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, process.returncode, out or err)


def median(costs: Sequence[Cost], of: Callable[[Cost], float]) -> float:
    return statistics.median(of(cost) for cost in costs)


def bare_python(times: int = 15) -> list[Cost]:
    """The reference: an interpreter that does nothing."""
    return [run([sys.executable, "-c", "pass"]) for _ in range(times)]
