"""What may stand in a post's fields."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Final
from uuid import UUID

from django.utils import timezone
from django.utils.dateparse import parse_datetime

from content.changes import ABSENT, Changes
from content.definitions import checking, find_post_type
from content.document import CUSTOM_PREFIX, FIELD_NAMES, PostDocument
from content.models import Post
from content.models.post import EXCERPT_MAX, META_MAX, SLUG_MAX, TITLE_MAX, URL_MAX
from content.richtext.schema import safe_href
from content.store import iso
from core.errors import RuleViolation, invalid
from core.json import Json, JsonObject
from media.queries import media_exists

_SLUG: Final = re.compile(r"[^\W_]+(?:-[^\W_]+)*\Z")
_CONTROL: Final = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_JSON_MAX: Final = 20_000
_LARGEST: Final = 2**53
_LATEST_YEAR: Final = 9000


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
            raise invalid(name, f"There is no post field named {name!r}.", code="unknown_field")
        else:
            cleaned[name] = _CHECKS[name](name, after.fields.get(name))
    if custom:
        definition = find_post_type(post.type)
        values = checking.check_partial(
            definition.CustomFields, custom, prefix="customFields", what=f"The {post.type}"
        )
        cleaned |= {CUSTOM_PREFIX + name: value for name, value in values.items()}
    if "slug" in cleaned:
        _check_slug_is_free(post, str(cleaned["slug"]))
    if "parentId" in cleaned:
        check_parent(post, cleaned["parentId"])
    return after.with_fields(cleaned)


def _check_slug_is_free(post: Post, slug: str) -> None:
    taken = (
        Post.objects.filter(type=post.type, locale=post.locale, slug=slug, deleted_at__isnull=True)
        .exclude(pk=post.pk)
        .exists()
    )
    if taken:
        raise slug_taken(slug, post.type, post.locale)


def slug_taken(slug: str, type_name: str, locale: str) -> RuleViolation:
    return invalid(
        "slug", f"Another {type_name} in {locale} has the slug {slug!r}.", code="slug_taken"
    )


def translation_taken(locale: str) -> RuleViolation:
    message = f"The post already has a translation to {locale}."
    return invalid("locale", message, code="translation_exists")


def taken_by_another(post: Post) -> RuleViolation:
    """Which of a post's unique constraints another post holds, after the database refused it."""
    others = Post.objects.filter(deleted_at__isnull=True).exclude(pk=post.pk)
    if others.filter(translation_group=post.translation_group, locale=post.locale).exists():
        return translation_taken(post.locale)
    return slug_taken(post.slug, post.type, post.locale)


def check_parent(post: Post, value: object) -> None:
    """The parent exists, fits, and does not stand below the post."""
    if value is None:
        return
    if not find_post_type(post.type).hierarchical:
        raise invalid("parentId", f"Posts of type {post.type} have no hierarchy.")
    ancestor = Post.objects.filter(pk=str(value), deleted_at__isnull=True).first()
    if ancestor is None:
        raise invalid("parentId", f"No post has the id {value}.")
    if (ancestor.type, ancestor.locale) != (post.type, post.locale):
        raise invalid("parentId", "The parent must be of the same type and locale.")
    seen: set[UUID] = set()
    while ancestor is not None and ancestor.pk not in seen:
        if ancestor.pk == post.pk:
            raise invalid("parentId", "A post cannot stand below itself.", code="parent_cycle")
        seen.add(ancestor.pk)
        ancestor = ancestor.parent


def _text(
    limit: int, *, required: bool = False, lines: bool = False
) -> Callable[[str, Json], Json]:
    def check(name: str, value: Json) -> Json:
        if value is None and not required:
            return "" if name == "excerpt" else None
        if not isinstance(value, str):
            raise invalid(name, f"{name} must be text.")
        value = value.strip()
        if required and not value:
            raise invalid(name, f"{name} must not be empty.")
        if len(value) > limit:
            raise invalid(
                name, f"{name} has {len(value):,} characters; at most {limit:,} are allowed."
            )
        if _CONTROL.search(value) or (not lines and ("\n" in value or "\r" in value)):
            raise invalid(name, f"{name} must not hold control characters or line breaks.")
        try:
            value.encode()
        except UnicodeEncodeError:
            raise invalid(name, f"{name} holds half of a character (a lone surrogate).") from None
        return value

    return check


