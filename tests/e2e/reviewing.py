"""A repository to review, by the installed command, and what a scripted reviewer does."""

import os
import subprocess
from pathlib import Path
from typing import Any

from .driving import Json, Project, Ran, call, step

QUIET = {"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1"}
PERSON = {f"GIT_{who}_{what}": "a@example.org" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}

FIRST = "import os\n\nprint(os.sep)\n"
CHANGED = "import os\nimport re\n\nprint(os.sep, z)\nprint(os.sep, z)\n"
"""A nit in line 2 and the same blocking finding in the equal lines 4 and 5."""


class Reviewed(Project):
    """A project that is a repository with one commit, of `a.py`."""

    def __init__(self, base: Path) -> None:
        super().__init__(base)
        self.git("init", "--quiet", "--initial-branch=main")
        self.write("a.py", FIRST)
        self.commit()

    def git(self, *arguments: str) -> str:
        environ = {"PATH": os.environ["PATH"], "HOME": str(self.home), **QUIET, **PERSON}
        done = subprocess.run(["git", *arguments], cwd=self.folder, env=environ, capture_output=True, check=True)
        return done.stdout.decode(errors="surrogateescape").strip()

    def commit(self) -> str:
        """Everything there is."""
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message=x")
        return self.git("rev-parse", "HEAD")

    def put(self, name: str, text: str) -> Path:
        file = self.folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        return self.write(name, text)

    def review(self, *arguments: str, **environ: str) -> Ran:
        return self.run("review", *arguments, "--output-format", "json", **environ)

    def scripted(self, *steps: Json, more: tuple[str, ...] = (), **environ: str) -> Ran:
        """A review by a model that plays these steps."""
        return self.review("--model", self.model(*steps), *more, **environ)

    @property
    def kickoff(self) -> str:
        """What the reviewer was told first."""
        return str(self.journal.entries("user")[0]["message"]["parts"][0]["text"])


def comments(line: int | None = 4, text: str = "Wrong.", severity: str = "should-fix", path: str = "a.py", **more: Any) -> Json:
    place = {} if line is None else {"line": line}
    return call("review_comment", path=path, text=text, severity=severity, **place, **more)


def submits(summary: str = "It can't be merged.", **more: Any) -> Json:
    return step(call("submit_review", summary=summary), **more)


def places(ran: Ran) -> list[tuple[str, int | None, str]]:
    return [(each["path"], each["line"], each["severity"]) for each in ran.result["findings"]]


def answers(project: Project) -> list[tuple[str, str, str]]:
    """Name, kind and text of each result, in order."""
    results = [entry["result"] for entry in project.journal.entries("call_finished")]
    return [(each["name"], each["kind"], "".join(part.get("text", "") for part in each["parts"])) for each in results]
