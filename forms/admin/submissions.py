"""Admin pages of submissions: list, read and delete."""

from __future__ import annotations

from typing import Any, Final

from django.conf import settings
from django.contrib import admin, messages
from django.db.models import Case, OuterRef, Q, QuerySet, Subquery, When
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from forms.confirmation import format_answer
from forms.form_input import is_slug
from forms.models import ConfirmationState, FormDefinition, FormSubmission
from forms.queries import addresses_in, columns_of, titles_of_forms
from forms.services.files import is_file, link_to
from forms.services.submissions import delete_submission, record_view
from proofroom.core.admin.form_pages import form_page
from proofroom.core.admin.labels import LabelFilter, LanguageFilter, language
from proofroom.core.admin.lists import ListAdmin
from proofroom.core.admin.permissions import actor_of, may, require, service_errors_as_http
from proofroom.core.database.id_filters import find_by_id

_MAX_BEGINNING = 100
_CONFIRMATIONS: Final[dict[str, Promise]] = {
    ConfirmationState.DUE: gettext_lazy("The confirmation email has not been sent yet."),
    ConfirmationState.SENT: gettext_lazy("A confirmation email was sent."),
    ConfirmationState.LIMITED: gettext_lazy(
        "No confirmation email: too many went to this address or from this form."
    ),
}


class FormFilter(LabelFilter):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.title = _("Form")
        self._titles = titles_of_forms(self.lookup_choices)

    def label(self, value: str) -> str:
        return self._titles.get(value, value)


@admin.register(FormSubmission)
class FormSubmissionAdmin(ListAdmin[FormSubmission]):
    view_permission = "forms.submissions"
    empty_words = gettext_lazy("Submissions of your forms appear here.")
    list_display = ("created_at", "form_title", language, "beginning")
    list_filter = (("form_slug", FormFilter), ("locale", LanguageFilter), "created_at")
    change_list_template = "admin/site_forms/submissions.html"
    ordering = ("-created_at", "-id")
    list_per_page = 50
    # Saves a second COUNT for each filtered list.
    show_full_result_count = False

    @admin.display(description=gettext_lazy("Form"), ordering="form_slug")
    def form_title(self, row: FormSubmission) -> str:
        return str(getattr(row, "title_of_form", None) or row.form_slug)

    def get_queryset(self, request: HttpRequest) -> QuerySet[FormSubmission]:
        of_row = FormDefinition.objects.filter(slug=OuterRef("form_slug"))
        # The title in the default language, else in the first one, like `titles_of_forms`.
        is_default = Q(locale=settings.CMS_ENV.default_locale)
        titles = of_row.order_by(Case(When(is_default, then=0), default=1), "locale")
        rows = super().get_queryset(request)
        return rows.annotate(title_of_form=Subquery(titles.values("title")[:1]))

    @admin.display(description=gettext_lazy("Answers"))
    def beginning(self, row: FormSubmission) -> str:
        text = " · ".join(format_answer(value) for value in row.payload.values())
        return text if len(text) <= _MAX_BEGINNING else f"{text[:_MAX_BEGINNING]}…"

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        slug = request.GET.get("form_slug", "")
        own = {
            "title": _("Submissions"),
            "export_url": f"/api/forms/{slug}/submissions/export" if is_slug(slug) else "",
        }
        answer = super().changelist_view(request, {**own, **(extra_context or {})})
        if isinstance(answer, TemplateResponse) and answer.context_data is not None:
            changes = answer.context_data.get("cl")
            # The list of the page, which Django has read already.
            rows = list(changes.result_list) if changes is not None else []
            record_view(rows=rows, actor=actor_of(request))
        return answer

    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        require(request, "forms.submissions")
        row = _find_or_404(object_id)
        record_view(rows=[row], actor=actor_of(request))
        labels = columns_of(row.form_slug, [row.payload])
        context = {
            "row": row,
            "values": [
                (
                    labels[name],
                    format_answer(value),
                    link_to(row, str(value["id"]))
                    if isinstance(value, dict) and is_file(value)
                    else "",
                )
                for name, value in row.payload.items()
            ],
            "has_files": any(is_file(value) for value in row.payload.values()),
            "confirmation": _CONFIRMATIONS.get(row.confirmation, ""),
            "emails": addresses_in(row) if may(request, "privacy.manage") else {},
            "delete_url": reverse("admin:forms_formsubmission_delete", args=[row.pk]),
        }
        template = "admin/site_forms/submission.html"
        return form_page(
            request,
            template,
            FormSubmission,
            context,
            title=_("Submission of %(form)s") % {"form": _title_of(row)},
        )

    def delete_view(
        self, request: HttpRequest, object_id: str, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """GET asks for confirmation, POST deletes."""
        require(request, "forms.submissions")
        row = _find_or_404(object_id)
        if request.method == "POST":
            _delete(row, request)
            messages.success(request, _("Submission deleted."))
            return HttpResponseRedirect(reverse("admin:forms_formsubmission_changelist"))
        context = {
            "sentence": _("This permanently deletes the submission, also from the activity log."),
            "button": _("Delete"),
            "back": reverse("admin:forms_formsubmission_change", args=[row.pk]),
        }
        title = _("Delete submission of %(form)s") % {"form": _title_of(row)}
        return form_page(request, "admin/forms/confirm.html", FormSubmission, context, title=title)


def _title_of(row: FormSubmission) -> str:
    """Return the title of the form, or its slug if the form doesn't exist any more."""
    return titles_of_forms([row.form_slug]).get(row.form_slug, row.form_slug)


def _find_or_404(id_: str) -> FormSubmission:
    row = find_by_id(FormSubmission.objects, id_)
    if row is None:
        raise Http404(_("Submission not found."))
    return row


@service_errors_as_http
def _delete(row: FormSubmission, request: HttpRequest) -> HttpResponse:
    delete_submission(slug=row.form_slug, submission_id=row.pk, actor=actor_of(request))
    return HttpResponse()
