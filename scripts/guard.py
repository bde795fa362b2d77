"""Guards against what erodes: sizes, import by string, work on import, who may start processes. Prints each fault; exit 1."""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

SOURCE = Path(__file__).parent.parent / "src" / "ferrule"
FILE_LINES, FUNCTION_LINES, FOLDER_FILES = 400, 50, 15
PROCESS_STARTERS = {"subprocess", "_posixsubprocess", "multiprocessing", "pty"}
STARTING_CALLS = {"fork", "forkpty", "posix_spawn", "posix_spawnp", "system", "popen", "execv", "execve", "execvp", "execvpe"}


def main() -> int:
    faults = [fault for path in sources() for fault in file_faults(path)]
    faults += [fault for folder in SOURCE.rglob("*/") if folder.name != "__pycache__" for fault in folder_faults(folder)]
    for fault in faults:
        print(fault)
    return 1 if faults else 0


def sources() -> list[Path]:
    """Without the projects that the demos work on."""
    return [path for path in sorted(SOURCE.rglob("*.py")) if not {"project", "before", "after"} & set(path.parts)]


def folder_faults(folder: Path) -> Iterator[str]:
    files = [path for path in folder.glob("*.py") if path.name != "__init__.py"]
    if len(files) > FOLDER_FILES:
        yield f"{folder}: {len(files)} files, at most {FOLDER_FILES}"


def file_faults(path: Path) -> Iterator[str]:
    text = path.read_text("utf-8")
    tree = ast.parse(text)
    shown = path.relative_to(SOURCE.parent)
    lines = text.count("\n")
    if lines > FILE_LINES:
        yield f"{shown}: {lines} lines, at most {FILE_LINES}"
    for node in ast.walk(tree):
        yield from (f"{shown}:{fault}" for fault in node_faults(node, path))
    for statement in tree.body:
        if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
            yield f"{shown}:{statement.lineno}: a call on import"
        if isinstance(statement, ast.Assign | ast.AnnAssign) and isinstance(statement.value, ast.List | ast.Set):
            yield f"{shown}:{statement.lineno}: a mutable value in the module; write a tuple or a frozenset"


def node_faults(node: ast.AST, path: Path) -> Iterator[str]:
    match node:
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            length = (node.end_lineno or node.lineno) - node.lineno + 1
            if length > FUNCTION_LINES:
                yield f"{node.lineno}: {node.name} has {length} lines, at most {FUNCTION_LINES}"
        case ast.Import(names=names):
            for name in names:
                yield from import_faults(node.lineno, name.name, path)
        case ast.ImportFrom(module=str() as module):
            yield from import_faults(node.lineno, module, path)
        case ast.Attribute(value=ast.Name(id="os"), attr=name) if name in STARTING_CALLS and "process" not in path.parts:
            yield f"{node.lineno}: os.{name} belongs to process/"
        case ast.Call(func=ast.Attribute(attr="import_module") | ast.Name(id="__import__")):
            yield f"{node.lineno}: import by string hides the layers"


def import_faults(line: int, module: str, path: Path) -> Iterator[str]:
    if module.split(".")[0] in PROCESS_STARTERS and "process" not in path.parts:
        yield f"{line}: {module} is imported by process/ alone"


if __name__ == "__main__":
    sys.exit(main())
