"""Removal of deleted terms from posts and drafts."""

from __future__ import annotations

from collections.abc import Collection
from uuid import UUID

from django.db.models import Q, TextField
from django.db.models.functions import Cast

from content.document.changes import TERMS_PATH, diff
from content.document.document import PostDocument
from content.layers.live import write_live
from content.models import Draft, Post
from content.store import post_repository
from content.store.layer_state import layers_written, lock_post, open_layers, settle
from proofroom.core.actor import Actor


class PostTermUsage:
    """The usage of terms by posts and drafts."""

    def find_live(self, term_id: UUID) -> Collection[UUID]:
        """Return the ids of the posts with the live term, including variations, without the trash."""
        rows = Post.objects.kept().filter(post_terms__term=term_id)
        return list(rows.order_by("pk").values_list("pk", flat=True))

    def find_staged(self, term_id: UUID) -> Collection[UUID]:
        """Return the ids of the posts with drafts that contain the term in their base or document."""
        return [draft.post_id for draft in find_drafts_with_term(term_id)]

    def remove(self, term_id: UUID, live: Collection[UUID], actor: Actor) -> None:
        """Remove the term from all drafts and from live posts."""
        drop_from_drafts(term_id, live)
        for post_id in live:
            # A page lock does not keep a term of the site from being deleted.
            post = lock_post(post_id, actor, heeds_page_lock=False)
            before = post_repository.load(post)
            after = _without_term(before, str(term_id))
            write_live(post=post, before=before, after=after, actor=actor, reason="edited")
            settle(post, after)


def find_drafts_with_term(term_id: UUID) -> list[Draft]:
    """Return the drafts that contain a term in their base or document."""
    rows = Draft.objects.filter(is_empty=False).annotate(
        base_text=Cast("base", TextField()), document_text=Cast("document", TextField())
    )
    named = Q(base_text__contains=str(term_id)) | Q(document_text__contains=str(term_id))
    return list(rows.filter(named).order_by("post_id", "pk"))


def drop_from_drafts(term_id: UUID, posts: Collection[UUID]) -> None:
    """Remove the term from every draft. Locks the posts of the drafts and these posts."""
    # With a deleted term in a draft, none of its changes could be approved.
    found = find_drafts_with_term(term_id)
    # In the order of ids, so that two transactions cannot deadlock.
    for post_id in sorted({*posts, *(draft.post_id for draft in found)}):
        Post.objects.select_for_update(of=("self",), no_key=True).filter(pk=post_id).first()
    drafts = find_drafts_with_term(term_id)  # read again after the lock
    for draft in drafts:
        if draft.base is None or draft.document is None:
            continue
        base = _without_term(PostDocument.from_json(draft.base), str(term_id))
        document = _without_term(PostDocument.from_json(draft.document), str(term_id))
        changes = diff(base, document)
        if len(changes) == 0:
            draft.is_empty, draft.base, draft.document = True, None, None
            draft.base_revision, draft.marks = None, {}
        else:
            draft.base, draft.document = base.to_json(), document.to_json()
            if TERMS_PATH not in changes.paths:
                marks = draft.marks.items()
                draft.marks = {path: mark for path, mark in marks if path != TERMS_PATH}
        draft.version += 1
        draft.save()
    for post in Post.objects.filter(pk__in={draft.post_id for draft in drafts}):
        layers = open_layers(post)
        layers_written(post, [layers.review, layers.ai_review])


def _without_term(document: PostDocument, term_id: str) -> PostDocument:
    return document.with_terms([id_ for id_ in document.taxonomy_term_ids if id_ != term_id])
