"""The page where a form is built: its cards, what each may be, and how visitors see it."""

from __future__ import annotations

import json
from typing import Any, Final

from django.http import HttpRequest
from django.urls import reverse

from forms.admin.field_cards import KINDS, acted, cards
from forms.fields import MOST_FIELDS
from forms.models import FormDefinition, FormSubmission
from proofroom.core.admin.permissions import may
from proofroom.core.admin.row_forms import RowsForm
from proofroom.core.json import JsonObject

_LONG: Final = 100_000


def builder_context(request: HttpRequest, row: FormDefinition, form: RowsForm) -> dict[str, object]:
    """What the page shows: the fields that are stored, or as the button that was pressed leaves them."""
    problem, said = "", ""
    rows: list[JsonObject] = list(row.fields)
    if request.method == "POST":
        try:
            rows, said = acted(request.POST)
        except ValueError as error:
            problem = str(error)[:200]
    is_new = request.POST.get("do", "").partition(":")[0] == "add"
    return {
        "cards": cards(rows, form.problems, len(rows) - 1 if is_new else None),
        "json": json.dumps(rows, indent=2, ensure_ascii=False)[:_LONG],
        "problem": problem,
        "said": said,
        "is_changed": request.method == "POST",
        "kinds": list(KINDS.items()),
        "most": MOST_FIELDS,
        "shown": {
            name: str(form[name].value() or "") for name in ("title", "description", "submitLabel")
        },
        **_around(request, row),
    }


def _around(request: HttpRequest, row: FormDefinition) -> dict[str, Any]:
    submissions = reverse("admin:forms_formsubmission_changelist")
    others = FormDefinition.objects.filter(slug=row.slug).exclude(pk=row.pk).order_by("locale")
    may_read = may(request, "forms.submissions")
    return {
        "siblings": others,
        "may_read": may_read,
        "sent": FormSubmission.objects.filter(form_slug=row.slug).count() if may_read else 0,
        "submissions_url": f"{submissions}?form_slug={row.slug}",
        "export_url": f"/api/forms/{row.slug}/submissions/export",
    }
