"""Template tag for a form on a page, with the result of a submission."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django import template

from forms.rendering import SiteField, SiteForm, SiteStep
from proofroom_apps.website.form_submission import SubmissionResult

register = template.Library()


@dataclass(frozen=True, slots=True)
class ShownField:
    """A field with its value. `described_by`: ids of its help and its errors."""

    field: SiteField
    id: str
    values: tuple[str, ...]
    errors: tuple[str, ...]
    described_by: str

    @property
    def value(self) -> str:
        return self.values[0] if self.values else ""

    @property
    def link(self) -> str:
        """The id of the input that the summary of errors leads to: the first one of a group."""
        return f"{self.id}-1" if self.field.is_group else self.id


@dataclass(frozen=True, slots=True)
class ShownStep:
    """A page of the form, numbered from 1."""

    step: SiteStep
    number: int
    fields: Sequence[ShownField]


@register.inclusion_tag("site/form.html", takes_context=True)
def site_form(context: template.Context, form: SiteForm, at: str) -> dict[str, Any]:
    """Return the context of a form. `at` is the id of its module, used as a prefix of all ids on the page."""
    found = context.get("submission")
    # A page may have several forms; only the submitted one shows the result.
    submission = found if isinstance(found, SubmissionResult) and found.at == at else None
    values: Mapping[str, Sequence[str]] = submission.values if submission else {}
    shown: dict[str, ShownField] = {}
    for field in form.fields:
        id_ = f"form-{at}-{field.name}"
        errors = tuple(submission.errors.get(field.name, ())) if submission else ()
        described = [f"{id_}-help"] if field.help or field.type == "file" else []
        described += [f"{id_}-error"] if errors else []
        given = tuple(values.get(field.name, ()))
        shown[field.name] = ShownField(field, id_, given, errors, " ".join(described))
    return {
        "form": form,
        "at": at,
        # For templates of a site that show all fields on one page.
        "fields": [*shown.values()],
        "steps": [
            ShownStep(step, number, [shown[field.name] for field in step.fields])
            for number, step in enumerate(form.steps, 1)
        ],
        "has_steps": len(form.steps) > 1,
        "submission": submission,
        "wrong": [field for field in shown.values() if field.errors],
        "page_path": context.get("page_path", ""),
        "is_preview": context.get("is_preview", False),
        "is_uncounted": context.get("is_uncounted", False),
    }
