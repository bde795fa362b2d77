import contextlib
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ferrule.policy.decide import Policy, decide
from ferrule.policy.line import Line, Part, Redirect
from ferrule.policy.rules import parse_rule
from ferrule.policy.shell import parse
from ferrule.policy.words import Word, braces, known, unknown
from ferrule.types.tools import Action

ROOT = "/nowhere/place"
HOME = "/home/u"
ALL = Policy(ROOT, approve="all", home=HOME)
DENYING = Policy(ROOT, approve="all", deny=(parse_rule("execute:rm *"),), home=HOME)


def argvs(command: str) -> list[tuple[str | None, ...]]:
    return [tuple(word.value for word in part.words) for part in parse(command, ROOT, HOME).parts]


def test_a_line_is_read_as_a_whole() -> None:
    line = parse("FOO=1 grep -n 'a b' *.py > out.txt 2>&1", ROOT, HOME)
    pattern = Word("*.py", ("*.py",), exact=False, glob=True, many=True)
    part = Part(
        words=(known("grep"), known("-n"), known("a b"), pattern),
        text="FOO=1 grep -n 'a b' *.py",
        assignments=(("FOO", known("1")),),
        redirects=(Redirect("write", known("out.txt")),),
        folders=(ROOT,),
    )
    assert line == Line((part,))


@pytest.mark.parametrize(
    ("command", "found"),
    [
        ("a | b && c; d & e", [("a",), ("b",), ("c",), ("d",), ("e",)]),
        (r"""a 'b c' "d e" f\ g h"i"'j' """, [("a", "b c", "d e", "f g", "hij")]),
        (r"a $'\t\x41\101\u00e9\''", [("a", "\tAAé'")]),
        (r'a "\$x \"y\" \\ \a"', [("a", '$x "y" \\ \\a')]),
        ("a {b,c}{1..3} d{e,}", [("a", "b1", "b2", "b3", "c1", "c2", "c3", "de", "d")]),
        ("a '{b,c}' {d} {} e{f", [("a", "{b,c}", "{d}", "{}", "e{f")]),
        ("a ~/b '~'", [("a", "/home/u/b", "~")]),
        ("x='b c'; a \"$x\" ${x}", [(), ("a", "b c", None)]),
        ("x=1; x=2; a $x", [(), (), ("a", "2")]),
        ("x=1; y=$x$x; a $y", [(), (), ("a", "11")]),
        ("case b in c) x=1;; *) a $x;; esac", [(), ("a", None)]),
        ("x=1 a $x", [("a", None)]),
        ("(x=1); a $x", [(), ("a", None)]),
        ("if b; then x=1; else x=2; fi; a $x", [("b",), (), (), ("a", None)]),
        ("a $(b $(c)) `d`", [("c",), ("b", None), ("d",), ("a", None, None)]),
        ('a "$(b)"c', [("b",), ("a", None)]),
        ("cat <<E\n$(a) $b\nE", [("a",), ("cat",)]),
        ("a # b", [("a",)]),
        ("a b#c '#d'", [("a", "b#c", "#d")]),
        ("exec a b", [("exec", "a", "b"), ("a", "b")]),
        ("env -u X Y=1 a", [("env", "-u", "X", "Y=1", "a"), ("a",)]),
        ("command -v a", [("command", "-v", "a")]),
        ("bash -c 'a b; c' x", [("bash", "-c", "a b; c", "x"), ("a", "b"), ("c",)]),
    ],
)
def test_the_commands_of_a_line(command: str, found: list[tuple[str | None, ...]]) -> None:
    assert sorted(argvs(command), key=repr) == sorted(found, key=repr)
    assert parse(command, ROOT, HOME).doubts == ()


@pytest.mark.parametrize(
    ("command", "folders"),
    [
        ("a", (ROOT,)),
        ("cd x && a", (ROOT + "/x",)),
        ("cd x; a", (ROOT, ROOT + "/x")),
        ("cd x || a", (ROOT,)),
        ("cd x || exit; a", (ROOT, ROOT + "/x")),
        ("(cd x); a", (ROOT,)),
        ("cd x | b; a", (ROOT,)),
        ("cd x & a", (ROOT,)),
        ("cd x && cd y && a", (ROOT + "/x/y",)),
        ("cd x && cd .. && a", (ROOT,)),
        ("cd /x && a", ("/x",)),
        ("d=x; cd $d && a", (ROOT + "/x",)),
        ("cd $d && a", None),
        ("cd - && a", None),
        ("cd && a", None),
        ("pushd x && a", None),
        ("while b; do cd ..; a; done", None),
        ("for i in 1 2; do (cd x && b); a; done", (ROOT,)),
        ("if b; then cd x; fi; a", (ROOT, ROOT + "/x")),
        ("! cd x && a", (ROOT,)),
        ("eval 'cd x' && a", None),
        ("bash -c 'cd x' && a", (ROOT,)),
        ("command cd x && a", (ROOT + "/x",)),
    ],
)
def test_where_a_command_may_run(command: str, folders: tuple[str, ...] | None) -> None:
    (part,) = [part for part in parse(command, ROOT, HOME).parts if part.name == "a"]
    assert part.folders == folders


