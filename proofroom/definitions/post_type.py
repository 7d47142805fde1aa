"""Post types and taxonomies: one class per file in `<app>/post_types/` and `<app>/taxonomies/`. Terms are content."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import ClassVar, Literal, TypedDict

from proofroom.core.json import Json, JsonObject
from proofroom.core.registry import Registry
from proofroom.definitions import validation
from proofroom.definitions.fields import ModuleProps
from proofroom.definitions.module import Module, excluded_because, modules
from proofroom.definitions.props import Prop, defaults, json_schema, props_of, words_of
from proofroom.definitions.step import Step


@dataclass(frozen=True, slots=True)
class TaxonomyUse:
    """A taxonomy used by a post type. `max_selections` None means no limit."""

    slug: str
    max_selections: int | None = None


class SeoDefaults(TypedDict, total=False):
    """The SEO settings of a new post."""

    noindex: bool
    nofollow: bool
    robotsJson: JsonObject | None


CheckLevel = Literal["off", "warn", "block"]
"""What a failed check of a post does: nothing, a warning, or it prevents the publication."""


class PostType:
    """Base class of post types. Empty `allowed_modules` means every module.

    `url_pattern` can contain {slug}, {locale}, {yyyy}, {mm}, {dd}, {path}; installations can change it.
    """

    name: ClassVar[str]
    label: ClassVar[str]
    label_plural: ClassVar[str] = ""
    description: ClassVar[str] = ""
    hierarchical: ClassVar[bool] = False
    localized: ClassVar[bool] = True
    url_pattern: ClassVar[str]
    index_path: ClassVar[str] = ""
    """Last part of the path of the type's index page; empty for none."""
    list_label: ClassVar[str] = ""
    """Title of the index page, translated by the message catalogues; empty means `label_plural`."""
    allowed_modules: ClassVar[tuple[str, ...]] = ()
    module_groups: ClassVar[tuple[str, ...]] = ()
    default_module_group: ClassVar[str | None] = None
    taxonomies: ClassVar[tuple[TaxonomyUse, ...]] = ()
    seo_defaults: ClassVar[SeoDefaults] = {}
    filterable: ClassVar[tuple[str, ...]] = (
        "title",
        "slug",
        "publishedAt",
        "updatedAt",
        "parentId",
        "orderIndex",
    )
    """Fields of posts that lists of the delivery API can filter and order by. Custom fields have a setting for it."""
    checks: ClassVar[Mapping[str, CheckLevel]] = {}
    """Levels of checks of posts by name; the others have their own default."""
    steps: ClassVar[Sequence[Step]] = ()
    """Editorial steps that must be done before content is approved or published, in order."""
    reading_ease: ClassVar[float | None] = None
    """Lowest reading ease that the check `readingLevel` accepts, 0 (hard) to 100 (easy); None is the usual one."""
    CustomFields: ClassVar[type[ModuleProps]] = ModuleProps

    @classmethod
    def custom_fields_schema(cls) -> JsonObject:
        """Return the JSON Schema 2020-12 of the custom fields, in the form of a module's schema."""
        return json_schema(cls.CustomFields)

    @classmethod
    def default_custom_fields(cls) -> JsonObject:
        return defaults(cls.CustomFields)

    @classmethod
    def seo(cls) -> SeoDefaults:
        """Return the complete SEO defaults, in a new dict."""
        blank: SeoDefaults = {"noindex": False, "nofollow": False, "robotsJson": None}
        blank.update(deepcopy(cls.seo_defaults))
        return blank


post_types: Registry[PostType] = Registry("post_types", PostType)


def find_post_type(name: str) -> type[PostType]:
    """Return the definition. Raises `RuleViolation` (`unknown_post_type`)."""
    found = post_types.get(name)
    if found is None:
        raise validation.unknown(
            "post type", name, post_types.names(), code="unknown_post_type", field="type"
        )
    return found


def steps_of(post_type: str) -> Sequence[Step]:
    """Return the editorial steps of a type. A removed type has none."""
    definition = post_types.get(post_type)
    return definition.steps if definition is not None else ()


def validate_custom_fields(post_type: str, values: Mapping[str, Json]) -> JsonObject:
    """Return the complete, cleaned custom fields. Raises `RuleViolation` with details by `customFields.…`."""
    return validation.check(
        find_post_type(post_type).CustomFields, values,
        prefix="customFields", what=f"The {post_type}",
    )  # fmt: skip


def custom_text_of(post_type: str, values: Mapping[str, Json]) -> str:
    """Return the text of the custom fields, for search. Also works for types that no longer exist."""
    definition = post_types.get(post_type)
    return "\n".join(words_of(definition.CustomFields if definition else None, values))


def translatable_custom_fields(post_type: str) -> set[str]:
    """Return the names of the custom fields that translations have their own values of."""
    fields = props_of(find_post_type(post_type).CustomFields)
    return {prop.name for prop in fields.values() if prop.translatable}


def filterable_custom_fields(post_type: str) -> dict[str, Prop]:
    """Return the custom fields that lists can filter and order by, by name. A removed type has none."""
    definition = post_types.get(post_type)
    if definition is None:
        return {}
    return {
        name: prop for name, prop in props_of(definition.CustomFields).items() if prop.filterable
    }


def exclusion_reason(post_type: str, module_type: str) -> str | None:
    """Return why a module is not allowed in posts of the type; None if it is."""
    definition, module = find_post_type(post_type), modules.get(module_type)
    if module is None:
        return f"no module named {module_type!r}"
    if definition.allowed_modules and module_type not in definition.allowed_modules:
        return f"{post_type} allows only {', '.join(definition.allowed_modules)}"
    return excluded_because(module, post_type)


def allowed_modules(post_type: str) -> list[type[Module]]:
    """Return the modules allowed in posts of the type, by name."""
    allowed = find_post_type(post_type).allowed_modules
    return [
        module
        for module in modules
        if (not allowed or module.name in allowed) and excluded_because(module, post_type) is None
    ]


class Taxonomy:
    """A taxonomy of posts; `name` is its slug. `free_tagging`: authors can create terms while writing."""

    name: ClassVar[str]
    label: ClassVar[str]
    description: ClassVar[str] = ""
    hierarchical: ClassVar[bool] = False
    free_tagging: ClassVar[bool] = False


taxonomies: Registry[Taxonomy] = Registry("taxonomies", Taxonomy)


def find_taxonomy(slug: str) -> type[Taxonomy]:
    """Return the definition. Raises `RuleViolation` (`unknown_taxonomy`)."""
    found = taxonomies.get(slug)
    if found is None:
        raise validation.unknown(
            "taxonomy", slug, taxonomies.names(), code="unknown_taxonomy", field="taxonomy"
        )
    return found
