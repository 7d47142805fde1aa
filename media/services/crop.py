"""Crop: a part of an image, as a new file or in the place of the whole."""

from __future__ import annotations

from io import BytesIO
from pathlib import PurePosixPath
from uuid import UUID

from django.conf import settings
from django.core.files.storage import default_storage
from django.utils.translation import gettext as _

from media.crop_image import Box, crop
from media.models import Asset
from media.services.replace import replace_file
from media.services.store import store_image
from media.services.update import find_asset, update_asset
from proofroom.core.actor import Actor
from proofroom.core.errors import Conflict, invalid


def crop_image(*, asset_id: UUID | str, box: Box, is_in_place: bool = False, actor: Actor) -> Asset:
    """Make a new file of a part of an image, with its words; or put the part in the place of the whole.

    The whole stays in the first case; in the second it is gone as after `replace_file`. Not to be called in a
    transaction. Raises `NotAllowed`, `NotFound`, `Conflict` where the file was replaced meanwhile, or
    `RuleViolation` on `box`.
    """
    actor.require_person("crop images")
    actor.require("media.edit")
    asset, kept = find_asset(asset_id), box.checked()
    if not asset.mime.startswith("image/"):
        raise invalid("box", _("Only images can be cropped."), code="no_image")
    try:
        with default_storage.open(str(asset.file.name)) as file:
            whole: bytes = file.read()
    except FileNotFoundError:
        raise invalid(
            "box", _("The file is not in the storage, so it cannot be cropped.")
        ) from None
    content, suffix = crop(whole, kept)
    stem = PurePosixPath(asset.filename).stem
    if is_in_place:
        if find_asset(asset.pk).file.name != asset.file.name:
            raise Conflict(_("Somebody replaced the file meanwhile. Look at it and crop again."))
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
    # The part says what the whole said, and keeps the same point in sight, where it shows it.
    point = None
    if asset.focal_x is not None and asset.focal_y is not None:
        point = kept.inside((asset.focal_x, asset.focal_y))
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
