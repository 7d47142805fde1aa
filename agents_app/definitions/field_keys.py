"""Keys of fields: `post.title`, `module.hero.title`, `module.faq.items.0.question`, and the paths that
cover them.

A run on one field names it by its key; agents' files limit their scopes by keys and paths.
"""

from __future__ import annotations

from typing import Final

from content.document.document import AGENT_FIELD_NAMES, CUSTOM_PREFIX
from content.document.post_fields import POST_FIELDS
from proofroom.definitions import modules, post_types, props_of

ALL_MODULES: Final = "modules.*"
"""Path in `allowedFields` that covers all props, and adding, removing and moving modules."""
_INDEX_DIGITS: Final = 4


def covers(path: str, field: str) -> bool:
    """Return True if a path of `allowedFields` equals the field or covers it with its `*`.

    Fields are `post.<field>`, `module.<type>.<prop>`, and `modules.<type>` for the set of modules
    of a post.
    """
    if path == ALL_MODULES:
        return field.startswith(("module.", "modules."))
    return field.startswith(path[:-1]) if path.endswith(".*") else path == field


def field_of_key(key: str) -> str:
    """Return the field of a key: `module.faq.items` for `module.faq.items.0.question`."""
    return ".".join(key.split(".")[:3]) if key.startswith("module.") else key


def type_of_key(key: str) -> str | None:
    """Return the field type of a key in any post type; None for an unknown key."""
    kind, _, rest = key.partition(".")
    if kind == "post" and rest.startswith(CUSTOM_PREFIX):
        name = rest.removeprefix(CUSTOM_PREFIX)
        types = (post_types.get(type_name) for type_name in post_types.names())
        found = (props_of(type_.CustomFields).get(name) for type_ in types if type_ is not None)
        return next((prop.kind for prop in found if prop is not None), None)
    if kind == "post":
        return POST_FIELDS[rest].field_type if rest in AGENT_FIELD_NAMES else None
    type_name, _, path = rest.partition(".")
    definition = modules.get(type_name) if kind == "module" else None
    if definition is None or path.partition(".")[0] not in props_of(definition.Props):
        return None
    return prop_type(path, type_name)


def prop_type(path: str, type_name: str) -> str:
    """Return the field type at the end of a path; `text` for an unknown path."""
    definition = modules.get(type_name)
    here = definition.Props if definition else None
    kind = "text"
    for part in path.split("."):
        if list_index(part) is not None or here is None:
            continue
        prop = props_of(here).get(part)
        if prop is None:
            return "text"
        kind, here = prop.kind, prop.nested
    return kind


def list_index(part: str) -> int | None:
    """Return the list index in a part of a key; None if it is not an index."""
    # Bounded first: keys come from requests, and `int` raises for thousands of digits.
    is_short = len(part) <= _INDEX_DIGITS
    # `isdigit` alone accepts digits that `int` rejects, such as superscripts.
    return int(part) if is_short and part.isascii() and part.isdigit() else None
