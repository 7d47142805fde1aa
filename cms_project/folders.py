"""Where the product's own files are, and where those of the site's project."""

from __future__ import annotations

import os
from importlib.util import find_spec
from pathlib import Path
from typing import Final

_CODE: Final = Path(__file__).resolve().parents[1]
_PACKED: Final = Path(__file__).resolve().parent / "product"
"""Where a wheel keeps what a checkout has beside the packages; pyproject.toml names the folders."""

PRODUCT_DIR: Final = _PACKED if _PACKED.is_dir() else _CODE
"""The folder of the product's `templates`, `static`, `locale` and `docs`."""


def project_folder(settings_module: str) -> Path:
    """Return the folder of the project whose settings these are: the one that holds their package.

    The product's own settings belong to its checkout; where it is installed from a wheel, to the current folder.
    """
    package = settings_module.partition(".")[0]
    if package != __package__:
        spec = find_spec(package)
        if spec is not None and spec.submodule_search_locations:
            return Path(next(iter(spec.submodule_search_locations))).resolve().parent
    return Path.cwd() if PRODUCT_DIR == _PACKED else _CODE


BASE_DIR: Final = project_folder(os.environ.get("DJANGO_SETTINGS_MODULE", __package__))
"""The folder of the project: with `manage.py` and `.env`, and what relative paths begin at."""
