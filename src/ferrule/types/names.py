"""One reversible spelling for file names that are not UTF-8, so that every name can be shown, stored and sent as JSON.

A byte that is not part of valid UTF-8 becomes U+FFFD and two hexadecimal digits, and U+FFFD itself is doubled. Every other name
stays as it is.
"""

import os
import re

_MARK = "\N{REPLACEMENT CHARACTER}"
_SPECIAL = re.compile(f"[\udc80-\udcff{_MARK}]")
_SPELLED = re.compile(f"{_MARK}(?:{_MARK}|[89A-F][0-9A-F])")


def spell(name: str | bytes) -> str:
    """The spelling of a name as `os.fsdecode` gives it, or of its bytes."""
    raw = name if isinstance(name, bytes) else os.fsencode(name)
    text = raw.decode("utf-8", "surrogateescape")
    return _SPECIAL.sub(lambda match: _MARK * 2 if match[0] == _MARK else f"{_MARK}{ord(match[0]) - 0xDC00:02X}", text)


def unspell(spelling: str) -> bytes:
    """The exact bytes of a spelled name. U+FFFD without a spelled byte behind it stands for itself."""
    text = _SPELLED.sub(lambda match: _MARK if match[0][1] == _MARK else chr(0xDC00 + int(match[0][1:], 16)), spelling)
    return text.encode("utf-8", "surrogateescape")
