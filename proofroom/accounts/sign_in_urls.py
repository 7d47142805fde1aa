"""URLs of django-allauth's pages under `/admin/`: the pages before a login, and each user's login methods.

allauth reverses these names. Its sign-up pages are left out.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, wraps
from typing import Any, Final

from allauth.socialaccount.models import SocialAccount
from django.conf import settings
from django.contrib import admin
from django.core.exceptions import BadRequest
from django.http import Http404, HttpRequest
from django.http.response import HttpResponseBase
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, re_path
from django.utils.functional import Promise
from django.utils.module_loading import import_string
from django.utils.translation import gettext_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt

from proofroom.accounts.models import User
from proofroom.accounts.provider_ids import OIDC, SAML
from proofroom.core.second_factor import lacks_second_factor

View = Callable[..., HttpResponseBase]
_UNREADABLE: Final = (KeyError, TypeError, ValueError, AttributeError, RecursionError)
"""Exceptions that the passkey library raises for a malformed credential."""


def lazy_view(name: str) -> View:
    """Return the view with this dotted name, imported at its first call."""

    # The views import the libraries of passkeys and providers, which processes that serve only visitors never need.
    def view(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        response: HttpResponseBase = import_string(name)(request, *args, **kwargs)
        return response

    view.__name__ = name.rpartition(".")[2]
    return view


def own_email(request: HttpRequest) -> HttpResponseBase:
    """allauth's email page. It asks for a recent login first."""
    from allauth.account import views
    from allauth.account.decorators import reauthentication_required

    response: HttpResponseBase = reauthentication_required(views.email, app="allauth.account")(
        request
    )
    return response


