"""Rules for the modules of a post, their values and locks."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final, cast
from uuid import UUID

from django.utils import timezone
from django.utils.translation import gettext as _

from content.document.changes import ABSENT, Change, Changes
from content.document.document import ModuleDocument, PostDocument
from content.document.post_fields import (
    AUTHORS_MAX,
    MAX_ID,
    POST_FIELDS,
    FieldFormat,
    FieldKind,
    PostField,
)
from content.models import ModuleInstance, Post
from proofroom.core.errors import RuleViolation, invalid
from proofroom.core.json import Json, JsonObject, format_time
from proofroom.core.validation.host_names import has_valid_host
from proofroom.core.validation.input_validation import clean_line, reject_unstorable
from proofroom.core.validation.moments import parse_moment
from proofroom.core.validation.slugs import clean_slug
from proofroom.definitions import exclusion_reason, find_module, validate_props, validation
from proofroom.definitions.richtext.schema import safe_href

_JSON_MAX: Final = 20_000
_MAX_SAFE_INTEGER: Final = 2**53


def clean_value(name: str, value: Json) -> Json:
    """Return the value to store in a field. Raises `RuleViolation` keyed by field name."""
    field = POST_FIELDS[name]
    check = _FORMATS.get(field.format) or _KINDS.get(field.kind)
    return check(field, value) if check is not None else _clean_text(field, value)


def _clean_text(field: PostField, value: Json) -> Json:
    if value is None and not field.required:
        return None if field.is_nullable else ""
    return clean_line(
        field.name,
        value,
        field.max_length or 0,
        required=field.required,
        lines=field.kind == "textarea",
    )


def _clean_slug_field(field: PostField, value: Json) -> Json:
    return clean_slug(str(_clean_text(field, value)), field.max_length or 0)


def _clean_address(field: PostField, value: Json) -> Json:
    text = str(_clean_text(field, value) or "")
    if not text:
        return None if field.is_nullable else ""
    is_absolute = text.startswith(("http://", "https://"))
    if not is_absolute or safe_href(text) is None or not has_valid_host(text):
        raise invalid(
            field.name,
            _("%(name)s must be an absolute http(s) address.") % {"name": field.name},
        )
    return text


def _clean_json_object(field: PostField, value: Json) -> Json:
    name = field.name
    if value is None:
        return None
    if not isinstance(value, Mapping):
        raise invalid(name, _("%(name)s must be an object or null.") % {"name": name})
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False)
        # Lone surrogates cannot be encoded or stored.
        text.encode()
        _check_numbers(value)
    except (ValueError, RecursionError):
        message = _("%(name)s contains a number or character that cannot be stored.") % {
            "name": name
        }
        raise invalid(name, message) from None
    if len(text) > _JSON_MAX:
        raise invalid(
            name,
            _("%(name)s is too large; at most %(json_max)s characters of JSON are allowed.")
            % {"name": name, "json_max": f"{_JSON_MAX:,}"},
        )
    # PostgreSQL cannot store NUL in JSON.
    if "\\u0000" in text:
        raise invalid(name, _("%(name)s must not contain control characters.") % {"name": name})
    return dict(value)


def _check_numbers(value: Json) -> None:
    """Raise `ValueError` for a number that JSON parsers cannot represent exactly."""
    if isinstance(value, Mapping):
        for item in value.values():
            _check_numbers(item)
    elif isinstance(value, list | tuple):
        for item in value:
            _check_numbers(item)
    elif isinstance(value, int | float) and abs(value) > _MAX_SAFE_INTEGER:
        raise ValueError(value)


def _clean_robots(field: PostField, value: Json) -> Json:
    name = field.name
    found = _clean_json_object(field, value)
    if isinstance(found, Mapping):
        for key, item in found.items():
            if key in ("index", "follow") and not isinstance(item, bool):
                raise invalid(
                    name, _("%(name)s.%(key)s must be true or false.") % {"name": name, "key": key}
                )
    return found


def _clean_uuid(field: PostField, value: Json) -> Json:
    name = field.name
    if value is None:
        return None
    try:
        return str(UUID(str(value)))
    except ValueError:
        raise invalid(name, _("%(name)s must be a UUID.") % {"name": name}) from None


def _clean_whole_number(field: PostField, value: Json) -> Json:
    name = field.name
    if value is None:
        return None if field.is_nullable else 0
    # `bool` is a subclass of `int`.
    if isinstance(value, bool) or not isinstance(value, int) or abs(value) > 1_000_000:
        raise invalid(
            name,
            _("%(name)s must be a whole number between -1,000,000 and 1,000,000.") % {"name": name},
        )
    return value


def _clean_moment(field: PostField, value: Json) -> Json:
    name = field.name
    if value is None:
        return None
    moment = parse_moment(value)
    if moment is None:
        raise invalid(
            name,
            _("%(name)s must be an ISO 8601 time with a time zone, such as 2030-01-31T08:00:00Z.")
            % {"name": name},
        )
    if moment <= timezone.now():
        raise invalid(name, _("Choose a time in the future."))
    return format_time(moment)


def _clean_people(field: PostField, value: Json) -> Json:
    name = field.name
    if value is None:
        return []
    # `bool` is a subclass of `int`.
    if not isinstance(value, list) or not all(
        isinstance(item, int) and not isinstance(item, bool) and 0 < item <= MAX_ID
        for item in value
    ):
        raise invalid(name, _("%(name)s must be a list of IDs of accounts.") % {"name": name})
    if len(value) > AUTHORS_MAX:
        raise invalid(
            name,
            _("A post can have at most %(authors_max)s authors.") % {"authors_max": AUTHORS_MAX},
        )
    return list(dict.fromkeys(value))


_FORMATS: Final[Mapping[FieldFormat, Callable[[PostField, Json], Json]]] = {
    "slug": _clean_slug_field,
    "robots": _clean_robots,
}
_KINDS: Final[Mapping[FieldKind, Callable[[PostField, Json], Json]]] = {
    "url": _clean_address,
    "json": _clean_json_object,
    "media": _clean_uuid,
    "post-reference": _clean_uuid,
    "number": _clean_whole_number,
    "moment": _clean_moment,
    "people": _clean_people,
}


MODULES_MAX = 300


def check_locks(before: PostDocument, after: PostDocument) -> None:
    """Check that locked modules are not removed, replaced, unlocked or moved, and stay on top if they are on top."""
    common = set(before.order) & set(after.order)
    for module in before.modules:
        if not module.locked:
            continue
        now = after.module(module.id)
        if now is None:
            raise _locked_error(module, _("cannot be removed"))
        if now.identity != module.identity:
            raise _locked_error(module, _("cannot be unlocked or turned into another module"))
        if _preceding(before, module.id, common) != _preceding(after, module.id, common):
            raise _locked_error(module, _("cannot be moved"))
    # Comparing the preceding modules does not notice a new module above the locked ones at the top.
    for index, module in enumerate(before.modules):
        if not module.locked:
            break
        if after.order.index(module.id) != index:
            raise _locked_error(module, _("comes first; nothing can be placed above it"))


def _preceding(document: PostDocument, module_id: str, among: set[str]) -> set[str]:
    order = [id_ for id_ in document.order if id_ in among]
    return set(order[: order.index(module_id)])


def _locked_error(module: ModuleDocument, why: str) -> RuleViolation:
    message = _("The module %(type)s (%(id)s) is locked by the module group: it %(why)s.") % {
        "type": module.type,
        "id": module.id,
        "why": why,
    }
    return RuleViolation(message, code="locked_module", details={f"modules.{module.id}": [message]})


def clean_modules(
    post: Post, before: PostDocument, after: PostDocument, changes: Changes
) -> PostDocument:
    """Clean the changed modules. Details of errors are keyed by `modules.<postModuleId>.props.…`."""
    # A post that already exceeds the limit can still be edited.
    if len(after.modules) > MODULES_MAX and len(after.modules) > len(before.modules):
        raise invalid(
            "modules",
            _("A post can have at most %(modules_max)s modules.") % {"modules_max": MODULES_MAX},
        )
    cleaned: dict[str, ModuleDocument] = {}
    edited: dict[str, list[Change]] = {}
    for change in changes:
        if change.module_id is None or change.kind in ("moved", "removed"):
            continue
        if change.kind == "replaced":
            was = cast(ModuleDocument, change.before)
            message = _(
                "The type of a module cannot be changed. Remove %(id)s and add another module."
            ) % {"id": was.id}
            details = {f"modules.{was.id}": [message]}
            raise RuleViolation(message, code="module_type", details=details)
        if change.kind == "added":
            module = cast(ModuleDocument, change.after)
            cleaned[module.id] = _clean_new(post, module)
        else:
            edited.setdefault(change.module_id, []).append(change)
    for module_id, parts in edited.items():
        cleaned[module_id] = _clean_edited(cast(ModuleDocument, after.module(module_id)), parts)
    # A newly placed global module must exist and have the given type.
    wanted = {
        module.global_slug: module
        for module in cleaned.values()
        if module.id not in before.order and module.scope == "global"
    }
    if wanted:
        # Locked, so that it cannot be deleted before the post is written. Ordered, so that locks cannot deadlock.
        shared = ModuleInstance.objects.select_for_update(of=("self",), no_key=True)
        shared = shared.filter(scope="global", global_slug__in=wanted).order_by("pk")
        found = {row.global_slug: row for row in shared}
        for slug, module in wanted.items():
            row = found.get(slug)
            if row is None or str(row.pk) != module.instance_id or row.type != module.type:
                raise invalid(
                    "globalSlug",
                    _("No global module %(slug)r of type %(type)s.")
                    % {"slug": slug, "type": module.type},
                    code="unknown_global",
                )
    return replace(after, modules=tuple(cleaned.get(module.id, module) for module in after.modules))


def _clean_new(post: Post, module: ModuleDocument) -> ModuleDocument:
    try:
        definition = find_module(module.type)
    except RuleViolation as error:
        raise _rekey_for_post(module.id, error) from None
    reason = exclusion_reason(post.type, module.type)
    if reason is not None:
        raise invalid(f"modules.{module.id}", reason, code="module_not_allowed")
    if module.scope not in definition.allowed_scopes:
        known = ", ".join(definition.allowed_scopes)
        raise invalid(
            f"modules.{module.id}.scope",
            _("%(type)s cannot be %(scope)s; allowed: %(known)s.")
            % {"type": module.type, "scope": module.scope, "known": known},
        )
    try:
        if module.scope == "global":
            return _clean_edited(module, _all_overrides(module))
        props = validate_props(module.type, module.props)
    except RuleViolation as error:
        raise _rekey_for_post(module.id, error) from None
    return replace(_clean_edited(module, _all_overrides(module)), props=props)


def _all_overrides(module: ModuleDocument) -> list[Change]:
    return [
        Change(f"modules.{module.id}.overrides.{name}", "changed", ABSENT, value)
        for name, value in module.overrides.items()
    ]


def _clean_edited(module: ModuleDocument, parts: list[Change]) -> ModuleDocument:
    """Validate the changed props and overrides. Others stay unchanged, even if no longer valid."""
    definition = find_module(module.type)
    props, overrides = dict(module.props), dict(module.overrides)
    for part, values in (("props", props), ("overrides", overrides)):
        changed: JsonObject = {}
        for change in parts:
            where, name = change.path.split(".", 3)[2:]
            # Removed values need no validation.
            if where == part and change.after is not ABSENT:
                changed[name] = values[name]
        if changed and part == "props" and module.scope != "local":
            message = _("%(type)s is shared with other posts. Change its overrides instead.") % {
                "type": module.type
            }
            raise invalid(f"modules.{module.id}.props", message, code="shared_module")
        if changed:
            try:
                values |= validation.check_partial(
                    definition.Props, changed, prefix=part, what=f"The module {module.type}"
                )
            except RuleViolation as error:
                raise _rekey_for_post(module.id, error) from None
    return replace(module, props=props, overrides=overrides)


def _rekey_for_post(module_id: str, error: RuleViolation) -> RuleViolation:
    """Return the error of a module with details keyed for the post."""
    details = {f"modules.{module_id}.{path}": value for path, value in error.details.items()}
    return RuleViolation(error.message, code=error.code, details=details)


def rekey_for_module(module_id: str, error: RuleViolation) -> RuleViolation:
    """Return the error of a post with details keyed for the single module that the caller sent: `props.title`."""
    prefix = f"modules.{module_id}."
    details = {path.removeprefix(prefix): value for path, value in error.details.items()}
    return RuleViolation(error.message, code=error.code, details=details)


def rekey_by_names(error: RuleViolation, names: Mapping[str, str]) -> RuleViolation:
    """Return the error of new modules, keyed by the caller's names instead of ids."""
    details = {}
    for path, sentences in error.details.items():
        parts = path.split(".")
        if parts[0] == "modules" and len(parts) > 1:
            parts[1] = names.get(parts[1], parts[1])
        details[".".join(parts)] = sentences
    return RuleViolation(error.message, code=error.code, details=details)


