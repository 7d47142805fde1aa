"""Copy: create drafts from a page and from the pages below it."""

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
from content.models import (
    ModuleInstance,
    Post,
    PostAuthor,
    PostModule,
    PostTerm,
    Provenance,
    Revision,
)
from content.paths.tree_changes import ancestors_of
from content.posts.create import empty_document, new_row, set_columns
from content.rules.check import unique_constraint_error
from content.store import post_repository
from content.store.content_links import update_live_links
from content.store.duplicate import copied_fields, copy_modules
from content.store.field_values import update_field_values
from content.store.layer_state import event_payload
from content.store.media_usage import update_live_references
from content.store.post_paths import check_paths_are_free, fill_pattern, pattern_of, slugs_in
from content.store.scopes import post_not_found, require_all_written_in_scope, visible_to
from content.store.search import keep_words
from content.store.tree_queries import descendant_ids
from proofroom.core import outbox
from proofroom.core.actor import Actor
from proofroom.core.database.inserts import insert_rows
from proofroom.core.errors import RuleViolation
from proofroom.core.json import JsonObject
from proofroom.core.slugs import cut_slug

MAX_COPIED: Final = 5_000
"""Maximum number of copied pages, including the top page."""
_Copy = tuple[Post, PostDocument, PostDocument]
"""A new post, its empty document, and its filled document."""


def list_descendants_to_copy(post_id: UUID, most: int = MAX_COPIED) -> list[UUID]:
    """Return the ids of the pages below a page that a copy includes, parents first, at most `most` + 1.

    Leaves out pages in the trash, proposed pages that were never approved, and everything below either. One
    query.
    """
    return descendant_ids(post_id, most=most, is_approved=True)


@transaction.atomic
def copy_page(*, post_id: UUID | str, actor: Actor) -> Post:
    """Create a draft from the live content of a page, with the same parent and a free slug.

    Media and shared modules stay shared. Translations, dates and changes in Review are not copied, and nothing
    links to the copy. Raises `RuleViolation`, `NotAllowed`, `NotFound`.
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
    [copied] = _build_copies({source: fields}, actor)
    _store([copied], actor)
    return copied[0]


@transaction.atomic
def copy_below(*, below: Mapping[UUID, UUID], actor: Actor) -> dict[UUID, Post]:
    """Create drafts from pages below the given parents and return them by source id.

    Skips a page if it or its new parent is in the trash by now. The number of queries is fixed, plus one per
    level above and, on PostgreSQL, one per page for its search words. Raises `RuleViolation` and `NotAllowed`.
    """
    _require_rights(actor)
    places = set(
        Post.objects.alive().filter(pk__in=set(below.values())).values_list("pk", flat=True)
    )
    seen = visible_to(Post.objects.alive(), actor)
    sources = seen.filter(pk__in=below, is_placeholder=False).order_by("pk")
    fields_by_page: dict[Post, JsonObject] = {
        page: {"slug": page.slug, "parentId": str(below[page.pk])}
        for page in sources
        if below[page.pk] in places
    }
    new = _build_copies(fields_by_page, actor)
    _store(new, actor)
    return {page.pk: copied[0] for page, copied in zip(fields_by_page, new, strict=True)}


def _require_rights(actor: Actor) -> None:
    actor.require_person("copy pages")
    actor.require("posts.create")


def _build_copies(fields_by_page: Mapping[Post, JsonObject], actor: Actor) -> list[_Copy]:
    """Return unsaved copies of the posts with the given field values, in the order of the posts."""
    new: list[_Copy] = []
    # One lookup per type and language instead of one per page.
    pattern = cache(pattern_of)
    for page, document in post_repository.load_many(fields_by_page):
        copy = new_row(actor, page.type, page.locale, None)
        empty = empty_document(copy)
        fields = {"orderIndex": page.order_index, **fields_by_page[page]}
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
    """Insert new posts with their related rows and record their events."""
    instances: list[ModuleInstance] = []
    places: list[PostModule] = []
    terms: list[PostTerm] = []
    authors: list[PostAuthor] = []
    revisions: list[Revision] = []
    provenance: list[Provenance] = []
    things: list[tuple[UUID, JsonObject]] = []
    for post, empty, document in new:
        rows = post_repository.rows_of(post, document)
        instances += rows[0]
        places += rows[1]
        terms += rows[2]
        authors += rows[3]
        changes = diff(empty, document)
        revision = revision_row(post, document, changes, actor, "created")
        revisions.append(revision)
        provenance += provenance_rows(post, revision, changes, actor, {})
        things.append((post.pk, event_payload(post, changes)))
    posts = [post for post, _empty, _document in new]
    try:
        # A savepoint: after an IntegrityError PostgreSQL refuses every query until a rollback, and the error
        # message below needs a query.
        with transaction.atomic():
            insert_rows(posts, instances, places, terms, authors)
    except IntegrityError:
        raise unique_constraint_error(posts[0], actor) from None
    written = [(post, None, document) for post, _empty, document in new]
    update_live_references(written)
    update_live_links(written)
    update_field_values(written)
    insert_rows(revisions, provenance)
    keep_words([post.pk for post in posts], actor)
    outbox.record_all("post.created", things, actor=actor)
    check_paths_are_free(posts, actor)
    require_all_written_in_scope(posts, actor)


def _free_slug(source: Post) -> str:
    """Return a free slug derived from the slug of the source. One query."""
    # Leaves room for "-copy" and a number within SLUG_MAX.
    stem = f"{cut_slug(source.slug, SLUG_MAX - 10)}-copy"
    siblings = Post.objects.alive().filter(type=source.type, locale=source.locale)
    used_slugs = set(siblings.filter(slug__startswith=stem).values_list("slug", flat=True))
    slug, number = stem, 1
    while slug in used_slugs:
        number += 1
        slug = f"{stem}-{number}"
    return slug
