"""Queries of forms and submissions."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from datetime import datetime
from typing import Final

from django.conf import settings
from django.db.models import QuerySet

from forms.fields import MAX_BODY_BYTES, MAX_FILES_BYTES, Field
from forms.form_input import clean_locale, form_not_found, is_slug
from forms.models import FormDefinition, FormSubmission
from proofroom.core.errors import NotFound, RuleViolation
from proofroom.core.privacy.person import clean_email

_MAX_ADDRESSES: Final = 3


def find_form(slug: str, locale: str) -> FormDefinition:
    """Return the form with this slug in the locale, else in the default locale. Raises `NotFound`."""
    default = settings.CMS_ENV.default_locale
    found: Mapping[str, FormDefinition] = {}
    if is_slug(slug):
        # Only valid slugs reach the database, since PostgreSQL refuses NUL.
        rows = FormDefinition.objects.filter(slug=slug, locale__in={locale, default})
        found = {row.locale: row for row in rows}
    form = found.get(locale) or found.get(default)
    if form is None:
        raise form_not_found(slug)
    return form


def submission_limit(slug: str, locale: str | None) -> int:
    """Return the largest size of a submission in bytes, with the files that the form asks for. One query."""
    files = file_fields(slug, locale)
    return MAX_BODY_BYTES + min(sum(field.largest for field in files.values()), MAX_FILES_BYTES)


def file_fields(slug: str, locale: str | None) -> dict[str, Field]:
    """Return the fields for files by name; none for a form that does not exist. One query."""
    with suppress(NotFound, RuleViolation):
        fields = fields_of(find_form(slug, clean_locale(locale)))
        return {field.name: field for field in fields if field.type == "file"}
    return {}


def fields_of(form: FormDefinition) -> list[Field]:
    return [Field.model_validate(row) for row in form.fields]


def titles_of_forms(slugs: Collection[str] | None = None) -> dict[str, str]:
    """Return the titles of these or all forms by slug, in the default locale or else in the first one. One query."""
    default = settings.CMS_ENV.default_locale
    found: dict[str, str] = {}
    rows = FormDefinition.objects.order_by("slug", "locale")
    if slugs is not None:
        rows = rows.filter(slug__in=[slug for slug in slugs if is_slug(slug)])
    for slug, locale, title in rows.values_list("slug", "locale", "title"):
        if locale == default or slug not in found:
            found[slug] = title
    return found


def existing_forms(slugs: Collection[str]) -> set[str]:
    """Return the slugs that a form has in any language. One query."""
    known = [slug for slug in slugs if is_slug(slug)]
    rows = FormDefinition.objects.filter(slug__in=known)
    return set(rows.order_by().values_list("slug", flat=True))


def submissions_of(
    slug: str,
    *,
    locale: str | None = None,
    since: datetime | None = None,
    until: datetime | None = None,
) -> QuerySet[FormSubmission]:
    """Return the submissions of a form, newest first, from `since` up to but excluding `until`.

    Raises `NotFound` if the form doesn't exist and has no submissions.
    """
    rows = FormSubmission.objects.filter(form_slug=slug) if is_slug(slug) else None
    if rows is None or not (FormDefinition.objects.filter(slug=slug).exists() or rows.exists()):
        raise form_not_found(slug)
    if locale is not None:
        rows = rows.filter(locale=locale)
    if since is not None:
        rows = rows.filter(created_at__gte=since)
    if until is not None:
        rows = rows.filter(created_at__lt=until)
    return rows.order_by("-created_at", "-id")


def columns_of(slug: str, payloads: Iterable[Mapping[str, object]]) -> dict[str, str]:
    """Return labels by field name: fields of the form in the default locale, then of other locales, then names
    found only in payloads."""
    forms = list(FormDefinition.objects.filter(slug=slug))
    forms.sort(key=lambda form: (form.locale != settings.CMS_ENV.default_locale, form.locale))
    found: dict[str, str] = {}
    for form in forms:
        for field in fields_of(form):
            if field.has_value:
                found.setdefault(field.name, field.label)
    for payload in payloads:
        for name in payload:
            found.setdefault(name, name)
    return found


def email_fields() -> dict[str, list[str]]:
    """Return the names of the fields for email addresses by form, in the order of the form. One query."""
    found: dict[str, list[str]] = {}
    for form in FormDefinition.objects.order_by("slug", "locale"):
        names = found.setdefault(form.slug, [])
        names += [
            field.name
            for field in fields_of(form)
            if field.type == "email" and field.name not in names
        ]
    return found


def addresses_in(row: FormSubmission) -> dict[str, str]:
    """Return the first email addresses in the answers by reference: the id, or the id and a number."""
    found: dict[str, None] = {}
    for value in row.payload.values():
        with suppress(RuleViolation):
            found[clean_email(value) if isinstance(value, str) else ""] = None
    found.pop("", None)
    return {
        f"{row.pk}.{number}" if number else str(row.pk): email
        for number, email in enumerate([*found][:_MAX_ADDRESSES])
    }
