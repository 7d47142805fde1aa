"""Visibility of files for users whose rights are limited to a part of the content.

A file has no place of its own, so its uses decide. These users see files used inside their scope, unused files,
and their own uploads. They may change files that nothing outside uses, because its pages would change too.
Queries of users without limits are unchanged.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils.translation import gettext as _

from media.models import POSTER_HOLDER, Asset, MediaReference
from proofroom.core.actor import Actor
from proofroom.core.content_scope import Scoped, reading_scopes
from proofroom.core.errors import NotAllowed
from proofroom.core.hooks import ExtensionPoint

IdsInside: TypeAlias = Callable[[Scoped, bool], QuerySet[Any, Any]]
"""Returns the ids of the holders that a user sees, or with True may change."""

scoped_holders: ExtensionPoint[tuple[str, IdsInside]] = ExtensionPoint()
"""Kinds of holders that can be out of scope. Other holders are shared by all users."""


def visible_assets(rows: QuerySet[Asset], actor: Actor) -> QuerySet[Asset]:
    """Return the assets visible to the actor."""
    if not reading_scopes(actor):
        return rows
    uses = MediaReference.objects.filter(asset=OuterRef("pk"))
    inside = visible_uses(uses, actor)
    return rows.filter(Q(uploaded_by=actor.user.pk) | ~Exists(uses) | Exists(inside))


def filter_visible_assets(assets: Mapping[str, Asset], actor: Actor) -> Mapping[str, Asset]:
    """Return the assets visible to the actor. One query, none for actors without limits."""
    if not assets or not reading_scopes(actor):
        return assets
    named = Asset.objects.filter(pk__in=[asset.pk for asset in assets.values()])
    seen = set(visible_assets(named, actor).values_list("pk", flat=True))
    return {name: asset for name, asset in assets.items() if asset.pk in seen}


def visible_uses(rows: QuerySet[MediaReference], actor: Actor) -> QuerySet[MediaReference]:
    """Return the uses visible to the actor."""
    return rows.filter(~_is_outside(actor, False)) if reading_scopes(actor) else rows


def changeable_assets(rows: QuerySet[Asset], actor: Actor) -> QuerySet[Asset]:
    """Return the assets the actor may change."""
    if not actor.scopes:
        return rows
    outside = MediaReference.objects.filter(_is_outside(actor, True), asset=OuterRef("pk"))
    return visible_assets(rows, actor).filter(~Exists(outside))


def require_changeable(asset: Asset, actor: Actor) -> None:
    """Raise `NotAllowed` if something the actor may not change uses the file. At most one query.

    A poster is used where its recording is.
    """
    if not actor.scopes:
        return
    posters = MediaReference.objects.filter(holder_kind=POSTER_HOLDER, asset=asset)
    shown = Q(asset=asset) | Q(asset__in=posters.values("holder_id"))
    uses = MediaReference.objects.filter(_is_outside(actor, True), shown)
    if uses.exists():
        raise NotAllowed(
            _("This file is used on pages that your role does not cover."),
            code="outside_of_scope",
        )


def _is_outside(actor: Actor, to_change: bool) -> Q:
    """Return the condition of uses that the actor may not see, or with `to_change` not change."""
    condition = Q(pk__in=())
    for kind, ids_inside in scoped_holders:
        condition |= Q(holder_kind=kind) & ~Q(holder_id__in=ids_inside(actor, to_change))
    return condition
