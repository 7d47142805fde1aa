"""The form of a post: its fields and modules as units that are typed, compared and saved one by one."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from django.utils.translation import gettext, gettext_noop

from content.admin.editor.forms import FormField, fields_of
from content.admin.editor.robots import ROBOTS, robots_field, shown
from content.definitions import find_module, find_post_type, modules, own_scope, post_types
from content.document import CUSTOM_PREFIX, ModuleDocument, PostDocument
from content.models.post import EXCERPT_MAX, META_MAX, SLUG_MAX, TITLE_MAX, URL_MAX
from content.review.labels import FIELD_LABELS, module_label
from core.json import Json
from core.words import in_words

_MAIN: Final = (
    FormField("title", gettext_noop("Title"), "text", max_length=TITLE_MAX),
    FormField(
        "slug",
        gettext_noop("Slug"),
        "text",
        gettext_noop("The last part of the address."),
        max_length=SLUG_MAX,
    ),
    FormField(
        "excerpt",
        gettext_noop("Excerpt"),
        "textarea",
        gettext_noop("Shown in lists."),
        max_length=EXCERPT_MAX,
    ),
)
_SEO: Final = (
    FormField(
        "metaTitle",
        gettext_noop("Meta title"),
        "text",
        gettext_noop("About 60 characters."),
        max_length=TITLE_MAX,
    ),
    FormField(
        "metaDescription",
        gettext_noop("Meta description"),
        "textarea",
        gettext_noop("About 160 characters."),
        max_length=META_MAX,
    ),
    FormField("canonicalUrl", gettext_noop("Canonical address"), "url", max_length=URL_MAX),
    FormField(
        "jsonldOverrides",
        gettext_noop("Structured data"),
        "json",
        gettext_noop("JSON-LD to add or replace."),
    ),
)
_PLACE: Final = (
    FormField("featuredMediaId", gettext_noop("Featured image"), "media", is_nullable=True),
    FormField("taxonomyTermIds", gettext_noop("Terms"), "terms", is_list=True),
    FormField(
        "publishAt",
        gettext_noop("Publish at (UTC)"),
        "moment",
        gettext_noop("Publishes a draft by itself."),
    ),
    FormField("orderIndex", gettext_noop("Order"), "number"),
)
_PARENT: Final = FormField("parentId", gettext_noop("Parent"), "post-reference", is_nullable=True)
NEW_PREFIX: Final = "new-"
_NEW: Final = re.compile(r"new-[0-9]{1,4}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Unit:
    """What is saved as one: a post field or a prop. `path` is its name in the form."""

    path: str
    field: FormField
    value: Json


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the form about the post itself."""

    name: str
    label: str
    units: tuple[Unit, ...]


@dataclass(frozen=True, slots=True)
class ModuleSection:
    """A part of the form about one module. `shared_slug` names the global module that it places."""

    id: str
    type: str
    label: str
    description: str
    is_locked: bool
    is_known: bool
    shared_slug: str
    units: tuple[Unit, ...]

    @property
    def is_new(self) -> bool:
        return self.id.startswith(NEW_PREFIX)

    @property
    def token(self) -> str:
        """How the form's hidden order names it."""
        if not self.is_new:
            return self.id
        return f"{self.id}:{self.type}" + (f"@{self.shared_slug}" if self.shared_slug else "")


def post_sections(document: PostDocument) -> list[Section]:
    """The post's own fields, by section."""
    definition = post_types.get(document.type)
    place = (
        (*_PLACE[:2], _PARENT, *_PLACE[2:]) if definition and definition.hierarchical else _PLACE
    )
    custom = fields_of(definition.CustomFields) if definition else ()
    sections = [
        Section("main", gettext("Content"), tuple(_post_units(document, _MAIN))),
        Section("place", gettext("Place and time"), tuple(_post_units(document, place))),
        Section("seo", gettext("Search engines"), tuple(_post_units(document, _SEO))),
    ]
    if custom:
        units = tuple(
            Unit(
                f"post.{CUSTOM_PREFIX}{field.name}",
                field,
                document.fields.get(CUSTOM_PREFIX + field.name),
            )
            for field in custom
        )
        sections.insert(
            1, Section("custom", in_words(definition.label) if definition else "", units)
        )
    return sections


def _post_units(document: PostDocument, fields: tuple[FormField, ...]) -> Iterator[Unit]:
    for field in fields:
        if field.name == "taxonomyTermIds":
            if find_post_type(document.type).taxonomies:
                yield Unit(f"post.{field.name}", field, list(document.taxonomy_term_ids))
        else:
            yield Unit(f"post.{field.name}", field, document.fields.get(field.name))
        if field.name == "canonicalUrl":
            yield Unit(f"post.{ROBOTS}", robots_field(), shown(document.fields.get(ROBOTS)))


def module_section(
    module: ModuleDocument, shared: Mapping[str, Mapping[str, Json]]
) -> ModuleSection:
    """A module with the values that hold: its props, or a shared one's with this post's overrides on top."""
    definition = modules.get(module.type)
    values = {**shared.get(module.instance_id, {}), **module.props, **module.overrides}
    defaults = definition.default_props() if definition else {}
    return ModuleSection(
        id=module.id,
        type=module.type,
        label=module_label(module.type),
        description=in_words(definition.description) if definition else "",
        is_locked=module.locked,
        is_known=definition is not None,
        shared_slug=module.global_slug or "",
        units=tuple(
            Unit(
                path,
                field,
                values.get(field.name, defaults.get(field.name)),
            )
            for path, field in module_fields(module)
        ),
    )


def module_fields(module: ModuleDocument) -> Iterator[tuple[str, FormField]]:
    """The fields that a module has in the form, with their names there."""
    definition = modules.get(module.type)
    if definition is None or module.scope == "static":
        return
    part = "props" if module.scope == "local" else "overrides"
    for field in fields_of(definition.Props):
        yield f"modules.{module.id}.{part}.{field.name}", field


def new_module(
    token: str, shared: Mapping[str, tuple[str, Mapping[str, Json]]]
) -> ModuleSection | None:
    """The section of a module that was added in the form: `new-1:callout` or `new-1:callout@slug`."""
    id_, _, kind = token.partition(":")
    type_name, _, slug = kind.partition("@")
    if not _NEW.fullmatch(id_):
        return None  # the live preview writes it into a page
    if type_name not in modules or (slug and slug not in shared):
        return None
    definition = find_module(type_name)
    values = {**definition.default_props(), **(shared[slug][1] if slug else {})}
    module = ModuleDocument(
        id=id_,
        type=type_name,
        instance_id="",
        scope="global" if slug else own_scope(type_name),
        global_slug=slug or None,
        props={} if slug else values,
        overrides={},
    )
    return module_section(module, {"": values} if slug else {})


assert {field.name for field in (*_MAIN, *_SEO, *_PLACE, _PARENT)} <= set(FIELD_LABELS)  # noqa: S101
