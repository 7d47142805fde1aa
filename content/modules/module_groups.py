"""Module groups: page templates made by users, in addition to the groups in code."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final
from uuid import UUID, uuid4

from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _

from content.models import ModuleGroup, ModuleInstance
from content.rules.modules import check_places
from content.rules.references import PropsChange, check_props
from content.store.layer_state import check_version
from content.store.module_group_queries import place_json, read_places
from proofroom.core import outbox
from proofroom.core.actor import Actor
from proofroom.core.errors import NotFound, RuleViolation, invalid
from proofroom.core.json import Json, JsonObject
from proofroom.core.validation.input_validation import clean_line
from proofroom.core.validation.limits import LABEL_MAX
from proofroom.core.validation.slugs import clean_ascii_slug
from proofroom.definitions import (
    GroupModule,
    exclusion_reason,
    find_module,
    find_post_type,
    module_groups,
)

NAME_MAX: Final = 80
DESCRIPTION_MAX: Final = 500
Places = Sequence[Mapping[str, Json]]


@transaction.atomic
def create_group(
    *,
    actor: Actor,
    name: str,
    label: str,
    post_type: str,
    modules: Places,
    description: str = "",
    group_id: UUID | None = None,
) -> ModuleGroup:
    """Create a group. `group_id` is its id from another installation.

    Raises `RuleViolation` by field; for a name in use, also by code, the key is `name`.
    """
    _require_editor(actor)
    name = clean_ascii_slug("name", name, NAME_MAX)
    if name in module_groups:
        message = _("The module group %(name)r is defined in code. Choose another name.") % {
            "name": name
        }
        raise invalid("name", message, code="name_taken")
    try:
        find_post_type(post_type)
    except RuleViolation as error:
        raise invalid("postType", error.message, code=error.code) from None
    group = ModuleGroup(
        id=group_id or uuid4(),
        name=name,
        label=clean_line("label", label, LABEL_MAX, required=True),
        description=clean_line("description", description, DESCRIPTION_MAX),
        post_type=post_type,
        modules=_clean_places(post_type, modules, actor),
    )
    try:
        # The constraint decides whether the name is free, because a check before the insert would race. The
        # savepoint keeps the outer transaction usable.
        with transaction.atomic():
            group.save(force_insert=True)
    except IntegrityError:
        message = _("Another module group is already called %(name)r.") % {"name": name}
        raise invalid("name", message, code="name_taken") from None
    _record_change("created", group, actor)
    return group


@transaction.atomic
def edit_group(
    *,
    actor: Actor,
    name: str,
    label: str | None = None,
    description: str | None = None,
    modules: Places | None = None,
    expected_version: int | None = None,
) -> ModuleGroup:
    """Change a stored group. Existing posts are not changed.

    Raises `NotFound`, `Conflict` (`stale_version`), or `RuleViolation` by field.
    """
    _require_editor(actor)
    group = _lock(name)
    check_version(expected_version, group.version, _("This module group"))
    if label is not None:
        group.label = clean_line("label", label, LABEL_MAX, required=True)
    if description is not None:
        group.description = clean_line("description", description, DESCRIPTION_MAX)
    if modules is not None:
        group.modules = _clean_places(group.post_type, modules, actor, read_places(group.modules))
    group.version += 1
    group.save()
    _record_change("updated", group, actor)
    return group


@transaction.atomic
def delete_group(*, actor: Actor, name: str) -> ModuleGroup:
    """Delete a stored group. Existing posts are not changed."""
    _require_editor(actor)
    group = _lock(name)
    pk = group.pk
    group.delete()
    group.pk = pk
    _record_change("deleted", group, actor)
    return group


def _lock(name: str) -> ModuleGroup:
    if name in module_groups:
        message = _(
            "The module group %(name)r is defined in code and can only be changed there."
        ) % {"name": name}
        raise RuleViolation(message, code="code_defined", details={"name": [message]})
    rows = ModuleGroup.objects.select_for_update()
    # PostgreSQL refuses queries for a text with NUL.
    found = rows.filter(name=name).first() if "\x00" not in name else None
    if found is None:
        raise NotFound(_("There is no module group %(name)r.") % {"name": name[:100]})
    return found


def _clean_places(
    post_type: str, entries: Places, actor: Actor, before: Sequence[GroupModule] = ()
) -> list[JsonObject]:
    places = read_places(check_places(entries))
    slugs = {place.global_slug for place in places if place.global_slug}
    rows = ModuleInstance.objects.globals().filter(global_slug__in=slugs)
    shared = {str(slug): str(type_) for slug, type_ in rows.values_list("global_slug", "type")}
    cleaned: list[GroupModule] = []
    for number, place in enumerate(places):
        try:
            cleaned.append(_clean_place(post_type, place, shared))
        except RuleViolation as error:
            details = {f"modules.{number}.{path}": text for path, text in error.details.items()}
            raise RuleViolation(error.message, code=error.code, details=details) from None
    old = [place.props for place in before]
    check_props(
        *(
            PropsChange(find_module(place.type).Props, {}, place.props, f"modules.{number}.props")
            for number, place in enumerate(cleaned)
            if place.props not in old  # unchanged props may refer to deleted files
        ),
        actor=actor,
    )
    return [place_json(place) for place in cleaned]


def _clean_place(post_type: str, place: GroupModule, shared: Mapping[str, str]) -> GroupModule:
    definition = find_module(place.type)
    reason = exclusion_reason(post_type, place.type)
    if reason is not None:
        raise invalid("type", reason, code="module_not_allowed")
    if place.scope not in definition.allowed_scopes:
        known = ", ".join(definition.allowed_scopes)
        raise invalid(
            "scope",
            _("%(type)s cannot be %(scope)s; allowed: %(known)s.")
            % {"type": place.type, "scope": place.scope, "known": known},
        )
    if (place.scope == "global") != (place.global_slug is not None):
        raise invalid("globalSlug", _("Only global modules are added by their globalSlug."))
    if place.global_slug is not None and shared.get(place.global_slug) != place.type:
        message = _("There is no global module %(global_slug)r of type %(type)s.") % {
            "global_slug": place.global_slug,
            "type": place.type,
        }
        raise invalid("globalSlug", message, code="unknown_global")
    try:
        full = place.full_props()
    except RuleViolation as error:
        # The caller only sends `props`; for a global module they are stored as overrides, so the path is
        # translated back.
        details = {
            path.replace("overrides", "props", 1): text for path, text in error.details.items()
        }
        raise RuleViolation(error.message, code=error.code, details=details) from None
    return replace(place, props={name: full[name] for name in place.props})


def _record_change(what: str, group: ModuleGroup, actor: Actor) -> None:
    payload: JsonObject = {"id": str(group.pk), "name": group.name}
    outbox.record(f"module-group.{what}", actor=actor, payload=payload)


def _require_editor(actor: Actor) -> None:
    actor.require_person("change module groups")
    actor.require("settings.manage")
