"""Create, change and delete forms, by people."""

from __future__ import annotations

from collections.abc import Mapping
from uuid import UUID, uuid4

from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _

from forms.form_input import (
    clean_locale,
    clean_slug,
    form_not_found,
    input_values,
    is_slug,
    read_definition,
)
from forms.models import FormDefinition
from proofroom.core import outbox
from proofroom.core.actor import Actor
from proofroom.core.errors import Conflict, invalid
from proofroom.core.i18n.languages import language_name
from proofroom.core.json import Json, JsonObject


def create_form(
    *,
    slug: str,
    locale: str | None,
    values: Mapping[str, Json],
    actor: Actor,
    form_id: UUID | None = None,
) -> FormDefinition:
    """Create a form from values by API name. `form_id` is its id from another installation.

    Raises `RuleViolation`; for a slug in use the key is `slug`.
    """
    _require_editor(actor)
    form = FormDefinition(id=form_id or uuid4(), slug=clean_slug(slug), locale=clean_locale(locale))
    read_definition(values).write_to(form)
    try:
        # The constraint decides whether the slug is free, because a check before the insert would race. The
        # savepoint keeps the outer transaction usable.
        with transaction.atomic():
            form.save(force_insert=True)
            _record("created", form, actor)
    except IntegrityError:
        raise invalid(
            "slug",
            _("There is already a form %(slug)r in %(language)s.")
            % {"slug": form.slug, "language": language_name(form.locale)},
            code="slug_taken",
        ) from None
    return form


@transaction.atomic
def update_form(
    *,
    slug: str,
    locale: str | None,
    values: Mapping[str, Json],
    actor: Actor,
    expected_version: int | None = None,
) -> FormDefinition:
    """Change the given values. Raises `NotFound`, `Conflict` or `RuleViolation`."""
    _require_editor(actor)
    form = _lock_form(slug, clean_locale(locale))
    if expected_version is not None and expected_version != form.version:
        raise Conflict(
            _("The form is at version %(version)s, not %(expected_version)s. Reload it.")
            % {"version": form.version, "expected_version": expected_version},
            code="stale_version",
            current=form.version,
        )
    for name in ("slug", "locale"):
        if values.get(name, getattr(form, name)) != getattr(form, name):
            raise invalid(
                name,
                _("The %(name)s of a form cannot be changed. Create another form.")
                % {"name": name},
            )
    given = {name: value for name, value in values.items() if name not in ("slug", "locale")}
    before = input_values(form)
    read_definition({**before, **given}).write_to(form)
    if input_values(form) != before:
        form.version += 1
        form.save()
        _record("updated", form, actor)
    return form


@transaction.atomic
def delete_form(*, slug: str, locale: str | None, actor: Actor) -> FormDefinition:
    """Delete the form in one locale. Its submissions stay."""
    _require_editor(actor)
    form = _lock_form(slug, clean_locale(locale))
    # Not form.delete(), which would set the id of the returned form to None.
    FormDefinition.objects.filter(pk=form.pk).delete()
    _record("deleted", form, actor)
    return form


def _require_editor(actor: Actor) -> None:
    actor.require_person("edit forms")
    actor.require("forms.edit")


def _lock_form(slug: str, locale: str) -> FormDefinition:
    rows = FormDefinition.objects.select_for_update().filter(slug=slug, locale=locale)
    form = rows.first() if is_slug(slug) else None
    if form is None:
        raise form_not_found(slug)
    return form


def _record(did: str, form: FormDefinition, actor: Actor) -> None:
    """Record a change, which invalidates cached pages with the form."""
    payload: JsonObject = {
        "what": "form",
        "id": str(form.pk),
        "did": did,
        "slug": form.slug,
        "locale": form.locale,
    }
    outbox.record("content.changed", actor=actor, payload=payload)
