import asyncio
import json
import os
import stat
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from ferrule.workspace.codebase.codebase import Answer, Codebase, fused, nearest
from ferrule.workspace.codebase.embedding import Embeddings
from ferrule.workspace.codebase.store import Hit, Store
from ferrule.workspace.codebase.updating import LARGEST, Progress, update

FILES = {
    "src/retry.py": "class RetryPolicy:\n    def wait_seconds(self, attempt):\n        return 2**attempt\n",
    "src/parse.py": "def parse_config(text):\n    return tomllib.loads(text)\n",
    "web/userProfile.ts": "export function userProfile(id: string) {\n  return fetch(id);\n}\n",
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path.resolve() / "project"
    for name, text in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "index.db"


def names(root: Path) -> list[str]:
    return sorted(str(path.relative_to(root)) for path in root.rglob("*") if path.is_file())


def ask(root: Path, file: Path, question: str, below: str = "", embeddings: Embeddings | None = None) -> Answer:
    async def run() -> Answer:
        codebase = Codebase(root, file, embeddings)
        try:
            return await codebase.search(question, names(root), below, 5)
        finally:
            await codebase.close()

    return asyncio.run(run())


def found(answer: Answer) -> list[str]:
    return [hit.path for hit in answer.hits]


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("retry policy", "src/retry.py"),
        ("how many seconds to wait", "src/retry.py"),
        ("parsing the configuration: parse_config", "src/parse.py"),
        ("tomllib.loads", "src/parse.py"),
        ("user profile", "web/userProfile.ts"),
        ("PROFILE", "web/userProfile.ts"),
        ("fetching", "web/userProfile.ts"),
    ],
)
def test_code_is_found_by_words_and_parts_of_identifiers(root: Path, file: Path, question: str, first: str) -> None:
    assert found(ask(root, file, question))[:1] == [first]


def test_a_folder_restricts_and_no_word_is_syntax(root: Path, file: Path) -> None:
    assert found(ask(root, file, "return", "web/")) == ["web/userProfile.ts"]
    assert found(ask(root, file, 'fetch" OR NEAR( AND NOT *')) == ["web/userProfile.ts"]


def test_only_what_changed_is_read_again(root: Path, file: Path) -> None:
    store = Store(file)

    def go() -> tuple[Progress, dict[str, bytes]]:
        progress = update(store, root, names(root), time.monotonic() + 60)
        return progress, {path: state.hash for path, state in store.states().items()}

    progress, before = go()
    assert (progress, set(before)) == (Progress(3, 0, 0), set(FILES))
    pieces = {hit.path: hit.piece for hit in store.search("return", "", 9)}
    os.utime(root / "src/parse.py", (1, 1))
    (root / "src/retry.py").write_text("def backoff(): return 1\n")
    (root / "web/userProfile.ts").unlink()
    (root / "new.go").write_text("func Fresh() { return }\n")
    (root / "large.py").write_text("x = 1\n" * LARGEST)
    progress, after = go()
    assert progress == Progress(3, 0, 1)
    assert set(after) == {"src/parse.py", "src/retry.py", "new.go"}
    assert {hit.path: hit.piece for hit in store.search("return", "", 9)}["src/parse.py"] == pieces["src/parse.py"]
    assert store.search("wait_seconds", "", 9) == []
    assert store.search("userProfile", "", 9) == []
    assert [hit.path for hit in store.search("backoff", "", 9)] == ["src/retry.py"]
    assert store.states()["src/parse.py"].modified == 10**9
    store.close()


def test_what_time_did_not_allow_is_counted_and_done_by_the_next_question(root: Path, file: Path) -> None:
    store = Store(file)
    assert update(store, root, names(root), time.monotonic() - 1) == Progress(0, 3, 0)
    assert update(store, root, names(root), time.monotonic() + 60) == Progress(3, 0, 0)
    store.close()


