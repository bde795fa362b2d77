"""Relative links in Markdown that lead to no file."""

import asyncio
import posixpath
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING
from urllib.parse import unquote

from ferrule.types.names import spell
from ferrule.workspace.checkers.base import Changed, Checker, CheckFinding, Missing, Said, Surroundings

if TYPE_CHECKING:
    from markdown_it.token import Token

SCHEME = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*:|//|[#/?]")
LABEL = re.compile(r"[a-z0-9_-]+")
"""In pages of a documentation, a name that its generator resolves."""
UNFINISHED = re.compile(r"[{}<>$*|]")


def links() -> Checker:
    return Checker("links", lambda file: file.suffix in (".md", ".markdown"), _run)


async def _run(files: tuple[Changed, ...], surroundings: Surroundings) -> Said:
    try:
        import markdown_it
    except ImportError as problem:
        raise Missing("markdown-it-py is not installed") from problem
    found: list[CheckFinding] = []
    for file in files:
        for target, first, last in await asyncio.to_thread(_targets, file):
            line = _line(file, target, first, last)
            if line is not None and not await _leads_somewhere(file.path, target, surroundings):
                said = f"This link leads to `{unquote(target)}`, which does not exist."
                found.append(CheckFinding(file.path, line, line, "links", "broken-link", "should-fix", said))
    return Said(tuple(found), f"markdown-it-py {markdown_it.__version__}")


def _targets(file: Changed) -> list[tuple[str, int, int]]:
    """Relative targets of links and images, with the lines, from 1, of the paragraph that holds them."""
    from markdown_it import MarkdownIt

    found: list[tuple[str, int, int]] = []
    for token in MarkdownIt("commonmark").enable("table").parse(file.text):
        if token.type == "inline" and token.map and file.touches(token.map[0] + 1, token.map[1]):
            for target in _inside(token):
                if target and not SCHEME.match(target) and not UNFINISHED.search(unquote(target)):
                    found.append((target, token.map[0] + 1, token.map[1]))
    return found


def _inside(token: "Token") -> Iterator[str]:
    for child in token.children or ():
        name = "href" if child.type == "link_open" else "src" if child.type == "image" else None
        value = child.attrs.get(name) if name else None
        if isinstance(value, str):
            yield value


def _line(file: Changed, target: str, first: int, last: int) -> int | None:
    """The changed line in which the target is written. One that is defined elsewhere by a label has none."""
    texts = file.text_lines
    for number in range(first, min(last, len(texts)) + 1):
        written = target in texts[number - 1] or unquote(target) in texts[number - 1]
        if written and file.touches(number, number):
            return number
    return None


async def _leads_somewhere(path: str, target: str, surroundings: Surroundings) -> bool:
    """Whether there is such a file or folder, or the source of such a page. What leads out of the repository is not judged."""
    if LABEL.fullmatch(target) and "/" in path:
        return True
    bare = re.split(r"[?#]", target, maxsplit=1)[0]
    goal = posixpath.normpath(posixpath.join(posixpath.dirname(path), spell(unquote(bare).encode())))
    if not bare or goal.startswith(".."):
        return True
    stem = re.sub(r"\.html?$", "", goal)
    for each in dict.fromkeys((goal, f"{stem}.md", f"{stem}.rst", f"{stem}/index.md", f"{stem}/README.md")):
        if await surroundings.exists(each):
            return True
    return False
