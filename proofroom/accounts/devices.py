"""Names of browsers and systems, from the User-Agent header."""

from __future__ import annotations

from typing import Final

from django.utils.translation import gettext as _

# The first match counts: Edge and Opera also send "Chrome", and Chrome also sends "Safari".
_BROWSERS: Final = (
    ("Edg", "Edge"), ("OPR/", "Opera"), ("Firefox", "Firefox"), ("FxiOS", "Firefox"),
    ("Chrome", "Chrome"), ("CriOS", "Chrome"), ("Safari", "Safari"),
)  # fmt: skip
# iPhones and iPads also send "like Mac OS X", Android also sends "Linux".
_SYSTEMS: Final = (
    ("iPhone", "iPhone"), ("iPad", "iPad"), ("Android", "Android"), ("Windows", "Windows"),
    ("Mac OS X", "macOS"), ("CrOS", "ChromeOS"), ("Linux", "Linux"),
)  # fmt: skip


def device_name(agent: str) -> str:
    """Return browser and system in words, or the first 60 characters of an unknown User-Agent."""
    browser = next((name for mark, name in _BROWSERS if mark in agent), None)
    system = next((name for mark, name in _SYSTEMS if mark in agent), None)
    if browser is None or system is None:
        return agent[:60] or _("Unknown device")
    return _("%(browser)s on %(system)s") % {"browser": browser, "system": system}
