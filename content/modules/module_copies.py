"""Modules as they travel outside of a post: on the clipboard, in snippets and in post templates.

A copy names a type and its values, never ids, locks or layers. A global module stays a reference by its slug.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, NotRequired, Self

import orjson
from django.utils.translation import gettext as _
from typing_extensions import TypedDict

from content.document.document import ModuleDocument, PostDocument
from content.document.labels import module_label
from content.store.document_edits import add_module
from proofroom.core.errors import RuleViolation, invalid
from proofroom.core.i18n import in_words
from proofroom.core.json import JsonObject
from proofroom.core.validation.input_validation import reject_unstorable
from proofroom.definitions import (
    exclusion_reason,
    find_module,
    find_post_type,
    modules,
    validate_overrides,
    validate_props,
)
from proofroom.definitions.undefined_values import remove_undefined

COPIES_MAX: Final = 50
"""Modules that travel together."""
COPIES_MAX_BYTES: Final = 1_000_000
"""Bytes of JSON that modules have together."""
_KEYS: Final[Mapping[str, type]] = {
    "type": str,
    "props": dict,
    "overrides": dict,
    "globalSlug": str,
    "locked": bool,
}


class StoredCopy(TypedDict):
    """A copied module as JSON. A global module has a slug and overrides, any other has props."""

    type: str
    props: JsonObject
    overrides: JsonObject
    globalSlug: str
    locked: NotRequired[bool]


@dataclass(frozen=True, slots=True)
class ModuleCopy:
    """A module without a place. `global_slug` is empty unless the module is global.

    Only a template keeps that a module is locked.
    """

    type: str
    props: JsonObject
    overrides: JsonObject
    global_slug: str = ""
    is_locked: bool = False

    @property
    def label(self) -> str:
        return module_label(self.type)

    def to_json(self) -> StoredCopy:
        stored: StoredCopy = {
            "type": self.type,
            "props": self.props,
            "overrides": self.overrides,
            "globalSlug": self.global_slug,
        }
        return {**stored, "locked": True} if self.is_locked else stored

    @classmethod
    def from_stored(cls, stored: StoredCopy) -> Self:
        return cls(
            stored["type"],
            stored["props"],
            stored["overrides"],
            stored["globalSlug"],
            stored.get("locked", False),
        )


@dataclass(frozen=True, slots=True)
class RefusedCopy:
    """A module that a post cannot have, and why."""

    label: str
    reason: str


def copies_of(found: Iterable[ModuleDocument], *, keep_locks: bool = False) -> list[ModuleCopy]:
    """Return the modules of a post as copies, without modules that the code no longer defines."""
    return [
        ModuleCopy(
            module.type,
            dict(module.props),
            dict(module.overrides),
            module.global_slug or "",
            keep_locks and module.locked,
        )
        for module in found
        if module.type in modules
    ]


def read_copies(
    value: object, where: str = "modules", *, most: int = COPIES_MAX
) -> list[ModuleCopy]:
    """Return copies from JSON, without their locks. Their values are not checked.

    Raises `RuleViolation` with details below `where`.
    """
    reject_unstorable(value, where)
    if not isinstance(value, list | tuple) or not value:
        raise invalid(where, _("Choose at least one module."))
    if len(value) > most:
        raise invalid(where, _("At most %(most)s modules can be copied together.") % {"most": most})
    require_small(len(orjson.dumps(value)), where)
    return [_read_copy(item, f"{where}.{number}") for number, item in enumerate(value)]


def require_small(size: int, where: str) -> None:
    """Raise `RuleViolation` if copied modules have more than the allowed number of bytes."""
    if size > COPIES_MAX_BYTES:
        raise invalid(
            where,
            _("These modules are too large: %(size)s kB; at most %(most)s kB are allowed.")
            % {"size": f"{size // 1000:,}", "most": f"{COPIES_MAX_BYTES // 1000:,}"},
            code="too_large",
        )


def _read_copy(item: object, where: str) -> ModuleCopy:
    if not isinstance(item, Mapping):
        raise invalid(where, _("A module must be an object."))
    for key, given in item.items():
        if key not in _KEYS:
            known = ", ".join(_KEYS)
            raise invalid(
                f"{where}.{key}"[:90], _("Unknown key. Available: %(known)s.") % {"known": known}
            )
        if given is not None and not isinstance(given, _KEYS[key]):
            raise invalid(f"{where}.{key}", _("%(key)s has the wrong type.") % {"key": key})
    if not item.get("type"):
        raise invalid(f"{where}.type", _("type is required."))
    return ModuleCopy(
        str(item["type"]),
        dict(item.get("props") or {}),
        dict(item.get("overrides") or {}),
        str(item.get("globalSlug") or ""),
    )


def clean_copies(copies: Sequence[ModuleCopy], where: str = "modules") -> list[ModuleCopy]:
    """Return the copies with values valid for their definitions. Raises `RuleViolation` with details by path."""
    cleaned = []
    for number, copy in enumerate(copies):
        try:
            cleaned.append(_clean_copy(copy))
        except RuleViolation as error:
            details = {f"{where}.{number}.{path}": text for path, text in error.details.items()}
            raise RuleViolation(error.message, code=error.code, details=details) from None
    return cleaned


def _clean_copy(copy: ModuleCopy) -> ModuleCopy:
    find_module(copy.type)
    overrides = validate_overrides(copy.type, copy.overrides)
    props = {} if copy.global_slug else validate_props(copy.type, copy.props)
    return replace(copy, props=props, overrides=overrides)


def split_copies(
    copies: Iterable[ModuleCopy], *, post_type: str, shared: Mapping[str, object]
) -> tuple[list[ModuleCopy], list[RefusedCopy]]:
    """Return the copies that a post of this type can have, and the others with the reason.

    `shared` has the slugs of all global modules. Values that the definition no longer has are left out.
    """
    usable: list[ModuleCopy] = []
    refused: list[RefusedCopy] = []
    for copy in copies:
        reason = _exclusion(copy, post_type, shared)
        if reason:
            refused.append(RefusedCopy(copy.label, reason))
            continue
        shape = find_module(copy.type).Props
        props, overrides = (remove_undefined(shape, one) for one in (copy.props, copy.overrides))
        usable.append(replace(copy, props=props, overrides=overrides))
    return usable, refused


def split_valid(
    copies: Iterable[ModuleCopy],
) -> tuple[list[ModuleCopy], list[RefusedCopy]]:
    """Return the copies whose values are valid for their definitions, and the others with the reason."""
    valid: list[ModuleCopy] = []
    refused: list[RefusedCopy] = []
    for copy in copies:
        try:
            valid.append(_clean_copy(copy))
        except RuleViolation as error:
            refused.append(RefusedCopy(copy.label, error.message))
    return valid, refused


def _exclusion(copy: ModuleCopy, post_type: str, shared: Mapping[str, object]) -> str:
    if copy.type not in modules:
        return _("This site does not have this module.")
    if copy.global_slug and copy.global_slug not in shared:
        return _("The global module “%(slug)s” no longer exists.") % {"slug": copy.global_slug}
    if exclusion_reason(post_type, copy.type) is not None:
        label = in_words(find_post_type(post_type).label)
        return _("Not allowed in posts of the type %(type)s.") % {"type": label}
    return ""


def add_copies(
    document: PostDocument, copies: Iterable[ModuleCopy], shared: Mapping[str, str]
) -> PostDocument:
    """Return the document with the copies at its end, under new ids. `shared`: instance ids by slug."""
    for copy in copies:
        slug = copy.global_slug
        document, _id = add_module(
            document,
            type=copy.type,
            props={} if slug else copy.props,
            overrides=copy.overrides,
            shared=(slug, shared[slug]) if slug else None,
            locked=copy.is_locked,
        )
    return document
