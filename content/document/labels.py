"""Labels for the paths of a document: "Title", "Hero › Subtitle", "Prose 2"."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Final

from django.utils.translation import gettext, gettext_lazy

from content.document.differences import base_path
from content.document.document import CUSTOM_PREFIX, ModuleDocument, PostDocument
from content.document.post_fields import POST_FIELDS
from proofroom.core.i18n import in_words
from proofroom.definitions import modules, post_types, props_of

POST_GROUP: Final = gettext_lazy("Post")


def module_label(type_name: str) -> str:
    """Return the label of a module type, or the type's name if it has no definition any more."""
    definition = modules.get(type_name)
    return in_words(definition.label) if definition else type_name


def raw_module_names(*documents: PostDocument) -> dict[str, str]:
    """Return the same as `module_names`, untranslated."""
    return _name_modules(
        documents, lambda type_: found.label if (found := modules.get(type_)) else type_
    )


def module_names(*documents: PostDocument) -> dict[str, str]:
    """Return a name for every module id of these documents, numbered if several have the same label."""
    return _name_modules(documents, module_label)


def _name_modules(
    documents: Iterable[PostDocument], label_of_type: Callable[[str], str]
) -> dict[str, str]:
    found: dict[str, ModuleDocument] = {}
    for document in documents:
        for module in document.modules:
            found.setdefault(module.id, module)
    labels = {type_: label_of_type(type_) for type_ in {module.type for module in found.values()}}
    totals = Counter(labels[module.type] for module in found.values())
    seen: Counter[str] = Counter()
    names = {}
    for module in found.values():
        label = labels[module.type]
        seen[label] += 1
        names[module.id] = f"{label} {seen[label]}" if totals[label] > 1 else label
    return names


def field_label(post_type: str, name: str) -> str:
    """Return the label of a post field by its name in a document."""
    if name == "taxonomyTermIds":
        return gettext("Topics and tags")
    if not name.startswith(CUSTOM_PREFIX):
        declared = POST_FIELDS.get(name)
        return in_words(declared.label) if declared else name
    definition = post_types.get(post_type)
    key = name.removeprefix(CUSTOM_PREFIX)
    prop = props_of(definition.CustomFields).get(key) if definition else None
    return in_words(prop.label) if prop else key


def type_label(name: str) -> str:
    """Return the label of a post type, or its name if it has no definition any more."""
    definition = post_types.get(name)
    return in_words(definition.label) if definition else name


def type_choices() -> list[tuple[str, str]]:
    """Return (name, label) of every post type."""
    return [(row.name, in_words(row.label)) for row in post_types]


def prop_label(type_name: str, name: str) -> str:
    definition = modules.get(type_name)
    prop = props_of(definition.Props).get(name) if definition else None
    return in_words(prop.label) if prop else name


def label_of(
    path: str,
    document: PostDocument,
    names: Mapping[str, str],
    label_of_prop: Callable[[str, str], str] = prop_label,
) -> str:
    """Return the label of a path. A passage has the label of its path.

    `names`: the result of `module_names`. `label_of_prop`: `prop_label`, or a cached version of it for many paths.
    """
    path = base_path(path)
    if not path.startswith("modules."):
        return field_label(document.type, path.removeprefix("post."))
    _, module_id, *rest = path.split(".", 3)
    name = names.get(module_id, gettext("Module"))
    if not rest:
        return name
    if rest == ["position"]:
        return f"{name} › {gettext('Position')}"
    module = document.module(module_id)
    label = label_of_prop(module.type, rest[1]) if module and len(rest) > 1 else rest[-1]
    return f"{name} › {label}"
