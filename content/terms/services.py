"""Taxonomy terms: a tree where the taxonomy is hierarchical. The taxonomies themselves are code."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final
from uuid import UUID

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import Q, TextField
from django.db.models.functions import Cast
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from content.changes import TERMS_PATH, diff
from content.document import PostDocument
from content.layers.live import write_live
from content.layers.state import layers_written, lock_post, open_layers, settle
from content.models import Draft, Post, Term
from content.posts import post_repository
from content.posts.create import slug_of
from content.rules.taxonomy import TOP_LEVEL, clean_name, clean_order, clean_slug, parent_of
from proofroom.core import outbox
from proofroom.core.actor import Actor
from proofroom.core.errors import Conflict, NotFound, RuleViolation, invalid
from proofroom.definitions import find_taxonomy


def find_posts_with_term(term_id: UUID) -> list[UUID]:
    """The posts, not in the trash and with their variations, that carry a term live."""
    rows = Post.objects.kept().filter(post_terms__term=term_id)
    return list(rows.order_by("pk").values_list("pk", flat=True))


def find_drafts_with_term(term_id: UUID) -> list[Draft]:
    """The drafts that name a term in what they were written on or propose."""
    rows = Draft.objects.filter(is_empty=False).annotate(
        base_text=Cast("base", TextField()), document_text=Cast("document", TextField())
    )
    named = Q(base_text__contains=str(term_id)) | Q(document_text__contains=str(term_id))
    return list(rows.filter(named).order_by("post_id", "pk"))


def drop_from_drafts(term_id: UUID, posts: Iterable[UUID]) -> None:
    """Take the term out of every draft, so that the rest of it can still be approved. Locks these posts too."""
    found = find_drafts_with_term(term_id)
    for post_id in sorted({*posts, *(draft.post_id for draft in found)}):
        Post.objects.select_for_update(of=("self",), no_key=True).filter(pk=post_id).first()
    drafts = find_drafts_with_term(term_id)  # read again: the posts are locked now
    for draft in drafts:
        _drop(draft, str(term_id))
    for post in Post.objects.filter(pk__in={draft.post_id for draft in drafts}):
        layers = open_layers(post)
        layers_written(post, [layers.review, layers.ai_review])


def _drop(draft: Draft, term_id: str) -> None:
    if draft.base is None or draft.document is None:
        return
    base = _without(PostDocument.from_json(draft.base), term_id)
    document = _without(PostDocument.from_json(draft.document), term_id)
    changes = diff(base, document)
    if len(changes) == 0:
        draft.is_empty, draft.base, draft.document = True, None, None
        draft.base_revision, draft.marks = None, {}
    else:
        draft.base, draft.document = base.to_json(), document.to_json()
        if TERMS_PATH not in changes.paths:
            draft.marks = {path: mark for path, mark in draft.marks.items() if path != TERMS_PATH}
    draft.version += 1
    draft.save()


def drop_from_posts(term_id: UUID, posts: Iterable[UUID], actor: Actor) -> None:
    """Take the term off live posts, each with its revision and events."""
    for post_id in posts:
        post = lock_post(post_id)
        before = post_repository.load(post)
        after = _without(before, str(term_id))
        write_live(post=post, before=before, after=after, actor=actor, reason="edited")
        settle(post, after)


def _without(document: PostDocument, term_id: str) -> PostDocument:
    return document.with_terms([id_ for id_ in document.taxonomy_term_ids if id_ != term_id])


MAX_TERMS_AT_ONCE: Final = 200
"""Live posts that one deletion changes, each with a revision of its own."""


@transaction.atomic
def create_term(
    *,
    actor: Actor,
    taxonomy: str,
    name: str,
    slug: str | None = None,
    locale: str | None = None,
    parent_id: UUID | str | None = None,
    order_index: int = 0,
) -> Term:
    """Make a term; the slug comes from the name where none is given. Raises `RuleViolation` by field, `NotFound`."""
    _allow(actor)
    require_taxonomy(taxonomy)
    name = clean_name(name)
    term = Term(
        taxonomy=taxonomy,
        name=name,
        slug=clean_slug(slug_of(name)[:100].strip("-") if slug is None else slug),
        locale=_clean_locale(locale),
        order_index=clean_order(order_index),
    )
    _record(term, actor, "created")
    term.parent = parent_of(term, parent_id)
    _save(term)
    return term


@transaction.atomic
def change_term(
    *,
    term_id: UUID | str,
    actor: Actor,
    name: str | None = None,
    slug: str | None = None,
    parent_id: object = TOP_LEVEL,
    order_index: int | None = None,
) -> Term:
    """Change what is given. `parent_id` None makes it a root; `TOP` leaves it where it is."""
    _allow(actor)
    term = _locked(term_id)
    # First, because it locks the content version: two moves at once cannot close a circle.
    _record(term, actor, "changed")
    term.name = term.name if name is None else clean_name(name)
    term.slug = term.slug if slug is None else clean_slug(slug)
    term.order_index = term.order_index if order_index is None else clean_order(order_index)
    if parent_id is not TOP_LEVEL:
        term.parent = parent_of(term, parent_id)
    _save(term)
    return term


@transaction.atomic
def place_term(
    *,
    term_id: UUID | str,
    actor: Actor,
    parent_id: UUID | str | None,
    before_id: UUID | str | None = None,
) -> Term:
    """Put a term below another, at the top for None, right before a term there; at the end without one.

    Those around it are numbered anew. `Conflict` (`moved`) where `before_id` stands somewhere else by now.
    """
    _allow(actor)
    term = _locked(term_id)
    # First, as above: whoever moves another one waits until this one stands.
    _record(term, actor, "changed")
    term.parent = parent_of(term, parent_id)
    rows = list(
        Term.objects.filter(taxonomy=term.taxonomy, locale=term.locale, parent=term.parent).exclude(
            pk=term.pk
        )
    )
    places = {str(row.pk): place for place, row in enumerate(rows)}
    place = len(rows) if before_id is None else places.get(str(before_id))
    if place is None:
        raise Conflict(
            _("The terms around this one changed since you read them. Read them again."),
            code="moved",
        )
    rows.insert(place, term)
    for number, row in enumerate(rows):
        row.order_index = number
    Term.objects.bulk_update(rows, ["order_index", "parent"])
    return term


@transaction.atomic
def delete_term(*, term_id: UUID | str, actor: Actor, force: bool = False) -> UUID:
    """Delete a term; those below it move up to its parent. Answers the id that is gone.

    Where posts carry it, or drafts propose it, that needs `force`, else it is `Conflict` (`in_use`): it is taken
    off them then, live ones with a revision. Posts in the trash lose it without one.
    """
    _allow(actor)
    term = _locked(term_id)
    id_ = term.pk
    posts, waiting = find_posts_with_term(id_), find_drafts_with_term(id_)
    number = len(set(posts) | {draft.post_id for draft in waiting})
    if number and not force:
        raise _in_use(term, number, _("Take it off them first, or delete it with force=true."))
    if len(posts) > MAX_TERMS_AT_ONCE:
        raise _in_use(
            term,
            number,
            _("More than %(most_at_once)s are too many to change at once.")
            % {"most_at_once": MAX_TERMS_AT_ONCE},
        )
    drop_from_drafts(id_, posts)
    drop_from_posts(id_, posts, actor)
    _record(term, actor, "deleted")
    # Live writes wait from here on: what one of them gave the term to meanwhile is seen now.
    if late := find_posts_with_term(id_):
        raise _in_use(term, len(late), _("One got it just now; try again."))
    Term.objects.filter(parent=term).update(parent=term.parent_id)
    term.delete()
    return id_


def require_taxonomy(slug: str) -> None:
    """Raise `NotFound` unless there is a taxonomy of that slug."""
    try:
        find_taxonomy(slug)
    except RuleViolation as error:
        raise NotFound(error.message, code=error.code) from None


def _save(term: Term) -> None:
    try:
        with transaction.atomic():
            term.save()
    except IntegrityError:
        raise invalid(
            "slug",
            _("Another term of %(taxonomy)s has the slug %(slug)r in this language.")
            % {"taxonomy": term.taxonomy, "slug": term.slug},
            code="slug_taken",
        ) from None


def _clean_locale(value: str | None) -> str:
    """A locale of the site; empty for a term of every language."""
    locale: str = settings.CMS_ENV.default_locale if value is None else value
    if locale and locale not in settings.CMS_ENV.locales:
        known = ", ".join(settings.CMS_ENV.locales)
        raise invalid(
            "locale",
            _("%(locale)r is not a locale of this site; known: %(known)s.")
            % {"locale": locale[:20], "known": known},
        )
    return locale


def _locked(term_id: UUID | str) -> Term:
    try:
        rows = Term.objects.select_for_update(of=("self",), no_key=True)
        term = rows.filter(pk=UUID(str(term_id))).first()
    except ValueError:
        term = None
    if term is None:
        raise NotFound(
            _("No taxonomy term has the id %(term_id)s.") % {"term_id": str(term_id)[:80]}
        )
    return term


def _in_use(term: Term, number: int, what_to_do: str) -> Conflict:
    sentence = ngettext(
        "%(n)s post carries or proposes the term %(name)r. %(what_to_do)s",
        "%(n)s posts carry or propose the term %(name)r. %(what_to_do)s",
        number,
    )
    return Conflict(
        sentence % {"n": number, "name": term.name, "what_to_do": what_to_do},
        code="in_use",
        details={"posts": [str(number)]},
    )


def _record(term: Term, actor: Actor, did: str) -> None:
    outbox.record(
        "content.changed",
        actor=actor,
        payload={"what": "term", "id": str(term.pk), "did": did, "taxonomy": term.taxonomy},
    )


def _allow(actor: Actor) -> None:
    actor.require_person("change taxonomies")
    actor.require("taxonomies.edit")
