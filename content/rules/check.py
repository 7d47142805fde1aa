"""Validation of a change of a document as a whole: permissions, fields and terms."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from typing import Any, Final
from uuid import UUID

from django.db.models import QuerySet
from django.utils.translation import gettext as _

from content.document.changes import ABSENT, TERMS_PATH, Changes, diff
from content.document.document import CUSTOM_PREFIX, FIELD_NAMES, PostDocument
from content.document.labels import type_label
from content.document.post_fields import AUTHORS, SCHEDULE_FIELDS
from content.models import Post, Status
from content.models.post import MAX_DEPTH
from content.rules.change_permissions import check_change_permissions
from content.rules.modules import check_locks, clean_modules, clean_value
from content.rules.references import check_references
from content.store import post_repository
from content.store.joint_moves import address_of, joint_moves, leaves_in_review
from content.store.scopes import can_view
from content.store.tree_queries import has_descendants_at_level
from proofroom.accounts.queries import active_people
from proofroom.core.actor import Actor
from proofroom.core.database.compiled_queries import CompiledQuery, first_instance
from proofroom.core.errors import RuleViolation, invalid
from proofroom.core.i18n.languages import language_name
from proofroom.core.json import JsonObject
from proofroom.core.site_urls import absolute
from proofroom.definitions import find_post_type, validation
from proofroom.taxonomies.models import Term

MAX_TERMS: Final = 200


def check_terms(post: Post, after: PostDocument, changes: Changes) -> None:
    """Check that the terms exist, belong to taxonomies of the post's type and do not exceed `maxSelections`."""
    if TERMS_PATH not in changes.paths:
        return
    ids = after.taxonomy_term_ids
    if len(ids) > MAX_TERMS:
        raise _terms_error(
            _("A post can have at most %(most_terms)s terms.") % {"most_terms": MAX_TERMS}
        )
    # The query would fail on text that is no UUID.
    for id_ in ids:
        try:
            UUID(id_)
        except (ValueError, TypeError, AttributeError):
            raise _terms_error(_("%(id)r is not the ID of a term.") % {"id": id_}) from None
    found = {
        str(pk): name for pk, name in Term.objects.filter(pk__in=ids).values_list("pk", "taxonomy")
    }
    unknown = [id_ for id_ in ids if id_ not in found]
    if unknown:
        raise _terms_error(
            _("No taxonomy term has the ID %(unknown)s.") % {"unknown": ", ".join(unknown)}
        )
    uses = {use.slug: use for use in find_post_type(post.type).taxonomies}
    for taxonomy, count in Counter(found.values()).items():
        if taxonomy not in uses:
            known = ", ".join(uses) or "none"
            raise _terms_error(
                _("Posts of type %(type)s do not use %(taxonomy)r; they use: %(known)s.")
                % {"type": post.type, "taxonomy": taxonomy, "known": known}
            )
        most = uses[taxonomy].max_selections
        if most is not None and count > most:
            raise _terms_error(
                _("At most %(most)s terms of %(taxonomy)r are allowed. You sent %(count)s.")
                % {"most": most, "taxonomy": taxonomy, "count": count}
            )


def _terms_error(message: str) -> RuleViolation:
    return invalid("taxonomyTermIds", message)


def check_authors(
    before: PostDocument, after: PostDocument, taken_over: PostDocument | None = None
) -> None:
    """Check that each new author is an active account of a person. Authors of `taken_over` may have left.

    One query for new authors.
    """
    known = {*post_repository.authors_of(before)}
    if taken_over is not None:
        known.update(post_repository.authors_of(taken_over))
    new = [id_ for id_ in post_repository.authors_of(after) if id_ not in known]
    if new:
        require_authors(new)


def require_authors(ids: Collection[int]) -> None:
    """Raise `RuleViolation` on `authors` unless these are active accounts of people. One query."""
    found = set(active_people().filter(pk__in=ids).values_list("pk", flat=True))
    missing = [str(id_) for id_ in ids if id_ not in found]
    if missing:
        message = _("No active account of a person has the ID %(ids)s.")
        raise invalid(AUTHORS, message % {"ids": ", ".join(missing)}, code="unknown_author")


