"""Global modules: shared by all posts that contain them. Changes are live immediately, with revisions."""

from __future__ import annotations

import builtins
from collections.abc import Mapping, Sequence
from typing import Final
from uuid import UUID, uuid4

from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _

from content.models import ModuleInstance
from content.rules.references import PropsChange, check_props, drop_missing_props_references
from content.store.content_links import update_global_links
from content.store.global_module_queries import find_global, placements_of
from content.store.layer_state import check_version
from content.store.media_usage import drop_global_references, update_global_references
from content.store.search import keep_words_of_global
from proofroom.core import outbox
from proofroom.core.actor import Actor
from proofroom.core.errors import Conflict, invalid
from proofroom.core.json import Json, JsonObject
from proofroom.core.validation.input_validation import clean_line, reject_unstorable
from proofroom.core.validation.limits import LABEL_MAX
from proofroom.core.validation.slugs import clean_ascii_slug
from proofroom.definitions import Module, find_module, modules, validate_props, validation
from proofroom.definitions.undefined_values import remove_undefined, restore_undefined
from proofroom.shared_content.approval import APPROVED, require_approver, require_live_change
from proofroom.shared_content.proposals import delete_proposals
from proofroom.shared_content.revisions import (
    RESTORED,
    SharedChange,
    delete_revisions,
    find_revision,
    record_revisions,
)
from proofroom.shared_content.shared_types import GLOBAL_MODULE

SLUG_MAX: Final = 100


@transaction.atomic
def create_global(
    *,
    actor: Actor,
    slug: str,
    type: str,
    label: str = "",
    props: Mapping[str, Json] | None = None,
    module_id: UUID | None = None,
    has_lost_references: bool = False,
    keeps_undefined: bool = False,
) -> ModuleInstance:
    """Create a global module. `module_id` is its id from another installation.

    With `has_lost_references`, references may point to missing objects; with `keeps_undefined`, the type or
    props may have no definition. Raises `RuleViolation` by field; for a slug in use the key is `globalSlug`.
    """
    _require_editor(actor)
    definition = modules.get(type) if keeps_undefined else find_module(type)
    if definition is not None and "global" not in definition.allowed_scopes:
        known = ", ".join(definition.allowed_scopes)
        raise invalid(
            "type",
            _("%(type)s cannot be global; allowed: %(known)s.") % {"type": type, "known": known},
        )
    slug = clean_ascii_slug("globalSlug", slug, SLUG_MAX)
    module = ModuleInstance(
        id=module_id or uuid4(),
        type=type,
        scope="global",
        global_slug=slug,
        label=clean_line("label", label, LABEL_MAX),
        props=_props_of_new(type, definition, props or {}, keeps_undefined),
    )
    if definition is not None and not has_lost_references:
        check_props(PropsChange(definition.Props, {}, module.props), actor=actor)
    try:
        # The constraint decides whether the slug is free, because a check before the insert would race. The
        # savepoint keeps the outer transaction usable.
        with transaction.atomic():
            module.save(force_insert=True)
    except IntegrityError:
        message = _("Another global module already uses the slug %(slug)r.") % {"slug": slug}
        raise invalid("globalSlug", message, code="slug_taken") from None
    update_global_references([(module, None)])
    update_global_links([(module, None)])
    record_revisions(
        GLOBAL_MODULE,
        [SharedChange(module.pk, module.version, global_document(module))],
        actor=actor,
        reason="created",
    )
    _record_change("created", module, actor)
    return module


def _props_of_new(
    type: str, definition: builtins.type[Module] | None, props: Mapping[str, Json], keeps: bool
) -> JsonObject:
    if not keeps:
        return validate_props(type, props)
    reject_unstorable(props, "props")
    if definition is None:
        return dict(props)
    known = validate_props(type, remove_undefined(definition.Props, props))
    return restore_undefined(definition.Props, known, props)


@transaction.atomic
def edit_global(
    *,
    actor: Actor,
    slug: str,
    type: str | None = None,
    label: str | None = None,
    props: Mapping[str, Json] | None = None,
    expected_version: int | None = None,
) -> ModuleInstance:
    """Change the label or merge props, live in all posts that contain the module.

    Raises `NotFound`, `Conflict` (`stale_version`), or `RuleViolation` by field: the type can't be changed.
    """
    _require_editor(actor)
    require_live_change(GLOBAL_MODULE, actor)
    module = lock_global(slug)
    check_version(expected_version, module.version, _("This global module"))
    if type is not None and type != module.type:
        raise invalid("type", _("The type of a module cannot be changed."), code="module_type")
    _write(
        module,
        build_global_document(module, label=label, props=props, actor=actor),
        actor,
        "edited",
    )
    return module


def build_global_document(
    module: ModuleInstance,
    *,
    label: str | None = None,
    props: Mapping[str, Json] | None = None,
    actor: Actor | None = None,
) -> JsonObject:
    """Return the module's document with the new values, validated. Raises `RuleViolation`.

    With an `actor`, new references to objects they may not see are refused.
    """
    return {
        "label": module.label if label is None else clean_line("label", label, LABEL_MAX),
        "props": {**module.props, **_clean_changed_props(module, props or {}, actor)},
    }


