"""Edits of a document, the same for every layer and interface. Pure functions that return the new document.

They only refuse an edit that cannot be applied. `content.rules` validates the result.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final, Protocol, cast
from uuid import uuid4

from django.utils.translation import gettext

from content.document.document import FIELD_NAMES, ModuleDocument, PostDocument
from proofroom.core.errors import NotFound, RuleViolation, invalid
from proofroom.core.json import Json, JsonObject
from proofroom.definitions import (
    GroupModule,
    coerce_markdown,
    find_module_group,
    find_post_type,
    own_scope,
)

READ_ONLY: Final = frozenset(
    {
        "id",
        "type",
        "locale",
        "version",
        "url",
        "author",
        "lock",
        "createdAt",
        "updatedAt",
        "publishedAt",
        "deletedAt",
        "translations",
        "layers",
        "translationGroup",
        "isPlaceholder",
        "variationOf",
        "variation",
        "weight",
        "running",
    }
)
"""Keys that a GET returns and a write ignores, so that clients can send back the object they read."""


class LayoutTemplate(Protocol):
    """A module group, from code or from the database."""

    @property
    def name(self) -> str: ...
    @property
    def post_type(self) -> str: ...
    @property
    def modules(self) -> tuple[GroupModule, ...]: ...


def patch_fields(document: PostDocument, patch: Mapping[str, Json]) -> PostDocument:
    """Set post fields, `customFields` (merged by name) and `taxonomyTermIds`. Missing keys stay unchanged.

    Raises `RuleViolation` for an unknown key.
    """
    fields: JsonObject = {}
    for name, value in patch.items():
        if name == "taxonomyTermIds":
            if not isinstance(value, list | tuple) or not all(
                isinstance(item, str) for item in value
            ):
                raise invalid(name, gettext("%(name)s must be a list of IDs.") % {"name": name})
            # UUIDs are stored in lower case, clients may send upper case.
            document = document.with_terms([str(item).lower() for item in value])
        elif name == "customFields":
            if not isinstance(value, Mapping):
                raise invalid(name, gettext("customFields must be an object."))
            fields[name] = value
        elif name in FIELD_NAMES:
            fields[name] = value
        elif name not in READ_ONLY:
            raise invalid(
                name,
                gettext("There is no post field named %(name)r.") % {"name": name},
                code="unknown_field",
            )
    return document.with_fields(fields)


def add_module(
    document: PostDocument,
    *,
    type: str,
    props: Mapping[str, Json] | None = None,
    overrides: Mapping[str, Json] | None = None,
    content_markdown: str | None = None,
    shared: tuple[str, str] | None = None,
    locked: bool = False,
    scope: str | None = None,
    index: int | None = None,
) -> tuple[PostDocument, str]:
    """Return the document with a new module at `index` (default: last), and the module's id.

    `shared`: slug and instance id of a global module, which takes `overrides` instead of props. Without `scope`,
    the module is local, or static if its type allows only that.
    """
    props = {**_markdown_props(type, content_markdown), **(props or {})}
    module = ModuleDocument(
        id=str(uuid4()),
        type=type,
        instance_id=shared[1] if shared else str(uuid4()),
        scope="global" if shared else scope or own_scope(type),
        global_slug=shared[0] if shared else None,
        locked=locked,
        props={} if shared else props,
        # Props sent for a shared module become overrides of this post.
        overrides={**(overrides or {}), **(props if shared else {})},
    )
    return document.with_module(module, index), module.id


def _markdown_props(type: str, content_markdown: str | None) -> JsonObject:
    if content_markdown is None:
        return {}
    name, value = coerce_markdown(type, content_markdown)
    return {name: value}


def update_module(
    document: PostDocument,
    module_id: str,
    *,
    props: Mapping[str, Json] | None = None,
    overrides: Mapping[str, Json] | None = None,
    content_markdown: str | None = None,
    index: int | None = None,
) -> PostDocument:
    """Return the document with props and overrides merged into a module. `index` moves the module."""
    module = require_module(document, module_id)
    values = {**_markdown_props(module.type, content_markdown), **(props or {})}
    if module.scope == "local":
        # A local module belongs to this post only, so its overrides go into its props. An override would hide later
        # values of the prop.
        values |= overrides or {}
        remaining = {name: value for name, value in module.overrides.items() if name not in values}
        module = replace(module, props={**module.props, **values}, overrides=remaining)
    else:
        # The props of a shared module belong to other posts too, so this post stores overrides.
        module = replace(module, overrides={**module.overrides, **values, **(overrides or {})})
    return document.with_module(module, index)


def remove_module(document: PostDocument, module_id: str) -> PostDocument:
    require_module(document, module_id)
    return document.without_module(module_id)


def reorder_modules(document: PostDocument, order: Sequence[str]) -> PostDocument:
    """Return the document with its modules in this order. Each id must occur once."""
    if sorted(order) != sorted(document.order):
        message = gettext("The order must list every module of the post once.")
        raise RuleViolation(message, details={"order": [message]})
    modules = {module.id: module for module in document.modules}
    return replace(document, modules=tuple(modules[id_] for id_ in order))


def require_module(document: PostDocument, module_id: str) -> ModuleDocument:
    module = document.module(str(module_id).lower())
    if module is None:
        raise NotFound(
            gettext("This post has no module %(module_id)s in this layer.")
            % {"module_id": module_id}
        )
    return module


def patch_modules(document: PostDocument, entries: Sequence[Mapping[str, Json]]) -> PostDocument:
    """Change several modules: each entry is `{postModuleId, props?, overrides?, position?}`."""
    for number, entry in enumerate(entries):
        unknown = set(entry) - {"postModuleId", "props", "overrides", "position"}
        where = f"modules.{number}"
        if unknown:
            key = sorted(unknown)[0]
            raise invalid(
                f"{where}.{key}",
                gettext("Unknown key %(key)r.") % {"key": key},
                code="unknown_field",
            )
        position = entry.get("position")
        # `bool` is a subclass of `int`.
        is_number = isinstance(position, int) and not isinstance(position, bool)
        if position is not None and not (is_number and cast("int", position) >= 0):
            raise invalid(
                f"{where}.position", gettext("position must be a whole number, 0 or greater.")
            )
        for part in ("props", "overrides"):
            if entry.get(part) is not None and not isinstance(entry[part], Mapping):
                raise invalid(
                    f"{where}.{part}", gettext("%(part)s must be an object.") % {"part": part}
                )
        id_ = str(entry.get("postModuleId") or "")
        if document.module(id_.lower()) is None:
            message = gettext(
                "This must be the postModuleId of a module of this post, in this layer."
            )
            raise invalid(f"{where}.postModuleId", message, code="unknown_module")
        document = update_module(
            document,
            id_,
            props=cast("Mapping[str, Json] | None", entry.get("props")),
            overrides=cast("Mapping[str, Json] | None", entry.get("overrides")),
            index=cast("int | None", position),
        )
    return document


def seed_group(
    document: PostDocument, group: str | LayoutTemplate | None, shared: Mapping[str, str]
) -> PostDocument:
    """Return the document with the modules of a module group, by default the group of the post type.

    A name refers to a group defined in code. `shared`: instance ids of global modules by slug. Global modules that
    do not exist are skipped.
    """
    if group is None:
        group = find_post_type(document.type).default_module_group
        if group is None:
            return document
    if isinstance(group, str):
        group = find_module_group(group)
    if group.post_type != document.type:
        raise invalid(
            "moduleGroup",
            gettext("%(name)s is for %(post_type)s, not %(type)s.")
            % {"name": group.name, "post_type": group.post_type, "type": document.type},
        )
    for place in group.modules:
        if place.global_slug is not None and place.global_slug not in shared:
            continue
        slug = place.global_slug
        document, _ = add_module(
            document,
            type=place.type,
            props=place.full_props(),
            shared=(slug, shared[slug]) if slug else None,
            scope=place.scope,
            locked=place.locked,
        )
    return document
