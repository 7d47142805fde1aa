"""Browsers by the names that people know them by."""

from __future__ import annotations

from typing import Final

from django.utils.translation import gettext as _

_BROWSERS: Final = (
    ("Edg", "Edge"), ("OPR/", "Opera"), ("Firefox", "Firefox"), ("FxiOS", "Firefox"),
    ("Chrome", "Chrome"), ("CriOS", "Chrome"), ("Safari", "Safari"),
)  # fmt: skip
_SYSTEMS: Final = (
    ("iPhone", "iPhone"), ("iPad", "iPad"), ("Android", "Android"), ("Windows", "Windows"),
    ("Mac OS X", "macOS"), ("CrOS", "ChromeOS"), ("Linux", "Linux"),
)  # fmt: skip


def device_of(agent: str) -> str:
    """Browser and system for a person to recognize; the beginning of what else calls."""
    browser = next((name for mark, name in _BROWSERS if mark in agent), None)
    system = next((name for mark, name in _SYSTEMS if mark in agent), None)
    if browser is None or system is None:
        return agent[:60] or _("Unknown device")
    return _("%(browser)s on %(system)s") % {"browser": browser, "system": system}
