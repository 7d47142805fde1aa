"""Template tag for a form on a page, with the result of a submission."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django import template

from forms.rendering import SiteField, SiteForm
from proofroom_apps.website.form_submission import SubmissionResult

register = template.Library()


@dataclass(frozen=True, slots=True)
class ShownField:
    """A field with its value. `described_by`: ids of its help and its errors."""

    field: SiteField
    id: str
    value: str
    errors: tuple[str, ...]
    described_by: str


@register.inclusion_tag("site/form.html", takes_context=True)
def site_form(context: template.Context, form: SiteForm, at: str) -> dict[str, Any]:
    """Return the context of a form. `at` is the id of its module, used as a prefix of all ids on the page."""
    found = context.get("submission")
    # A page may have several forms; only the submitted one shows the result.
    submission = found if isinstance(found, SubmissionResult) and found.at == at else None
    values: Mapping[str, str] = submission.values if submission else {}
    fields = []
    for field in form.fields:
        id_ = f"form-{at}-{field.name}"
        errors = tuple(submission.errors.get(field.name, ())) if submission else ()
        described = [f"{id_}-help"] if field.help else []
        described += [f"{id_}-error"] if errors else []
        value = values.get(field.name, "")
        fields.append(ShownField(field, id_, value, errors, " ".join(described)))
    return {
        "form": form,
        "at": at,
        "fields": fields,
        "submission": submission,
        "wrong": [field for field in fields if field.errors],
        "page_path": context.get("page_path", ""),
        "is_preview": context.get("is_preview", False),
        "is_uncounted": context.get("is_uncounted", False),
    }