def clean_fields(
    post: Post,
    before: PostDocument,
    after: PostDocument,
    changes: Changes,
    actor: Actor | None = None,
    *,
    is_proposal: bool = False,
) -> PostDocument:
    """Clean the changed fields. Raises `RuleViolation` keyed by field name."""
    cleaned: JsonObject = {}
    custom: JsonObject = {}
    for change in changes:
        name = change.path.removeprefix("post.")
        if change.module_id or name == "taxonomyTermIds":
            continue
        if name.startswith(CUSTOM_PREFIX):
            if change.after is ABSENT:  # the revision is older than the field
                continue
            custom[name.removeprefix(CUSTOM_PREFIX)] = after.fields.get(name)
        elif name not in FIELD_NAMES:
            raise invalid(
                name,
                _("There is no post field named %(name)r.") % {"name": name},
                code="unknown_field",
            )
        else:
            cleaned[name] = clean_value(name, after.fields.get(name))
    if custom:
        definition = find_post_type(post.type)
        values = validation.check_partial(
            definition.CustomFields, custom, prefix="customFields", what=f"The {post.type}"
        )
        cleaned |= {CUSTOM_PREFIX + name: value for name, value in values.items()}
    original = post.variation_of
    if original is not None and cleaned.get("canonicalUrl") == absolute(original.path):
        cleaned["canonicalUrl"] = None  # the variation uses the path of its original anyway
    for name in ("slug", "parentId", *SCHEDULE_FIELDS) if post.variation_of_id else ():
        if cleaned.get(name) is not None:
            message = _(
                "A variation has the address of its original. It is promoted, not published."
            )
            raise invalid(name, message, code="is_variation")
    if cleaned.get("publishAt") is not None and post.status != Status.DRAFT:
        raise invalid("publishAt", _("Only drafts can be scheduled."), code="not_a_draft")
    if cleaned.get("unpublishAt") is not None and post.status == Status.ARCHIVED:
        raise invalid("unpublishAt", _("Archived posts are not on the site."), code="archived")
    if "parentId" in cleaned:
        check_depth(post, check_parent(post, cleaned["parentId"], actor))
    after = after.with_fields(cleaned)
    if not cleaned.keys().isdisjoint(SCHEDULE_FIELDS):
        starts, ends = (after.fields.get(name) for name in SCHEDULE_FIELDS)
        # Both are UTC times of the same format, so their texts have the order of the times.
        if starts is not None and ends is not None and str(ends) <= str(starts):
            message = _("The post must be published before it is unpublished.")
            raise invalid("unpublishAt", message, code="before_publication")
    if not {"slug", "parentId"}.isdisjoint(cleaned) and after.fields.get("slug"):
        parent = after.fields.get("parentId")
        parent_id = UUID(str(parent)) if parent else None
        check_slug_is_free(post, str(after.fields["slug"]), parent_id, is_proposal=is_proposal)
    return after


def _same_slug(type_: str, locale: str, slug: str, post_id: UUID) -> QuerySet[Any, Any]:
    same = Post.objects.alive().filter(type=type_, locale=locale, slug=slug).exclude(pk=post_id)
    return same.order_by("pk").values("id", "title", "translation_group", "parent_id")


_SAME_SLUG: Final = CompiledQuery(_same_slug)
_SAME_AT_ROOT: Final = CompiledQuery(
    lambda *given: _same_slug(*given).filter(parent_id__isnull=True)
)
_SAME_BELOW: Final = CompiledQuery(
    lambda *given: _same_slug(*given[:-1]).filter(parent_id=given[-1])
)


def check_slug_is_free(
    post: Post, slug: str, parent_id: UUID | None, *, is_proposal: bool = False
) -> None:
    """Raise `RuleViolation` if another post of the same type and language has the slug.

    In a type with hierarchy, only posts with the same parent count. A proposal may take an address that another post
    leaves in Review, because a release can make both live together.
    """
    wanted = (post.type, post.locale, slug, post.pk)
    if not find_post_type(post.type).hierarchical:
        rows = _SAME_SLUG.rows(*wanted)
    elif parent_id is None:
        rows = _SAME_AT_ROOT.rows(*wanted)
    else:
        rows = _SAME_BELOW.rows(*wanted, parent_id)
    moves = joint_moves()
    if moves is not None:
        # Posts that leave the address in the same transaction are not in the way, but posts that move to it are.
        rows = [row for row in rows if row["id"] not in moves.pending]
        if moves.is_wanted(address_of(post.type, post.locale, slug, parent_id), post.pk):
            parent = Post.objects.filter(pk=parent_id).first() if parent_id else None
            raise slug_taken(post, slug, parent)
    other = first_instance(Post, rows)
    if other is not None and is_proposal and leaves_in_review(other.pk):
        return
    if other is not None and other.translation_group == post.translation_group:
        raise translation_taken(other)  # restored from the trash concurrently
    if other is not None:
        raise slug_taken(post, slug, other.parent)


def slug_taken(post: Post, slug: str, parent: Post | None) -> RuleViolation:
    names = {"type": type_label(post.type), "language": language_name(post.locale), "slug": slug}
    if parent is None:
        message = _("Another post (%(type)s, %(language)s) already uses the slug %(slug)r.") % names
    else:
        message = _("Another post (%(type)s) below %(path)s already uses the slug %(slug)r.") % {
            **names,
            "path": parent.path,
        }
    return invalid("slug", message, code="slug_taken")