_KEYS_OF_GROUP: Final[Mapping[str, type]] = {
    "type": str,
    "scope": str,
    "locked": bool,
    "props": dict,
    "globalSlug": str,
    "orderIndex": int,
}


def check_places(entries: object) -> list[Mapping[str, Json]]:
    """Validate the modules of a stored group: objects with known keys. Raises `RuleViolation` by path."""
    reject_unstorable(entries, "modules")
    if not isinstance(entries, list | tuple) or len(entries) > MODULES_MAX:
        raise invalid(
            "modules",
            _("modules must be a list of at most %(modules_max)s modules.")
            % {"modules_max": MODULES_MAX},
        )
    for number, entry in enumerate(entries):
        where = f"modules.{number}"
        if not isinstance(entry, Mapping):
            raise invalid(where, _("A module must be an object."))
        for key, value in entry.items():
            if key not in _KEYS_OF_GROUP:
                known = ", ".join(_KEYS_OF_GROUP)
                raise invalid(
                    f"{where}.{key}"[:90],
                    _("Unknown key. Available: %(known)s.") % {"known": known},
                )
            if value is not None and not isinstance(value, _KEYS_OF_GROUP[key]):
                raise invalid(f"{where}.{key}", _("%(key)s has the wrong type.") % {"key": key})
        if not entry.get("type"):
            raise invalid(f"{where}.type", _("type is required."))
    return list(entries)
