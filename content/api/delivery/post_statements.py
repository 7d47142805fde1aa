"""The statements of published posts.

The database builds the JSON of a post and everything in it in one statement, so Python neither parses it nor
creates model instances.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Final

from django.db import models
from django.db.models import F, OuterRef, TextField, Value
from django.db.models.expressions import Combinable
from django.db.models.functions import Cast

from content.document.post_fields import POST_FIELDS
from content.models import Post, PostModule, PostTerm
from content.store.ai_disclosure import TEXT_COLUMNS, disclosure_columns
from content.store.arms import PLACE_COLUMNS, running_arms
from content.store.author_names import named_authors
from content.store.media_usage import GLOBAL, POST
from content.store.post_queries import WIRE_MODULE, published_posts
from content.store.referenced_files import referenced_files
from proofroom.core.database.compiled_queries import CompiledQuery
from proofroom.core.database.json_text import JSONObject, JSONRows, JSONValue, rows_as_text
from proofroom.taxonomies.models import Term

COLUMNS: Final[Mapping[str, str]] = {
    **{name: name for name in ("id", "type", "locale", "status")},
    **{field.name: field.column for field in POST_FIELDS.values() if field.delivered},
    "customFields": "custom_fields",
    "url": "path",
    "createdAt": "created_at",
    "updatedAt": "updated_at",
    "publishedAt": "published_at",
}
"""Columns of a post by API name."""
OF_PAGE: Final = frozenset({"disclosure", "seo"})
"""Fields that are computed from the content of the post."""
_OF_GROUP: Final = frozenset({"translations", "seo"})
"""Fields that need the translations."""
_NONE: Final = "[]"
_TERM_COLUMNS: Final = ("id", "taxonomy", "slug", "name", "locale", "order_index")
_MOST_SHAPES: Final = 100
"""Number of field sets whose compiled statements are cached."""


@lru_cache(maxsize=_MOST_SHAPES)
def published_statement(fields: frozenset[str] | None, column: str) -> CompiledQuery:
    """Return the statement for published posts by `column`, with their running variations."""
    identity = {"original_id": F("pk"), "arms": running_arms()}
    return CompiledQuery(
        lambda value: (
            published_posts()
            .filter(**{column: value})
            .order_by("published_at", "pk")
            .values("path", **_written(fields), **identity)
        )
    )


@lru_cache(maxsize=_MOST_SHAPES)
def variation_statement(fields: frozenset[str] | None) -> CompiledQuery:
    """Return the statement for a running variation with its own content at the original's place."""
    return CompiledQuery(
        lambda post_id: (
            Post.objects.running()
            .filter(pk=post_id)
            .values(**_written(fields, original="variation_of"))
        )
    )


def _written(fields: frozenset[str] | None, original: str = "") -> dict[str, Combinable]:
    """Return expressions for `body`, language and files of a post. `original` is the relation to the post of its
    place."""
    prefix = f"{original}__" if original else ""
    values: dict[str, str | Combinable] = {
        name: f"{prefix}{column}" if column in PLACE_COLUMNS else column
        for name, column in COLUMNS.items()
    }
    others = published_posts().filter(translation_group=OuterRef(f"{prefix}translation_group"))
    values["taxonomyTermIds"] = JSONRows(
        PostTerm.objects.filter(post_id=OuterRef("pk"))
        .order_by("term_id")
        .values(entry=JSONValue("term_id"))
    )
    values["authors"] = JSONRows(named_authors().values(entry=JSONObject(name="reader_name")))
    values["translations"] = JSONRows(
        others.exclude(pk=OuterRef(f"{original}_id" if original else "pk"))
        .order_by("locale")
        .values(entry=JSONObject(id="id", locale="locale", url="path"))
    )
    values["modules"] = JSONRows(
        _placements().order_by("order_index", "id").values(entry=JSONObject(**WIRE_MODULE))
    )
    told: dict[str, Combinable] = {}
    # Structured data discloses AI work, too.
    if fields is None or not fields.isdisjoint(OF_PAGE):
        told = disclosure_columns()
        if fields is not None:
            # The share of AI is of the whole text, which these fields may not contain.
            names = {"type", "customFields", "modules", *TEXT_COLUMNS}
            names |= {*COLUMNS, "authors", "modules"} if "seo" in fields else set()
            rest = JSONObject(**{name: values[name] for name in sorted(names - fields)})
            told["rest"] = Cast(rest, TextField())
    if fields is None or "terms" in fields:
        terms = Term.objects.filter(post_terms__post=OuterRef("pk")).order_by("pk")
        told["terms"] = rows_as_text(
            terms.values(entry=JSONObject(**{name: name for name in _TERM_COLUMNS}))
        )
    told["others"] = (
        rows_as_text(
            others.exclude(pk=OuterRef(f"{original}_id" if original else "pk"))
            .order_by("locale")
            .values(entry=JSONObject(id="id", locale="locale", title="title", path="path"))
        )
        if fields is None or not fields.isdisjoint(_OF_GROUP)
        else Value(_NONE, TextField())
    )
    if fields is not None:
        values = {name: value for name, value in values.items() if name in fields}
    found: dict[str, Combinable] = {
        "body": Cast(JSONObject(**values), TextField()),
        "post_locale": F("locale"),
        "post_type": F("type"),
        "group_id": F(f"{prefix}translation_group"),
        **told,
    }
    if fields is None or not fields.isdisjoint(("media", "seo")):
        # `referenced_files` uses this inside another subquery, so the post is two levels up.
        shared = _placements(OuterRef(OuterRef("pk"))).filter(instance__scope="global")
        found["own_media"] = referenced_files(POST, holder_id=OuterRef("pk"))
        found["shared_media"] = referenced_files(GLOBAL, holder_id__in=shared.values("instance_id"))
    return found


def _placements(post_id: OuterRef | None = None) -> models.QuerySet[PostModule]:
    return PostModule.objects.filter(post_id=post_id or OuterRef("pk"))
