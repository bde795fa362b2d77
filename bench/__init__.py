"""Figures of speed and memory, each beside a reference measured in the same run. `python -m bench` prints the table."""