def _slug(name: str, value: Json) -> Json:
    text = _text(SLUG_MAX, required=True)(name, value)
    if not _SLUG.match(str(text)) or str(text) != str(text).lower():
        raise invalid(
            name,
            "A slug is made of lower-case letters and digits, in words joined by single hyphens.",
        )
    return text


def _address(name: str, value: Json) -> Json:
    text = _text(URL_MAX)(name, value)
    if not text:
        return None
    if not str(text).startswith(("http://", "https://")) or safe_href(str(text)) is None:
        raise invalid(name, f"{name} must be an absolute http(s) address.")
    return text


def _json_object(name: str, value: Json) -> Json:
    if value is None:
        return None
    if not isinstance(value, Mapping):
        raise invalid(name, f"{name} must be an object or null.")
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False)
        text.encode()
        _check_numbers(value)
    except (ValueError, RecursionError):
        message = f"{name} holds a number or a character that cannot be stored."
        raise invalid(name, message) from None
    if len(text) > _JSON_MAX:
        raise invalid(
            name, f"{name} is too large; at most {_JSON_MAX:,} characters of JSON are allowed."
        )
    if "\\u0000" in text:
        raise invalid(name, f"{name} must not hold control characters.")
    return dict(value)


def _check_numbers(value: Json) -> None:
    """Raise `ValueError` for a number that JSON readers elsewhere, and our own, cannot hold exactly."""
    if isinstance(value, Mapping):
        for item in value.values():
            _check_numbers(item)
    elif isinstance(value, list | tuple):
        for item in value:
            _check_numbers(item)
    elif isinstance(value, int | float) and abs(value) > _LARGEST:
        raise ValueError(value)


def _robots(name: str, value: Json) -> Json:
    found = _json_object(name, value)
    if isinstance(found, Mapping):
        for key, item in found.items():
            if key in ("index", "follow") and not isinstance(item, bool):
                raise invalid(name, f"{name}.{key} must be true or false.")
    return found


def _uuid(name: str, value: Json) -> Json:
    if value is None:
        return None
    try:
        return str(UUID(str(value)))
    except ValueError:
        raise invalid(name, f"{name} must be a UUID.") from None


def _media(name: str, value: Json) -> Json:
    found = _uuid(name, value)
    if found is not None and not media_exists(str(found)):
        raise invalid(name, f"No media has the id {found}.")
    return found


def _whole_number(name: str, value: Json) -> Json:
    if value is None:
        return 0
    if isinstance(value, bool) or not isinstance(value, int) or abs(value) > 1_000_000:
        raise invalid(name, f"{name} must be a whole number between -1,000,000 and 1,000,000.")
    return value


def _moment(name: str, value: Json) -> Json:
    if value is None:
        return None
    moment: datetime | None = None
    if isinstance(value, str):
        try:
            moment = parse_datetime(value)
            moment = moment.astimezone(UTC) if moment and moment.tzinfo else None
        except (ValueError, OverflowError):
            moment = None
    if moment is None or moment.year > _LATEST_YEAR:
        raise invalid(
            name, f"{name} must be a time in ISO 8601 with its zone, like 2030-01-31T08:00:00Z."
        )
    if moment <= timezone.now():
        raise invalid(name, f"{name} must lie in the future.")
    return iso(moment)


_CHECKS: Final[Mapping[str, Callable[[str, Json], Json]]] = {
    "title": _text(TITLE_MAX, required=True),
    "slug": _slug,
    "excerpt": _text(EXCERPT_MAX, lines=True),
    "metaTitle": _text(TITLE_MAX),
    "metaDescription": _text(META_MAX, lines=True),
    "canonicalUrl": _address,
    "robotsJson": _robots,
    "jsonldOverrides": _json_object,
    "featuredMediaId": _media,
    "parentId": _uuid,
    "orderIndex": _whole_number,
    "publishAt": _moment,
}
