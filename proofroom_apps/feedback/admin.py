"""The feedback admin: read, sort, resolve and delete."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from content.store.scopes import filter_by_visible_post
from proofroom.core.admin.form_pages import form_page, save_form
from proofroom.core.admin.lists import ListAdmin
from proofroom.core.admin.permissions import actor_of, may, require, service_errors_as_http
from proofroom.core.database.id_filters import find_by_id
from proofroom.core.i18n import said
from proofroom_apps.editorial.posts.post_pages import post_url
from proofroom_apps.feedback import post_pages  # noqa: F401  # registers the notes
from proofroom_apps.feedback.models import Feedback, FeedbackCategory, FeedbackStatus
from proofroom_apps.feedback.services import change_feedback, delete_feedback, may_delete

_SHORT = 80


class FeedbackForm(forms.Form):
    status = forms.ChoiceField(label=gettext_lazy("Status"), choices=said(FeedbackStatus.choices))
    category = forms.ChoiceField(
        label=gettext_lazy("Category"), choices=said(FeedbackCategory.choices)
    )


@admin.register(Feedback)
class FeedbackAdmin(ListAdmin[Feedback]):
    view_permission = "feedback.view"
    empty_words = gettext_lazy("Notes from pages of the site appear here.")
    list_display = ("beginning", "post", "category", "status", "author", "created_at")
    list_filter = ("status", "category")
    list_select_related = ("post", "author")
    search_fields = ("content",)
    ordering = ("-created_at", "-id")
    list_per_page = 50

    def get_queryset(self, request: HttpRequest) -> QuerySet[Feedback]:
        rows = super().get_queryset(request).filter(post__deleted_at__isnull=True)
        return filter_by_visible_post(rows, actor_of(request))

    def has_change_permission(self, request: HttpRequest, obj: Feedback | None = None) -> bool:
        return may(request, "feedback.resolve")

    @admin.display(description=gettext_lazy("Comment"))
    def beginning(self, row: Feedback) -> str:
        return row.content if len(row.content) <= _SHORT else f"{row.content[:_SHORT]}…"

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        return super().changelist_view(request, {"title": _("Feedback"), **(extra_context or {})})

    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        require(request, "feedback.view")
        row = self._find(request, object_id)
        initial = {"status": row.status, "category": row.category}
        form = FeedbackForm(request.POST or None, initial=initial)
        actor = actor_of(request)
        if request.method == "POST" and save_form(
            form, lambda: change_feedback(feedback_id=row.pk, actor=actor, **form.cleaned_data)
        ):
            messages.success(request, _("Feedback saved."))
            return HttpResponseRedirect(request.path)
        context = {
            "row": row,
            "post_url": post_url("change", row.post),
            "may_resolve": may(request, "feedback.resolve"),
            "may_delete": may_delete(row, actor),
            "delete_url": reverse("admin:proofroom_feedback_feedback_delete", args=[row.pk]),
        }
        return form_page(
            request,
            "admin/feedback/one.html",
            Feedback,
            context,
            title=_("Feedback on %(title)s") % {"title": row.post.title},
            form=form,
        )

    def delete_view(
        self, request: HttpRequest, object_id: str, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Ask on GET, delete on POST."""
        require(request, "feedback.delete")
        row = self._find(request, object_id)
        if not may_delete(row, actor_of(request)):
            raise PermissionDenied
        if request.method == "POST":
            _delete(row, request)
            messages.success(request, _("Feedback deleted."))
            return HttpResponseRedirect(reverse("admin:proofroom_feedback_feedback_changelist"))
        context = {
            "sentence": _("This permanently deletes the feedback."),
            "button": _("Delete"),
            "back": reverse("admin:proofroom_feedback_feedback_change", args=[row.pk]),
        }
        return form_page(
            request, "admin/forms/confirm.html", Feedback, context, title=_("Delete feedback")
        )

    def _find(self, request: HttpRequest, id_: str) -> Feedback:
        rows = self.get_queryset(request).select_related("post", "author", "resolved_by")
        row = find_by_id(rows, id_)
        if row is None:
            raise Http404(_("Feedback not found."))
        return row


@service_errors_as_http
def _delete(row: Feedback, request: HttpRequest) -> HttpResponse:
    delete_feedback(feedback_id=row.pk, actor=actor_of(request))
    return HttpResponse()
