"""System checks of definitions. A definition that can't work stops the start with file, name and reason."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, cast

from django.apps import AppConfig
from django.contrib.staticfiles import finders
from django.core.checks import CheckMessage, Error, register
from django.core.exceptions import SuspiciousFileOperation
from django.db import models
from django.template import TemplateDoesNotExist, TemplateSyntaxError
from django.template.loader import get_template

from content.comparison.words.word_tables import read_tables
from content.document.post_fields import POST_FIELDS, FieldKind, PostField
from content.models import Post
from content.models.field_value import TEXT_MAX
from content.post_checks.results import unknown_levels
from content.store.list_filters import POST_FILTERS
from proofroom.core.errors import CmsError
from proofroom.definitions import (
    AIGuidance,
    Module,
    ModuleGroupDefinition,
    PostType,
    exclusion_reason,
    filterable_custom_fields,
    module_groups,
    modules,
    post_types,
    props_of,
    taxonomies,
    validate_custom_fields,
    validate_props,
)
from proofroom.definitions.step import step_problems

_COLUMN_TYPES: Final[Mapping[FieldKind, tuple[type[models.Field[Any, Any]], ...]]] = {
    "text": (models.CharField, models.TextField),
    "textarea": (models.CharField, models.TextField),
    "url": (models.CharField, models.TextField),
    "json": (models.JSONField,),
    "media": (models.ForeignKey,),
    "post-reference": (models.ForeignKey,),
    "number": (models.IntegerField,),
    "moment": (models.DateTimeField,),
    "people": (models.JSONField,),
}
_TEXT_FILTERS: Final = (
    "(?:linebreaks|linebreaksbr|striptags|safe|escape|force_escape|urlize"
    "|truncatechars|truncatewords|default)"
)
"""Template filters that treat their input as text."""
Reason = tuple[str, str, str]
"""The problem, how to fix it, and the id of the check."""


@register("definitions")
def check_definitions(
    app_configs: Sequence[AppConfig] | None = None, **kwargs: object
) -> list[CheckMessage]:
    """Return every problem of every module, module group and post type."""
    found: list[CheckMessage] = []
    for module in modules:
        found += _errors(module, f"module {module.name!r}", _module_reasons(module))
    for group in module_groups:
        found += _errors(group, f"module group {group.name!r}", _group_reasons(group))
    for post_type in post_types:
        found += _errors(post_type, f"post type {post_type.name!r}", _type_reasons(post_type))
    return found


@register("definitions")
def check_post_fields(
    app_configs: Sequence[AppConfig] | None = None, **kwargs: object
) -> list[CheckMessage]:
    """Return problems of declared post fields, and mismatches with their columns in `Post`."""
    return [
        Error(
            f"content/document/post_fields.py: {field.column}: {reason}",
            hint="Make the declaration and the column in content/models/post.py agree.",
            id="content.E019",
        )
        for field in POST_FIELDS.values()
        for reason in differences(field)
    ]


@register("definitions")
def check_word_tables(
    app_configs: Sequence[AppConfig] | None = None, **kwargs: object
) -> list[CheckMessage]:
    """Return problems of the word files, read again instead of from the cache of the process."""
    return [
        Error(
            f"{problem.file}: {problem.field}: {problem.reason}",
            hint="Mend the file. Until then its words are left out of the review.",
            id="content.E022",
        )
        for problem in read_tables().problems
    ]


def differences(field: PostField) -> Iterator[str]:
    """Yield what is wrong with a declared post field, or different from its column."""
    if field.listed and not (field.is_text and field.delivered):
        yield "lists answer texts that everybody may read"
    columns = {column.attname: column for column in Post._meta.local_concrete_fields}
    column = columns.get(field.column)
    if column is None:
        yield "Post has no such column"
    elif not isinstance(column, _COLUMN_TYPES[field.kind]):
        yield f"a {field.kind} cannot stand in a {type(column).__name__}"
    elif field.max_length is not None and column.max_length != field.max_length:
        yield f"it may have {field.max_length} characters, its column {column.max_length}"
    elif column.null != field.is_nullable:
        yield f"nullable is {field.is_nullable} here and {column.null} in its column"


def _errors(definition: type, thing: str, reasons: Iterator[Reason]) -> Iterator[CheckMessage]:
    file = inspect.getsourcefile(definition) or definition.__module__
    for reason, hint, number in reasons:
        yield Error(f"{file}: {thing}: {reason}", hint=hint, id=f"content.{number}")


def _module_reasons(module: type[Module]) -> Iterator[Reason]:
    try:
        get_template(module.template())
    except TemplateDoesNotExist:
        yield f"there is no template {module.template()}", "Add it to a templates folder.", "E001"
    except TemplateSyntaxError as error:
        yield f"the template {module.template()} cannot be read: {error}", "Mend it.", "E002"
    try:
        stylesheet = module.stylesheet.endswith(".css") and finders.find(module.stylesheet)
    except SuspiciousFileOperation:
        stylesheet = None
    if module.stylesheet and not stylesheet:
        yield f"there is no stylesheet {module.stylesheet}", "Add it to a static folder.", "E018"
    if not isinstance(getattr(module, "ai", None), AIGuidance):
        yield "it has no ai", "Add ai = AIGuidance(layout_roles=(…), use_when=(…)).", "E020"
    elif not module.ai.layout_roles or not all(role.strip() for role in module.ai.layout_roles):
        yield "a layout role is empty or missing", "Name at least one in ai.layout_roles.", "E003"
    if not module.allowed_scopes:
        yield "allowed_scopes is empty", "Allow local, global or static.", "E004"
    for name in module.allowed_post_types:
        if name not in post_types:
            yield (
                f"allowed_post_types names {name!r}, no post type",
                _known(post_types.names()),
                "E005",
            )
    try:
        props_of(module.Props)
        validate_props(module.name, module.default_props())
    except (CmsError, TypeError, ValueError) as error:
        yield f"the default props are not valid: {error}", "Mend the defaults.", "E006"
        return
    for name in _bare_rich_text(module):
        yield (
            f"the template {module.template()} prints props.{name}, which is rich text, as data",
            f"Write {{{{ props.{name}|richtext:heading_ids }}}}.",
            "E021",
        )


def _bare_rich_text(module: type[Module]) -> Iterator[str]:
    """Yield rich-text properties that the template prints without converting them to HTML or text."""
    try:
        template: Any = get_template(module.template())
    except (TemplateDoesNotExist, TemplateSyntaxError):
        return
    source = str(template.template.source)
    for prop in props_of(module.Props).values():
        printed = rf"{{{{\s*props\.{prop.name}\s*(?:\|\s*{_TEXT_FILTERS}\b[^}}]*)?}}}}"
        if prop.kind == "richtext" and re.search(printed, source):
            yield prop.name


def _group_reasons(group: type[ModuleGroupDefinition]) -> Iterator[Reason]:
    if group.post_type not in post_types:
        yield f"there is no post type {group.post_type!r}", _known(post_types.names()), "E007"
    for place, entry in enumerate(group.modules):
        module = modules.get(entry.type)
        if module is None:
            yield f"there is no module {entry.type!r}", _known(modules.names()), "E008"
            continue
        if entry.scope not in module.allowed_scopes:
            yield f"{entry.type} may not be {entry.scope}", _known(module.allowed_scopes), "E009"
        if group.post_type in post_types and (why := exclusion_reason(group.post_type, entry.type)):
            yield f"{entry.type} may not stand here: {why}", "Choose another module.", "E010"
        try:
            entry.full_props()
        except CmsError as error:
            yield f"modules[{place}] ({entry.type}): {error}", "Mend the props.", "E011"


def _type_reasons(post_type: type[PostType]) -> Iterator[Reason]:
    for name in post_type.module_groups:
        group = module_groups.get(name)
        if group is None:
            yield f"there is no module group {name!r}", _known(module_groups.names()), "E012"
        elif group.post_type != post_type.name:
            yield f"module group {name!r} is for {group.post_type!r}", "Choose another.", "E013"
    default = post_type.default_module_group
    if default is not None and default not in post_type.module_groups:
        yield f"default_module_group {default!r} is not in module_groups", "Add it there.", "E014"
    for use in post_type.taxonomies:
        if use.slug not in taxonomies:
            yield f"there is no taxonomy {use.slug!r}", _known(taxonomies.names()), "E015"
    for name in post_type.allowed_modules:
        if name not in modules:
            yield f"there is no module {name!r}", _known(modules.names()), "E016"
    for problem in unknown_levels(post_type.name):
        yield problem, "Mend the levels in checks.", "E023"
    for problem in step_problems(post_type.steps):
        yield problem, "Mend the entries of steps.", "E026"
    for name in post_type.filterable:
        if name not in POST_FILTERS:
            yield f"filterable names {name!r}", _known(list(POST_FILTERS)), "E024"
    try:
        schema = cast(Mapping[str, Any], post_type.custom_fields_schema()["properties"])
        for name in filterable_custom_fields(post_type.name):
            # Only texts can be longer; choices and references are short.
            if schema[name].get("maxLength", 0) > TEXT_MAX:
                yield (
                    f"the filterable custom field {name!r} has more than {TEXT_MAX} characters",
                    "Lower its max_length, or do not mark it as filterable.",
                    "E025",
                )
        props_of(post_type.CustomFields)
        validate_custom_fields(post_type.name, post_type.default_custom_fields())
    except (CmsError, TypeError, ValueError) as error:
        yield f"the custom fields' defaults are not valid: {error}", "Mend the defaults.", "E017"


def _known(names: Sequence[str]) -> str:
    return f"Known: {', '.join(names) or 'none'}."
