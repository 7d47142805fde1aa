"""Module groups from code and from the database."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast
from uuid import UUID

from content.models import ModuleGroup
from proofroom.core.json import Json, JsonObject
from proofroom.definitions import GroupModule, module_groups, validation
from proofroom.definitions.module import Scope


@dataclass(frozen=True, slots=True)
class ModuleGroupInfo:
    """A layout template. `version` is None for a template in code, which cannot be edited."""

    id: UUID
    name: str
    label: str
    description: str
    post_type: str
    modules: tuple[GroupModule, ...]
    version: int | None = None

    @property
    def is_code(self) -> bool:
        return self.version is None


def find_group(name_or_id: str | UUID) -> ModuleGroupInfo:
    """Return the group with the name or id.

    Code takes precedence. Raises `RuleViolation` (`unknown_module_group`).
    """
    wanted = str(name_or_id)
    groups = all_groups()
    for group in groups:
        if wanted == group.name or wanted.lower() == str(group.id):
            return group
    raise validation.unknown(
        "module group",
        wanted,
        [group.name for group in groups],
        code="unknown_module_group",
        field="moduleGroup",
    )


def all_groups(post_type: str | None = None, q: str = "") -> list[ModuleGroupInfo]:
    """Return the groups by name, optionally of one post type or with `q` in their texts. One query."""
    found = {
        definition.name: ModuleGroupInfo(
            id=definition.id(),
            name=definition.name,
            label=definition.label,
            description=definition.description,
            post_type=definition.post_type,
            modules=definition.modules,
        )
        for definition in module_groups
    }
    for row in ModuleGroup.objects.all():
        # A group in code hides a stored group of the same name until the code is removed.
        found.setdefault(row.name, group_from_row(row))
    return [
        group
        for _, group in sorted(found.items())
        if post_type in (None, group.post_type)
        and q.lower() in f"{group.name} {group.label} {group.description}".lower()
    ]


def group_from_row(row: ModuleGroup) -> ModuleGroupInfo:
    return ModuleGroupInfo(
        id=row.pk,
        name=row.name,
        label=row.label,
        description=row.description,
        post_type=row.post_type,
        modules=read_places(row.modules),
        version=row.version,
    )


def read_places(entries: Sequence[Mapping[str, Json]]) -> tuple[GroupModule, ...]:
    """Return the modules of a stored group."""
    return tuple(
        GroupModule(
            type=cast(str, entry["type"]),
            locked=bool(entry.get("locked")),
            scope=cast(Scope, entry.get("scope") or "local"),
            props=cast("Mapping[str, Json]", entry.get("props") or {}),
            global_slug=cast("str | None", entry.get("globalSlug")),
        )
        for entry in entries
    )


def place_json(place: GroupModule) -> JsonObject:
    """Return a module of a group in stored and wire format."""
    return {
        "type": place.type,
        "scope": place.scope,
        "locked": place.locked,
        "props": place.props,
        "globalSlug": place.global_slug,
    }
