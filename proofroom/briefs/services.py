"""Create, change, delete and restore editorial briefs: one for each language, post type and section."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final
from uuid import UUID, uuid4

from django.db import IntegrityError, transaction
from django.db.models import QuerySet
from django.utils.translation import gettext as _

from proofroom.briefs.brief_fields import (
    CHARACTERS_MAX,
    BriefChanges,
    ExampleEntry,
    NewBrief,
    TermEntry,
)
from proofroom.briefs.models import Brief
from proofroom.briefs.sections import normalize_section
from proofroom.core import outbox
from proofroom.core.actor import Actor
from proofroom.core.database.id_filters import find_by_id
from proofroom.core.errors import Conflict, NotFound, RuleViolation, invalid
from proofroom.core.i18n.languages import require_site_language
from proofroom.core.json import Json, JsonObject
from proofroom.core.validation.errors import validate_input
from proofroom.definitions import find_post_type
from proofroom.shared_content.models import SharedRevision
from proofroom.shared_content.revisions import (
    RESTORED,
    SharedChange,
    delete_revisions,
    list_revisions,
    record_revisions,
)

KIND: Final = "brief"
"""The kind of the versions among the revisions of shared content."""
BRIEFS_MAX: Final = 500
EDIT: Final = "briefs.edit"
VIEW: Final = "posts.view"
"""Permission to read briefs: everyone who reads posts may know how they are written."""
PLACE: Final = ("locale", "type", "section")
LISTS: Final = ("never", "terms", "protected_names", "examples")
FIELDS: Final = (
    "name",
    *PLACE,
    "audience",
    "voice",
    "address",
    "reading_level",
    *LISTS,
)
"""The fields of a version, in the order of the form."""


@transaction.atomic
def create_brief(*, actor: Actor, brief: NewBrief, brief_id: UUID | None = None) -> Brief:
    """Create a brief. `brief_id` is its id from another installation. Raises `RuleViolation` by field."""
    _allow(actor)
    if Brief.objects.count() >= BRIEFS_MAX:
        raise invalid("body", _("There can be at most %(most)s briefs.") % {"most": BRIEFS_MAX})
    row = Brief(id=brief_id or uuid4())
    _set_fields(row, _given_values(brief))
    _save(row)
    _record(row, actor, "brief.created")
    change = SharedChange(row.pk, row.version, brief_document(row))
    record_revisions(KIND, [change], actor=actor, reason="created")
    return row


@transaction.atomic
def change_brief(
    *,
    brief_id: UUID | str,
    actor: Actor,
    changes: BriefChanges,
    expected_version: int | None = None,
) -> Brief:
    """Change the values that were set in `changes`; one that equals the stored value changes nothing.

    Raises `Conflict` for an old version, and the errors of `create_brief`.
    """
    _allow(actor)
    row = _lock_brief(brief_id, expected_version)
    return _write(row, _given_values(changes), actor, "edited")


@transaction.atomic
def delete_brief(*, brief_id: UUID | str, actor: Actor) -> UUID:
    """Delete a brief with its versions, and return its id."""
    _allow(actor)
    row = _lock_brief(brief_id)
    # delete() sets the primary key of the object to None.
    id_ = row.pk
    _record(row, actor, "brief.deleted")
    row.delete()
    delete_revisions(KIND, id_)
    return id_


@transaction.atomic
def restore_brief(
    *, brief_id: UUID | str, version: int, actor: Actor, expected_version: int | None = None
) -> Brief:
    """Write the values of a version to the brief, as a new version. Raises `NotFound`, and the errors of an edit."""
    _allow(actor)
    row = _lock_brief(brief_id, expected_version)
    stored = find_version(row, version).document
    return _write(row, {name: stored[name] for name in FIELDS if name in stored}, actor, RESTORED)


def find_brief(brief_id: UUID | str, rows: QuerySet[Brief] | None = None) -> Brief:
    """Return the brief with this id. Raises `NotFound`."""
    found = find_by_id(Brief.objects.all() if rows is None else rows, brief_id)
    if found is None:
        raise NotFound(_("No brief has the ID %(id)s.") % {"id": str(brief_id)[:80]})
    return found


def list_versions(brief: Brief) -> QuerySet[SharedRevision]:
    """Return the versions of a brief, newest first."""
    return list_revisions(KIND, brief.pk)


def find_version(brief: Brief, version: int) -> SharedRevision:
    """Return a version of a brief. Raises `NotFound`, also for one that is no longer stored."""
    found = list_versions(brief).filter(version=version).first()
    if found is None:
        raise NotFound(_("The brief has no version %(version)s.") % {"version": version})
    return found


def brief_document(brief: Brief) -> JsonObject:
    """Return the brief as its versions store it."""
    return {name: getattr(brief, name) for name in FIELDS}


def checked_brief(values: Mapping[str, Any]) -> Brief:
    """Return an unsaved brief with values as a client sends them, for a preview. Raises `RuleViolation` by field."""
    row = Brief()
    _set_fields(row, _given_values(validate_input(values, NewBrief)))
    return row


def _given_values(given: NewBrief) -> dict[str, Json]:
    """Return the values that were set, as they are stored."""
    values: dict[str, Json] = {}
    for name in FIELDS:
        if name not in given.model_fields_set:
            continue
        value: object = getattr(given, name)
        if name == "name":
            # Null leaves the name, because a brief must have one.
            if isinstance(value, str):
                values[name] = value
        elif name in LISTS:
            values[name] = _stored_list(value)
        elif name == "section":
            values[name] = normalize_section(str(value or ""))
        else:
            values[name] = str(value or "")
    return values


def _stored_list(value: object) -> list[Json]:
    items: Sequence[object] = value if isinstance(value, list) else []
    return [
        item.to_stored() if isinstance(item, TermEntry | ExampleEntry) else str(item)  # type: ignore[misc]  # a TypedDict is JSON
        for item in items
    ]


def _write(row: Brief, values: Mapping[str, Json], actor: Actor, reason: str) -> Brief:
    earlier, earlier_version, earlier_at = brief_document(row), row.version, row.updated_at
    _set_fields(row, values)
    if brief_document(row) == earlier:
        return row
    row.version += 1
    _save(row)
    changed: list[Json] = [name for name in FIELDS if getattr(row, name) != earlier[name]]
    more: JsonObject = {"did": "restored"} if reason == RESTORED else {}
    _record(row, actor, "brief.changed", {"changed": changed, **more})
    change = SharedChange(
        row.pk, row.version, brief_document(row), earlier_version, earlier, earlier_at
    )
    record_revisions(KIND, [change], actor=actor, reason=reason)
    return row


def _set_fields(row: Brief, values: Mapping[str, Json]) -> None:
    """Set the values on the row without saving it. Raises `RuleViolation` by field."""
    locale, type_ = str(values.get("locale", "")), str(values.get("type", ""))
    # Judged only where it changes: a language or type that the site no longer has must not block other edits.
    if locale and locale != row.locale:
        require_site_language(locale)
    if type_ and type_ != row.type:
        find_post_type(type_)
    for name, value in values.items():
        setattr(row, name, value)
    _refuse_duplicates("terms", [term["term"] for term in row.terms], ".term")
    _refuse_duplicates("protectedNames", row.protected_names)
    _refuse_duplicates("never", row.never)
    _refuse_contradictions(row)
    size = sum(_length(getattr(row, name)) for name in FIELDS)
    if size > CHARACTERS_MAX:
        raise invalid(
            "body",
            _(
                "The brief has %(size)s characters; at most %(most)s are allowed, because agents read it with every "
                "task."
            )
            % {"size": f"{size:,}", "most": f"{CHARACTERS_MAX:,}"},
        )


def _length(value: Json) -> int:
    """Return the number of characters of all texts in a value."""
    if isinstance(value, str):
        return len(value)
    if isinstance(value, Mapping):
        return sum(_length(item) for item in value.values())
    return sum(_length(item) for item in value) if isinstance(value, Sequence) else 0


def _refuse_duplicates(name: str, values: Sequence[str], end: str = "") -> None:
    seen: set[str] = set()
    for place, value in enumerate(values):
        if value in seen:
            raise invalid(
                f"{name}.{place}{end}",
                _("“%(value)s” is in the list already.") % {"value": value[:80]},
            )
        seen.add(value)


def _refuse_contradictions(row: Brief) -> None:
    """Refuse rules that no text can follow. Agents would read both, and the check would find neither."""
    replaced = {
        term["term"] for term in row.terms if term.get("forbidden") or term.get("preferred")
    }
    for place, term in enumerate(row.terms):
        preferred = term.get("preferred", "")
        if preferred in replaced:
            raise invalid(
                f"terms.{place}.preferred",
                _("“%(term)s” is itself a term to avoid. Name a term that texts may use.")
                % {"term": preferred},
            )
    for place, name in enumerate(row.protected_names):
        if name in replaced:
            raise invalid(
                f"protectedNames.{place}",
                _("“%(term)s” is also a term to avoid. Remove it from one of the lists.")
                % {"term": name},
            )


def _save(row: Brief) -> None:
    try:
        # A savepoint: after an IntegrityError, PostgreSQL refuses further queries in the transaction.
        with transaction.atomic():
            row.save(force_insert=row._state.adding)
    except IntegrityError:
        raise _place_taken(row) from None


def _place_taken(row: Brief) -> RuleViolation:
    # The narrowest part, which is the one to change.
    field = next((name for name in ("section", "type", "locale") if getattr(row, name)), "locale")
    return invalid(
        field,
        _("There is already a brief for this language, post type and section. Edit that one."),
        code="brief_exists",
    )


def _record(row: Brief, actor: Actor, event: str, more: Mapping[str, Json] | None = None) -> None:
    place: JsonObject = {name: value for name in PLACE if (value := getattr(row, name))}
    about: JsonObject = {"id": str(row.pk), "name": row.name, "version": row.version}
    outbox.record(event, actor=actor, payload={**about, **place, **(more or {})})


def _lock_brief(brief_id: UUID | str, expected_version: int | None = None) -> Brief:
    row = find_brief(brief_id, Brief.objects.select_for_update())
    # Compared under the lock, so that no other writer comes in between.
    if expected_version is not None and expected_version != row.version:
        raise Conflict(
            _("This brief has changed since you opened it. Reload it and repeat your change."),
            code="stale_version",
            current=row.version,
        )
    return row


def _allow(actor: Actor) -> None:
    actor.require_person("change editorial briefs")
    actor.require(EDIT)
