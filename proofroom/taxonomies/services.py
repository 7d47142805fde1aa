"""Services for taxonomy terms. The taxonomies themselves are code."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final, Protocol
from uuid import UUID, uuid4

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import F
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from proofroom.core import outbox
from proofroom.core.actor import Actor
from proofroom.core.database.id_filters import find_by_id
from proofroom.core.errors import Conflict, NotFound, RuleViolation, invalid
from proofroom.core.hooks import ExtensionPoint
from proofroom.core.i18n.languages import require_site_language
from proofroom.core.json import JsonObject
from proofroom.core.title_slugs import slug_of_title
from proofroom.core.validation.input_validation import clean_line, clean_name
from proofroom.core.validation.slugs import clean_slug
from proofroom.definitions import find_taxonomy
from proofroom.shared_content.approval import APPROVED, require_approver, require_live_change
from proofroom.shared_content.proposals import delete_proposals
from proofroom.shared_content.revisions import SharedChange, delete_revisions, record_revisions
from proofroom.shared_content.shared_types import TERM
from proofroom.taxonomies.models import DESCRIPTION_MAX, NAME_MAX, SLUG_MAX, Term
from proofroom.taxonomies.rules import UNCHANGED_PARENT, clean_order, parent_of


class TermUsage(Protocol):
    """Content that uses terms, registered by its app, so that deleting a term can remove it there."""

    def find_live(self, term_id: UUID) -> Collection[UUID]:
        """Return the ids of live content with the term."""

    def find_staged(self, term_id: UUID) -> Collection[UUID]:
        """Return the ids of staged content that adds the term or is based on a state with it."""

    def remove(self, term_id: UUID, live: Collection[UUID], actor: Actor) -> None:
        """Remove the term from all content. Live content gets a revision."""


term_usages: ExtensionPoint[TermUsage] = ExtensionPoint()

MAX_POSTS_AT_ONCE: Final = 200
"""Largest number of live posts that one deletion may change. Each gets its own revision."""


@transaction.atomic
def create_term(
    *,
    actor: Actor,
    taxonomy: str,
    name: str,
    slug: str | None = None,
    description: str = "",
    locale: str | None = None,
    parent_id: UUID | str | None = None,
    order_index: int = 0,
    term_id: UUID | None = None,
) -> Term:
    """Create a term. Without a slug, it is made from the name. `term_id`: the id from another installation.

    Raises `RuleViolation` by field, `NotFound`.
    """
    _allow(actor)
    require_taxonomy(taxonomy)
    name = clean_name(name, NAME_MAX)
    # Empty for a term of every language.
    if locale is None:
        locale = settings.CMS_ENV.default_locale
    elif locale:
        require_site_language(locale)
    slug = clean_slug(slug_of_title(name, locale, SLUG_MAX) if slug is None else slug, SLUG_MAX)
    term = Term(
        id=term_id or uuid4(),
        taxonomy=taxonomy,
        name=name,
        slug=slug,
        description=_clean_description(description),
        locale=locale,
        order_index=clean_order(order_index),
    )
    _record(term, actor, "created")
    term.parent = parent_of(term, parent_id)
    _save(term)
    change = SharedChange(term.pk, term.version, term_document(term))
    record_revisions(TERM, [change], actor=actor, reason="created")
    return term


@transaction.atomic
def change_term(
    *,
    term_id: UUID | str,
    actor: Actor,
    name: str | None = None,
    slug: str | None = None,
    description: str | None = None,
    parent_id: object = UNCHANGED_PARENT,
    order_index: int | None = None,
    expected_version: int | None = None,
    reason: str = "edited",
) -> Term:
    """Change the given values. `parent_id` None makes the term a root; `UNCHANGED_PARENT` leaves its parent.

    Raises `Conflict` for an outdated version, otherwise as `create_term`.
    """
    _allow(actor)
    if reason != APPROVED:
        require_live_change(TERM, actor)
    term = _lock_term(term_id)
    if expected_version is not None and expected_version != term.version:
        raise Conflict(
            _("This term has changed since you opened it. Reload it and repeat your change."),
            code="stale_version",
            current=term.version,
        )
    earlier = term_document(term)
    document = changed_term_document(term, name=name, slug=slug, description=description)
    # First, because recording locks the content version: two concurrent moves must not make a cycle.
    _record(term, actor, "changed", slug=str(document["slug"]))
    term.name, term.slug = str(document["name"]), str(document["slug"])
    term.description = str(document["description"])
    term.order_index = term.order_index if order_index is None else clean_order(order_index)
    if parent_id is not UNCHANGED_PARENT:
        term.parent = parent_of(term, parent_id)
    is_changed = term_document(term) != earlier
    # A bool is added: 1 if the document changed.
    term.version += is_changed
    _save(term)
    if is_changed:
        _record_revision(term, earlier, actor, reason)
    return term


@transaction.atomic
def move_term(
    *,
    term_id: UUID | str,
    actor: Actor,
    parent_id: UUID | str | None,
    before_id: UUID | str | None = None,
) -> Term:
    """Move a term below a parent (None for the top), before `before_id`, or to the end without it.

    The siblings are renumbered. Raises `Conflict` (`moved`) if `before_id` is no longer there.
    """
    _allow(actor)
    require_live_change(TERM, actor)
    term = _lock_term(term_id)
    # First, for the same reason as in `change_term`.
    _record(term, actor, "changed")
    earlier = term_document(term)
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
            _("The terms next to this one have changed since you opened them. Reload them."),
            code="moved",
        )
    rows.insert(place, term)
    # Stored numbers may repeat, so all siblings get new ones.
    for number, row in enumerate(rows):
        row.order_index = number
    is_moved = term_document(term) != earlier
    term.version += is_moved
    Term.objects.bulk_update(rows, ["order_index", "parent", "version"])
    if is_moved:
        _record_revision(term, earlier, actor, "moved")
    return term


@transaction.atomic
def delete_term(*, term_id: UUID | str, actor: Actor, force: bool = False) -> UUID:
    """Delete a term. Its children move to its parent. Return the deleted id.

    If posts or drafts use it, `force` is required, otherwise `Conflict` (`in_use`) is raised. The term is removed
    from them; live posts get a revision, posts in the trash do not.
    """
    _allow(actor)
    require_approver(TERM, actor)
    term = _lock_term(term_id)
    id_ = term.pk
    live = {each: each.find_live(id_) for each in term_usages}
    # A set, because a post whose live version and draft both use the term counts once.
    number = len({used for each in term_usages for used in {*live[each], *each.find_staged(id_)}})
    if number and not force:
        raise _in_use(term, number, _("Remove it from them first, or delete it with force=true."))
    if sum(map(len, live.values())) > MAX_POSTS_AT_ONCE:
        raise _in_use(
            term,
            number,
            _("At most %(most_at_once)s posts can be changed at once.")
            % {"most_at_once": MAX_POSTS_AT_ONCE},
        )
    for each, used in live.items():
        each.remove(id_, used, actor)
    _record(term, actor, "deleted")
    # `_record` locked the content version, so live writes wait. A post that got the term before that is found now.
    if new_uses := sum(len(each.find_live(id_)) for each in term_usages):
        raise _in_use(term, new_uses, _("A post has just started to use it. Try again."))
    below = Term.objects.filter(parent=term)
    # The parent is part of a term's document, so their versions change too.
    below.update(parent=term.parent_id, version=F("version") + 1)
    term.delete()
    delete_revisions(TERM, id_)
    delete_proposals(TERM, id_)
    return id_


def changed_term_document(
    term: Term,
    *,
    name: str | None = None,
    slug: str | None = None,
    description: str | None = None,
    parent_id: object = UNCHANGED_PARENT,
) -> JsonObject:
    """Return the document of the term with these values, checked by the rules. Raises `RuleViolation` by field."""
    document = term_document(term)
    if name is not None:
        document["name"] = clean_name(name, NAME_MAX)
    if slug is not None:
        document["slug"] = clean_slug(slug, SLUG_MAX)
    if description is not None:
        document["description"] = _clean_description(description)
    if parent_id is not UNCHANGED_PARENT:
        parent = parent_of(term, parent_id)
        document["parentId"] = str(parent.pk) if parent else None
    return document


def term_document(term: Term) -> JsonObject:
    """Return the term's document for revisions. It has no position, because the siblings share the order."""
    return {
        "name": term.name,
        "slug": term.slug,
        "description": term.description,
        "parentId": str(term.parent_id) if term.parent_id else None,
    }


