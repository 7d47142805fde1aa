"""The login page, and the record of a password change."""

from __future__ import annotations

from typing import Any, cast

from allauth.account.adapter import get_adapter
from allauth.account.internal.flows.login import perform_password_login
from allauth.account.models import Login
from allauth.usersessions.models import UserSession
from django.conf import settings
from django.contrib import admin
from django.contrib.admin.forms import AdminAuthenticationForm
from django.contrib.auth import REDIRECT_FIELD_NAME
from django.contrib.auth.forms import AuthenticationForm
from django.contrib.auth.views import LoginView
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from proofroom.accounts.services.sessions import record_password_change
from proofroom.accounts.services.sign_in import record_failed_login
from proofroom.core.admin.permissions import actor_of


class LoginForm(AdminAuthenticationForm):
    """The login form. It accepts every account that may open the admin."""

    error_messages: dict[str, Any] = {
        **AdminAuthenticationForm.error_messages,
        "invalid_login": gettext_lazy("Email or password is wrong. Try again."),
    }


class LoginPage(LoginView):
    """Login by email and password. allauth runs the further steps, such as the second factor."""

    template_name = "admin/login.html"
    authentication_form = LoginForm
    next_page = "admin:index"

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        return {
            **super().get_context_data(**kwargs),
            **admin.site.each_context(self.request),
            "title": _("Log in"),
            "app_path": self.request.get_full_path(),
            "username": self.request.user.get_username(),
            "has_email": settings.HAS_EMAIL,
            "has_passwords": settings.PASSWORD_LOGIN,
            "provider_name": settings.PROVIDER_NAME,
            REDIRECT_FIELD_NAME: self.get_success_url(),
        }

    def form_valid(self, form: AuthenticationForm) -> HttpResponse:
        user = form.get_user()
        login = Login(user=user, email=user.email, redirect_url=self.get_success_url())
        response: HttpResponse = perform_password_login(self.request, {"email": user.email}, login)
        return response

    def form_invalid(self, form: AuthenticationForm) -> HttpResponse:
        if form.cleaned_data.get("username") and form.cleaned_data.get("password"):
            record_failed_login(form.cleaned_data["username"], via="admin")
        return super().form_invalid(form)


def login_page(request: HttpRequest) -> HttpResponse:
    """Return the login page."""
    return cast("HttpResponse", LoginPage.as_view()(request))


def finish_password_change(request: HttpRequest) -> None:
    """Record that the user changed their own password, and notify them by mail."""
    record_password_change(actor=actor_of(request))
    # A changed password gives the current session a new key.
    UserSession.objects.create_from_request(request)
    get_adapter(request).send_notification_mail("account/email/password_changed", request.user)
