"""The names of tools that every vendor takes."""

import re

VALID_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")


def storable(written: str) -> str:
    """A valid name as near as possible to what was written."""
    return re.sub(r"[^A-Za-z0-9_-]+", "_", written)[:64].strip("_") or "unnamed_tool"
