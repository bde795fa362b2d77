"""Which languages a project is written in, by the names of its files."""

LANGUAGES = {
    "py": "Python", "pyi": "Python", "js": "JavaScript", "mjs": "JavaScript", "cjs": "JavaScript", "jsx": "JavaScript",
    "ts": "TypeScript", "tsx": "TypeScript", "mts": "TypeScript", "go": "Go", "rs": "Rust", "java": "Java", "kt": "Kotlin",
    "kts": "Kotlin", "scala": "Scala", "c": "C", "h": "C", "cc": "C++", "cpp": "C++", "cxx": "C++", "hpp": "C++", "cs": "C#",
    "fs": "F#", "swift": "Swift", "m": "Objective-C", "rb": "Ruby", "php": "PHP", "ex": "Elixir", "exs": "Elixir",
    "erl": "Erlang", "hs": "Haskell", "ml": "OCaml", "clj": "Clojure", "lua": "Lua", "pl": "Perl", "r": "R", "jl": "Julia",
    "dart": "Dart", "zig": "Zig", "nim": "Nim", "sh": "Shell", "bash": "Shell", "vue": "Vue", "svelte": "Svelte",
    "html": "HTML", "css": "CSS", "scss": "CSS", "sql": "SQL", "tf": "Terraform", "proto": "Protocol Buffers",
}  # fmt: skip


def language(name: str) -> str | None:
    """That of a file, None for what is no source text."""
    stem, dot, ending = name.rpartition(".")
    return LANGUAGES.get(ending.lower()) if dot and stem else None
