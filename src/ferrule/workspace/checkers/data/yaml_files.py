"""YAML that cannot be read, and mappings with the same key twice. Only events are read: nothing is built, so no alias expands."""

from typing import TYPE_CHECKING

from ferrule.workspace.checkers.base import Changed, Checker, Missing, Said, Surroundings, each_file

from .problem import PARSE, Problem, introduced

if TYPE_CHECKING:
    from yaml import Event


def yaml_files() -> Checker:
    return Checker("yaml", lambda file: file.suffix in (".yaml", ".yml"), _run)


async def _run(files: tuple[Changed, ...], surroundings: Surroundings) -> Said:
    try:
        import yaml
    except ImportError as problem:
        raise Missing("PyYAML is not installed") from problem
    said = await each_file(introduced("yaml", read))(files, surroundings)
    return Said(said.findings, f"PyYAML {yaml.__version__}")


def read(content: bytes) -> list[Problem]:
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    problems: list[Problem] = []
    open_nodes: list[_Mapping | None] = []
    try:
        for event in yaml.parse(content, Loader=loader):
            _follow(event, open_nodes, problems)
    except yaml.MarkedYAMLError as problem:
        mark = problem.problem_mark or problem.context_mark
        said = problem.problem or problem.context or "it cannot be read"
        return [Problem(mark.line + 1 if mark else 1, PARSE, f"This is not YAML: {said}")]
    except (yaml.YAMLError, UnicodeDecodeError) as problem:
        at = getattr(problem, "position", 0)
        line = content.count(b"\n", 0, at if isinstance(at, int) else 0) + 1
        return [Problem(line, PARSE, "This is not YAML: a character that is not allowed")]
    return problems


class _Mapping:
    """A mapping that is open: the keys so far, and whether a key comes next."""

    def __init__(self) -> None:
        self.keys: set[str] = set()
        self.key_next = True


def _follow(event: "Event", open_nodes: list[_Mapping | None], problems: list[Problem]) -> None:
    import yaml

    match event:
        case yaml.MappingEndEvent() | yaml.SequenceEndEvent():
            open_nodes.pop()
            return
        case yaml.NodeEvent():
            pass
        case _:
            return
    holder = open_nodes[-1] if open_nodes else None
    if holder is not None:
        if holder.key_next and isinstance(event, yaml.ScalarEvent) and event.value != "<<":
            if event.value in holder.keys:
                line = event.start_mark.line + 1 if event.start_mark else 1
                problems.append(
                    Problem(line, "duplicate-key", f"The key `{event.value}` is already in this mapping", "should-fix")
                )
            holder.keys.add(event.value)
        holder.key_next = not holder.key_next
    if isinstance(event, yaml.MappingStartEvent):
        open_nodes.append(_Mapping())
    elif isinstance(event, yaml.SequenceStartEvent):
        open_nodes.append(None)
