"""The version of the product."""

from __future__ import annotations

from functools import cache
from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as installed_version
from typing import Final

RELEASE: Final = "0.1.0"
"""The next release, or the one that the commit is tagged with. `build_version.py` adds the commit to other builds."""


@cache
def product_version() -> str:
    """Return the version of the installed package, or of the checkout."""
    try:
        return installed_version("proofroom")
    except PackageNotFoundError:  # a checkout that is not installed as a package
        return f"{RELEASE}+checkout"
