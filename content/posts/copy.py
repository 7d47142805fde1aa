"""Copy: a page as a draft beside it, and copies of what stands below it as drafts below the copy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Final
from uuid import UUID

from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _

from content.document.changes import diff
from content.document.document import PostDocument
from content.document.post_fields import SLUG_MAX, TITLE_MAX
from content.layers.live import provenance_rows, revision_row
from content.models import ModuleInstance, Post, PostModule, PostTerm, Provenance, Revision
from content.paths.tree_changes import ancestors_of
from content.posts.create import empty_document, new_row, set_columns
from content.rules.check import taken_by_another
from content.store import post_repository
from content.store.duplicate import copied_fields, copy_modules
from content.store.layer_state import event_payload
from content.store.media_usage import follow_live
from content.store.post_paths import check_paths_are_free, fill_pattern, pattern_of, slugs_in
from content.store.scopes import post_not_found, require_all_written_in_scope, visible_to
from content.store.search import keep_words
from content.store.tree_queries import ids_below
from proofroom.core import outbox
from proofroom.core.actor import Actor
from proofroom.core.database.inserts import insert_rows
from proofroom.core.errors import RuleViolation
from proofroom.core.i18n.words import cut_slug
from proofroom.core.json import JsonObject

MAX_COPIED: Final = 5_000
"""Pages that are copied with the one that stands above them, which counts too."""
_Copy = tuple[Post, PostDocument, PostDocument]
"""A new post, what it was before anything was written in it, and its document."""


def pages_to_copy(post_id: UUID, most: int = MAX_COPIED) -> list[UUID]:
    """The pages below one that a copy takes along, parents first, or one more than there may be: not those in the
    trash, nor what an agent proposed and nobody approved, nor what stands below them. One query."""
    return ids_below(post_id, most=most, is_approved=True)


@transaction.atomic
def copy_page(*, post_id: UUID | str, actor: Actor) -> Post:
    """Make a draft of what a page says live, below the same page and with a slug that is free.

    Media and shared modules stay shared. Translations, dates and what waits in Review are not copied, and nothing
    leads to the copy from anywhere. Raises `RuleViolation`, `NotAllowed`, `NotFound`.
    """
    _require_rights(actor)
    source = visible_to(Post.objects.alive(), actor).filter(pk=post_id).first()
    if source is None:
        raise post_not_found(post_id)
    if source.is_placeholder:
        message = _("Approve this page first. It has no live content yet.")
        raise RuleViolation(message, code="not_approved")
    title = (_("Copy of %(title)s") % {"title": source.title})[:TITLE_MAX]
    fields: JsonObject = {"slug": _free_slug(source), "title": title}
    fields["parentId"] = str(source.parent_id) if source.parent_id else None
    [copied] = _copies({source: fields}, actor)
    _store([copied], actor)
    return copied[0]


@transaction.atomic
def copy_below(*, below: Mapping[UUID, UUID], actor: Actor) -> dict[UUID, Post]:
    """Make drafts of pages, each below the copy that is named for it, and return them by their sources.

    A page that is in the trash by now is left out, as is one whose place is. The statements are fixed, beside one for
    each level above and, on PostgreSQL, one for the words of each page. Raises `RuleViolation` and `NotAllowed`.
    """
    _require_rights(actor)
    places = set(
        Post.objects.alive().filter(pk__in=set(below.values())).values_list("pk", flat=True)
    )
    seen = visible_to(Post.objects.alive(), actor)
    sources = seen.filter(pk__in=below, is_placeholder=False).order_by("pk")
    asked: dict[Post, JsonObject] = {
        page: {"slug": page.slug, "parentId": str(below[page.pk])}
        for page in sources
        if below[page.pk] in places
    }
    new = _copies(asked, actor)
    _store(new, actor)
    return {page.pk: copied[0] for page, copied in zip(asked, new, strict=True)}


def _require_rights(actor: Actor) -> None:
    actor.require_person("copy pages")
    actor.require("posts.create")


def _copies(asked: Mapping[Post, JsonObject], actor: Actor) -> list[_Copy]:
    """Copies of posts with fields of their own, unsaved, in the order of the posts."""
    new: list[_Copy] = []
    pattern = cache(pattern_of)
    for page, document in post_repository.load_many(asked):
        copy = new_row(actor, page.type, page.locale, None)
        empty = empty_document(copy)
        fields = {"orderIndex": page.order_index, **asked[page]}
        filled = empty.with_fields({**copied_fields(document), **fields})
        filled, _ids = copy_modules(document, filled.with_terms(document.taxonomy_term_ids))
        set_columns(copy, filled)
        parent = fields["parentId"]
        copy.parent_id = UUID(str(parent)) if parent else None
        new.append((copy, empty, filled))
    tree = ancestors_of([copy for copy, _empty, _filled in new])
    for copy, _empty, _filled in new:
        slugs = slugs_in(tree, copy)
        copy.path = fill_pattern(pattern(copy.type, copy.locale), copy, slugs)
    return new


def _store(new: Sequence[_Copy], actor: Actor) -> None:
    """Store new posts with all that belongs to them, and record their events."""
    instances: list[ModuleInstance] = []
    places: list[PostModule] = []
    terms: list[PostTerm] = []
    revisions: list[Revision] = []
    provenance: list[Provenance] = []
    things: list[tuple[UUID, JsonObject]] = []
    for post, empty, document in new:
        rows = post_repository.rows_of(post, document)
        instances += rows[0]
        places += rows[1]
        terms += rows[2]
        changes = diff(empty, document)
        revision = revision_row(post, document, changes, actor, "created")
        revisions.append(revision)
        provenance += provenance_rows(post, revision, changes, actor, {})
        things.append((post.pk, event_payload(post, changes)))
    posts = [post for post, _empty, _document in new]
    try:
        with transaction.atomic():
            insert_rows(posts, instances, places, terms)
    except IntegrityError:
        raise taken_by_another(posts[0], actor) from None
    follow_live([(post, None, document) for post, _empty, document in new])
    insert_rows(revisions, provenance)
    keep_words([post.pk for post in posts], actor)
    outbox.record_all("post.created", things, actor=actor)
    check_paths_are_free(posts, actor)
    require_all_written_in_scope(posts, actor)


def _free_slug(source: Post) -> str:
    """A slug beside the source that no other page has. One query."""
    stem = f"{cut_slug(source.slug, SLUG_MAX - 10)}-copy"
    siblings = Post.objects.alive().filter(type=source.type, locale=source.locale)
    taken = set(siblings.filter(slug__startswith=stem).values_list("slug", flat=True))
    slug, number = stem, 1
    while slug in taken:
        number += 1
        slug = f"{stem}-{number}"
    return slug
