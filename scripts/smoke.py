"""A task for a real small model that nobody scripted: it must really fix a file and end `finished`, in every one of five runs.

The model is served at FERRULE_SMOKE_URL, or by the command LOCAL_MODEL (`LOCAL_MODEL FOLDER PORT` prints the base URL
once it answers). Where neither is there, this says so and ends with 0.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

FERRULE = Path(sys.executable).parent / "ferrule"
PROMPT = "read hello.py, fix the typo in it, then finish"
RUNS = 5
CONFIG = """
[endpoints.local]
dialect = "openai"
base_url = "{url}"
window = 16384
tools = "schema"
"""


@contextmanager
def model_server() -> Iterator[str | None]:
    """The base URL of the model, None where there is none."""
    if url := os.environ.get("FERRULE_SMOKE_URL"):
        yield url
        return
    command = Path(os.environ.get("LOCAL_MODEL", "../shared/tools/local-model"))
    if not command.exists():
        yield None
        return
    weights = os.environ.get("LOCAL_MODEL_FOLDER", str(Path(tempfile.gettempdir()) / "ferrule-local-model"))
    process = subprocess.Popen([command, weights, "8097"], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        yield process.stdout.readline().strip() or None
    finally:
        process.terminate()
        process.wait()


def one_run(url: str, number: int) -> bool:
    """Run the task in a new folder; print how it went. The last run's session is shown as a transcript."""
    with tempfile.TemporaryDirectory(prefix="ferrule-smoke-") as base:
        folder = Path(base) / "project"
        folder.mkdir()
        (folder / "hello.py").write_text('print("hello wrold")\n')
        config = Path(base) / "config.toml"
        config.write_text(CONFIG.format(url=url))
        environ = {"PATH": os.environ["PATH"], "HOME": base, "FERRULE_HOME": f"{base}/state", "FERRULE_CONFIG": str(config)}
        argv = [
            str(FERRULE),
            "-p",
            PROMPT,
            "--approve",
            "all",
            "--model",
            "local/model",
            "--max-turns",
            "12",
            "--max-time",
            "10m",
        ]
        ran = subprocess.run([*argv, "-C", str(folder), "--output-format", "json"], env=environ, capture_output=True, text=True)
        result = json.loads(ran.stdout)
        said = subprocess.run([sys.executable, "hello.py"], cwd=folder, capture_output=True, text=True).stdout.strip()
        good = result["outcome"] == "finished" and said.lower() in ("hello world", "hello, world", "hello world!")
        print(f"run {number}: {result['outcome']} after {result['turns']} turns; the program prints {said!r}", flush=True)
        if number == RUNS or not good:
            print(
                subprocess.run(
                    [FERRULE, "sessions", "show", result["session_id"]], env=environ, capture_output=True, text=True
                ).stdout
            )
        return good


def main() -> int:
    with model_server() as url:
        if url is None:
            print("smoke: no real model is at hand (set FERRULE_SMOKE_URL or LOCAL_MODEL); nothing was tried")
            return 0
        good = sum(one_run(url, number) for number in range(1, RUNS + 1))
    print(f"{good} of {RUNS} runs really fixed the file and ended finished")
    return 0 if good == RUNS else 1


if __name__ == "__main__":
    sys.exit(main())
