"""A file before and after an edit."""

from pathlib import Path

from msgspec import Struct


class Edited(Struct, frozen=True):
    """`shown` is how it is named to the model. A text is None where there was or is no file, or none whose text is known."""

    path: Path
    shown: str
    before: str | None
    after: str | None
