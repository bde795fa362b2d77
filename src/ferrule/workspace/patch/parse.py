"""Reading a patch, in whichever of the two forms it comes."""

from .begin import MARKS, parse_begin
from .model import FilePatch, Malformed
from .unified import parse_unified

SHAPE = """*** Begin Patch
*** Update File: src/a.py
@@ def f():
     x = 1
-    return x
+    return x + 1
*** Add File: src/new.py
+a line
*** Delete File: src/old.py
*** Update File: src/b.py
*** Move to: src/c.py
*** End Patch"""


def parse_patch(text: str) -> tuple[FilePatch, ...]:
    """The files in order; raises Malformed. Carriage returns that end every line belong to the way it was sent, not to it."""
    lines = text.removesuffix("\n").split("\n")
    if all(line.endswith("\r") for line in lines[:-1]) and len(lines) > 1:
        lines = [line.removesuffix("\r") for line in lines]
    begun = any(line.startswith(MARKS) for line in lines)
    files = parse_begin(lines) if begun else parse_unified(lines)
    if not files:
        raise Malformed("it changes no file.")
    return files
