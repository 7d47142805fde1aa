"""The form of a post. Its fields and modules are units, each typed, compared and saved separately."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Final

from django.utils.translation import gettext, gettext_noop

from content.document.document import CUSTOM_PREFIX, ModuleDocument, PostDocument
from content.document.labels import module_label
from content.document.post_fields import AUTHORS, POST_FIELDS, SCHEDULE_FIELDS, Panel, PostField
from content.models import ModuleInstance
from proofroom.core.database.compiled_queries import CompiledQuery
from proofroom.core.i18n import in_words
from proofroom.core.i18n.time_zones import current_zone_name
from proofroom.core.json import Json
from proofroom.definitions import find_module, find_post_type, modules, own_scope, post_types
from proofroom_apps.editorial.post_editor.form_fields import REFERENCES, EditorField, fields_of

_PLACE_ORDER: Final = (
    "featuredMediaId",
    "taxonomyTermIds",
    AUTHORS,
    "byline",
    "parentId",
    *SCHEDULE_FIELDS,
    "orderIndex",
)
"""The first fields of the publishing panel, in this order; its other declared fields follow."""
_TERMS_FIELD: Final = EditorField(
    "taxonomyTermIds", gettext_noop("Topics and tags"), "terms", is_list=True
)
NEW_PREFIX: Final = "new-"
ROBOTS: Final = "robotsJson"
SCHEDULE: Final = "post.publishAt"
EXPIRY: Final = "post.unpublishAt"
DATES: Final = frozenset({SCHEDULE, EXPIRY})
"""Paths of dates that are changed in dialogs, and not in a section of the form."""
PUBLICATION: Final = "post.publishedAt"
"""Path of the publication date, which is changed in a dialog and not in a field of the form."""
_ROBOTS_BOXES: Final = {"noindex": "index", "nofollow": "follow"}
"""Search engine rules that are check boxes; the others are JSON."""
_NEW_ID: Final = re.compile(r"new-[0-9]{1,4}", re.ASCII)


@dataclass(frozen=True, slots=True)
class FormUnit:
    """The smallest part that is saved: a post field or a prop. `path` is its name in the form."""

    path: str
    field: EditorField
    value: Json


@dataclass(frozen=True, slots=True)
class FormSection:
    """A section of the form with fields of the post."""

    name: str
    label: str
    units: tuple[FormUnit, ...]


@dataclass(frozen=True, slots=True)
class ModuleSection:
    """A section of the form for one module. `shared_slug` is the slug of its global module, if any."""

    id: str
    type: str
    label: str
    description: str
    is_locked: bool
    is_known: bool
    shared_slug: str
    units: tuple[FormUnit, ...]

    @property
    def is_new(self) -> bool:
        return self.id.startswith(NEW_PREFIX)

    @property
    def token(self) -> str:
        """Name of the module in the form's hidden order."""
        if not self.is_new:
            return self.id
        return f"{self.id}:{self.type}" + (f"@{self.shared_slug}" if self.shared_slug else "")


def post_sections(document: PostDocument) -> list[FormSection]:
    """Return the post's own fields by section."""
    definition = post_types.get(document.type)
    custom = fields_of(definition.CustomFields) if definition else ()
    sections = [
        FormSection("main", gettext("Content"), tuple(_post_units(document, "main"))),
        FormSection("place", gettext("Publishing"), tuple(_post_units(document, "place"))),
        FormSection("seo", gettext("SEO"), tuple(_post_units(document, "seo"))),
    ]
    if custom:
        units = tuple(
            FormUnit(
                f"post.{CUSTOM_PREFIX}{field.name}",
                field,
                document.fields.get(CUSTOM_PREFIX + field.name),
            )
            for field in custom
        )
        sections.insert(
            1, FormSection("custom", in_words(definition.label) if definition else "", units)
        )
    return sections


def _post_units(document: PostDocument, panel: Panel) -> Iterator[FormUnit]:
    definition = post_types.get(document.type)
    names = [name for name, field in POST_FIELDS.items() if field.panel == panel]
    if panel == "place":
        names = [*_PLACE_ORDER, *(name for name in names if name not in _PLACE_ORDER)]
    for name in names:
        value = document.fields.get(name)
        if name == "taxonomyTermIds":
            if find_post_type(document.type).taxonomies:
                yield FormUnit(f"post.{name}", _TERMS_FIELD, list(document.taxonomy_term_ids))
        elif name == ROBOTS:
            # Not constants, since each request translates the labels.
            boxes = (
                EditorField("noindex", gettext("Keep this page out of search results"), "boolean"),
                EditorField(
                    "nofollow",
                    gettext("Tell search engines not to follow links on this page"),
                    "boolean",
                ),
                EditorField(
                    "more", gettext("Other rules"), "json", gettext("JSON, rarely needed.")
                ),
            )
            robots = EditorField(ROBOTS, gettext("Robots"), "object", nested=boxes)
            yield FormUnit(f"post.{ROBOTS}", robots, robots_to_form(value))
        elif name in SCHEDULE_FIELDS:
            yield FormUnit(f"post.{name}", date_field(name), value)
        elif name == "parentId":
            if definition and definition.hierarchical:
                parent = replace(form_field_of(POST_FIELDS[name]), among=document.type)
                yield FormUnit(f"post.{name}", parent, value)
        else:
            yield FormUnit(f"post.{name}", form_field_of(POST_FIELDS[name]), value)


