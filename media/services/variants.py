"""Requests for variants, which workers then make."""

from __future__ import annotations

from uuid import UUID

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from media.models import Asset, AssetStatus, ImageTheme, VariantWork
from media.services.update import lock_asset
from proofroom.core import outbox
from proofroom.core.actor import Actor
from proofroom.core.caching.content_tags import tag_of_media
from proofroom.core.errors import invalid
from proofroom.core.task_queue import queue_task, send_after_commit


@transaction.atomic
def request_variants(*, asset_id: UUID | str, theme: str, actor: Actor) -> Asset:
    """Request variants from a worker: `light` makes the usual ones again, `dark` darkened ones.

    While light ones are made again, `status` is `processing` and pages show the original file. Repeated
    requests are merged. Raises `NotAllowed`, `NotFound`, or `RuleViolation` on `theme`.
    """
    actor.require_person("make variants")
    actor.require("media.edit")
    if theme not in ImageTheme.values:
        raise invalid(
            "theme",
            _("theme must be one of %(values)s.") % {"values": ", ".join(ImageTheme.values)},
        )
    asset = lock_asset(asset_id, actor)
    if not asset.mime.startswith("image/"):
        raise invalid("theme", _("Only images have variants."), code="no_image")
    if VariantWork.objects.filter(asset=asset, theme=theme, is_given_up=False).exists():
        return asset
    queue_variants(asset, theme)
    if theme == ImageTheme.LIGHT:
        asset.status = AssetStatus.PROCESSING
        asset.save(update_fields=["status", "updated_at"])
    outbox.record(
        "media.variants",
        actor=actor,
        tags=[tag_of_media(asset.pk)],
        payload={
            "id": str(asset.pk),
            "filename": asset.filename,
            "theme": theme,
            "did": "requested",
        },
    )
    return asset


def queue_variants(asset: Asset, theme: str = ImageTheme.LIGHT) -> None:
    """Create the work for variants, and start a worker after the commit. Must be called in the caller's
    transaction."""
    if not asset.mime.startswith("image/"):
        return
    VariantWork.objects.update_or_create(
        asset=asset,
        theme=theme,
        defaults={"due_at": timezone.now(), "attempts": 0, "is_given_up": False, "reason": ""},
    )
    wake_renderer(asset.pk, theme)


def wake_renderer(asset_id: UUID, theme: str) -> None:
    send_after_commit(
        lambda: queue_task("media.tasks.make_variants", str(asset_id), theme),
        f"{theme} variants of {asset_id}",
    )


def dark_status(asset: Asset) -> str:
    """Return the state of the dark variants: none, processing, ready or failed. One query."""
    work = VariantWork.objects.filter(asset=asset, theme=ImageTheme.DARK).first()
    if work is not None:
        return AssetStatus.FAILED if work.is_given_up else AssetStatus.PROCESSING
    return AssetStatus.READY if asset.dark_variants else "none"
