"""Pages shared by all kinds of tokens: a list, a form, and a page that shows the secret once."""

from __future__ import annotations

from datetime import datetime
from typing import Any, ClassVar, TypeVar
from uuid import UUID

from django import forms
from django.contrib import admin, messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import URLPattern, path
from django.utils.decorators import method_decorator
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from proofroom.accounts.admin.limit_page import limit_page
from proofroom.accounts.admin.scope_fields import ScopeForm
from proofroom.accounts.models import AccountToken, ProgramToken
from proofroom.accounts.scope_words import describe_scope
from proofroom.core.actor import Actor
from proofroom.core.admin.form_pages import FormAdmin, form_page
from proofroom.core.admin.permissions import (
    actor_of,
    require,
    service_errors_as_http,
    service_errors_as_messages,
)
from proofroom.core.content_scope import ContentScope
from proofroom.core.database.id_filters import find_by_id
from proofroom.core.i18n.ages import age_html
from proofroom.core.validation.form_fields import InputForm

P = TypeVar("P", bound=ProgramToken)
T = TypeVar("T", bound=AccountToken)
_STATES = {
    "active": gettext_lazy("active"),
    "expired": gettext_lazy("expired"),
    "revoked": gettext_lazy("revoked"),
}
_BADGES = {"active": "succeeded", "expired": "archived", "revoked": "failed"}


class ProgramTokenAdmin(FormAdmin[P]):
    """The admin of a kind of token. `make` and `revoke` call its services."""

    view_permission = add_permission = "tokens.manage"
    page_template: ClassVar[str]
    add_button = gettext_lazy("Create token")
    list_display: Any = ("name", "ends_in", "state", "used", "ends")
    search_fields: ClassVar[Any] = ("name",)
    token_select_related: ClassVar[tuple[str, ...]] = ("made_by",)

    def make(self, values: dict[str, Any], actor: Actor) -> tuple[P, str]:
        """Create the token from the form's values. Return it with its secret."""
        raise NotImplementedError

    def revoke(self, token_id: UUID, actor: Actor) -> None:
        """Revoke the token."""
        raise NotImplementedError

    def more(self, request: HttpRequest, token: P, secret: str) -> dict[str, Any]:
        """Return extra template context for the token's page. `secret` is empty except right after creation."""
        return {}

    @admin.display(description=gettext_lazy("Ends in"))
    def ends_in(self, token: P) -> str:
        return f"…{token.hint}"

    @admin.display(description=gettext_lazy("Status"))
    def state(self, token: P) -> SafeString:
        badge_class = _BADGES[token.state]
        return format_html(
            '<span class="badge badge-{}">{}</span>', badge_class, str(_STATES[token.state])
        )

    @admin.display(description=gettext_lazy("Last used"), ordering="last_used_at")
    def used(self, token: P) -> SafeString | str:
        return age_html(token.last_used_at) if token.last_used_at else _("never")

    @admin.display(description=gettext_lazy("Expires"), ordering="expires_at")
    def ends(self, token: P) -> datetime | str:
        return token.expires_at or _("never")

    def add(self, request: HttpRequest, form: forms.Form) -> HttpResponse:
        assert isinstance(form, InputForm)  # noqa: S101  # every kind's `add_form` is one
        token, secret = self.make(form.input_values(), actor_of(request))
        # No redirect after this POST: the secret is only in this response, not even in the session.
        return self._page(request, token, secret)

    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        require(request, "tokens.manage")
        token = self._find(object_id)
        if request.method == "POST":
            with service_errors_as_messages(request):
                self.revoke(token.pk, actor_of(request))
                messages.success(request, _("Revoked the token %(token)s.") % {"token": token})
            return HttpResponseRedirect(request.path)
        return self._page(request, token)

    def _page(self, request: HttpRequest, token: P, secret: str = "") -> HttpResponse:
        context = {
            "token": token,
            "secret": secret,
            **self.more(request, token, secret),
        }
        page = form_page(request, self.page_template, self.model, context, title=token.name)
        # The page holds the secret, so neither browser nor proxy may store it.
        if secret:
            page["Cache-Control"] = "no-store"
        return page

    def _find(self, text: str) -> P:
        rows = self.model._default_manager.select_related(*self.token_select_related)
        found: P | None = find_by_id(rows, text)
        if found is None:
            raise Http404(_("Token not found."))
        return found


class AccountTokenForm(ScopeForm, InputForm):
    """The form of a new token that can be limited to a part of the content."""

    def input_values(self) -> dict[str, Any]:
        return {**super().input_values(), "scope": self.scope}


class AccountTokenAdmin(ProgramTokenAdmin[T]):
    """The admin of a kind of token that is bound to an account. `limit` calls its service."""

    add_template = "admin/forms/one_with_search.html"
    list_display = ("name", "user", "ends_in", "state", "used", "ends")
    list_select_related = ("user",)
    search_fields = ("name", "user__username")
    token_select_related = ("user", "made_by")

    def limit(self, token_id: UUID, scope: ContentScope, actor: Actor) -> None:
        """Limit the token to a part of the content."""
        raise NotImplementedError

    def new_form(self, request: HttpRequest, *args: Any, **kwargs: Any) -> forms.Form:
        return super().new_form(request, *args, who=actor_of(request), **kwargs)

    def more(self, request: HttpRequest, token: T, secret: str) -> dict[str, Any]:
        return {"limits": describe_scope(token.scope, actor_of(request))}

    def get_urls(self) -> list[URLPattern]:
        page = self.admin_site.admin_view(self.limit_view)
        name = f"{self.opts.app_label}_{self.opts.model_name}_limit"
        return [path("<path:object_id>/limit/", page, name=name), *super().get_urls()]

    @method_decorator(service_errors_as_http)
    def limit_view(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Show and save the content the token is limited to."""
        require(request, "tokens.manage")
        token = self._find(object_id)
        return limit_page(
            request,
            self.add_template,
            self.model,
            name=token.name,
            scope=token.scope,
            limit=lambda scope: self.limit(token.pk, scope, actor_of(request)),
            back="../change/",
        )
