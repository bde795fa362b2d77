import pytest

from ferrule.policy.safe import GIT, TABLE, only_reads
from ferrule.policy.shell import parse

WRITES_OR_RUNS = (
    """
sort -o x y|sort -ox y|sort --output=x y|sort --outp=x y|sort --compress-program=x y|sort -T x y
sort -S 1 --files0-from=x|uniq a b|uniq -c a b|tail -f x|rg --pre x y|rg --pre=x y|rg -z y|rg --search-zip y
rg --hostname-bin=x y|rg --hostname-bin x y|grep --devices=x y|find . -exec x|find . -execdir x|find . -ok x
find . -delete|find . -fprint x|find . -fprintf x y|find . -fls x|find -L .|find . -files0-from x|find . $x
find . -follow|sed p x|sed -i p x|sed -n '1,2w x' x|sed -n 1e x|sed -n 's/a/b/p' x|git status|git diff|git log
git show|git -c a=b rev-parse|git rev-parse --parseopt|git branch -D x|git ls-files -m|git cat-file --textconv x
printf -v a b|printf $x|date -s x|test -v x|[ -v x ]|tree -o x|xxd a b|env|printenv|less x|more x|vi x|awk 1 x|jq . x
file -C x|./ls|/bin/ls|PATH=. ls|LD_PRELOAD=x ls|GIT_DIR=x git rev-parse|ls $x|ls *|cat *.py -n *|ls --unknown|x
cd a b|export PATH=x|export A=1 LD_PRELOAD=x|declare -x PATH|command ls|read -p x y|od --strings|du --files0-from=x
wc --files0-from=x|diff --to-file=x y
""".replace("\n", "|")
    .strip("|")
    .split("|")
)

READS = (
    """
ls|ls -la src|ls --color=never|ls -- *|cat a b|cat -n a|head -n 5 a|head -5 a|head -n5 a|tail -c 10 a|wc -l a
sort -k2,2 -t: a|sort -rn|uniq -c|uniq -c a|grep -rn x .|grep -A 3 -e x y|grep --include='*.py' -r x .|rg -n x
rg -g '*.py' x src|rg --files|rg -A3 x|find . -name x -type f|find . -maxdepth 2 -not -path './a/*' -print
sed -n 1,20p x|sed -n '5p' x|sed -n '$p' x|git rev-parse HEAD|git rev-parse --abbrev-ref HEAD|git merge-base a b|pwd
whoami|id -u|uname -a|which python|type -a x|echo -n a|echo $x|true|false|:|[ -f x ]|test -d x|[[ -n $x ]]
printf '%s' a|stat -c %s x|diff -u a b|cmp a b|md5sum a|command -v x|basename a|cut -d: -f1 a|tr a b|nl a|cd a|A=1 ls
export A=1|set -e|ls src/*|cat src/*.py|comm -12 a b|od -c a|du -sh .|seq 1 3|read -r x
""".replace("\n", "|")
    .strip("|")
    .split("|")
)


@pytest.mark.parametrize("command", READS)
def test_it_only_reads(command: str) -> None:
    line = parse(command, "/w", "/home/u")
    assert line.doubts == ()
    assert all(only_reads(part) for part in line.parts)


@pytest.mark.parametrize("command", WRITES_OR_RUNS)
def test_it_may_do_more_than_read(command: str) -> None:
    assert not all(only_reads(part) for part in parse(command, "/w", "/home/u").parts)


@pytest.mark.parametrize("name", [*TABLE, *(f"git {name}" for name in GIT)])
@pytest.mark.parametrize("option", ["--output=x", "--exec=x", "--pre=x", "--unknown", "--o=x", "-!"])
def test_no_entry_takes_an_option_that_it_does_not_list(name: str, option: str) -> None:
    if name.split()[0] in ("echo", "true", "false", ":", "exit"):
        return
    assert not all(only_reads(part) for part in parse(f"{name} '{option}' a", "/w", "/home/u").parts)
