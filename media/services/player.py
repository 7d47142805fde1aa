"""Set the poster and the captions of video and audio files."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Final
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from media import file_store
from media.captions import clean_captions
from media.models import LIVE, POSTER_HOLDER, Asset, MediaReference
from media.services.update import find_asset, lock_asset
from proofroom.core import outbox
from proofroom.core.actor import Actor
from proofroom.core.caching.content_tags import tag_of_media
from proofroom.core.errors import NotFound, invalid
from proofroom.core.json import JsonObject

_POSTER: Final = "poster"
_OLD_CAPTIONS_LIFETIME: Final = timedelta(days=1)


@transaction.atomic
def set_poster(*, asset_id: UUID | str, poster_id: UUID | str | None, actor: Actor) -> Asset:
    """Set the image that is shown before a video or audio file starts; None removes it.

    Raises `NotAllowed`, `NotFound`, or `RuleViolation` on `poster`.
    """
    actor.require_person("edit media")
    actor.require("media.edit")
    asset = lock_asset(asset_id, actor)
    image = _find_poster(poster_id, actor) if poster_id is not None else None
    if (image.pk if image else None) == asset.poster:
        return asset
    if image is not None and not asset.is_recording:
        raise invalid("poster", _("Only videos and audio files have a poster."))
    remove_poster(asset)
    if image is not None:
        MediaReference.objects.create(
            asset=image, holder_kind=POSTER_HOLDER, holder_id=asset.pk, layer=LIVE, path=_POSTER
        )
        asset.poster, asset.poster_file = image.pk, str(image.file.name)
    asset.save(update_fields=["poster", "poster_file", "updated_at"])
    _record(asset, _POSTER, actor)
    return asset


def _find_poster(poster_id: UUID | str, actor: Actor) -> Asset:
    try:
        image = find_asset(poster_id, actor)
    except NotFound as error:
        raise invalid("poster", error.message, code="unknown_media") from error
    if not image.mime.startswith("image/"):
        raise invalid("poster", _("This file is not an image."))
    return image


def remove_poster(asset: Asset) -> None:
    """Take the poster from a file, without saving the file. Must be called in a transaction."""
    MediaReference.objects.filter(holder_kind=POSTER_HOLDER, holder_id=asset.pk).delete()
    asset.poster, asset.poster_file = None, ""


def forget_poster(image: Asset) -> None:
    """Take an image that is no longer one from the files that show it first. Must be called in a transaction."""
    uses = MediaReference.objects.filter(holder_kind=POSTER_HOLDER, asset=image)
    ids = [*uses.values_list("holder_id", flat=True)]
    Asset.objects.filter(pk__in=ids).update(poster=None, poster_file="")
    uses.delete()


def check_captions(captions: Mapping[str, str]) -> dict[str, str]:
    """Return the WebVTT texts, checked; an empty text removes that of its language.

    Raises `RuleViolation` on `captions`.
    """
    for locale in captions:
        if locale not in settings.CMS_ENV.locales:
            raise invalid(
                "captions", _("This site has no language %(locale)r.") % {"locale": locale[:20]}
            )
    return {
        locale: clean_captions(text) if text.strip() else "" for locale, text in captions.items()
    }


def set_captions(*, asset_id: UUID | str, captions: Mapping[str, str], actor: Actor) -> Asset:
    """Replace the captions in the given languages; an empty text removes them.

    Must not be called in a transaction. Raises `NotAllowed`, `NotFound`, `StorageFailed` (503), or `RuleViolation`
    on `captions`; then nothing changes.
    """
    actor.require_person("edit media")
    actor.require("media.edit")
    checked = check_captions(captions)
    asset = find_asset(asset_id, actor)
    if any(checked.values()) and not asset.is_recording:
        raise invalid("captions", _("Only videos and audio files have captions."))
    for locale, text in checked.items():
        if text:
            with file_store.new_file(".vtt", text.encode()) as name, transaction.atomic():
                asset = _replace(asset_id, locale, name, actor)
        elif (asset.captions or {}).get(locale):
            with transaction.atomic():
                asset = _replace(asset_id, locale, None, actor)
    return asset


def _replace(asset_id: UUID | str, locale: str, name: str | None, actor: Actor) -> Asset:
    asset = lock_asset(asset_id, actor)
    captions = dict(asset.captions or {})
    old = captions.pop(locale, None)
    if old:
        file_store.release_files([old], timezone.now() + _OLD_CAPTIONS_LIFETIME)
    if name is not None:
        captions[locale] = name
        file_store.take([name], asset)
    asset.captions = captions or None
    asset.save(update_fields=["captions", "updated_at"])
    _record(asset, "captions", actor)
    return asset


def _record(asset: Asset, changed: str, actor: Actor) -> None:
    payload: JsonObject = {"id": str(asset.pk), "filename": asset.filename, "changed": [changed]}
    outbox.record("media.updated", actor=actor, payload=payload, tags=[tag_of_media(asset.pk)])
