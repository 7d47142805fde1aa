"""The sizes that every image is made in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

IMAGE_SIZES: Final[Mapping[str, int]] = {"large": 1600, "medium": 800, "small": 400}
"""Width in pixels by name. The names are part of file names in storage and of the API's answers."""
