"""The SAML endpoints of this site: metadata, login responses and logout.

Available if `SAML_METADATA_URL` is set. The imports of allauth's views need the extra `saml`.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import wraps
from typing import Final, Protocol

from allauth.account.adapter import get_adapter as get_account_adapter
from allauth.core.exceptions import ImmediateHttpResponse
from allauth.socialaccount.adapter import get_adapter
from django.conf import settings
from django.http import (
    Http404,
    HttpRequest,
    HttpResponse,
    HttpResponseBadRequest,
    HttpResponseRedirect,
)
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt

from proofroom.accounts.login_limits import has_too_many_tries
from proofroom.accounts.provider_adapter import refuse, refuse_unreachable
from proofroom.accounts.provider_ids import SAML
from proofroom.accounts.saml import SAML_SESSION_KEY, is_named
from proofroom.core.repeated_errors import log_once

logger = logging.getLogger(__name__)

LONGEST_ANSWER: Final = 256 * 1024
"""Characters of a base64 login response. It is stored until `finish_login` reads it."""


class SamlView(Protocol):
    def __call__(self, request: HttpRequest, organization_slug: str) -> HttpResponse: ...


def _require_configured(view: Callable[[HttpRequest], HttpResponse]) -> SamlView:
    """Answer 404 if SAML is not configured. Redirect to the login if the request cannot be used."""

    @never_cache
    @wraps(view)
    def guarded(request: HttpRequest, organization_slug: str) -> HttpResponse:
        if settings.PROVIDER_ID != SAML:
            raise Http404
        try:
            return view(request)
        except ImmediateHttpResponse:
            raise
        except Exception as error:  # python3-saml raises plain Exception; lxml has its own
            log_once(logger, "What the SAML provider said cannot be used.", error)
            refuse(request, _("The login did not work. Try again."))

    return guarded


def _require_metadata(request: HttpRequest) -> None:
    """Redirect to the login if the provider's metadata cannot be read. It is cached after the first read."""
    from allauth.socialaccount.providers.saml.utils import fetch_metadata_url_config

    provider = get_adapter().get_provider(request, SAML)
    try:
        fetch_metadata_url_config(provider.app.settings["idp"])
    except Exception as error:  # python3-saml raises plain Exception; lxml has its own
        refuse_unreachable(request, error)


@csrf_exempt
@_require_configured
def receive_answer(request: HttpRequest) -> HttpResponse:
    """Accept the login response, a POST from the provider's page. The browser fetches `finish_login` next."""
    from allauth.socialaccount.providers.saml.views import acs

    # The session cookie is SameSite=Lax, so this cross-site POST has no session. The next request, a GET, has it.
    answer = request.POST.get("SAMLResponse", "")
    if request.method != "POST" or not 0 < len(answer) <= LONGEST_ANSWER:
        return HttpResponseBadRequest("A SAMLResponse is expected.", content_type="text/plain")
    if has_too_many_tries(request):
        refuse(request, _("Too many attempts. Try again in a few minutes."))
    response: HttpResponse = acs(request, organization_slug=SAML)
    return response


@_require_configured
def finish_login(request: HttpRequest) -> HttpResponse:
    """GET verifies the stored login response and logs in."""
    from allauth.socialaccount.providers.saml.views import finish_acs

    _require_metadata(request)
    response: HttpResponse = finish_acs(request, organization_slug=SAML)
    return response


@_require_configured
def show_metadata(request: HttpRequest) -> HttpResponse:
    """GET answers the metadata that the provider needs about this site, as XML."""
    from allauth.socialaccount.providers.saml.views import metadata

    _require_metadata(request)
    response: HttpResponse = metadata(request, organization_slug=SAML)
    return response


@csrf_exempt
@_require_configured
def log_out(request: HttpRequest) -> HttpResponse:
    """GET with a signed LogoutRequest ends the session it names, and answers the provider.

    This site never sends a LogoutRequest, so it expects no LogoutResponse.
    """
    from allauth.socialaccount.providers.saml.utils import build_auth
    from onelogin.saml2.errors import OneLogin_Saml2_Error, OneLogin_Saml2_ValidationError

    # Anyone can send an unsigned request, for example by a link that logs a visitor out.
    if request.method != "GET" or not request.GET.get("Signature"):
        return HttpResponseBadRequest("The request is not signed.", content_type="text/plain")
    if not request.GET.get("SAMLRequest") or "SAMLResponse" in request.GET:
        return HttpResponseBadRequest("A SAMLRequest is expected.", content_type="text/plain")
    _require_metadata(request)
    auth = build_auth(request, get_adapter().get_provider(request, SAML))
    if auth.get_slo_response_url() is None:
        return HttpResponseBadRequest(
            "The metadata of the provider names no address for log-outs.", content_type="text/plain"
        )

    def end_session() -> None:
        # Runs after the signature was verified. A request about another session ends nothing.
        if is_named(request.session.get(SAML_SESSION_KEY), auth.get_last_request_xml()):
            get_account_adapter(request).logout(request)

    try:
        address = auth.process_slo(delete_session_cb=end_session)
    except (OneLogin_Saml2_Error, OneLogin_Saml2_ValidationError, ValueError, SyntaxError) as error:
        logger.warning("Cannot read a logout request of the SAML provider: %s", error)
        address = None
    if auth.get_errors():
        logger.warning(
            "Refused a logout request of the SAML provider: %s", auth.get_last_error_reason()
        )
        address = None
    if address is None:
        return HttpResponseBadRequest("The request cannot be used.", content_type="text/plain")
    return HttpResponseRedirect(address)
