"""What may stand in a post's modules, and what a lock holds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import cast

from django.utils.translation import gettext

from content.changes import ABSENT, Change, Changes
from content.document import ModuleDocument, PostDocument
from content.models import ModuleInstance, Post
from proofroom.core.errors import RuleViolation, invalid
from proofroom.core.json import JsonObject
from proofroom.definitions import find_module, validate_props, validation, why_excluded

MODULES_MAX = 300


def check_locks(before: PostDocument, after: PostDocument) -> None:
    """Locked modules stay: not removed, not retyped, not unlocked, not moved among the others or off the top."""
    common = set(before.order) & set(after.order)
    for module in before.modules:
        if not module.locked:
            continue
        now = after.module(module.id)
        if now is None:
            raise _locked(module, gettext("cannot be removed"))
        if now.identity != module.identity:
            raise _locked(module, gettext("cannot be unlocked or turned into another module"))
        if _preceding(before, module.id, common) != _preceding(after, module.id, common):
            raise _locked(module, gettext("cannot be moved"))
    for index, module in enumerate(before.modules):
        if not module.locked:
            break
        if after.order.index(module.id) != index:
            raise _locked(module, gettext("opens the post; nothing can be put above it"))


def _preceding(document: PostDocument, module_id: str, among: set[str]) -> set[str]:
    order = [id_ for id_ in document.order if id_ in among]
    return set(order[: order.index(module_id)])


def _locked(module: ModuleDocument, why: str) -> RuleViolation:
    message = gettext("The module %(type)s (%(id)s) is locked by the module group: it %(why)s.") % {
        "type": module.type,
        "id": module.id,
        "why": why,
    }
    return RuleViolation(message, code="locked_module", details={f"modules.{module.id}": [message]})


def clean_modules(
    post: Post, before: PostDocument, after: PostDocument, changes: Changes
) -> PostDocument:
    """Clean what `changes` names of the modules; details are keyed by `modules.<postModuleId>.props.…`."""
    if len(after.modules) > MODULES_MAX and len(after.modules) > len(before.modules):
        raise invalid(
            "modules",
            gettext("A post has at most %(modules_max)s modules.") % {"modules_max": MODULES_MAX},
        )
    cleaned: dict[str, ModuleDocument] = {}
    edited: dict[str, list[Change]] = {}
    for change in changes:
        if change.module_id is None or change.kind in ("moved", "removed"):
            continue
        if change.kind == "replaced":
            raise _replaced(cast(ModuleDocument, change.before))
        if change.kind == "added":
            module = cast(ModuleDocument, change.after)
            cleaned[module.id] = _clean_new(post, module)
        else:
            edited.setdefault(change.module_id, []).append(change)
    for module_id, parts in edited.items():
        cleaned[module_id] = _clean_edited(cast(ModuleDocument, after.module(module_id)), parts)
    _check_global([module for module in cleaned.values() if module.id not in before.order])
    return replace(after, modules=tuple(cleaned.get(module.id, module) for module in after.modules))


def _replaced(module: ModuleDocument) -> RuleViolation:
    message = gettext("The type of a module cannot change; remove %(id)s and add another.") % {
        "id": module.id
    }
    return RuleViolation(message, code="module_type", details={f"modules.{module.id}": [message]})


def _clean_new(post: Post, module: ModuleDocument) -> ModuleDocument:
    try:
        definition = find_module(module.type)
    except RuleViolation as error:
        raise _below(module.id, error) from None
    reason = why_excluded(post.type, module.type)
    if reason is not None:
        raise invalid(f"modules.{module.id}", reason, code="module_not_allowed")
    if module.scope not in definition.allowed_scopes:
        known = ", ".join(definition.allowed_scopes)
        raise invalid(
            f"modules.{module.id}.scope",
            gettext("%(type)s cannot be %(scope)s; allowed: %(known)s.")
            % {"type": module.type, "scope": module.scope, "known": known},
        )
    try:
        if module.scope == "global":
            return _clean_edited(module, _all_overrides(module))
        props = validate_props(module.type, module.props)
    except RuleViolation as error:
        raise _below(module.id, error) from None
    return replace(_clean_edited(module, _all_overrides(module)), props=props)


def _all_overrides(module: ModuleDocument) -> list[Change]:
    return [
        Change(f"modules.{module.id}.overrides.{name}", "changed", ABSENT, value)
        for name, value in module.overrides.items()
    ]


def _clean_edited(module: ModuleDocument, parts: list[Change]) -> ModuleDocument:
    """Validate the changed props and overrides; the others are left as they are, whatever their age."""
    if not parts:
        return module
    definition = find_module(module.type)
    props, overrides = dict(module.props), dict(module.overrides)
    for part, values in (("props", props), ("overrides", overrides)):
        changed: JsonObject = {}
        for change in parts:
            _, _, where, name = change.path.split(".", 3)
            if where == part and change.after is not ABSENT:
                changed[name] = values[name]
        if changed and part == "props" and module.scope != "local":
            message = gettext(
                "%(type)s is shared by other posts here; change its overrides instead."
            ) % {"type": module.type}
            raise invalid(f"modules.{module.id}.props", message, code="shared_module")
        if changed:
            try:
                values |= validation.check_partial(
                    definition.Props, changed, prefix=part, what=f"The module {module.type}"
                )
            except RuleViolation as error:
                raise _below(module.id, error) from None
    return replace(module, props=props, overrides=overrides)


def _below(module_id: str, error: RuleViolation) -> RuleViolation:
    """The refusal of one module, as one of a post."""
    details = {f"modules.{module_id}.{path}": value for path, value in error.details.items()}
    return RuleViolation(error.message, code=error.code, details=details)


def rekey_for_module(module_id: str, error: RuleViolation) -> RuleViolation:
    """The refusal of a post, as one of the single module that a caller sent: keyed by `props.title`."""
    prefix = f"modules.{module_id}."
    details = {path.removeprefix(prefix): value for path, value in error.details.items()}
    return RuleViolation(error.message, code=error.code, details=details)


def rekey_by_names(error: RuleViolation, names: Mapping[str, str]) -> RuleViolation:
    """The refusal of new modules, which it knows by ids, keyed by names that the caller knows."""
    details = {}
    for path, sentences in error.details.items():
        parts = path.split(".")
        if parts[0] == "modules" and len(parts) > 1:
            parts[1] = names.get(parts[1], parts[1])
        details[".".join(parts)] = sentences
    return RuleViolation(error.message, code=error.code, details=details)


def _check_global(added: list[ModuleDocument]) -> None:
    """A placed global module must exist, and be of that type."""
    wanted = {module.global_slug: module for module in added if module.scope == "global"}
    if not wanted:
        return
    # Locked, so that it cannot be deleted before the post that places it is written.
    shared = ModuleInstance.objects.select_for_update(of=("self",), no_key=True)
    shared = shared.filter(scope="global")
    found = {row.global_slug: row for row in shared.filter(global_slug__in=wanted).order_by("pk")}
    for slug, module in wanted.items():
        row = found.get(slug)
        if row is None or str(row.pk) != module.instance_id or row.type != module.type:
            raise invalid(
                "globalSlug",
                gettext("No global module %(slug)r of type %(type)s.")
                % {"slug": slug, "type": module.type},
                code="unknown_global",
            )
