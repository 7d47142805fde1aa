"""The files that somebody may see, and those that they may change, where their rights are limited to a part of the
content.

A file belongs to nobody: what uses it says where it is. They see the files that something inside uses, those that
nothing uses, and those they uploaded; they change those that nothing outside uses, since its pages would change too.
For those without limits nothing is added to a query.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils.translation import gettext as _

from media.models import Asset, MediaReference
from proofroom.core.actor import Actor
from proofroom.core.content_scope import Scoped, reading_scopes
from proofroom.core.errors import NotAllowed
from proofroom.core.hooks import ExtensionPoint

IdsInside: TypeAlias = Callable[[Scoped, bool], QuerySet[Any, Any]]
"""The ids of the holders that somebody sees, or with True of those that they may change."""

scoped_holders: ExtensionPoint[tuple[str, IdsInside]] = ExtensionPoint()
"""Kinds of holders that can be outside. Everything else that uses files is shared by all."""


def visible_assets(rows: QuerySet[Asset], actor: Actor) -> QuerySet[Asset]:
    """Those of the files that the actor may see."""
    if not reading_scopes(actor):
        return rows
    uses = MediaReference.objects.filter(asset=OuterRef("pk"))
    inside = visible_uses(uses, actor)
    return rows.filter(Q(uploaded_by=actor.user.pk) | ~Exists(uses) | Exists(inside))


def only_visible(assets: Mapping[str, Asset], actor: Actor) -> Mapping[str, Asset]:
    """Those of the files that the actor may see. One query, none for those without limits."""
    if not assets or not reading_scopes(actor):
        return assets
    named = Asset.objects.filter(pk__in=[asset.pk for asset in assets.values()])
    seen = set(visible_assets(named, actor).values_list("pk", flat=True))
    return {name: asset for name, asset in assets.items() if asset.pk in seen}


def visible_uses(rows: QuerySet[MediaReference], actor: Actor) -> QuerySet[MediaReference]:
    """Those of the places of use that the actor may see."""
    return rows.filter(~_is_outside(actor, False)) if reading_scopes(actor) else rows


def changeable_assets(rows: QuerySet[Asset], actor: Actor) -> QuerySet[Asset]:
    """Those of the files that the actor may change."""
    if not actor.scopes:
        return rows
    outside = MediaReference.objects.filter(_is_outside(actor, True), asset=OuterRef("pk"))
    return visible_assets(rows, actor).filter(~Exists(outside))


def require_changeable(asset: Asset, actor: Actor) -> None:
    """Raise `NotAllowed` where something uses the file that the actor may not change. One query at most."""
    if not actor.scopes:
        return
    uses = MediaReference.objects.filter(_is_outside(actor, True), asset=asset)
    if uses.exists():
        raise NotAllowed(
            _("This file is used on pages that your role does not cover."),
            code="outside_of_scope",
        )


def _is_outside(actor: Actor, to_change: bool) -> Q:
    condition = Q(pk__in=())
    for kind, ids_inside in scoped_holders:
        condition |= Q(holder_kind=kind) & ~Q(holder_id__in=ids_inside(actor, to_change))
    return condition
