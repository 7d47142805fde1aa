"""Translations, variations, preview links and the trash as the wire has them."""

from __future__ import annotations

from collections.abc import Iterable

from content.models import Post, PreviewLink
from content.origins import TranslationState
from content.presenters.modules import Wire
from content.site.addresses import absolute
from content.site.assignment import Arm
from content.store import iso


def translation(post: Post, state: TranslationState) -> Wire:
    """A translation, and how it stands to its source."""
    return {
        "id": post.pk,
        "locale": post.locale,
        "slug": post.slug,
        "title": post.title,
        "status": post.status,
        "url": post.path,
        "translatedFrom": post.translated_from_id,
        "stalePaths": list(state.stale_paths),
        "newModules": [
            {"sourcePostModuleId": module.id, "type": module.type} for module in state.new_modules
        ],
        "removedModules": [
            {"postModuleId": own, "sourcePostModuleId": of} for own, of in state.removed_modules
        ],
    }


def variation(post: Post) -> Wire:
    """A variation in the list of its original."""
    return {
        "id": post.pk,
        "variationOf": post.variation_of_id,
        "variation": post.variation,
        "weight": post.variation_weight,
        "running": post.variation_running,
        "title": post.title,
        "status": post.status,
        "version": post.version,
        "createdAt": iso(post.created_at),
        "updatedAt": iso(post.updated_at),
    }


def tested(post: Post, arms: Iterable[Arm]) -> Wire:
    """Of a post whose variations run, or of one of these in its place."""
    wire: Wire = {
        "variations": [
            {"id": arm.post_id, "variation": arm.name, "weight": arm.weight} for arm in arms
        ]
    }
    if post.variation_of_id is not None:
        wire |= {"variationOf": post.variation_of_id, "variation": post.variation}
    return wire


def standing(post: Post) -> Wire:
    """Whether a post is a variation. One that is has the address of its original, and names it as canonical."""
    wire: Wire = {
        "variationOf": post.variation_of_id,
        "variation": post.variation or None,
        "weight": post.variation_weight,
        "running": post.variation_running if post.variation_of_id is not None else None,
    }
    original = post.variation_of
    if original is not None:
        wire["url"] = original.path
        wire["canonicalUrl"] = (
            post.canonical_url or original.canonical_url or absolute(original.path)
        )
    return wire


def trashed(post: Post) -> Wire:
    """A post in the trash."""
    return {
        "id": post.pk,
        "type": post.type,
        "locale": post.locale,
        "slug": post.slug,
        "title": post.title,
        "status": post.status,
        "variationOf": post.variation_of_id,
        "variation": post.variation or None,
        "deletedAt": iso(post.deleted_at),
    }


def preview_link(link: PreviewLink) -> Wire:
    """A link without what opens it, which nobody can be told again."""
    return {
        "id": link.pk,
        "layer": link.layer,
        "expiresAt": iso(link.expires_at),
        "createdBy": {"id": link.created_by_id, "username": link.created_by_name},
        "views": link.views,
        "createdAt": iso(link.created_at),
    }
