"""The sizes that every image is made in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

IMAGE_SIZES: Final[Mapping[str, int]] = {"large": 1600, "medium": 800, "small": 400}
"""Maximum width in pixels by name, which is part of file names and of API answers. Largest first: each size is made
from the one before."""