def translation_taken(other: Post, actor: Actor | None = None) -> RuleViolation:
    """Return the error for a language that exists already. It names the post only if the actor may view it."""
    if actor is None or actor.via == "system" or not can_view(actor, other):
        message = _("The post already exists in %(language)s.") % {
            "language": language_name(other.locale)
        }
        return invalid("locale", message, code="translation_exists")
    message = _("The post already exists in %(language)s: %(title)r (%(pk)s).") % {
        "language": language_name(other.locale),
        "title": other.title,
        "pk": other.pk,
    }
    return invalid("locale", message, code="translation_exists")


def unique_constraint_error(post: Post, actor: Actor) -> RuleViolation:
    """Return the error for the unique constraint that the database reported."""
    if post.variation_of_id is not None:
        message = _("The post already has a variation %(variation)s.") % {
            "variation": post.variation
        }
        return invalid("variation", message, code="variation_exists")
    others = Post.objects.alive().exclude(pk=post.pk)
    group = others.filter(translation_group=post.translation_group, locale=post.locale)
    translation = group.first()
    if translation is not None:
        return translation_taken(translation, actor)
    return slug_taken(post, post.slug, post.parent)


def check_parent(post: Post, value: object, actor: Actor | None = None) -> int:
    """Check that the parent exists, has the same type and language, and is not below the post.

    Returns the number of ancestors. With an `actor`, a parent they may not view counts as missing.
    """
    if value is None:
        return 0
    if not find_post_type(post.type).hierarchical:
        raise invalid(
            "parentId", _("Posts of type %(type)s have no hierarchy.") % {"type": post.type}
        )
    ancestor = Post.objects.alive().filter(pk=str(value)).first()
    if ancestor is None or (actor is not None and not can_view(actor, ancestor)):
        raise invalid("parentId", _("No post has the ID %(value)s.") % {"value": value})
    if (ancestor.type, ancestor.locale) != (post.type, post.locale):
        raise invalid("parentId", _("The parent must have the same type and language."))
    # Stored parents can already form a cycle, so stop at a post seen before.
    seen: set[UUID] = set()
    moves = joint_moves()
    while ancestor is not None and ancestor.pk not in seen:
        if ancestor.pk == post.pk:
            raise invalid("parentId", _("A post cannot be its own parent."), code="parent_cycle")
        seen.add(ancestor.pk)
        ancestor = ancestor.parent if moves is None else moves.parent_of(ancestor)
    return len(seen)


def check_depth(post: Post, above: int) -> None:
    """Raise `RuleViolation` if the post or a descendant would be too deep. Excludes the trash. One query."""
    left = MAX_DEPTH - above
    # A post without a parent cannot be too deep, and a new post has no descendants: no query.
    if left >= 0 and (left == MAX_DEPTH or post._state.adding):
        return
    if left < 0 or has_descendants_at_level(post.pk, left + 1):
        message = _("Pages can be at most %(most)s levels deep.") % {"most": MAX_DEPTH + 1}
        raise invalid("parentId", message, code="too_deep")


def check_changes(
    *,
    post: Post,
    before: PostDocument,
    after: PostDocument,
    actor: Actor,
    taken_over: PostDocument | None = None,
    is_handed_on: bool = False,
    is_proposal: bool = False,
) -> PostDocument:
    """Check permissions and rules, and return `after` with cleaned values.

    Only differences from `before` are checked, so that content older than its definition can still be edited,
    reverted and rejected. References of `taken_over`, the source of a copy, may be missing. If `is_handed_on` from
    one layer to another, references may be hidden from the actor. `is_proposal`: as in `check_slug_is_free`.

    Raises `RuleViolation` with details by path, or `NotAllowed`.
    """
    changes = diff(before, after)
    if len(changes) == 0:
        return after
    check_change_permissions(post, changes, before, actor)
    known_to = None if is_handed_on else actor
    return clean_changes(post, before, after, taken_over, known_to, is_proposal=is_proposal)


def clean_changes(
    post: Post,
    before: PostDocument,
    after: PostDocument,
    taken_over: PostDocument | None = None,
    actor: Actor | None = None,
    *,
    is_proposal: bool = False,
) -> PostDocument:
    """Apply the rules and return `after` with cleaned values, without a check of permissions.

    With an `actor`, new references must be visible to them.
    """
    changes = diff(before, after)
    check_locks(before, after)
    after = clean_fields(post, before, after, changes, actor, is_proposal=is_proposal)
    check_terms(post, after, changes)
    check_authors(before, after, taken_over)
    after = clean_modules(post, before, after, changes)
    # Compare again after cleaning: ids are canonical and Markdown is rich text now.
    check_references(before, after, diff(before, after), taken_over=taken_over, actor=actor)
    return after
