"""Labels of the fields and field types that an agent's file names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from agents_app.admin.quality.labels import field_title
from agents_app.definitions.field_keys import ALL_MODULES, list_index
from agents_app.definitions.schema import ScopeEntry
from content.document.document import CUSTOM_PREFIX
from content.document.labels import module_label
from proofroom.core.i18n import in_words
from proofroom.definitions import FieldType, modules, props_of

_WHOLES: Final[Mapping[str, Promise]] = {
    "post.*": gettext_lazy("All fields of the post"),
    f"post.{CUSTOM_PREFIX}*": gettext_lazy("All custom fields"),
    "module.*": gettext_lazy("All fields of modules"),
    ALL_MODULES: gettext_lazy("All modules"),
}
_FIELD_TYPES: Final[Mapping[FieldType, Promise]] = {
    "text": gettext_lazy("Text"),
    "textarea": gettext_lazy("Long text"),
    "richtext": gettext_lazy("Rich text"),
    "number": gettext_lazy("Number"),
    "boolean": gettext_lazy("Yes or no"),
    "select": gettext_lazy("Choice"),
    "multiselect": gettext_lazy("Choices"),
    "date": gettext_lazy("Date"),
    "url": gettext_lazy("Web address"),
    "link": gettext_lazy("Link"),
    "media": gettext_lazy("Media"),
    "icon": gettext_lazy("Icon"),
    "object": gettext_lazy("Group"),
    "repeater": gettext_lazy("List"),
    "post-reference": gettext_lazy("Post"),
    "taxonomy-reference": gettext_lazy("Topics and tags"),
    "form-reference": gettext_lazy("Form"),
}


def path_label(path: str) -> str:
    """Return the label of a path of `allowedFields`, or of a field's key."""
    whole = _WHOLES.get(path)
    if whole is not None:
        return str(whole)
    kind, _dot, rest = path.partition(".")
    if kind != "module":
        return field_title(path)
    type_name, _dot, props = rest.partition(".")
    names = () if props == "*" else _prop_labels(type_name, props)
    return " › ".join((module_label(type_name), *names))


def field_type_label(name: str) -> str:
    label = next((label for type_, label in _FIELD_TYPES.items() if type_ == name), name)
    return str(label)


def limits_of(entry: ScopeEntry) -> list[tuple[str, str]]:
    """Return what a scope of an agent is limited to, as labels with the names in the file."""
    return [
        *(
            (_("Fields of the type %(type)s") % {"type": field_type_label(name)}, name)
            for name in entry.field_types
        ),
        *((path_label(name), name) for name in entry.field_keys),
        *((_("Form: %(slug)s") % {"slug": name}, name) for name in entry.form_slugs),
    ]


def _prop_labels(type_name: str, props: str) -> Iterator[str]:
    """Yield the labels of a prop and of those within it; unknown ones by their names."""
    definition = modules.get(type_name)
    here = definition.Props if definition is not None else None
    for part in props.split("."):
        if (number := list_index(part)) is not None:
            yield str(number + 1)
            continue
        prop = props_of(here).get(part) if here is not None else None
        yield in_words(prop.label) if prop is not None else part
        here = prop.nested if prop is not None else None
