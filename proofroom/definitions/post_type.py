"""Post types and taxonomies: one class per file in `<app>/post_types/` and `<app>/taxonomies/`. Terms are content."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass
from typing import ClassVar, TypedDict

from proofroom.core.json import Json, JsonObject
from proofroom.core.registry import Registry
from proofroom.definitions import validation
from proofroom.definitions.fields import ModuleProps
from proofroom.definitions.module import Module, excluded_because, modules
from proofroom.definitions.props import defaults, json_schema, props_of, words_of


@dataclass(frozen=True, slots=True)
class TaxonomyUse:
    """A taxonomy that posts of a type are sorted by. `max_selections` None means no limit."""

    slug: str
    max_selections: int | None = None


class SeoDefaults(TypedDict, total=False):
    """The search settings that a new post starts with."""

    noindex: bool
    nofollow: bool
    robotsJson: JsonObject | None


class PostType:
    """Base of every post type. Empty `allowed_modules` means every module.

    `url_pattern` may use {slug}, {locale}, {yyyy}, {mm}, {dd}, {path}; installations can change it.
    """

    name: ClassVar[str]
    label: ClassVar[str]
    label_plural: ClassVar[str] = ""
    description: ClassVar[str] = ""
    hierarchical: ClassVar[bool] = False
    localized: ClassVar[bool] = True
    url_pattern: ClassVar[str]
    index_path: ClassVar[str] = ""
    """The last part of the address of the page that lists the type's posts; empty for none."""
    list_label: ClassVar[str] = ""
    """The title of that page, which is looked up in the catalogue of translations; empty is `label_plural`."""
    allowed_modules: ClassVar[tuple[str, ...]] = ()
    module_groups: ClassVar[tuple[str, ...]] = ()
    default_module_group: ClassVar[str | None] = None
    taxonomies: ClassVar[tuple[TaxonomyUse, ...]] = ()
    seo_defaults: ClassVar[SeoDefaults] = {}
    CustomFields: ClassVar[type[ModuleProps]] = ModuleProps

    @classmethod
    def custom_fields_schema(cls) -> JsonObject:
        """JSON Schema 2020-12, as of a module's props."""
        return json_schema(cls.CustomFields)

    @classmethod
    def default_custom_fields(cls) -> JsonObject:
        return defaults(cls.CustomFields)

    @classmethod
    def seo(cls) -> SeoDefaults:
        """The complete defaults, in a new dict."""
        blank: SeoDefaults = {"noindex": False, "nofollow": False, "robotsJson": None}
        blank.update(deepcopy(cls.seo_defaults))
        return blank


post_types: Registry[PostType] = Registry("post_types", PostType)


def find_post_type(name: str) -> type[PostType]:
    """The definition, or `RuleViolation` with code `unknown_post_type`."""
    found = post_types.get(name)
    if found is None:
        raise validation.unknown(
            "post type", name, post_types.names(), code="unknown_post_type", field="type"
        )
    return found


def validate_custom_fields(post_type: str, values: Mapping[str, Json]) -> JsonObject:
    """The full, cleaned custom fields; `RuleViolation` with details keyed by `customFields.…`."""
    return validation.check(
        find_post_type(post_type).CustomFields, values,
        prefix="customFields", what=f"The {post_type}",
    )  # fmt: skip


def custom_text_of(post_type: str, values: Mapping[str, Json]) -> str:
    """The words of the custom fields, for search. Works for types that no longer exist."""
    definition = post_types.get(post_type)
    return "\n".join(words_of(definition.CustomFields if definition else None, values))


def translatable_custom_fields(post_type: str) -> set[str]:
    """The custom fields that a translation has of its own."""
    fields = props_of(find_post_type(post_type).CustomFields)
    return {prop.name for prop in fields.values() if prop.translatable}


def why_excluded(post_type: str, module_type: str) -> str | None:
    """Return why a module may not stand in posts of the type; None if it may."""
    definition, module = find_post_type(post_type), modules.get(module_type)
    if module is None:
        return f"no module named {module_type!r}"
    if definition.allowed_modules and module_type not in definition.allowed_modules:
        return f"{post_type} allows only {', '.join(definition.allowed_modules)}"
    return excluded_because(module, post_type)


def allowed_modules(post_type: str) -> list[type[Module]]:
    """The modules that may stand in posts of the type, in order of name."""
    allowed = find_post_type(post_type).allowed_modules
    return [
        module
        for module in modules
        if (not allowed or module.name in allowed) and excluded_because(module, post_type) is None
    ]


class Taxonomy:
    """A way to sort posts; `name` is its slug. `free_tagging`: authors make terms while writing."""

    name: ClassVar[str]
    label: ClassVar[str]
    description: ClassVar[str] = ""
    hierarchical: ClassVar[bool] = False
    free_tagging: ClassVar[bool] = False


taxonomies: Registry[Taxonomy] = Registry("taxonomies", Taxonomy)


def find_taxonomy(slug: str) -> type[Taxonomy]:
    """The definition, or `RuleViolation` with code `unknown_taxonomy`."""
    found = taxonomies.get(slug)
    if found is None:
        raise validation.unknown(
            "taxonomy", slug, taxonomies.names(), code="unknown_taxonomy", field="taxonomy"
        )
    return found
