"""The folders of the product's files and of the site's project."""

from __future__ import annotations

import os
from importlib.util import find_spec
from pathlib import Path
from typing import Final

_CODE: Final = Path(__file__).resolve().parents[1]
_PACKED: Final = Path(__file__).resolve().parent / "product"
"""Folder in which a wheel contains what a checkout has next to the packages. pyproject.toml lists its folders."""

PRODUCT_DIR: Final = _PACKED if _PACKED.is_dir() else _CODE
"""Folder of the product's `templates`, `static`, `locale` and `docs`."""


def project_folder(settings_module: str) -> Path:
    """Return the folder of the project with these settings, the parent of their package.

    For the product's own settings, return the checkout, or the current folder if installed from a wheel.
    """
    package = settings_module.partition(".")[0]
    if package != __package__:
        spec = find_spec(package)
        if spec is not None and spec.submodule_search_locations:
            return Path(next(iter(spec.submodule_search_locations))).resolve().parent
    return Path.cwd() if PRODUCT_DIR == _PACKED else _CODE


BASE_DIR: Final = project_folder(os.environ.get("DJANGO_SETTINGS_MODULE", __package__))
"""Folder of the project, with `manage.py` and `.env`. Relative paths start here."""
