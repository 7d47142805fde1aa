"""Crop: a part of an image as a new file, or in place of the original. Works on bytes in memory."""

from __future__ import annotations

from dataclasses import dataclass
from io import BytesIO
from math import isfinite
from pathlib import PurePosixPath
from typing import Final
from uuid import UUID

from django.conf import settings
from django.core.files.storage import default_storage
from django.utils.translation import gettext as _

from media.models import Asset
from media.services.files import replace_file, store_image
from media.services.update import find_asset, update_asset
from proofroom.core.actor import Actor
from proofroom.core.errors import Conflict, invalid

_JPEG, _PNG = ("JPEG", ".jpg"), ("PNG", ".png")
_KINDS: Final = {"JPEG": _JPEG, "MPO": _JPEG, "PNG": _PNG, "GIF": _PNG}
_OTHERS: Final = ("WEBP", ".webp")
"""Format for other images. AVIF itself takes minutes to encode."""


@dataclass(frozen=True, slots=True)
class Box:
    """The part to keep, as fractions of width and height from the left and top."""

    left: float
    top: float
    width: float
    height: float

    def checked(self) -> Box:
        """Return the box limited to the image. Raises `RuleViolation` on `box`."""
        parts = (self.left, self.top, self.width, self.height)
        if not all(isfinite(part) and 0 <= part <= 1 for part in parts):
            raise invalid("box", _("The crop area must be given in numbers from 0 to 100."))
        width, height = min(self.width, 1 - self.left), min(self.height, 1 - self.top)
        if width <= 0 or height <= 0:
            raise invalid("box", _("The crop area is outside the image."))
        if width >= 1 and height >= 1:
            raise invalid("box", _("The crop area covers the whole image."))
        return Box(self.left, self.top, width, height)

    def inside(self, point: tuple[float, float]) -> tuple[float, float] | None:
        """Return a point of the whole image relative to the box, or None if it is outside."""
        x, y = (point[0] - self.left) / self.width, (point[1] - self.top) / self.height
        return (x, y) if 0 <= x <= 1 and 0 <= y <= 1 else None


def crop(content: bytes, box: Box) -> tuple[bytes, str]:
    """Return the cropped file and the suffix of its name. Raises `RuleViolation` for an animation."""
    # Imported here, so that only processes that change images load Pillow.
    from PIL import Image

    from media.images import encode_image, frames_of, normalize_orientation, strip_metadata

    image = Image.open(BytesIO(content))
    if frames_of(image) > 1:
        raise invalid("box", _("Animated images cannot be cropped."))
    kind, suffix = _KINDS.get(str(image.format), _OTHERS)
    whole = normalize_orientation(image)
    left, top = round(box.left * whole.width), round(box.top * whole.height)
    # Rounding must not give an empty area or one outside the image.
    left, top = min(left, whole.width - 1), min(top, whole.height - 1)
    right = max(left + 1, min(whole.width, round((box.left + box.width) * whole.width)))
    bottom = max(top + 1, min(whole.height, round((box.top + box.height) * whole.height)))
    return encode_image(strip_metadata(whole.crop((left, top, right, bottom))), kind), suffix


def crop_image(*, asset_id: UUID | str, box: Box, is_in_place: bool = False, actor: Actor) -> Asset:
    """Create a new file from a part of an image, with its metadata, or replace the image with the part.

    With `is_in_place` the original is replaced as by `replace_file`. Must not be called in a transaction.
    Raises `NotAllowed`, `NotFound`, `Conflict` if the file was replaced meanwhile, or `RuleViolation` on `box`.
    """
    actor.require_person("crop images")
    actor.require("media.edit")
    asset, part = find_asset(asset_id, actor), box.checked()
    if not asset.mime.startswith("image/"):
        raise invalid("box", _("Only images can be cropped."), code="no_image")
    try:
        with default_storage.open(str(asset.file.name)) as file:
            whole: bytes = file.read()
    except FileNotFoundError:
        raise invalid(
            "box", _("The file is missing from the storage, so it cannot be cropped.")
        ) from None
    content, suffix = crop(whole, part)
    stem = PurePosixPath(asset.filename).stem
    # Checked again, because reading and cropping took some time.
    if is_in_place:
        if find_asset(asset.pk, actor).file.name != asset.file.name:
            raise Conflict(
                _("Somebody replaced the file in the meantime. Check it and crop again.")
            )
        made = replace_file(
            asset_id=asset.pk, file=BytesIO(content), filename=f"{stem}{suffix}", actor=actor
        )
    else:
        made = store_image(
            file=BytesIO(content),
            filename=f"{stem}-cropped{suffix}",
            alt_text=asset.alt_text,
            categories=asset.categories,
            description=asset.description,
            actor=actor,
        )
    # Metadata and focal point of the original still apply, if the point is in the part.
    point = None
    if asset.focal_x is not None and asset.focal_y is not None:
        point = part.inside((asset.focal_x, asset.focal_y))
    return update_asset(
        asset_id=made.pk,
        alt_texts={
            locale: text
            for locale, text in asset.alt_texts.items()
            if locale in settings.CMS_ENV.locales
        },
        is_decorative=asset.is_decorative,
        focal_point=point,
        actor=actor,
    )
