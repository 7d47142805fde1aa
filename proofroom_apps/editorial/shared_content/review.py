"""Changes of global modules, menus and terms that wait for approval: compared with live content, and decided."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final
from uuid import UUID

from django import forms
from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.translation import gettext as _

from proofroom.core.admin.form_pages import save_form
from proofroom.core.admin.permissions import (
    actor_of,
    may,
    require,
    service_errors_as_http,
    service_errors_as_messages,
)
from proofroom.core.errors import invalid
from proofroom.shared_content.approval import APPROVE, modes, set_modes
from proofroom.shared_content.edit_page import edit_state
from proofroom.shared_content.models import ApprovalMode, SharedProposal
from proofroom.shared_content.proposals import (
    approve_proposal,
    reject_proposal,
    waiting_proposals,
    withdraw_proposal,
)
from proofroom.shared_content.shared_types import shared_kinds
from proofroom_apps.editorial.posts.post_pages import split_switch, version_sent
from proofroom_apps.editorial.shared_content.comparison import SharedComparison
from proofroom_apps.editorial.shared_content.history import open_row, shared_page
from proofroom_apps.editorial.shared_content.shown_pages import shown_pages

_MAX_SHOWN: Final = 50


@service_errors_as_http
def shared_review(request: HttpRequest, kind_name: str, row_id: UUID) -> HttpResponse:
    """GET compares the waiting change with live content, POST decides (`do`: approve, reject, withdraw)."""
    kind, row = open_row(request, kind_name, row_id)
    waiting = edit_state(request, kind, row).waiting
    if request.method == "POST":
        with service_errors_as_messages(request):
            _decide(request, waiting)
        return HttpResponseRedirect(request.path)
    pk = request.user.pk
    is_own = waiting is not None and pk in waiting.writers
    comparison = SharedComparison(kind, row, actor_of(request))
    context = {
        "waiting": waiting,
        "groups": comparison.groups(kind.document_of(row), waiting.document) if waiting else [],
        "is_stale": waiting is not None and waiting.base_version != row.version,
        "is_own": is_own,
        # An author of the change may not decide on it.
        "may_decide": may(request, APPROVE) and not is_own,
        **(shown_pages(request, kind, row) if waiting else {}),
        **split_switch(request, {}),
    }
    return shared_page(
        request,
        "admin/shared/review.html",
        kind,
        row,
        context,
        title=_("Review: %(title)s") % {"title": row},
        tab="review",
        waiting=waiting,
    )


def _decide(request: HttpRequest, waiting: SharedProposal | None) -> None:
    if waiting is None:
        raise invalid("do", _("No change is waiting here."))
    actor, version, do = actor_of(request), version_sent(request), request.POST.get("do", "")
    if do == "approve":
        approve_proposal(proposal_id=waiting.pk, version=version, actor=actor)
        messages.success(request, _("Approved. The change is live."))
    elif do == "reject":
        note = request.POST.get("note", "")
        reject_proposal(proposal_id=waiting.pk, version=version, actor=actor, note=note)
        messages.success(request, _("Rejected. The live version has not changed."))
    elif do == "withdraw":
        withdraw_proposal(proposal_id=waiting.pk, version=version, actor=actor)
        messages.success(request, _("Withdrawn. The live version has not changed."))
    else:
        raise invalid("do", _("Unknown action."))


class ApprovalForm(forms.Form):
    """One choice for each kind."""

    def __init__(
        self, data: Mapping[str, object] | None = None, *, initial: dict[str, str]
    ) -> None:
        super().__init__(data, initial=initial)
        for kind in shared_kinds:
            self.fields[kind.name] = forms.ChoiceField(
                label=str(kind.label), choices=ApprovalMode.choices
            )


@service_errors_as_http
def shared_approval(request: HttpRequest) -> HttpResponse:
    """Settings for the changes that need approval before they go live."""
    require(request, "settings.manage")
    form = ApprovalForm(request.POST if request.method == "POST" else None, initial=modes())
    if form.is_bound and save_form(
        form, lambda: set_modes(actor=actor_of(request), wanted=form.cleaned_data)
    ):
        messages.success(request, _("Saved."))
        return HttpResponseRedirect(request.path)
    context = {**admin.site.each_context(request), "title": _("Approval"), "form": form}
    status = 422 if form.is_bound else 200
    return TemplateResponse(request, "admin/shared/approval.html", context, status=status)


def waiting_lines(request: HttpRequest) -> list[tuple[SharedProposal, str, str]]:
    """Return waiting proposals with the label of their kind and the address of their review. One query.

    Only of kinds that the user may edit.
    """
    labels = {kind.name: str(kind.label) for kind in shared_kinds}
    return [
        (row, labels[row.kind], reverse("admin:shared-review", args=[row.kind, row.row_id]))
        for row in waiting_shared(request).defer("base", "document")[:_MAX_SHOWN]
    ]


def waiting_shared(request: HttpRequest) -> QuerySet[SharedProposal]:
    """Return waiting proposals of the kinds that the user may edit."""
    kinds = [kind.name for kind in shared_kinds if may(request, kind.permission)]
    return waiting_proposals().filter(kind__in=kinds)