def test_braces_without_a_choice_stay_and_large_ones_are_not_certain() -> None:
    assert braces("a{b}c") == ["a{b}c"]
    assert braces("{a,{b,c}}d") == ["ad", "bd", "cd"]
    assert braces("{3..1}") == ["3", "2", "1"]
    assert braces(r"\{a,b}") == [r"\{a,b}"]
    assert braces("{a..c}") is None
    assert braces("{1..9999}") is None
    assert braces("{a,b}" * 20) is None
    assert argvs("a " + "{b,c}" * 20) == [("a", None)]
    assert parse("a $x", ROOT, HOME).parts[0].words[1] == unknown("$x", many=True)


PIECES = st.sampled_from(
    r"""
    ls rm x $x "$x" 'a' ; && || | & ( ) { } $( ` ) " ' \ # > < >> << <<< EOF [[ ]] (( )) if then else fi for in do done while case
    esac ;; ! * ? ~ {a,b} = a=1 a=( eval bash -c time coproc function f() $'\x72' <( >( 2>&1 &> [ ] -eq -v a[$(rm)] xargs env sudo
    """.strip("\n ").split()
)
ODD = st.sampled_from(["\n", " ", "\t", "<<EOF\n", "\nEOF\n", "\\\n", "\x00", "\u2003", "\ud800", "é"])
GLUED = st.lists(st.tuples(PIECES | ODD, st.sampled_from(["", " "])).map("".join), max_size=14).map("".join)
TEXT = st.one_of(GLUED, st.text(max_size=40), st.text("lsrm $(){}[]<>|&;'\"`\\\n=*~#!", max_size=30))


AROUND = (
    "6{%s",
    "%s",
    "$%s",
    "${%s}",
    "%s=1 rm x",
    "cat <<%s\nx\n%s",
    "a%s(",
    "[[ %s =~ x ]]",
    "#%s",
    "$((%s))",
    "x[%s]=1",
    "{%s..9}",
)


@pytest.mark.parametrize("odd", ["\U000ca31f", "\U0010ffff", "\ue000", "\udcff", "é", "\u4e00"])
def test_no_character_ends_the_process(odd: str) -> None:
    commands = [around.replace("%s", odd) for around in AROUND]
    program = f"from ferrule.policy.shell import parse\nfor command in {commands!a}: parse(command, '/w', '/h')"
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True)
    assert (ran.returncode, ran.stderr) == (0, b"")


def test_what_is_no_ascii_makes_a_word_and_no_name() -> None:
    assert argvs("é=1 rm x") == [("é=1", "rm", "x")]
    assert argvs("ls é ü/日本") == [("ls", "é", "ü/日本")]


@given(TEXT)
@settings(max_examples=500, deadline=None)
def test_any_text_has_a_verdict_and_a_doubtful_one_is_never_allowed(command: str) -> None:
    line = parse(command, ROOT, HOME)
    for policy in (ALL, DENYING, Policy(ROOT, home=HOME)):
        verdict = decide((Action("execute", command=command),), policy).verdict
        assert verdict in (("ask", "deny") if line.doubts else ("allow", "ask", "deny"))


@given(TEXT, st.sampled_from([" && ", " ; ", " | ", " || ", " & ", "\n"]), st.booleans())
@settings(max_examples=400, deadline=None)
def test_adding_a_denied_command_denies_the_whole_line(command: str, joint: str, first: bool) -> None:
    line = parse(command, ROOT, HOME)
    whole = f"rm x{joint}{command}" if first else f"{command}{joint}rm x"
    verdict = decide((Action("execute", command=whole),), DENYING).verdict
    if not line.doubts and line.parts and not parse(whole, ROOT, HOME).doubts and "#" not in command:
        assert verdict == "deny"
    else:
        assert verdict in ("ask", "deny") or not any(part.name == "rm" for part in parse(whole, ROOT, HOME).parts)


@given(TEXT)
@settings(max_examples=200, deadline=None)
def test_approving_more_never_allows_less(command: str) -> None:
    order = ["deny", "ask", "allow"]
    found = [
        order.index(decide((Action("execute", command=command),), Policy(ROOT, approve=approve, home=HOME)).verdict)
        for approve in ("ask", "edits", "all")
    ]
    assert found == sorted(found)


# What bash really does is the judge: programs `good` and `evil` write down how they were called.

WORDS = r"""
    evil good a $x "$x" 'q\ r' "a'b" e"vi"l \e\v\i\l $'ev\x69l' $(evil&s) `evil` "$(evil&u)" {evil,b} ev{il,} ${x:-$(evil)}
    $((1+1)) * sub a#b ~ x=1 -c -- ] } ! "a"$x \; ${x} ${#x} <(evil&p) é evil$y [a]* "`evil`"$x false{a,b}"$x" $
    """.split()  # noqa: SIM905 one word a name reads better than a quoted list
