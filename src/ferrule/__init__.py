"""Ferrule: a coding agent whose runs end honestly."""

__version__ = "0.1.0"
