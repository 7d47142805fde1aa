"""Forms as shown on pages of the site."""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlencode

from django.conf import settings
from pydantic import ValidationError

from forms.fields import HONEYPOT, MAX_LENGTHS, Field, FieldType, split_steps
from forms.file_types import FILE_KINDS
from forms.form_input import is_slug
from forms.models import FormDefinition
from proofroom.core.caching.cache_tags import add_cache_tags, form_tag
from proofroom.core.caching.content_memo import note_failure
from proofroom.core.database.compiled_queries import CompiledQuery

logger = logging.getLogger(__name__)
_AUTOCOMPLETE: Final[Mapping[str, str]] = {
    "name": "name",
    "fullname": "name",
    "firstname": "given-name",
    "givenname": "given-name",
    "lastname": "family-name",
    "surname": "family-name",
    "familyname": "family-name",
    "company": "organization",
    "organisation": "organization",
    "organization": "organization",
    "street": "address-line1",
    "address": "street-address",
    "city": "address-level2",
    "town": "address-level2",
    "postcode": "postal-code",
    "zip": "postal-code",
    "country": "country-name",
    "birthday": "bday",
}
"""Values of the `autocomplete` attribute by field name."""
_AUTOCOMPLETE_BY_TYPE: Final[Mapping[FieldType, str]] = {
    "email": "email",
    "tel": "tel",
    "url": "url",
}
_FORMS: Final = CompiledQuery(
    lambda slugs, locale, default: FormDefinition.objects.filter(
        slug__in=slugs, locale__in=[locale, default]
    ).values(
        "slug",
        "locale",
        "title",
        "description",
        "fields",
        "submit_label",
        "success_message",
        "redirect_url",
    )
)


@dataclass(frozen=True, slots=True)
class SiteField:
    """A field of a form."""

    name: str
    label: str
    type: FieldType
    required: bool
    options: tuple[str, ...]
    min_length: int | None
    max_length: int | None
    pattern: str
    placeholder: str
    help: str
    autocomplete: str
    accept: str
    file_types: str
    largest: int
    condition: str
    is_conditional: bool
    """Only shown for some answers: the server decides whether it is required."""

    @property
    def is_group(self) -> bool:
        """True for several inputs under one legend."""
        return self.type in ("radio", "checkboxes")


@dataclass(frozen=True, slots=True)
class SiteStep:
    """Fields that are one page of a form. Without steps, a form has a single one without title."""

    title: str
    help: str
    condition: str
    fields: tuple[SiteField, ...]


@dataclass(frozen=True, slots=True)
class SiteForm:
    """A form in the locale of a page, or in the default one. `action` is its submission URL."""

    slug: str
    title: str
    description: str
    submit_label: str
    success_message: str
    redirect_url: str
    action: str
    honeypot: str
    fields: tuple[SiteField, ...]
    steps: tuple[SiteStep, ...]

    @property
    def has_files(self) -> bool:
        return any(field.type == "file" for field in self.fields)

    @property
    def needs_script(self) -> bool:
        """True for a form with conditions or several pages. It also works without the script."""
        return len(self.steps) > 1 or any(
            field.is_conditional or field.type == "checkboxes" for field in self.fields
        )


def load_forms(slugs: Collection[str], locale: str) -> dict[str, SiteForm]:
    """Return the existing forms by slug. One query. A broken form is skipped, with a log entry."""
    default: str = settings.CMS_ENV.default_locale
    known = [slug for slug in slugs if is_slug(slug)]
    rows = _FORMS.rows(known, locale, default)
    add_cache_tags(*map(form_tag, known))
    found: dict[str, SiteForm] = {}
    # The page's own language comes last, so that it overwrites the default one.
    for row in sorted(rows, key=lambda row: bool(row["locale"] == locale)):
        try:
            steps = _site_steps([Field.model_validate(field) for field in row["fields"]])
        except ValidationError:  # stored fields may be older than the rules
            logger.exception("cannot render form %s (%s)", row["slug"], row["locale"])
            note_failure()
            continue
        found[row["slug"]] = SiteForm(
            slug=row["slug"],
            title=row["title"],
            description=row["description"],
            submit_label=row["submit_label"],
            success_message=row["success_message"],
            redirect_url=row["redirect_url"],
            action=form_address(row["slug"], locale),
            honeypot=HONEYPOT,
            fields=tuple(field for step in steps for field in step.fields),
            steps=steps,
        )
    return found


def _site_steps(fields: Sequence[Field]) -> tuple[SiteStep, ...]:
    return tuple(
        SiteStep(
            title=step.label if step else "",
            help=(step.help or "") if step else "",
            condition=_condition(step) if step else "",
            fields=tuple(
                _site_field(field, is_in_condition=step is not None and bool(step.show_if))
                for field in own
            ),
        )
        for step, own in split_steps(fields)
    )


def _condition(field: Field) -> str:
    """Return the condition as JSON for the script of the page, or an empty text."""
    return field.show_if.model_dump_json(exclude_none=True) if field.show_if else ""


def _site_field(field: Field, *, is_in_condition: bool) -> SiteField:
    autocomplete = _AUTOCOMPLETE_BY_TYPE.get(field.type, "")
    if field.type in ("text", "textarea", "date"):
        autocomplete = _AUTOCOMPLETE.get(field.name.replace("_", "").lower(), "")
    return SiteField(
        name=field.name,
        label=field.label,
        type=field.type,
        required=field.required,
        options=tuple(field.options or ()),
        min_length=field.min_length,
        max_length=field.longest if field.type in MAX_LENGTHS else None,
        pattern=field.pattern or "",
        placeholder=field.placeholder or "",
        help=field.help or "",
        autocomplete=autocomplete,
        accept=",".join(field.accepted_types) if field.type == "file" else "",
        file_types=", ".join(FILE_KINDS[name].label for name in field.accepted_types),
        largest=field.largest,
        condition=_condition(field),
        is_conditional=is_in_condition or field.show_if is not None,
    )


def form_address(slug: str, locale: str) -> str:
    """Return the submission URL of a form, which also shows the form on its own page."""
    query = "" if locale == settings.CMS_ENV.default_locale else f"?{urlencode({'locale': locale})}"
    return f"/forms/{slug}{query}"


def goal_of(slug: str) -> str:
    """Return the analytics goal of a submission. The colon keeps it distinct from goals defined on pages."""
    return f"form:{slug}"
