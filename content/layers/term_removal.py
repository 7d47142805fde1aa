"""Terms that are deleted, taken off posts and drafts."""

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
    """Posts and drafts as what carries terms."""

    def find_live(self, term_id: UUID) -> Collection[UUID]:
        """The posts, not in the trash and with their variations, that carry the term live."""
        rows = Post.objects.kept().filter(post_terms__term=term_id)
        return list(rows.order_by("pk").values_list("pk", flat=True))

    def find_staged(self, term_id: UUID) -> Collection[UUID]:
        """The posts with drafts that name the term in what they were written on or propose."""
        return [draft.post_id for draft in find_drafts_with_term(term_id)]

    def remove(self, term_id: UUID, live: Collection[UUID], actor: Actor) -> None:
        """Take the term out of every draft, so that the rest can still be approved, and off live posts."""
        drop_from_drafts(term_id, live)
        for post_id in live:
            post = lock_post(post_id, actor)
            before = post_repository.load(post)
            after = _without(before, str(term_id))
            write_live(post=post, before=before, after=after, actor=actor, reason="edited")
            settle(post, after)


def find_drafts_with_term(term_id: UUID) -> list[Draft]:
    """The drafts that name a term in what they were written on or propose."""
    rows = Draft.objects.filter(is_empty=False).annotate(
        base_text=Cast("base", TextField()), document_text=Cast("document", TextField())
    )
    named = Q(base_text__contains=str(term_id)) | Q(document_text__contains=str(term_id))
    return list(rows.filter(named).order_by("post_id", "pk"))


def drop_from_drafts(term_id: UUID, posts: Collection[UUID]) -> None:
    """Take the term out of every draft, so that the rest of it can still be approved. Locks these posts too."""
    found = find_drafts_with_term(term_id)
    for post_id in sorted({*posts, *(draft.post_id for draft in found)}):
        Post.objects.select_for_update(of=("self",), no_key=True).filter(pk=post_id).first()
    drafts = find_drafts_with_term(term_id)  # read again: the posts are locked now
    for draft in drafts:
        if draft.base is None or draft.document is None:
            continue
        base = _without(PostDocument.from_json(draft.base), str(term_id))
        document = _without(PostDocument.from_json(draft.document), str(term_id))
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


def _without(document: PostDocument, term_id: str) -> PostDocument:
    return document.with_terms([id_ for id_ in document.taxonomy_term_ids if id_ != term_id])
