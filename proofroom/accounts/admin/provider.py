"""Login through an identity provider: redirect, callback, and connecting or disconnecting an account."""

from __future__ import annotations

import logging
from typing import cast

from allauth.account.decorators import reauthentication_required
from allauth.account.utils import get_next_redirect_url
from allauth.socialaccount.adapter import get_adapter
from allauth.socialaccount.providers.openid_connect.views import callback
from django.conf import settings
from django.contrib import admin, messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.translation import gettext as _

from proofroom.accounts.login_limits import has_too_many_tries
from proofroom.accounts.models import User
from proofroom.accounts.provider_adapter import refuse, refuse_unreachable
from proofroom.accounts.provider_ids import OIDC
from proofroom.accounts.services.provider_accounts import disconnect_provider
from proofroom.core.admin.permissions import actor_of, service_errors_as_messages

logger = logging.getLogger(__name__)


def _leave(request: HttpRequest, process: str, next_url: str | None) -> HttpResponse:
    """Return a page that leads to the provider."""
    if not settings.PROVIDER_ID:
        raise Http404
    # A page instead of a redirect: browsers apply the CSP's `form-action` to redirects of a form.
    try:
        provider = get_adapter().get_provider(request, settings.PROVIDER_ID)
        answer = provider.redirect(request, process, next_url=next_url)
    except Exception as error:  # python3-saml raises plain Exception; lxml has its own
        refuse_unreachable(request, error)
    context = {
        **admin.site.each_context(request),
        "title": _("Going to %(provider)s") % {"provider": settings.PROVIDER_NAME},
        "address": answer.url,
    }
    return TemplateResponse(request, "admin/login/leave.html", context)


def start_provider_login(request: HttpRequest) -> HttpResponse:
    """POST leads to the provider, and back to `next`."""
    if request.method != "POST":
        return HttpResponseRedirect(reverse("admin:login"))
    if has_too_many_tries(request):
        refuse(request, _("Too many attempts. Try again in a few minutes."))
    return _leave(request, "login", get_next_redirect_url(request))


@login_required
@reauthentication_required(app="allauth.socialaccount")  # type: ignore[untyped-decorator]  # allauth has no types
def connect_provider(request: HttpRequest) -> HttpResponse:
    """POST leads to the provider. When the user returns, the provider is connected to this account."""
    if request.method != "POST":
        return HttpResponseRedirect(reverse("mfa_index"))
    return _leave(request, "connect", None)


@login_required
def confirm_with_provider(request: HttpRequest) -> HttpResponse:
    """GET asks users without a password and a second factor to log in at the provider again."""
    context = {"next": get_next_redirect_url(request) or reverse("mfa_index")}
    return TemplateResponse(request, "admin/account/confirm_provider.html", context)


def provider_callback(request: HttpRequest, provider_id: str) -> HttpResponse:
    """Handle the redirect back from the provider."""
    if settings.PROVIDER_ID != OIDC:
        return HttpResponseRedirect(reverse("admin:login"))
    try:
        return cast("HttpResponse", callback(request, provider_id))
    # allauth's view does not check the shape of the provider's answer.
    except (KeyError, TypeError, ValueError):
        logger.exception("Cannot read the response of the login provider.")
        refuse(request, _("The login did not work. Try again."))


@login_required
@reauthentication_required(app="allauth.socialaccount")  # type: ignore[untyped-decorator]  # allauth has no types
def disconnect(request: HttpRequest) -> HttpResponse:
    """POST disconnects the provider from this account."""
    if request.method != "POST":
        return HttpResponseRedirect(reverse("mfa_index"))
    with service_errors_as_messages(request):
        disconnect_provider(actor=actor_of(request), user=cast("User", request.user))
        messages.success(
            request, _("Disconnected %(provider)s.") % {"provider": settings.PROVIDER_NAME}
        )
    return HttpResponseRedirect(reverse("mfa_index"))
