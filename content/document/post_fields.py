"""The fields that every post has, declared once. Plain Python, without Django.

    class DeclaredPostFields:
        subtitle: str | None = Text(label="Subtitle", max_length=200)

This line defines the column, the document with its revisions and exports, the rules, the API with its OpenAPI
description, the form, the labels of reviews, search, find and replace, copies and translations, imports, and what
agents and AI clients can read and propose. `docs/development/recipes.md` says what else a new field needs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, Final, Literal, TypedDict, Unpack, get_args, get_type_hints

from pydantic.alias_generators import to_camel

from proofroom.core.validation.limits import URL_MAX

TITLE_MAX: Final = 300
SLUG_MAX: Final = 200
EXCERPT_MAX: Final = 2000
BYLINE_MAX: Final = 200
AUTHORS_MAX: Final = 20
"""Maximum number of authors of a post."""
META_MAX: Final = 500
MAX_ID: Final = 2**31 - 1
"""Largest ID of an account that is accepted."""

FieldKind = Literal[
    "text", "textarea", "url", "json", "media", "post-reference", "number", "moment", "people"
]  # fmt: skip
FieldFormat = Literal["", "slug", "canonical", "robots", "structured-data"]
Panel = Literal["main", "place", "seo"]
SearchWeight = Literal["", "A", "B", "C", "D"]


@dataclass(frozen=True, slots=True)
class PostField:
    """One field of all posts. `name`: wire name. `column`: attribute of `Post` with the live value.

    `format`: constraint on the value besides its kind; it also selects the comparison. `is_nullable`: read from the
    annotation. `advised_length`: number of characters that search engines show.
    """

    kind: FieldKind
    label: str
    help: str = ""
    name: str = ""
    column: str = ""
    format: FieldFormat = ""
    panel: Panel = "main"
    max_length: int | None = None
    advised_length: int | None = None
    required: bool = False
    is_nullable: bool = False
    translatable: bool = False
    """True if each translation has a value of its own, written by translators."""
    copied: bool = True
    """True if translations and variations copy the value."""
    proposable: bool = True
    """True if agents and AI clients may stage the field."""
    delivered: bool = True
    """True if the public API returns the field for a published post."""
    listed: bool = False
    """True if lists of posts include the field, besides title, slug and place."""
    search_weight: SearchWeight = ""
    """Weight of the field's words in search, "A" the highest. Empty if the field is not searched."""

    @property
    def field_type(self) -> str:
        """The type of a module prop of the same kind."""
        return "object" if self.kind == "json" else self.kind

    @property
    def is_text(self) -> bool:
        """True if readers see the value as words or as an address."""
        return self.kind in ("text", "textarea", "url") and self.format != "slug"


class FieldSettings(TypedDict, total=False):
    """The settings that all kinds of fields share."""

    help: str
    format: FieldFormat
    panel: Panel
    advised_length: int
    required: bool
    copied: bool
    proposable: bool
    delivered: bool
    listed: bool


def Text(
    *,
    label: str,
    max_length: int,
    translatable: bool = True,
    search_weight: SearchWeight = "C",
    **settings: Unpack[FieldSettings],
) -> Any:
    """Declare one line of text."""
    return PostField(
        "text",
        label,
        max_length=max_length,
        translatable=translatable,
        search_weight=search_weight,
        **settings,
    )


def Textarea(
    *,
    label: str,
    max_length: int,
    translatable: bool = True,
    search_weight: SearchWeight = "C",
    **settings: Unpack[FieldSettings],
) -> Any:
    """Declare plain text of several lines."""
    return PostField(
        "textarea",
        label,
        max_length=max_length,
        translatable=translatable,
        search_weight=search_weight,
        **settings,
    )


def Url(*, label: str, max_length: int = URL_MAX, **settings: Unpack[FieldSettings]) -> Any:
    """Declare an absolute http(s) URL."""
    return PostField("url", label, max_length=max_length, **settings)


def JsonValue(*, label: str, **settings: Unpack[FieldSettings]) -> Any:
    """Declare a JSON object."""
    return PostField("json", label, **settings)


def MediaField(*, label: str, **settings: Unpack[FieldSettings]) -> Any:
    """Declare the id of a media item. The model declares its foreign key."""
    return PostField("media", label, **settings)


