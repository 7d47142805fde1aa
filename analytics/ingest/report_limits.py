"""Limits of reported views and clicks, independent of the endpoint."""

from __future__ import annotations

from typing import Annotated, Final

from pydantic import AfterValidator, Field

MAX_BODY_BYTES: Final = 256 * 1024
MAX_METADATA_BYTES: Final = 4_000
MAX_METADATA_KEYS: Final = 20
MAX_METADATA_LEVELS: Final = 4
MAX_EVENTS: Final = 100
"""Maximum number of events in one call."""
MAX_PIXELS: Final = 1_000_000
MAX_VIEWPORT_WIDTH: Final = 100_000
PIXEL_DECIMALS: Final = 3


def round_pixels(value: float) -> float:
    """Return the position as stored: rounded to a thousandth of a pixel, without negative zero."""
    # Adding zero turns -0.0 into 0.0.
    return round(value, PIXEL_DECIMALS) + 0.0


Pixels = Annotated[float, Field(ge=0, le=MAX_PIXELS), AfterValidator(round_pixels)]
ViewportWidth = Annotated[float, Field(ge=1, le=MAX_VIEWPORT_WIDTH)]
