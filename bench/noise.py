"""What the checkers say about changes that nobody complained of: how much of it is noise.

    python -m bench.noise REPOSITORY[=NAME][@LAST] …

runs every checker on every commit of each repository (`=NAME`: as it is called in the table; `@LAST`: up to that commit) and
writes `docs/review-noise.tsv`: one row a finding, with the verdicts that were already given kept. It exits with 1 while a row has
no verdict or when more than one finding a 1,000 changed lines of a repository was dismissed. For releases of a package:
unpack each and commit it on the one before.
"""

import asyncio
import csv
import os
import subprocess
import sys
from pathlib import Path

from ferrule.process.protocol import allowed_environment
from ferrule.process.supervisor import Supervisor
from ferrule.workspace.checkers.base import Report
from ferrule.workspace.checkers.catalog import checkers
from ferrule.workspace.checkers.run import run_all
from ferrule.workspace.checkers.subject import subject
from ferrule.workspace.git.changes import commit
from ferrule.workspace.git.repository import Git

TABLE = Path(__file__).parents[1] / "docs" / "review-noise.tsv"
HEADER = ("source", "checker", "rule", "place", "verdict", "reason", "text")
MOST_DISMISSED = 1.0
"""A 1,000 changed lines."""

Key = tuple[str, str, str, str]


def commits(folder: Path, last: str) -> list[str]:
    """Up to `last`, oldest first; the first one, where all is new, is left out."""
    argv = ["git", "log", "--reverse", "--format=%H %s", last]
    return subprocess.run(argv, cwd=folder, check=True, capture_output=True, text=True).stdout.splitlines()[1:]


async def reports(folder: Path, chosen: list[str]) -> list[tuple[str, Report]]:
    """The name and report of each commit, given as its id, a space and its title."""
    environment = allowed_environment(os.environ)
    processes = Supervisor()
    done: list[tuple[str, Report]] = []
    try:
        for line in chosen:
            id, _, title = line.partition(" ")
            git = Git(processes, folder, environment)
            try:
                seen = await subject(git, await commit(git, id))
                report = await run_all(seen.files, checkers(), processes, environment, seen.base_file, seen.exists)
            finally:
                git.close()
            failed = [f"{run.checker} {run.state}: {run.detail}" for run in report.coverage.runs if run.state != "ran"]
            print(f"{id[:10]} {len(report.findings):4} {report.coverage.lines:6} {title[:60]} {'; '.join(failed)}")
            done.append((title if title.startswith("release ") else id[:10], report))
    finally:
        await processes.close()
    return done


def rows(name: str, done: list[tuple[str, Report]], verdicts: dict[Key, tuple[str, str]]) -> list[list[str]]:
    found: list[list[str]] = []
    for title, report in done:
        for finding in report.findings:
            source = f"{name} {title.removeprefix('release ')}"
            place = f"{finding.path}:{finding.line or ''}"
            verdict, reason = verdicts.get((source, finding.checker, finding.rule, place), ("", ""))
            found.append([source, finding.checker, finding.rule, place, verdict, reason, " ".join(finding.text.split())])
    return found


def main(arguments: list[str]) -> int:
    verdicts: dict[Key, tuple[str, str]] = {}
    if TABLE.exists():
        with TABLE.open(newline="", encoding="utf-8") as file:
            for row in list(csv.reader(file, delimiter="\t"))[1:]:
                verdicts[row[0], row[1], row[2], row[3]] = (row[4], row[5])
    table: list[list[str]] = []
    lines, worst = 0, 0.0
    for argument in arguments:
        place, _, last = argument.partition("@")
        path, _, name = place.partition("=")
        folder = Path(path).resolve()
        done = asyncio.run(reports(folder, commits(folder, last or "HEAD")))
        count = sum(report.coverage.lines for _, report in done)
        found = rows(name or folder.name, done, verdicts)
        lines += count
        table += found
        worst = max(worst, _rate(found, count))
        print(f"{argument}: {len(done)} changes, {count} changed lines, {_rate(found, count):.2f} dismissed a 1,000 lines")
    with TABLE.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, delimiter="\t", lineterminator="\n").writerows([HEADER, *table])
    open_ones = sum(row[4] == "" for row in table)
    print(f"{len(table)} findings in {lines} changed lines; {open_ones} without a verdict")
    print(f"{_rate(table, lines):.2f} dismissed a 1,000 lines, {worst:.2f} in the worst repository")
    return 1 if open_ones or worst > MOST_DISMISSED else 0


def _rate(found: list[list[str]], lines: int) -> float:
    return 1000 * sum(row[4] == "dismissed" for row in found) / max(1, lines)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