WORD = st.sampled_from([word.replace("&", " ") for word in WORDS])
PREFIX = st.sampled_from(
    ["", "", "", "x=evil ", "A=b ", "! ", "command ", "env ", "timeout 1 ", "exec ", "eval ", "nice ", "time "]
)
NAME = st.sampled_from(["evil", "good", "$x", 'e"vil"', "true", "cd sub", "cd ..", "'evil'", "\\evil", "echo"])
SUFFIX = st.sampled_from(["", "", "", " > f", " < f", " 2>&1", ' <<<"$(evil h)"'])
SIMPLE = st.builds(lambda a, b, c, d: f"{a}{b} {' '.join(c)}{d}", PREFIX, NAME, st.lists(WORD, max_size=3), SUFFIX)
FORMS = st.sampled_from(
    [
        *(
            "{0} && {1}",
            "{0} || {1}",
            "{0}; {1}",
            "{0} | {1}",
            "({0})",
            "{{ {0}; }}",
            "if {0}; then {1}; fi",
            "{0}\n{1}",
            "x=evil; {0}",
        ),
        *(
            "for x in evil good; do {0}; done",
            "while {0}; do {1}; break; done",
            "case a in b) {0};; *) {1};; esac",
            "[[ a == a ]] && {0}",
        ),
        *(
            "cat <<EOF\n{0}\nEOF\n{1}",
            "cat <<'EOF'\n{0}\nEOF\n{1}",
            "cat <<-EOF | {0}\n\ta\n\tEOF",
            "bash -c '{0}'",
            'eval "{0}"',
        ),
        *(
            'echo "$({0})"',
            "echo `{0}`",
            'trap "{0}" EXIT',
            "echo a | xargs {0}",
            "((1)) && {0}",
            "{0} # {1}",
            "{0} > f && {1}",
            "{0}\\\n{1}",
        ),
    ]
)
LINES = st.recursive(SIMPLE, lambda inner: st.builds(lambda form, a, b: form.format(a, b), FORMS, inner, inner), max_leaves=4)


@pytest.fixture(scope="module")
def stubs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    base = tmp_path_factory.mktemp("stubs").resolve()
    (base / "bin").mkdir()
    for name in ("evil", "good"):
        stub = base / "bin" / name
        stub.write_text(f'#!/bin/sh\nprintf "%s\\0" {name} "$PWD" "$@" END >> "$RECORD"\n')
        stub.chmod(0o755)
    for name in ("bash", "sh", "cat", "env", "timeout", "nice", "xargs", "true"):
        found = shutil.which(name)
        assert found
        (base / "bin" / name).symlink_to(found)
    return base


def ran(command: str, base: Path) -> list[list[str]]:
    """The calls of the stubs when bash runs the line: name, folder and arguments."""
    number = len(list(base.iterdir()))
    place, record = base / f"w{number}", base / f"r{number}"
    (place / "sub").mkdir(parents=True)
    (place / "f").write_text("evil z\n")
    record.touch()
    environment = {"PATH": str(base / "bin"), "RECORD": str(record), "HOME": HOME}
    null = subprocess.DEVNULL
    argv = ["bash", "-c", command]
    process = subprocess.Popen(argv, cwd=place, env=environment, stdin=null, stdout=null, stderr=null, start_new_session=True)
    try:
        process.wait(5)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, 9)
        process.wait()
    text = os.fsdecode(record.read_bytes())
    return [["" if at == 1 else each for at, each in enumerate(call.split("\0"))] for call in text.split("\0END\0") if call]


def fits(part: Part, argv: list[str]) -> bool:
    """Whether the words of a part can be this argv."""
    for at, word in enumerate(part.words):
        if word.many or word.glob or any("/dev/fd/" in value for value in word.values or ()):
            return True
        if at >= len(argv) or (word.value is not None and word.value != argv[at]):
            return False
    return len(argv) == len(part.words)


@given(LINES)
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])
def test_what_bash_runs_was_foreseen(stubs: Path, command: str) -> None:
    line = parse(command, str(stubs), HOME)
    if line.doubts or "exec >" in command:
        return
    for name, _, *arguments in ran(command, stubs):
        assert any(part.name == name and fits(part, [name, *arguments]) for part in line.parts), (name, arguments)


def test_an_ordinary_command_is_decided_within_milliseconds() -> None:
    commands = ["ls -la src", "cd src && pytest -q tests/test_a.py | tail -20", 'git add -A && git commit -m "x"', "npm test"]
    for command in commands:
        action = (Action("execute", command=command),)
        decide(action, ALL)
        best = 1.0
        for _ in range(20):
            started = time.perf_counter()
            decide(action, ALL)
            best = min(best, time.perf_counter() - started)
        assert best < 0.003
