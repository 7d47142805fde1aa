"""Whose visits count: not those of programs, of staff, and of whoever asks not to be counted."""

from __future__ import annotations

from collections.abc import Mapping

from core.programs import is_program

__all__ = ["is_program", "refuses"]


def refuses(headers: Mapping[str, str]) -> bool:
    """Whether the visitor's browser asks not to be tracked (Do Not Track, Global Privacy Control)."""
    return headers.get("DNT") == "1" or headers.get("Sec-GPC") == "1"