def robots_to_form(value: Json) -> Json:
    """Return the stored rules as the form shows them."""
    rules = dict(value) if isinstance(value, Mapping) else {}
    boxes: dict[str, Json] = {}
    for box, rule in _ROBOTS_BOXES.items():
        # A box can only show an exact False. Any other value stays in the JSON, so that saving doesn't change it.
        boxes[box] = rules.get(rule) is False
        if boxes[box]:
            del rules[rule]
    return {**boxes, "more": rules or None}


def robots_from_form(value: Json) -> Json:
    """Return the typed rules as they are stored, or None without rules."""
    if not isinstance(value, Mapping):
        return value
    more = value.get("more")
    if more is not None and not isinstance(more, Mapping):
        return more  # invalid: the service reports it
    rules = dict(more or {})
    rules |= {rule: False for box, rule in _ROBOTS_BOXES.items() if value.get(box) is True}
    return rules or None


@cache
def form_field_of(field: PostField) -> EditorField:
    """Return the form field of a declared post field."""
    return EditorField(
        field.name,
        field.label,
        field.kind,
        field.help,
        is_nullable=field.kind in REFERENCES,
        max_length=field.max_length,
    )


def date_field(name: str) -> EditorField:
    """Return the field for the time at which a post is published or unpublished. Its label names the time zone."""
    # Not in the cached field: the label depends on the user's language and time zone.
    label = (
        gettext("Publish at (%(zone)s)")
        if name == "publishAt"
        else gettext("Unpublish at (%(zone)s)")
    )
    return replace(form_field_of(POST_FIELDS[name]), label=label % {"zone": current_zone_name()})


_GLOBAL_MODULES: Final = CompiledQuery(
    lambda: ModuleInstance.objects.globals().values("global_slug", "id", "props")
)


def shared_modules() -> dict[str, tuple[str, Mapping[str, Json]]]:
    """Return instance id and props of global modules, by slug."""
    return {
        str(row["global_slug"]): (str(row["id"]), row["props"]) for row in _GLOBAL_MODULES.rows()
    }


@dataclass(frozen=True, slots=True)
class ModuleKind:
    """Data shared by all modules of a type, in the active language."""

    label: str
    description: str
    is_known: bool
    defaults: Mapping[str, Json]

    @classmethod
    def of(cls, type_name: str) -> ModuleKind:
        definition = modules.get(type_name)
        return cls(
            module_label(type_name),
            in_words(definition.description) if definition else "",
            definition is not None,
            definition.default_props() if definition else {},
        )


def module_sections(
    found: Iterable[ModuleDocument], shared: Mapping[str, Mapping[str, Json]]
) -> list[ModuleSection]:
    """Return the sections of modules with their effective values, including props of global modules."""
    # Cached for this call only, since labels depend on the active language.
    kind_of = cache(ModuleKind.of)
    return [module_section(module, shared, kind_of) for module in found]


def module_section(
    module: ModuleDocument,
    shared: Mapping[str, Mapping[str, Json]],
    kind_of: Callable[[str], ModuleKind] = ModuleKind.of,
) -> ModuleSection:
    """Return a module with its effective values: its props, or a global module's with the post's overrides."""
    kind = kind_of(module.type)
    values = {**shared.get(module.instance_id, {}), **module.props, **module.overrides}
    return ModuleSection(
        id=module.id,
        type=module.type,
        label=kind.label,
        description=kind.description,
        is_locked=module.locked,
        is_known=kind.is_known,
        shared_slug=module.global_slug or "",
        units=tuple(
            FormUnit(path, field, values.get(field.name, kind.defaults.get(field.name)))
            for path, field in module_fields(module)
        ),
    )


def module_fields(module: ModuleDocument) -> Iterator[tuple[str, EditorField]]:
    """Yield the fields of a module with their names in the form."""
    definition = modules.get(module.type)
    if definition is None or module.scope == "static":
        return
    part = "props" if module.scope == "local" else "overrides"
    for field in fields_of(definition.Props):
        yield f"modules.{module.id}.{part}.{field.name}", field


def new_module(
    token: str, shared: Mapping[str, tuple[str, Mapping[str, Json]]]
) -> ModuleSection | None:
    """Return the section of a module added in the form: `new-1:callout` or `new-1:callout@slug`. None if invalid."""
    id_, _, kind = token.partition(":")
    type_name, _, slug = kind.partition("@")
    # The live preview writes the id into the HTML of a page as it is, so it must not contain markup.
    if not _NEW_ID.fullmatch(id_):
        return None
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
    # A new module has no instance yet, so the global module's props are found under the empty id.
    return module_section(module, {"": values} if slug else {})
