"""What may stand in a post's fields."""

from __future__ import annotations

from uuid import UUID

from django.utils.translation import gettext as _

from content.changes import ABSENT, Changes
from content.document import CUSTOM_PREFIX, FIELD_NAMES, PostDocument
from content.models import Post, Status
from content.rules.values import clean_value
from proofroom.core.errors import RuleViolation, invalid
from proofroom.core.json import JsonObject
from proofroom.core.site_urls import absolute
from proofroom.definitions import find_post_type, validation


def clean_fields(
    post: Post, before: PostDocument, after: PostDocument, changes: Changes
) -> PostDocument:
    """Clean the fields that `changes` names; raises `RuleViolation` keyed by the field's name."""
    cleaned: JsonObject = {}
    custom: JsonObject = {}
    for change in changes:
        name = change.path.removeprefix("post.")
        if change.module_id or name == "taxonomyTermIds":
            continue
        if name.startswith(CUSTOM_PREFIX):
            if change.after is ABSENT:  # a revision from before the field existed
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
    _check_variation(post, cleaned)
    if cleaned.get("publishAt") is not None and post.status != Status.DRAFT:
        raise invalid("publishAt", _("Only a draft waits for its publication."), code="not_a_draft")
    if "slug" in cleaned:
        _check_slug_is_free(post, str(cleaned["slug"]))
    if "parentId" in cleaned:
        check_parent(post, cleaned["parentId"])
    return after.with_fields(cleaned)


def _check_variation(post: Post, cleaned: JsonObject) -> None:
    original = post.variation_of
    if original is not None and cleaned.get("canonicalUrl") == absolute(original.path):
        cleaned["canonicalUrl"] = None  # it follows the original by itself
    for name in ("slug", "parentId", "publishAt") if post.variation_of_id else ():
        if cleaned.get(name) is not None:
            message = _(
                "A variation has the address of its original, and is promoted, not published."
            )
            raise invalid(name, message, code="is_variation")


def _check_slug_is_free(post: Post, slug: str) -> None:
    same = Post.objects.alive().filter(type=post.type, locale=post.locale, slug=slug)
    other = same.exclude(pk=post.pk).first()
    if other is None:
        return
    if other.translation_group == post.translation_group:  # restored while this one was made
        raise translation_taken(other)
    raise slug_taken(slug, post.type, post.locale)


def slug_taken(slug: str, type_name: str, locale: str) -> RuleViolation:
    return invalid(
        "slug",
        _("Another %(type_name)s in %(locale)s has the slug %(slug)r.")
        % {"type_name": type_name, "locale": locale, "slug": slug},
        code="slug_taken",
    )


def translation_taken(other: Post) -> RuleViolation:
    message = _("The post is there in %(locale)s already: %(title)r (%(pk)s).") % {
        "locale": other.locale,
        "title": other.title,
        "pk": other.pk,
    }
    return invalid("locale", message, code="translation_exists")


def taken_by_another(post: Post) -> RuleViolation:
    """Which of a post's unique constraints another post holds, after the database refused it."""
    if post.variation_of_id is not None:
        message = _("The post already has a variation %(variation)s.") % {
            "variation": post.variation
        }
        return invalid("variation", message, code="variation_exists")
    others = Post.objects.alive().exclude(pk=post.pk)
    group = others.filter(translation_group=post.translation_group, locale=post.locale)
    translation = group.first()
    if translation is not None:
        return translation_taken(translation)
    return slug_taken(post.slug, post.type, post.locale)


def check_parent(post: Post, value: object) -> None:
    """The parent exists, fits, and does not stand below the post."""
    if value is None:
        return
    if not find_post_type(post.type).hierarchical:
        raise invalid(
            "parentId", _("Posts of type %(type)s have no hierarchy.") % {"type": post.type}
        )
    ancestor = Post.objects.alive().filter(pk=str(value)).first()
    if ancestor is None:
        raise invalid("parentId", _("No post has the id %(value)s.") % {"value": value})
    if (ancestor.type, ancestor.locale) != (post.type, post.locale):
        raise invalid("parentId", _("The parent must be of the same type and locale."))
    seen: set[UUID] = set()
    while ancestor is not None and ancestor.pk not in seen:
        if ancestor.pk == post.pk:
            raise invalid("parentId", _("A post cannot stand below itself."), code="parent_cycle")
        seen.add(ancestor.pk)
        ancestor = ancestor.parent