def in_frame(view: View, title: str | Promise) -> View:
    """Render a page of allauth in the frame of the admin. A form with errors answers 422."""

    @never_cache
    @wraps(view)
    def wrapper(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        try:
            response = view(request, *args, **kwargs)
        except _UNREADABLE as error:
            # The same exceptions from a request without a credential are bugs, so they stay errors.
            if "credential" not in request.POST:
                raise
            raise BadRequest("The credential cannot be read.") from error
        if isinstance(response, TemplateResponse):
            context = response.context_data or {}
            frame = {
                **admin.site.each_context(request),
                "title": title,
                "account": request.user,
                "has_email": settings.HAS_EMAIL,
                "provider_name": settings.PROVIDER_NAME,
                # A callable, so that only templates which use it run the query.
                "is_connected": partial(
                    SocialAccount.objects.filter(
                        user_id=request.user.pk, provider=settings.PROVIDER_ID
                    ).exists
                ),
                "must_add_factor": isinstance(request.user, User)
                and lacks_second_factor(request.user, request.session),
            }
            response.context_data = {**frame, **context}
            form = context.get("form")
            if request.method == "POST" and form is not None and form.errors:
                response.status_code = 422
        return response

    return wrapper


def require_password_login(view: View) -> View:
    """Answer 404 if the site has no login with passwords."""

    @wraps(view)
    def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if not settings.PASSWORD_LOGIN:
            raise Http404
        return view(request, *args, **kwargs)

    return guarded


def _page(route: str, view: View, name: str, title: str | Promise) -> URLPattern:
    return path(route, in_frame(view, title), name=name)


def _account(view: str) -> View:
    return lazy_view(f"allauth.account.views.{view}")


def _factors(view: str) -> View:
    return lazy_view(f"allauth.mfa.{view}")


def _provider(view: str) -> View:
    return lazy_view(f"proofroom.accounts.admin.provider.{view}")


def _saml(route: str, view: str, name: str, *, from_provider: bool = False) -> URLPattern:
    """Return the URL pattern of a SAML view. With `from_provider`, the view is exempt from CSRF checks."""
    loaded = lazy_view(f"proofroom.accounts.admin.saml.{view}")
    # The provider's page submits this form, so it cannot hold a CSRF token of this site. The signature protects it.
    answer = csrf_exempt(loaded) if from_provider else loaded
    return re_path(rf"^login/(?P<organization_slug>{SAML})/{route}$", answer, name=name)


_METHODS = gettext_lazy("Login methods")
_FORGOT = gettext_lazy("Reset your password")
_EMAIL = gettext_lazy("Confirm your email")
_CONFIRM = gettext_lazy("Confirm it is you")

urlpatterns: list[URLPattern] = [
    path("login/", admin.site.login, name="account_login"),
    # allauth reverses "account_signup" in its templates and redirects. There is no sign-up, so it leads to the login.
    path("login/", admin.site.login, name="account_signup"),
    path("logout/", admin.site.admin_view(admin.site.logout), name="account_logout"),
    _page(
        "login/forgot/",
        require_password_login(_account("password_reset")),
        "account_reset_password",
        _FORGOT,
    ),
    _page(
        "login/forgot/sent/",
        _account("password_reset_done"),
        "account_reset_password_done",
        _FORGOT,
    ),
    _page(
        "login/reset/done/",
        _account("password_reset_from_key_done"),
        "account_reset_password_from_key_done",
        gettext_lazy("Your password was changed"),
    ),
    re_path(
        r"^login/reset/(?P<uidb36>[0-9A-Za-z]+)-(?P<key>[^/]+)/$",
        in_frame(
            require_password_login(_account("password_reset_from_key")),
            gettext_lazy("Choose a new password"),
        ),
        name="account_reset_password_from_key",
    ),
    _page(
        "login/email/",
        _account("email_verification_sent"),
        "account_email_verification_sent",
        _EMAIL,
    ),
    _page("login/email/<str:key>/", _account("confirm_email"), "account_confirm_email", _EMAIL),
    _page(
        "login/code/",
        _factors("base.views.authenticate"),
        "mfa_authenticate",
        gettext_lazy("Two-factor authentication"),
    ),
    _page(
        "login/passkey/",
        _factors("webauthn.views.login_webauthn"),
        "mfa_login_webauthn",
        gettext_lazy("Log in"),
    ),
    _page(
        "login/invitation/<str:secret>/",
        lazy_view("proofroom.accounts.admin.invitations.accept_invitation_page"),
        "accept_invitation",
        gettext_lazy("Create your account"),
    ),
    _page(
        "login/provider/",
        _provider("start_provider_login"),
        "provider_login",
        gettext_lazy("Log in"),
    ),
    re_path(
        rf"^login/(?P<provider_id>{OIDC})/callback/$",
        never_cache(_provider("provider_callback")),
        name="openid_connect_callback",
    ),
    _saml("acs/", "receive_answer", "saml_acs", from_provider=True),
    _saml("acs/finish/", "finish_login", "saml_finish_acs"),
    _saml("metadata/", "show_metadata", "saml_metadata"),
    _saml("logout/", "log_out", "saml_sls", from_provider=True),
    _page("account/confirm/", _account("reauthenticate"), "account_reauthenticate", _CONFIRM),
    _page(
        "account/confirm/code/",
        _factors("base.views.reauthenticate"),
        "mfa_reauthenticate",
        _CONFIRM,
    ),
    _page(
        "account/confirm/passkey/",
        _factors("webauthn.views.reauthenticate_webauthn"),
        "mfa_reauthenticate_webauthn",
        _CONFIRM,
    ),
    _page(
        "account/confirm/provider/",
        _provider("confirm_with_provider"),
        "confirm_with_provider",
        _CONFIRM,
    ),
    _page(
        "account/email/",
        own_email,
        "account_email",
        gettext_lazy("Email"),
    ),
    # allauth reverses two names for what is one page here.
    _page("account/methods/", _factors("base.views.index"), "mfa_index", _METHODS),
    _page("account/methods/", _factors("base.views.index"), "mfa_list_webauthn", _METHODS),
    path(
        "account/methods/provider/connect/", _provider("connect_provider"), name="connect_provider"
    ),
    path(
        "account/methods/provider/disconnect/",
        _provider("disconnect"),
        name="disconnect_provider",
    ),
    _page(
        "account/methods/app/",
        _factors("totp.views.activate_totp"),
        "mfa_activate_totp",
        gettext_lazy("Set up an authenticator app"),
    ),
    _page(
        "account/methods/app/remove/",
        _factors("totp.views.deactivate_totp"),
        "mfa_deactivate_totp",
        gettext_lazy("Remove the authenticator app"),
    ),
    _page(
        "account/methods/recovery-codes/",
        _factors("recovery_codes.views.view_recovery_codes"),
        "mfa_view_recovery_codes",
        gettext_lazy("Recovery codes"),
    ),
    _page(
        "account/methods/recovery-codes/new/",
        _factors("recovery_codes.views.generate_recovery_codes"),
        "mfa_generate_recovery_codes",
        gettext_lazy("Create new recovery codes"),
    ),
    _page(
        "account/methods/passkeys/add/",
        _factors("webauthn.views.add_webauthn"),
        "mfa_add_webauthn",
        gettext_lazy("Add a passkey"),
    ),
    _page(
        "account/methods/passkeys/<int:pk>/edit/",
        _factors("webauthn.views.edit_webauthn"),
        "mfa_edit_webauthn",
        gettext_lazy("Rename the passkey"),
    ),
    _page(
        "account/methods/passkeys/<int:pk>/remove/",
        _factors("webauthn.views.remove_webauthn"),
        "mfa_remove_webauthn",
        gettext_lazy("Remove the passkey"),
    ),
]
