"""The rows of media references follow every write of a document, in its transaction."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final
from uuid import UUID

from django.db.models import Q
from django.urls import reverse
from django.utils.translation import gettext

from content.changes import diff
from content.document import PostDocument
from content.media_usage.media_references import Uses, collect_global_references, collect_references
from content.models import Draft, ModuleInstance, Post
from content.post_fields import MEDIA_FIELDS
from content.posts import post_repository
from media.services.references import LIVE, Held, drop_references, set_references
from media.usage_sources import UsageSource
from proofroom.core.errors import invalid
from proofroom.core.json import Json


def label_posts(ids: Collection[UUID]) -> Mapping[UUID, UsageSource]:
    """Of posts in the trash nothing is told."""
    rows = Post.objects.kept().filter(pk__in=ids).values_list("pk", "title", "locale")
    return {
        pk: UsageSource(
            title, locale=locale, address=reverse("admin:content_post_change", args=[pk])
        )
        for pk, title, locale in rows
    }


def label_global_modules(ids: Collection[UUID]) -> Mapping[UUID, UsageSource]:
    rows = ModuleInstance.objects.filter(scope="global", pk__in=ids)
    return {
        pk: UsageSource(label or slug or "", global_slug=slug)
        for pk, label, slug in rows.values_list("pk", "label", "global_slug")
    }


POST: Final = "post"
GLOBAL: Final = "global-module"
Rewrite = tuple[Post, PostDocument | None, PostDocument]
"""A post whose live content changed: what it was, nothing for a new one, and what it is."""


def follow_live(rewrites: Iterable[Rewrite]) -> None:
    """Live content was written. Raises `RuleViolation` where its image was deleted at the same time."""
    held = [
        Held(
            POST,
            post.pk,
            LIVE,
            collect_references(before) if before else {},
            collect_references(after),
        )
        for post, before, after in rewrites
    ]
    missing = set_references(_counting(held, [post for post, _, _ in rewrites]))
    for _post, _before, after in rewrites if missing else ():
        for name in MEDIA_FIELDS:
            id_ = after.fields.get(name)
            if id_ is not None and UUID(str(id_)) in missing:
                raise invalid(
                    name, gettext("No media has the id %(featured)s.") % {"featured": id_}
                )


def staged_places(draft: Draft) -> Uses:
    """The files that a draft uses where it says something else than the layer below."""
    if draft.is_empty or draft.base is None or draft.document is None:
        return {}
    document = PostDocument.from_json(draft.document)
    return collect_references(document, diff(PostDocument.from_json(draft.base), document))


def follow_draft(post: Post, layer: str, before: Uses, after: Uses) -> None:
    """A draft was written."""
    set_references(_counting([Held(POST, post.pk, layer, before, after)], [post]))


def follow_globals(
    written: Iterable[tuple[ModuleInstance, Mapping[str, Json] | None]],
) -> None:
    """Global modules were written over these props; over nothing where they are new."""
    set_references(
        replace(held, before=collect_global_references(module.type, before or {}))
        for module, before in written
        for held in collect_global_uses([module])
    )


def collect_global_uses(modules: Iterable[ModuleInstance]) -> list[Held]:
    """What global modules use, as if nothing had been known of it."""
    return [
        Held(GLOBAL, module.pk, LIVE, {}, collect_global_references(module.type, module.props))
        for module in modules
    ]


def forget_global(module_id: UUID) -> None:
    """A global module is gone."""
    drop_references(GLOBAL, [module_id])


def forget_post(post: Post) -> None:
    """A post went into the trash: what lies there, its variations with it, uses no file."""
    ids = Post.objects.filter(Q(pk=post.pk) | Q(variation_of=post)).values_list("pk", flat=True)
    drop_references(POST, list(ids))


def return_post(post: Post) -> None:
    """A post came out of the trash, and with it its variations that were not there themselves."""
    posts = Post.objects.filter(Q(pk=post.pk) | Q(variation_of=post, deleted_at__isnull=True))
    set_references(collect_uses(list(posts)))


def collect_uses(posts: Sequence[Post]) -> list[Held]:
    """What posts use in every layer, as if nothing had been known of it. Three queries."""
    held = [
        Held(POST, post.pk, LIVE, {}, collect_references(document))
        for post, document in post_repository.load_many(posts)
    ]
    drafts = Draft.objects.filter(post__in=posts, is_empty=False)
    return held + [
        Held(POST, draft.post_id, draft.layer, {}, staged_places(draft)) for draft in drafts
    ]


def _counting(held: Sequence[Held], posts: Sequence[Post]) -> list[Held]:
    """Those that changed, without what belongs to an original in the trash: it came in there with it."""
    changed = [item for item in held if item.is_changed]
    originals = {post.pk: post.variation_of_id for post in posts if post.variation_of_id}
    if not changed or not originals:
        return changed
    trashed = set(
        Post.objects.filter(pk__in=set(originals.values()), deleted_at__isnull=False).values_list(
            "pk", flat=True
        )
    )
    return [item for item in changed if originals.get(item.id) not in trashed]