def PostReference(*, label: str, **settings: Unpack[FieldSettings]) -> Any:
    """Declare the id of another post. The model declares its foreign key."""
    return PostField("post-reference", label, **settings)


def Number(*, label: str, **settings: Unpack[FieldSettings]) -> Any:
    """Declare a whole number."""
    return PostField("number", label, **settings)


def Moment(*, label: str, **settings: Unpack[FieldSettings]) -> Any:
    """Declare a time in the future."""
    return PostField("moment", label, **settings)


def People(*, label: str, **settings: Unpack[FieldSettings]) -> Any:
    """Declare a list of accounts by id, in order."""
    return PostField("people", label, **settings)


class DeclaredPostFields:
    """The fields of a post, in the order of documents. The custom fields of the post type follow."""

    title: str = Text(label="Title", max_length=TITLE_MAX, required=True, search_weight="A")
    slug: str = Text(
        label="Slug",
        help="The last part of the address.",
        max_length=SLUG_MAX,
        format="slug",
        required=True,
        copied=False,
        search_weight="D",
    )
    excerpt: str = Textarea(
        label="Excerpt",
        help="Short summary for lists and search results.",
        max_length=EXCERPT_MAX,
        listed=True,
        search_weight="B",
    )
    meta_title: str | None = Text(
        label="Meta title",
        help="About 60 characters.",
        max_length=TITLE_MAX,
        advised_length=60,
        panel="seo",
        search_weight="",
    )
    meta_description: str | None = Textarea(
        label="Meta description",
        help="About 160 characters.",
        max_length=META_MAX,
        advised_length=160,
        panel="seo",
        search_weight="",
    )
    canonical_url: str | None = Url(
        label="Canonical address", format="canonical", panel="seo", copied=False
    )
    robots_json: dict[str, object] | None = JsonValue(label="Robots", format="robots", panel="seo")
    jsonld_overrides: dict[str, object] | None = JsonValue(
        label="Structured data",
        help="JSON-LD to add or replace.",
        format="structured-data",
        panel="seo",
    )
    featured_media_id: str | None = MediaField(label="Featured image", panel="place")
    parent_id: str | None = PostReference(
        label="Parent", panel="place", copied=False, proposable=False
    )
    order_index: int = Number(
        label="Position in lists", panel="place", copied=False, proposable=False
    )
    publish_at: str | None = Moment(
        label="Publish at",
        help="Publishes this draft automatically.",
        panel="place",
        copied=False,
        proposable=False,
        delivered=False,
    )
    unpublish_at: str | None = Moment(
        label="Unpublish at",
        help="Takes this post off the site automatically. It becomes a draft.",
        panel="place",
        copied=False,
        proposable=False,
        delivered=False,
    )
    # Who is credited is a decision of people. Delivery answers names in place of the ids.
    authors: list[int] = People(
        label="Authors",
        help="In the order in which readers see them.",
        panel="place",
        proposable=False,
        delivered=False,
    )
    byline: str | None = Text(
        label="Byline",
        help="Replaces the names of the authors on the page.",
        max_length=BYLINE_MAX,
        panel="place",
        search_weight="",
        proposable=False,
    )


def read_declaration(declaration: type) -> dict[str, PostField]:
    """Return the declared fields by wire name, in the order of the class."""
    found: dict[str, PostField] = {}
    for column, annotation in get_type_hints(declaration).items():
        field = getattr(declaration, column)
        name = to_camel(column)
        nullable = type(None) in get_args(annotation)
        found[name] = replace(field, name=name, column=column, is_nullable=nullable)
    return found


POST_FIELDS: Final[Mapping[str, PostField]] = MappingProxyType(read_declaration(DeclaredPostFields))
"""Every declared field by wire name, in reading order."""
MEDIA_FIELDS: Final = tuple(name for name, field in POST_FIELDS.items() if field.kind == "media")
"""Names of the fields that hold the id of a media item."""
AUTHORS: Final = "authors"
"""Name of the field with the authors."""
SCHEDULE_FIELDS: Final = ("publishAt", "unpublishAt")
"""Names of the fields that change the status of a post at a time. They belong to one post and are never copied."""
LISTED_FIELDS: Final = tuple(field for field in POST_FIELDS.values() if field.listed)
"""Fields that lists of posts include, besides title, slug and place."""
