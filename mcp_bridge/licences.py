"""The licences of the packages that an installation with all extras contains."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib.metadata import distribution
from pathlib import Path
from typing import Final

from django.conf import settings
from packaging.requirements import Requirement

CORE_LOCK: Final = "requirements.lock"
ALL_LOCK: Final = "requirements-extras.lock"
_DECLARES: Final = ("License-Expression", "License")
_LONGEST: Final = 40
"""Characters of a name of a licence. Some packages declare the whole text, which may begin with the name."""


def locked_packages(name: str) -> list[str]:
    """Return the packages of a lock file that this system needs."""
    text = Path(settings.BASE_DIR, name).read_text(encoding="utf-8")
    pins = (Requirement(pin) for pin in re.findall(r"(?m)^[a-z0-9][^\\\n]+", text))
    return [pin.name for pin in pins if pin.marker is None or pin.marker.evaluate()]


def licence_of(package: str) -> str:
    """Return the licence that an installed package declares, in SPDX if possible. "" if it declares none."""
    metadata = distribution(package).metadata
    declared = next((metadata[key] for key in _DECLARES if key in metadata), "")
    name = declared.partition("\n")[0]
    if 0 < len(name) <= _LONGEST and not name.startswith(("Copyright", "Dual License")):
        return name
    classifiers = metadata.get_all("Classifier") or []
    return ", ".join(
        text.rpartition(" :: ")[2] for text in classifiers if text.startswith("License")
    )


def licence_rows() -> Iterator[tuple[str, str, str]]:
    """Yield every package with its licence, and whether the lock file of `./run` has it."""
    core = set(locked_packages(CORE_LOCK))
    for name in sorted(locked_packages(ALL_LOCK)):
        yield (f"`{name}`", licence_of(name), "" if name in core else "extras")
