"""Rules of the list of modules of a stored group, wherever it came in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from django.utils.translation import gettext as _

from content.rules.modules import MODULES_MAX
from proofroom.core.errors import invalid
from proofroom.core.json import Json
from proofroom.core.validation.input_validation import refuse_unstorable

_TYPES: Final[Mapping[str, type]] = {
    "type": str,
    "scope": str,
    "locked": bool,
    "props": dict,
    "globalSlug": str,
    "orderIndex": int,
}


def check_places(entries: object) -> list[Mapping[str, Json]]:
    """The entries, each an object of the known keys. Raises `RuleViolation` by path."""
    refuse_unstorable(entries, "modules")
    if not isinstance(entries, list | tuple) or len(entries) > MODULES_MAX:
        raise invalid(
            "modules",
            _("modules must be a list of at most %(modules_max)s modules.")
            % {"modules_max": MODULES_MAX},
        )
    for number, entry in enumerate(entries):
        where = f"modules.{number}"
        if not isinstance(entry, Mapping):
            raise invalid(where, _("A module must be an object."))
        for key, value in entry.items():
            if key not in _TYPES:
                known = ", ".join(_TYPES)
                raise invalid(
                    f"{where}.{key}"[:90],
                    _("There is no such key; known: %(known)s.") % {"known": known},
                )
            if value is not None and not isinstance(value, _TYPES[key]):
                raise invalid(
                    f"{where}.{key}", _("%(key)s is not of the right type.") % {"key": key}
                )
        if not entry.get("type"):
            raise invalid(f"{where}.type", _("type is required."))
    return list(entries)
