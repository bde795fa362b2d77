"""Times as people write them."""

import re

UNITS = {"": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0}


def seconds(text: str) -> float | None:
    """`90`, `90s`, `1.5m`, `2h`, `1h30m` as seconds; None for anything else."""
    text = text.strip()
    if re.fullmatch(r"[0-9]+(\.[0-9]+)?", text):
        return float(text)
    if not re.fullmatch(r"([0-9]+(\.[0-9]+)?[smh])+", text):
        return None
    return sum(float(number) * UNITS[unit] for number, unit in re.findall(r"([0-9.]+)([smh])", text))
