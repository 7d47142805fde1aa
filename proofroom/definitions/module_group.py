"""Module groups, the layout templates of a post type: a class per file in `<app>/module_groups/`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar
from uuid import UUID, uuid5

from proofroom.core.json import Json, JsonObject
from proofroom.core.registry import Registry
from proofroom.definitions import validation
from proofroom.definitions.module import Scope, validate_overrides, validate_props

GROUP_NAMESPACE = UUID("5d0c7f0e-3f53-4a3b-9d0e-6b7c1d5a2f41")
"""Namespace of ids made from names, so that a group has the same id on every installation."""


@dataclass(frozen=True, slots=True)
class GroupModule:
    """A place in the template. With `global_slug`, it is the shared module, and `props` are its overrides."""

    type: str
    locked: bool = False
    scope: Scope = "local"
    props: Mapping[str, Json] = field(default_factory=dict)
    global_slug: str | None = None

    def full_props(self) -> JsonObject:
        """Return the props of a new module for this place. Raises `RuleViolation` if they are invalid."""
        if self.global_slug is not None:
            return validate_overrides(self.type, self.props)
        return validate_props(self.type, self.props)


class ModuleGroupDefinition:
    """Base class of module groups."""

    name: ClassVar[str]
    label: ClassVar[str]
    description: ClassVar[str] = ""
    post_type: ClassVar[str]
    modules: ClassVar[tuple[GroupModule, ...]] = ()

    @classmethod
    def id(cls) -> UUID:
        return uuid5(GROUP_NAMESPACE, cls.name)


module_groups: Registry[ModuleGroupDefinition] = Registry("module_groups", ModuleGroupDefinition)


def find_module_group(name_or_id: str | UUID) -> type[ModuleGroupDefinition]:
    """Return the group with this name or id. Raises `RuleViolation` (`unknown_module_group`)."""
    wanted = str(name_or_id)
    for group in module_groups:
        if wanted == group.name or wanted.lower() == str(group.id()):
            return group
    raise validation.unknown(
        "module group", wanted, module_groups.names(),
        code="unknown_module_group", field="moduleGroup",
    )  # fmt: skip


def groups_of(post_type: str) -> list[type[ModuleGroupDefinition]]:
    """Return the groups for a post type, by name."""
    return [group for group in module_groups if group.post_type == post_type]