def description_in(document: JsonObject) -> str | None:
    """Return the description in a term's document; None if the document is older than this field."""
    found = document.get("description")
    return found if isinstance(found, str) else None


def _clean_description(value: str) -> str:
    lines = value.replace("\r\n", "\n")
    return clean_line("description", lines, DESCRIPTION_MAX, lines=True)


def require_taxonomy(slug: str) -> None:
    """Raise `NotFound` unless the taxonomy exists."""
    try:
        find_taxonomy(slug)
    except RuleViolation as error:
        raise NotFound(error.message, code=error.code) from None


def _record_revision(term: Term, earlier: JsonObject, actor: Actor, reason: str) -> None:
    change = SharedChange(term.pk, term.version, term_document(term), term.version - 1, earlier)
    record_revisions(TERM, [change], actor=actor, reason=reason)


def _save(term: Term) -> None:
    try:
        with transaction.atomic():
            # A savepoint, because PostgreSQL refuses all queries of a transaction after an error.
            term.save()
    except IntegrityError:
        raise invalid(
            "slug",
            _("Another term of %(taxonomy)s already uses the slug %(slug)r in this language.")
            % {"taxonomy": term.taxonomy, "slug": term.slug},
            code="slug_taken",
        ) from None


def _lock_term(term_id: UUID | str) -> Term:
    # `no_key`, so that inserts of rows that reference the term do not wait.
    term = find_by_id(Term.objects.select_for_update(of=("self",), no_key=True), term_id)
    if term is None:
        raise NotFound(
            _("No taxonomy term has the ID %(term_id)s.") % {"term_id": str(term_id)[:80]}
        )
    return term


def _in_use(term: Term, number: int, what_to_do: str) -> Conflict:
    sentence = ngettext(
        "%(n)s post uses the term %(name)r. %(what_to_do)s",
        "%(n)s posts use the term %(name)r. %(what_to_do)s",
        number,
    )
    return Conflict(
        sentence % {"n": number, "name": term.name, "what_to_do": what_to_do},
        code="in_use",
        details={"posts": [str(number)]},
    )


def _record(term: Term, actor: Actor, did: str, *, slug: str | None = None) -> None:
    """Record a change of a term. With another `slug`, the payload also has the old one, for redirects."""
    payload: JsonObject = {
        "what": "term",
        "id": str(term.pk),
        "did": did,
        "taxonomy": term.taxonomy,
    }
    if slug is not None and slug != term.slug:
        payload |= {"slugBefore": term.slug, "slug": slug, "locale": term.locale}
    outbox.record("content.changed", actor=actor, payload=payload)


def _allow(actor: Actor) -> None:
    actor.require_person("change taxonomies")
    actor.require("taxonomies.edit")
