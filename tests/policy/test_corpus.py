import time

import pytest
from msgspec.structs import replace

from ferrule.policy.decide import Policy, decide
from ferrule.policy.rules import parse_rule
from ferrule.types.tools import Action

from .corpus import CASES

LETTERS = {"allow": "A", "ask": "Q", "deny": "D"}
DENIED = (parse_rule("execute:rm *"), parse_rule("execute:git push *"))


@pytest.fixture(scope="module")
def policy(tmp_path_factory: pytest.TempPathFactory) -> Policy:
    base = tmp_path_factory.mktemp("place").resolve()
    root = base / "root"
    for folder in ("src", "sub/deep", ".git/hooks", "build"):
        (root / folder).mkdir(parents=True)
    (base / "elsewhere").mkdir()
    (root / "out").symlink_to(base / "elsewhere")
    (root / "inner").symlink_to("src")
    for name in ("a.py", "b.py"):
        (root / "src" / name).write_text("x")
    return Policy(str(root), home=str(base / "home"))


def verdicts(line: str, policy: Policy) -> str:
    everything = replace(policy, approve="all")
    policies = (policy, everything, replace(everything, deny=DENIED))
    return "".join(LETTERS[decide((Action("execute", command=line),), each).verdict] for each in policies)


@pytest.mark.parametrize(("code", "line"), CASES, ids=[f"{code} {line[:40]!a}" for code, line in CASES])
def test_verdict(code: str, line: str, policy: Policy) -> None:
    started = time.perf_counter()
    assert verdicts(line, policy) == code
    assert time.perf_counter() - started < 2


def test_the_corpus_is_large_and_has_every_verdict() -> None:
    assert len(CASES) >= 300
    assert len({line for _, line in CASES}) == len(CASES)
    assert {code for code, _ in CASES} == {"AAA", "QAA", "QAD", "QQD", "QQQ"}
