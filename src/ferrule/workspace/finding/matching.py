"""Which paths a typed text means, best first: pure, over an unchanging set of paths.

A text is words; each must be found in the path as a subsequence, capitals only where the word has some. What is found in the
name counts more than what is found on the way to it; of equals the shorter path comes first.
"""

import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from frizbee import Haystacks, Match, Matcher

NAME = 8
"""Points for a match in the name."""
LONGEST = 200
"""Characters of a text that are looked at."""

Keep = Callable[[str], bool]
Rank = tuple[int, int, str]


class Hits(NamedTuple):
    """The best matches with their ranks, lowest first, and how many there are altogether."""

    best: list[Rank]
    total: int


class Matchers(NamedTuple):
    whole: "Matcher"
    names: "Matcher"


class Query:
    """A typed text, ready to be asked of any number of shelves."""

    def __init__(self, text: str) -> None:
        self.words = composed(text[:LONGEST]).split()

    def __bool__(self) -> bool:
        return bool(self.words)

    def matchers(self, names: int | None = None) -> "Matchers":
        """For the whole paths and for the names, of which only the `names` best are wanted."""
        from frizbee import Matcher

        whole = Matcher.from_patterns(self.words, max_typos=0, casing="smart", unicode="smart")
        return Matchers(whole, Matcher.from_patterns(self.words, max_typos=0, max_items=names, casing="smart", unicode="smart"))

    @cached_property
    def _one(self) -> "Matcher":
        return self.matchers().whole

    def marks(self, path: str) -> tuple[int, ...]:
        """Which characters of a path matched: of its name where all of them can."""
        shown = composed(path)
        if not self.words or len(shown) != len(path):
            return ()
        start = len(path) - len(name(path))
        matcher = self._one
        if (found := matcher.match_one_indices(shown[start:], 0)) is not None:
            return tuple(sorted({start + at for at in found.indices}))
        found = matcher.match_one_indices(shown, 0)
        return tuple(sorted(set(found.indices))) if found is not None else ()


class Shelf:
    """Paths, shortest first and then by the alphabet, and once a text is asked for, in the form in which they are matched."""

    def __init__(self, paths: Iterable[str]) -> None:
        self.paths = sorted(paths)
        self.paths.sort(key=len)
        self._forms: tuple[Haystacks, Haystacks] | None = None

    def forms(self) -> "tuple[Haystacks, Haystacks]":
        """The whole paths and the names."""
        from frizbee import Haystacks

        if self._forms is None:
            plain = all(map(str.isascii, self.paths))
            whole = self.paths if plain else [composed(path) for path in self.paths]
            self._forms = Haystacks(whole), Haystacks([path[path.rfind("/", 0, -1) + 1 :] for path in whole])
        return self._forms

    def search(self, matchers: Matchers | None, limit: int, dead: Set[str], keep: Keep | None) -> Hits:
        """The `limit` best of those that are kept and not dead; of a text without words, everything matches.

        Without `keep`, the dead are among the total.
        """
        if matchers is None:
            paths = (path for path in self.paths if path not in dead and (keep is None or keep(path)))
            first = [(0, len(path), path) for path in islice(paths, limit)]
            return Hits(first, len(self.paths) if keep is None else len(first) + sum(1 for _ in paths))
        whole, names = self.forms()
        matches = matchers.whole.match_list(whole)
        living = self._living(matches, dead, keep)
        scores = {found.index: found.score for found in islice(living, limit)}
        total = len(matches) if keep is None else len(scores) + sum(1 for _ in living)
        for found in islice(self._living(matchers.names.match_list(names), dead, keep), limit):
            scores[found.index] = max(scores.get(found.index, 0), found.score + NAME)
        best = sorted((-score, len(self.paths[at]), self.paths[at]) for at, score in scores.items())
        return Hits(best[:limit], total)

    def _living(self, matches: "Sequence[Match]", dead: Set[str], keep: Keep | None) -> "Iterator[Match]":
        for found in matches:
            path = self.paths[found.index]
            if path not in dead and (keep is None or keep(path)):
                yield found


def count(paths: Sequence[str], matchers: Matchers | None) -> int:
    """How many of a few paths match."""
    return len(paths) if matchers is None else len(matchers.whole.match_list([composed(path) for path in paths]))


def name(path: str) -> str:
    """The last part of a path; that of a folder keeps its slash."""
    return path[path.rfind("/", 0, -1) + 1 :]


def composed(text: str) -> str:
    """The form in which accents are part of their letters, whichever way a file system or a keyboard writes them."""
    return text if text.isascii() else unicodedata.normalize("NFC", text)
