"""The fields that every post has, declared once. Plain Python: imports no Django.

    class DeclaredPostFields:
        subtitle: str | None = Text(label="Subtitle", max_length=200)

From this line derive the column, the document with its revisions and exports, the rules, the API with its OpenAPI
description, the form, the labels of reviews, search, find and replace, copies and translations, imports, and what
agents and AI clients read and propose. `docs/development/recipes.md` says what else a new field needs.
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
META_MAX: Final = 500

FieldKind = Literal[
    "text", "textarea", "url", "json", "media", "post-reference", "number", "moment"
]  # fmt: skip
FieldFormat = Literal["", "slug", "canonical", "robots", "structured-data"]
Panel = Literal["main", "place", "seo"]
SearchWeight = Literal["", "A", "B", "C", "D"]


@dataclass(frozen=True, slots=True)
class PostField:
    """One field of all posts. `name` is the wire's, `column` the attribute of `Post` that holds the live value.

    `format` says what a value must be beyond its kind, and how two values are compared. `is_nullable` is read from
    the annotation. `advised_length` is the number of characters that search engines show.
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
    """A translation has its own, which translators write."""
    copied: bool = True
    """Copies take it over: translations and variations."""
    proposable: bool = True
    """Agents and AI clients may stage it."""
    delivered: bool = True
    """Everybody may read it of a published post."""
    listed: bool = False
    """Lists of posts answer it, beside title, slug and place."""
    search_weight: SearchWeight = ""
    """How much its words count in search, the most with A; empty for a field that is not searched."""

    @property
    def field_type(self) -> str:
        """The type that a module's prop of the kind has."""
        return "object" if self.kind == "json" else self.kind

    @property
    def is_text(self) -> bool:
        """Whether people read it as words, or an address."""
        return self.kind in ("text", "textarea", "url") and self.format != "slug"


class FieldSettings(TypedDict, total=False):
    """The settings of every kind of field beside its own."""

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
    """One line of text."""
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
    """Plain text of several lines."""
    return PostField(
        "textarea",
        label,
        max_length=max_length,
        translatable=translatable,
        search_weight=search_weight,
        **settings,
    )


def Url(*, label: str, max_length: int = URL_MAX, **settings: Unpack[FieldSettings]) -> Any:
    """An absolute http(s) address."""
    return PostField("url", label, max_length=max_length, **settings)


def JsonValue(*, label: str, **settings: Unpack[FieldSettings]) -> Any:
    """An object in JSON."""
    return PostField("json", label, **settings)


def MediaField(*, label: str, **settings: Unpack[FieldSettings]) -> Any:
    """The id of a media item. Its column is a foreign key, which the model spells."""
    return PostField("media", label, **settings)


def PostReference(*, label: str, **settings: Unpack[FieldSettings]) -> Any:
    """The id of another post. Its column is a foreign key, which the model spells."""
    return PostField("post-reference", label, **settings)


def Number(*, label: str, **settings: Unpack[FieldSettings]) -> Any:
    """A whole number."""
    return PostField("number", label, **settings)


def Moment(*, label: str, **settings: Unpack[FieldSettings]) -> Any:
    """A time to come."""
    return PostField("moment", label, **settings)


class DeclaredPostFields:
    """The fields of a post in reading order, which is that of documents. The custom fields of its type follow."""

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
        help="Shown in lists.",
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


def read_declaration(declaration: type) -> dict[str, PostField]:
    """The declared fields by wire name, in the order of the class."""
    found: dict[str, PostField] = {}
    for column, annotation in get_type_hints(declaration).items():
        field = getattr(declaration, column)
        name = to_camel(column)
        nullable = type(None) in get_args(annotation)
        found[name] = replace(field, name=name, column=column, is_nullable=nullable)
    return found


POST_FIELDS: Final[Mapping[str, PostField]] = MappingProxyType(read_declaration(DeclaredPostFields))
"""Every declared field by its wire name, in reading order."""
MEDIA_FIELDS: Final = tuple(name for name, field in POST_FIELDS.items() if field.kind == "media")
"""The names of fields that hold the id of a media item."""
LISTED_FIELDS: Final = tuple(field for field in POST_FIELDS.values() if field.listed)
"""What lists of posts answer beside title, slug and place."""
