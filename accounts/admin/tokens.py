"""API tokens: made, shown once, revoked."""

from __future__ import annotations

from datetime import UTC, datetime, time
from typing import Any
from uuid import UUID

from django import forms
from django.contrib import admin, messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect

from accounts.models import ApiToken, User
from accounts.roles import PERMISSIONS, Role
from accounts.services.tokens import create_token, revoke_token
from core.admin.forms import FormAdmin, form_page
from core.admin.rights import actor_of, refusals_as_messages, require


class NewTokenForm(forms.Form):
    name = forms.CharField(
        label="Name", max_length=100, help_text="What uses it, such as “Website export”."
    )
    user = forms.ModelChoiceField(
        label="Account",
        queryset=User.objects.filter(is_active=True).exclude(role=Role.AI_AGENT),
        help_text="What the program writes is signed by this account.",
    )
    permissions = forms.MultipleChoiceField(
        label="Permissions",
        choices=[(name, name) for name in sorted(PERMISSIONS)],
        widget=forms.SelectMultiple(attrs={"size": 12}),
        help_text="Only what the account may do itself. Choose several with Ctrl or ⌘.",
    )
    expires_on = forms.DateField(
        label="Last day",
        required=False,
        widget=forms.DateInput(attrs={"type": "date"}),
        help_text="Without one it works until it is revoked.",
    )


@admin.register(ApiToken)
class ApiTokenAdmin(FormAdmin[ApiToken]):
    view_permission = add_permission = "tokens.manage"
    list_title = "API tokens"
    add_title = "New API token"
    add_button = "Make the token"
    add_form = NewTokenForm
    list_display = ("name", "user", "ends_in", "state", "last_used_at", "expires_at")
    list_select_related = ("user",)
    search_fields = ("name", "user__username")

    @admin.display(description="Ends in")
    def ends_in(self, token: ApiToken) -> str:
        return f"…{token.hint}"

    def add(self, request: HttpRequest, form: forms.Form) -> HttpResponse:
        typed = form.cleaned_data
        day = typed["expires_on"]
        token, secret = create_token(
            name=typed["name"],
            permissions=typed["permissions"],
            user_id=typed["user"].pk,
            expires_at=datetime.combine(day, time.max, UTC) if day else None,
            actor=actor_of(request),
        )
        # No redirect: the secret stands in this answer and nowhere else, not even in a session.
        return self._page(request, token, secret)

    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        require(request, "tokens.manage")
        token = _find(object_id)
        if request.method == "POST":
            with refusals_as_messages(request):
                revoke_token(token_id=token.pk, actor=actor_of(request))
                messages.success(request, f"{token} opens nothing any more.")
            return HttpResponseRedirect(request.path)
        return self._page(request, token)

    def _page(self, request: HttpRequest, token: ApiToken, secret: str = "") -> HttpResponse:
        context = {"token": token, "secret": secret}
        return form_page(request, "admin/accounts/token.html", ApiToken, context, title=token.name)


def _find(text: str) -> ApiToken:
    try:
        found = ApiToken.objects.select_related("user", "made_by").filter(pk=UUID(text)).first()
    except ValueError:
        found = None
    if found is None:
        raise Http404("No such token.")
    return found
