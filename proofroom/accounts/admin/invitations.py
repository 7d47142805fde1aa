"""The admin of invitations, and the page that accepts one."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django import forms
from django.conf import settings
from django.contrib import admin, messages
from django.contrib.admin.views.main import ChangeList
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from proofroom.accounts.invitation_mail import link_of, mail_invitation
from proofroom.accounts.models import EMAIL_MAX, USERNAME_MAX, Invitation, User, role_label
from proofroom.accounts.queries import with_role_labels
from proofroom.accounts.services.invitations import (
    accept_invitation,
    create_invitation,
    find_invitation,
    revoke_invitation,
)
from proofroom.accounts.user_fields import password_field, role_field
from proofroom.core.admin.form_pages import FormAdmin, form_page, save_form
from proofroom.core.admin.permissions import actor_of, require, service_errors_as_messages
from proofroom.core.database.id_filters import find_by_id
from proofroom.core.errors import NotFound

_STATES = {
    "pending": (gettext_lazy("Pending"), "waiting"),
    "accepted": (gettext_lazy("Accepted"), "succeeded"),
    "expired": (gettext_lazy("Expired"), "archived"),
    "revoked": (gettext_lazy("Revoked"), "failed"),
}


class InvitationForm(forms.Form):
    email = forms.EmailField(label=gettext_lazy("Email"), max_length=EMAIL_MAX)
    role = role_field()


class AcceptForm(forms.Form):
    username = forms.CharField(
        label=gettext_lazy("Name"),
        max_length=USERNAME_MAX,
        help_text=gettext_lazy("Letters, digits and @ . + - _ only."),
        widget=forms.TextInput(attrs={"autocomplete": "name"}),
    )
    password = password_field(gettext_lazy("At least 8 characters. Common passwords are rejected."))


@admin.register(Invitation)
class InvitationAdmin(FormAdmin[Invitation]):
    view_permission = add_permission = "users.manage"
    empty_words = gettext_lazy("Invite people by email. They choose their own password.")
    list_title = gettext_lazy("Invitations")
    add_title = gettext_lazy("Invite a person")
    add_button = gettext_lazy("Send invitation")
    add_form = InvitationForm
    list_display = ("email", "kind", "badge", "invited_by", "ends")
    list_select_related = ("invited_by",)
    search_fields = ("email",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Invitation]:
        return with_role_labels(super().get_queryset(request))

    def get_changelist_instance(self, request: HttpRequest) -> ChangeList:
        """Return the list with the inviters' roles loaded, because the state of an invitation depends on them."""
        found = super().get_changelist_instance(request)
        found.result_list = [*found.result_list]
        User.preload_roles(row.invited_by for row in found.result_list if row.invited_by)
        return found

    @admin.display(description=gettext_lazy("Role"), ordering="role")
    def kind(self, invitation: Invitation) -> str:
        label: str | None = getattr(invitation, "site_role_label", None)
        return label or role_label(invitation.role)

    @admin.display(description=gettext_lazy("State"))
    def badge(self, invitation: Invitation) -> SafeString:
        label, look = _STATES[invitation.state]
        return format_html('<span class="badge badge-{}">{}</span>', look, str(label))

    @admin.display(description=gettext_lazy("Expires"), ordering="expires_at")
    def ends(self, invitation: Invitation) -> datetime:
        return invitation.expires_at

    def add(self, request: HttpRequest, form: forms.Form) -> HttpResponse:
        invitation, secret = create_invitation(**form.cleaned_data, actor=actor_of(request))
        if mail_invitation(request, invitation, secret):
            messages.success(request, _("Invited %(email)s.") % {"email": invitation.email})
            return HttpResponseRedirect(reverse("admin:proofroom_accounts_invitation_changelist"))
        if settings.HAS_EMAIL:
            messages.warning(request, _("The email could not be sent. Send the link yourself."))
        # No redirect after this POST: the link is only in this response.
        return self._page(request, invitation, link_of(secret))

    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        require(request, "users.manage")
        found = find_by_id(Invitation.objects, object_id)
        if found is None:
            raise Http404(_("Invitation not found."))
        if request.method == "POST":
            with service_errors_as_messages(request):
                revoke_invitation(invitation_id=found.pk, actor=actor_of(request))
                messages.success(
                    request, _("Revoked the invitation of %(email)s.") % {"email": found.email}
                )
            return HttpResponseRedirect(request.path)
        return self._page(request, found)

    def _page(self, request: HttpRequest, invitation: Invitation, link: str = "") -> HttpResponse:
        label, look = _STATES[invitation.state]
        context = {"invitation": invitation, "link": link, "state": label, "look": look}
        page = form_page(
            request,
            "admin/proofroom_accounts/invitation.html",
            Invitation,
            context,
            title=invitation.email,
        )
        # The page may hold the link.
        page["Cache-Control"] = "no-store"
        return page


def accept_invitation_page(request: HttpRequest, secret: str) -> HttpResponse:
    """GET asks for a name and a password. POST creates the account and redirects to the login.

    Without passwords, the page leads to the provider, which creates the account.
    """
    context: dict[str, Any] = {"form": None}
    try:
        invitation = find_invitation(secret)
    except NotFound:
        template = "admin/login/invitation_over.html"
        return TemplateResponse(request, template, context, status=404)
    if not settings.PASSWORD_LOGIN:
        context = {"invitation": invitation}
        return TemplateResponse(request, "admin/login/invitation_provider.html", context)
    form = AcceptForm(request.POST if request.method == "POST" else None)
    if form.is_bound and save_form(
        form, lambda: accept_invitation(secret=secret, **form.cleaned_data)
    ):
        messages.success(request, _("Your account is ready. Log in."))
        return HttpResponseRedirect(reverse("admin:login"))
    context = {"form": form, "invitation": invitation}
    return TemplateResponse(request, "admin/login/invitation.html", context)
