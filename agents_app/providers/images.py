"""An image that a provider made, and the sizes to choose from."""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal
from typing import Final

SQUARE: Final = "1024x1024"
SIZES: Final = (SQUARE, "1536x1024", "1024x1536")
"""Allowed sizes, width x height. A provider may only approximate the size, but keeps the shape."""


@dataclass(frozen=True, slots=True)
class MadeImage:
    """An image in a common format. `cost`: US dollars, None if the price is unknown."""

    data: bytes = field(repr=False)
    cost: Decimal | None
    input_tokens: int = 0
    output_tokens: int = 0
