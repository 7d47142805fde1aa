"""Create, change and delete snippets, and find the snippets that a post offers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final
from uuid import UUID, uuid4

from django.db import IntegrityError, transaction
from django.db.models import QuerySet
from django.utils.translation import gettext as _
from pydantic_core import PydanticCustomError

from content.modules.module_copies import clean_copies, read_copies
from media.services.references import drop_references
from proofroom.core import outbox
from proofroom.core.actor import Actor
from proofroom.core.database.id_filters import find_by_id
from proofroom.core.errors import Conflict, NotFound, invalid
from proofroom.core.i18n.languages import require_site_language
from proofroom.core.json import Json, JsonObject
from proofroom.core.validation.input_validation import reject_unstorable
from proofroom.definitions import find_post_type
from proofroom.definitions.fields import check_rich_text, document_of
from proofroom.definitions.richtext.schema import EMPTY
from proofroom_apps.snippets.media_usage import SNIPPET, hold_snippet, snippet_uses
from proofroom_apps.snippets.models import Snippet
from proofroom_apps.snippets.snippet_fields import NewSnippet, SnippetChanges

MANAGE: Final = "snippets.manage"
VIEW: Final = "posts.view"
"""Permission to read snippets: everyone who writes posts may insert them."""
SNIPPETS_MAX: Final = 1_000


@transaction.atomic
def create_snippet(*, actor: Actor, snippet: NewSnippet, snippet_id: UUID | None = None) -> Snippet:
    """Create a snippet. `snippet_id` is its id from another installation. Raises `RuleViolation` by field."""
    require_manager(actor)
    if Snippet.objects.count() >= SNIPPETS_MAX:
        raise invalid("body", _("There can be at most %(most)s snippets.") % {"most": SNIPPETS_MAX})
    row = Snippet(id=snippet_id or uuid4())
    _set_fields(row, snippet)
    _save(row)
    hold_snippet(row, {})
    _record(row, actor, "snippet.created")
    return row


@transaction.atomic
def change_snippet(
    *,
    snippet_id: UUID | str,
    actor: Actor,
    changes: SnippetChanges,
    expected_version: int | None = None,
) -> Snippet:
    """Change the values that were set in `changes`. Raises `Conflict` for an old version."""
    require_manager(actor)
    row = find_snippet(snippet_id, Snippet.objects.select_for_update())
    if expected_version is not None and expected_version != row.version:
        raise Conflict(
            _("This snippet has changed since you opened it. Reload it and repeat your change."),
            code="stale_version",
            current=row.version,
        )
    before, used_before = _values(row), snippet_uses(row)
    _set_fields(row, changes)
    if _values(row) == before:
        return row
    row.version += 1
    _save(row)
    hold_snippet(row, used_before)
    _record(row, actor, "snippet.changed")
    return row


@transaction.atomic
def delete_snippet(*, snippet_id: UUID | str, actor: Actor) -> UUID:
    """Delete a snippet and return its id. What was inserted from it stays."""
    require_manager(actor)
    row = find_snippet(snippet_id, Snippet.objects.select_for_update())
    id_ = row.pk
    _record(row, actor, "snippet.deleted")
    drop_references(SNIPPET, [row.pk])
    row.delete()
    return id_


def find_snippet(snippet_id: UUID | str, rows: QuerySet[Snippet] | None = None) -> Snippet:
    """Return the snippet with this id. Raises `NotFound`."""
    found = find_by_id(Snippet.objects.all() if rows is None else rows, snippet_id)
    if found is None:
        raise NotFound(_("No snippet has the ID %(id)s.") % {"id": str(snippet_id)[:80]})
    return found


def list_snippets(
    *, post_type: str = "", locale: str = "", kind: str = "", with_content: bool = True
) -> list[Snippet]:
    """Return the snippets by name, limited to what posts of this type and language offer. One query.

    Without content, modules and texts are not loaded: all snippets together can be very large.
    """
    rows = Snippet.objects.order_by("name")
    if not with_content:
        rows = rows.defer("modules", "text")
    if kind:
        rows = rows.filter(kind=kind)
    if locale:
        rows = rows.filter(locale__in=("", locale))
    # The list is short, and SQLite cannot search in JSON arrays.
    return [row for row in rows if not post_type or not row.types or post_type in row.types]


def require_manager(actor: Actor) -> None:
    """Raise `NotAllowed` unless the actor is a person who may manage snippets and templates."""
    actor.require_person("manage snippets and templates")
    actor.require(MANAGE)


def _set_fields(row: Snippet, given: NewSnippet) -> None:
    """Set the given values on the row without saving it. Raises `RuleViolation` by field."""
    names = given.model_fields_set
    if "name" in names and given.name is not None:
        row.name = given.name
    if "locale" in names:
        if given.locale and given.locale != row.locale:
            require_site_language(given.locale)
        row.locale = given.locale or ""
    if "types" in names:
        types = list(dict.fromkeys(given.types or ()))
        for name in types:
            # Judged only where it is new: a type that the site no longer has must not block other edits.
            if name not in row.types:
                find_post_type(name)
        row.types = types
    _set_content(row, given)


def _set_content(row: Snippet, given: NewSnippet) -> None:
    has_modules, has_text = bool(given.modules), given.text is not None
    if has_modules and has_text:
        raise invalid("text", _("A snippet has either modules or text."))
    if has_modules:
        copies = clean_copies(read_copies(given.modules))
        row.kind, row.text = Snippet.Kind.MODULES, None
        row.modules = [copy.to_json() for copy in copies]
    elif has_text:
        row.kind, row.modules = Snippet.Kind.TEXT, []
        row.text = _clean_text(given.text)
    elif not row.kind:
        raise invalid("modules", _("Choose at least one module, or some text."))


def _clean_text(value: str | Mapping[str, Any] | None) -> Json:
    try:
        document = document_of(value) if isinstance(value, str) else value
        reject_unstorable(document, "text")
        checked = check_rich_text(document)
    except PydanticCustomError as error:
        raise invalid("text", error.message()) from None
    if not isinstance(checked, dict) or checked == EMPTY or not checked.get("content"):
        raise invalid("text", _("The text is empty."))
    return checked


def _values(row: Snippet) -> JsonObject:
    names = ("name", "kind", "modules", "text", "types", "locale")
    return {name: getattr(row, name) for name in names}


def _save(row: Snippet) -> None:
    try:
        # A savepoint: after an IntegrityError, PostgreSQL refuses further queries in the transaction.
        with transaction.atomic():
            row.save(force_insert=row._state.adding)
    except IntegrityError:
        raise invalid(
            "name", _("There is already a snippet with this name."), code="name_taken"
        ) from None


def _record(row: Snippet, actor: Actor, event: str) -> None:
    about: JsonObject = {"id": str(row.pk), "name": row.name, "kind": row.kind}
    outbox.record(event, actor=actor, payload={**about, "version": row.version})