def test_odd_files_are_passed_over(root: Path, file: Path) -> None:
    os.mkfifo(root / "pipe")
    (root / "binary").write_bytes(b"\0needle\0")
    (root / "link").symlink_to("src/parse.py")
    (root / "empty").touch()
    (root / "latin.txt").write_bytes("naïve needle".encode("latin-1"))
    store = Store(file)
    paths = [*names(root), "pipe", "gone", "link"]
    assert update(store, root, paths, time.monotonic() + 60).left == 0
    assert [hit.path for hit in store.search("needle", "", 9)] == ["latin.txt"]
    assert "link" not in store.states()
    store.close()


@pytest.mark.parametrize("content", [b"no database" * 1000, b""])
def test_an_index_that_cannot_be_read_is_made_anew(root: Path, file: Path, content: bytes) -> None:
    file.write_bytes(content)
    assert found(ask(root, file, "retry")) == ["src/retry.py"]
    assert found(ask(root, file, "retry")) == ["src/retry.py"]


def test_the_index_is_private(root: Path, file: Path) -> None:
    ask(root, file, "retry")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_two_sessions_may_use_one_index(root: Path, file: Path) -> None:
    async def run() -> list[Answer]:
        both = [Codebase(root, file) for _ in range(2)]
        answers = await asyncio.gather(*(each.search("retry", names(root), "", 5) for each in both for _ in range(3)))
        for each in both:
            await each.close()
        return answers

    assert [found(answer) for answer in asyncio.run(run())] == [["src/retry.py"]] * 6


class Server(HTTPServer):
    asked: list[list[str]]
    status: int


class Handler(BaseHTTPRequestHandler):
    """Gives a text about backing off, whatever words it uses, the same direction."""

    server: Server

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.asked.append(body["input"])
        data = [{"index": at, "embedding": vector(text)} for at, text in enumerate(body["input"])]
        answer = json.dumps({"data": data[::-1]}).encode()
        self.send_response(self.server.status)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *arguments: object) -> None:
        pass


def vector(text: str) -> list[float]:
    return [1.0, 0.1] if "attempt" in text or "patience" in text else [0.1, 1.0]


@pytest.fixture
def server() -> Iterator[Server]:
    with Server(("127.0.0.1", 0), Handler) as made:
        made.asked, made.status = [], 200
        thread = threading.Thread(target=made.serve_forever)
        thread.start()
        yield made
        made.shutdown()
        thread.join()


def test_with_embeddings_what_is_meant_is_found_without_a_common_word(root: Path, file: Path, server: Server) -> None:
    embeddings = Embeddings(f"http://127.0.0.1:{server.server_port}/v1", "small", "key")
    assert found(ask(root, file, "patience", "", None)) == []
    assert found(ask(root, file, "patience", "", embeddings))[0] == "src/retry.py"
    assert sorted(len(texts) for texts in server.asked) == [1, 3]
    server.asked.clear()
    (root / "src/parse.py").write_text("def attempt(): pass\n")
    assert set(found(ask(root, file, "patience", "", embeddings))[:2]) == {"src/retry.py", "src/parse.py"}
    assert [[text.strip() for text in texts] for texts in server.asked] == [["def attempt(): pass"], ["patience"]]


def test_a_server_of_embeddings_that_fails_leaves_the_words(root: Path, file: Path, server: Server) -> None:
    server.status = 503
    url = f"http://127.0.0.1:{server.server_port}/v1"
    answer = ask(root, file, "retry", "", Embeddings(url, "small", "the-secret-key"))
    assert found(answer) == ["src/retry.py"]
    assert answer.remark == f"Found by words alone: {url} answered a request for embeddings with status 503."


def hit(number: int) -> Hit:
    return Hit(number, f"f{number}", 1, 2)


def test_both_ways_are_fused_by_rank() -> None:
    assert fused(([hit(1), hit(2), hit(3)], [hit(4), hit(2)])) == [hit(2), hit(1), hit(4), hit(3)]


def test_the_nearest_have_the_smallest_angle_whatever_their_length() -> None:
    vectors = [(hit(1), [0.0, 1.0]), (hit(2), [9.0, 9.0]), (hit(3), [0.5, 0.0]), (hit(4), [1.0]), (hit(5), [0.0, 0.0])]
    assert nearest(vectors, [1.0, 0.0], 3) == [hit(3), hit(2), hit(1)]
