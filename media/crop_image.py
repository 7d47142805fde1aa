"""A part of an image, as a file of its own. Works on bytes in memory."""

from __future__ import annotations

from dataclasses import dataclass
from io import BytesIO
from math import isfinite
from typing import Final

from django.utils.translation import gettext as _
from PIL import Image

from media.images import encode_image, frames_of, normalize_orientation, strip_metadata
from proofroom.core.errors import invalid

_JPEG, _PNG = ("JPEG", ".jpg"), ("PNG", ".png")
_KINDS: Final = {"JPEG": _JPEG, "MPO": _JPEG, "PNG": _PNG, "GIF": _PNG}
_OTHERS: Final = ("WEBP", ".webp")
"""AVIF takes minutes to encode."""


@dataclass(frozen=True, slots=True)
class Box:
    """The part that is kept, in fractions of width and height, from the left and the top."""

    left: float
    top: float
    width: float
    height: float

    def checked(self) -> Box:
        """The same, inside of the image. Raises `RuleViolation` on `box`."""
        parts = (self.left, self.top, self.width, self.height)
        if not all(isfinite(part) and 0 <= part <= 1 for part in parts):
            raise invalid("box", _("The part to keep is said in numbers from 0 to 100."))
        width, height = min(self.width, 1 - self.left), min(self.height, 1 - self.top)
        if width <= 0 or height <= 0:
            raise invalid("box", _("The part to keep lies outside of the picture."))
        if width >= 1 and height >= 1:
            raise invalid("box", _("This keeps the whole picture: nothing is cropped."))
        return Box(self.left, self.top, width, height)

    def inside(self, point: tuple[float, float]) -> tuple[float, float] | None:
        """Return where a point of the whole is in the part; None for one that is cut off."""
        x, y = (point[0] - self.left) / self.width, (point[1] - self.top) / self.height
        return (x, y) if 0 <= x <= 1 and 0 <= y <= 1 else None


def crop(content: bytes, box: Box) -> tuple[bytes, str]:
    """The part as a file, and the ending of its name. Raises `RuleViolation` for an animation."""
    image = Image.open(BytesIO(content))
    if frames_of(image) > 1:
        raise invalid("box", _("An animation cannot be cropped."))
    kind, suffix = _KINDS.get(str(image.format), _OTHERS)
    whole = normalize_orientation(image)
    left, top = round(box.left * whole.width), round(box.top * whole.height)
    left, top = min(left, whole.width - 1), min(top, whole.height - 1)
    right = max(left + 1, min(whole.width, round((box.left + box.width) * whole.width)))
    bottom = max(top + 1, min(whole.height, round((box.top + box.height) * whole.height)))
    return encode_image(strip_metadata(whole.crop((left, top, right, bottom))), kind), suffix