@transaction.atomic
def revert_global(
    *, actor: Actor, slug: str, revision_id: UUID | str, expected_version: int | None = None
) -> ModuleInstance:
    """Restore a revision of the module. Raises `NotFound` for a revision of another module."""
    _require_editor(actor)
    require_live_change(GLOBAL_MODULE, actor)
    module = lock_global(slug)
    check_version(expected_version, module.version, _("This global module"))
    revision = find_revision(GLOBAL_MODULE, module.pk, revision_id)
    _rewrite(module, revision.document, actor, RESTORED)
    return module


@transaction.atomic
def write_global(
    *,
    actor: Actor,
    row_id: UUID,
    document: JsonObject,
    expected_version: int | None,
    reason: str,
) -> ModuleInstance:
    """Write a document to the module, from a revision or an approved proposal."""
    _require_editor(actor)
    if reason != APPROVED:
        require_live_change(GLOBAL_MODULE, actor)
    slugs = ModuleInstance.objects.globals().filter(pk=row_id)
    module = lock_global(slugs.values_list("global_slug", flat=True).first() or str(row_id))
    check_version(expected_version, module.version, _("This global module"))
    _rewrite(module, document, actor, reason)
    return module


@transaction.atomic
def delete_global(*, actor: Actor, slug: str) -> ModuleInstance:
    """Delete an unused module. Raises `Conflict` (`in_use`) with the number of posts that contain it."""
    _require_editor(actor)
    require_approver(GLOBAL_MODULE, actor)
    module = lock_global(slug)
    used = placements_of(module)
    if used.total:
        raise Conflict(
            _("The global module %(slug)s is in use: %(sentence)s. Remove it there first.")
            % {"slug": slug, "sentence": used.sentence},
            code="in_use",
            details={"globalSlug": [used.sentence]},
        )
    pk = module.pk
    module.delete()
    # Django clears the key on delete, but the event needs it.
    module.pk = pk
    drop_global_references(pk)
    delete_revisions(GLOBAL_MODULE, pk)
    delete_proposals(GLOBAL_MODULE, pk)
    _record_change("deleted", module, actor)
    return module


def global_document(module: ModuleInstance) -> JsonObject:
    """Return the module as stored in revisions."""
    return {"label": module.label, "props": dict(module.props)}


def lock_global(slug: str) -> ModuleInstance:
    """Return the global module with this slug, locked until the end of the transaction. Raises `NotFound`."""
    return find_global(slug, locked=True)


def _clean_changed_props(
    module: ModuleInstance, props: Mapping[str, Json], actor: Actor | None = None
) -> JsonObject:
    """Return the cleaned values of the props that changed.

    Unchanged ones aren't validated, because older values may break newer rules.
    """
    changed = {
        name: value
        for name, value in props.items()
        if name not in module.props or module.props[name] != value
    }
    if not changed:
        return {}
    definition = find_module(module.type)
    cleaned = validation.check_partial(
        definition.Props, changed, prefix="props", what=f"The module {module.type}"
    )
    check_props(PropsChange(definition.Props, module.props, cleaned), actor=actor)
    return cleaned


def _rewrite(module: ModuleInstance, document: JsonObject, actor: Actor, reason: str) -> None:
    wanted = document["props"]
    if not isinstance(wanted, dict):
        raise TypeError(wanted)
    changed = {
        name: value
        for name, value in wanted.items()
        if name not in module.props or module.props[name] != value
    }
    if changed:
        # A reference to a deleted file is dropped; otherwise the revision could not be restored at all.
        definition = find_module(module.type)
        changed = drop_missing_props_references(
            PropsChange(definition.Props, module.props, changed)
        )
    props = {**wanted, **changed, **_clean_changed_props(module, changed)}
    _write(module, {**document, "props": props}, actor, reason)


def _write(module: ModuleInstance, document: JsonObject, actor: Actor, reason: str) -> None:
    if document == global_document(module):
        return
    earlier_version, earlier, before = module.version, global_document(module), module.props
    earlier_at = module.updated_at
    module.label, module.props = str(document["label"]), document["props"]
    module.version += 1
    module.save(update_fields=["label", "props", "version", "updated_at"])
    update_global_references([(module, before)])
    update_global_links([(module, before)])
    change = SharedChange(
        module.pk, module.version, global_document(module), earlier_version, earlier, earlier_at
    )
    record_revisions(GLOBAL_MODULE, [change], actor=actor, reason=reason)
    keep_words_of_global(module.pk, actor)
    _record_change("updated", module, actor, changed_prop_names(before, module.props))


def changed_prop_names(before: Mapping[str, Json], after: Mapping[str, Json]) -> list[Json]:
    """Return the names of the props that differ, in order."""
    names = dict.fromkeys([*before, *after])
    return [name for name in names if before.get(name) != after.get(name)]


def _record_change(
    did: str, module: ModuleInstance, actor: Actor, changed: Sequence[Json] = ()
) -> None:
    payload: JsonObject = {
        "what": "global-module",
        "id": str(module.pk),
        "did": did,
        "slug": module.global_slug,
        "version": module.version,
        "changed": list(changed),
    }
    outbox.record("content.changed", actor=actor, payload=payload)


def _require_editor(actor: Actor) -> None:
    actor.require_person("change global modules")
    actor.require("globals.edit")
