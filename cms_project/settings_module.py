"""Which settings a process of the product starts with."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Final

from django.core.exceptions import ImproperlyConfigured

VARIABLE: Final = "DJANGO_SETTINGS_MODULE"
PRODUCT_SETTINGS: Final = "cms_project.settings"
# In manage.py a comma stands between the variable and the module, in pyproject.toml an equals sign.
_NAMED: Final = re.compile(VARIABLE + r"""["']?\s*[,=]\s*["']([A-Za-z_][\w.]*)["']""")
_NAMING_FILES: Final = ("manage.py", "pyproject.toml")


def choose_settings() -> None:
    """Use the product's own settings unless the environment names others.

    Raises `ImproperlyConfigured` in the folder of a project: without the variable, its modules, post types and
    templates would be missing and nothing would say so.
    """
    if os.environ.get(VARIABLE):
        return
    folder = Path.cwd()
    own = find_project_settings(folder)
    if own is not None:
        raise ImproperlyConfigured(
            f"{folder} contains a project with the settings {own}, but {VARIABLE} is not set, so the product would "
            f"run without the project's code. Set {VARIABLE}={own}, or {VARIABLE}={PRODUCT_SETTINGS} for the "
            "product alone."
        )
    os.environ[VARIABLE] = PRODUCT_SETTINGS


def find_project_settings(folder: Path) -> str | None:
    """Return the settings of the project in this folder; None if it contains no project that extends the product."""
    for name in _NAMING_FILES:
        found = _NAMED.search(_read(folder / name))
        if found is None or found[1] == PRODUCT_SETTINGS:
            continue
        # Any Django project names its settings. Only one whose settings import the product's is meant.
        if "cms_project" in _read(folder.joinpath(*found[1].split(".")).with_suffix(".py")):
            return found[1]
    return None


def _read(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
