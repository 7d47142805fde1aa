"""Copy: a page as a draft beside it, with or without the pages below it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Final
from uuid import UUID

from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _

from content.changes import diff
from content.document import PostDocument
from content.layers.live import provenance_rows, revision_row
from content.layers.state import event_payload, post_not_found
from content.media_usage import follow_live
from content.models import ModuleInstance, Post, PostModule, PostTerm, Provenance, Revision
from content.paths.post_paths import check_paths_are_free, path_for, pattern_of
from content.paths.tree_changes import posts_below
from content.post_fields import SLUG_MAX, TITLE_MAX
from content.posts import post_repository
from content.posts.create import empty_document, new_row, set_columns
from content.posts.duplicate import copied_fields, copy_modules
from content.rules.check import taken_by_another
from content.search import keep_words
from proofroom.core import outbox
from proofroom.core.actor import Actor
from proofroom.core.database.inserts import insert_rows
from proofroom.core.errors import RuleViolation
from proofroom.core.json import JsonObject

MAX_COPIED: Final = 200
"""Pages that are copied at once."""


@dataclass(frozen=True, slots=True)
class CopyResult:
    """The copy of the page, and how many pages were copied with it."""

    post: Post
    below: int


def pages_to_copy(post: Post) -> list[Post]:
    """The pages below a post that a copy takes along, parents first: not those in the trash, nor what an agent
    proposed and nobody approved, nor what stands below them. A query for each level."""
    taken = {post.pk}
    found: list[Post] = []
    for page in posts_below(post):
        is_left_out = page.deleted_at is not None or page.is_placeholder or page.variation_of_id
        if page.parent_id in taken and not is_left_out:
            taken.add(page.pk)
            found.append(page)
    return found


@transaction.atomic
def copy_page(*, post_id: UUID | str, actor: Actor, with_below: bool) -> CopyResult:
    """Make a draft of what a page says live, below the same page and with a slug that is free, in a fixed number of
    statements beside one for each level, and on PostgreSQL one for the words of each page.

    Media and shared modules stay shared. Translations, dates and what waits in Review are not copied, and nothing
    leads to the copies from anywhere. Raises `RuleViolation`, `NotAllowed`, `NotFound`.
    """
    actor.require_person("copy pages")
    actor.require("posts.create")
    source = Post.objects.alive().filter(pk=post_id).select_related("parent").first()
    if source is None:
        raise post_not_found(post_id)
    if source.is_placeholder:
        message = _("Approve this page first. It has no live content yet.")
        raise RuleViolation(message, code="not_approved")
    sources = [source, *(pages_to_copy(source) if with_below else ())]
    if len(sources) > MAX_COPIED:
        message = _("You can copy at most %(most)s pages at once. You selected %(count)s.")
        raise RuleViolation(message % {"most": MAX_COPIED, "count": len(sources)}, code="too_many")
    copies: dict[UUID, Post] = {}
    new: list[tuple[Post, PostDocument, PostDocument]] = []
    pattern = cache(pattern_of)
    for page, document in post_repository.load_many(sources):
        copy = new_row(actor, page.type, page.locale, None)
        empty = empty_document(copy)
        parent = copies.get(page.parent_id) if page.parent_id else None
        fields: JsonObject = {"slug": page.slug, "orderIndex": page.order_index}
        if page is source:
            parent = source.parent
            fields["slug"] = _free_slug(source)
            fields["title"] = (_("Copy of %(title)s") % {"title": page.title})[:TITLE_MAX]
        fields["parentId"] = str(parent.pk) if parent is not None else None
        filled = empty.with_fields({**copied_fields(document), **fields})
        filled, _ids = copy_modules(document, filled.with_terms(document.taxonomy_term_ids))
        set_columns(copy, filled)
        copy.parent = parent
        copy.path = path_for(copy, pattern(copy.type, copy.locale))
        copies[page.pk] = copy
        new.append((copy, empty, filled))
    _store(new, actor)
    return CopyResult(copies[source.pk], len(sources) - 1)


def _store(new: list[tuple[Post, PostDocument, PostDocument]], actor: Actor) -> None:
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
        raise taken_by_another(posts[0]) from None
    follow_live([(post, None, document) for post, _empty, document in new])
    insert_rows(revisions, provenance)
    keep_words([post.pk for post in posts], actor)
    outbox.record_all("post.created", things, actor=actor)
    check_paths_are_free(posts)


def _free_slug(source: Post) -> str:
    """A slug beside the source that no other page has. One query."""
    stem = f"{source.slug[: SLUG_MAX - 10]}-copy"
    siblings = Post.objects.alive().filter(type=source.type, locale=source.locale)
    taken = set(siblings.filter(slug__startswith=stem).values_list("slug", flat=True))
    slug, number = stem, 1
    while slug in taken:
        number += 1
        slug = f"{stem}-{number}"
    return slug
