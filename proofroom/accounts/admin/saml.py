"""The addresses that a SAML identity provider knows of this site: its metadata, and where answers and log-outs go.

They are there where `SAML_METADATA_URL` is set. Importing allauth's views needs the extra `saml`.
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
"""Characters of an answer in base64: it waits in a session until the browser comes back without the other site."""


class SamlView(Protocol):
    def __call__(self, request: HttpRequest, organization_slug: str) -> HttpResponse: ...


def _where_configured(view: Callable[[HttpRequest], HttpResponse]) -> SamlView:
    """Answer 404 without a provider, and lead back to the login where what came cannot be used."""

    @never_cache
    @wraps(view)
    def guarded(request: HttpRequest, organization_slug: str) -> HttpResponse:
        if settings.PROVIDER_ID != SAML:
            raise Http404
        try:
            return view(request)
        except ImmediateHttpResponse:
            raise
        except Exception as error:  # python3-saml raises bare ones, and those of lxml
            log_once(logger, "What the SAML provider said cannot be used.", error)
            refuse(request, _("The login did not work. Try again."))

    return guarded


def _require_metadata(request: HttpRequest) -> None:
    """Lead back to the login where the provider's metadata cannot be read; what was read is cached."""
    from allauth.socialaccount.providers.saml.utils import fetch_metadata_url_config

    provider = get_adapter().get_provider(request, SAML)
    try:
        fetch_metadata_url_config(provider.app.settings["idp"])
    except Exception as error:  # bare ones too, and those of lxml and of the network
        refuse_unreachable(request, error)


@csrf_exempt
@_where_configured
def receive_answer(request: HttpRequest) -> HttpResponse:
    """POST from the provider's page. The browser sends no session with it and fetches `finish_login` next."""
    from allauth.socialaccount.providers.saml.views import acs

    answer = request.POST.get("SAMLResponse", "")
    if request.method != "POST" or not 0 < len(answer) <= LONGEST_ANSWER:
        return HttpResponseBadRequest("A SAMLResponse is expected.", content_type="text/plain")
    if has_too_many_tries(request):
        refuse(request, _("Too many attempts. Try again in a few minutes."))
    response: HttpResponse = acs(request, organization_slug=SAML)
    return response


@_where_configured
def finish_login(request: HttpRequest) -> HttpResponse:
    """GET checks the answer that came before and logs in."""
    from allauth.socialaccount.providers.saml.views import finish_acs

    _require_metadata(request)
    response: HttpResponse = finish_acs(request, organization_slug=SAML)
    return response


@_where_configured
def show_metadata(request: HttpRequest) -> HttpResponse:
    """GET answers what the provider needs to know of this site, as XML."""
    from allauth.socialaccount.providers.saml.views import metadata

    _require_metadata(request)
    response: HttpResponse = metadata(request, organization_slug=SAML)
    return response


@csrf_exempt
@_where_configured
def log_out(request: HttpRequest) -> HttpResponse:
    """GET with a signed LogoutRequest of the provider ends the session that it names, and answers the provider.

    One that is not signed could come from anybody, and one about somebody else ends nothing. This site never asks
    the provider for a log-out, so that it awaits no LogoutResponse.
    """
    from allauth.socialaccount.providers.saml.utils import build_auth
    from onelogin.saml2.errors import OneLogin_Saml2_Error, OneLogin_Saml2_ValidationError

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
        # Called after the signature was checked.
        if is_named(request.session.get(SAML_SESSION_KEY), auth.get_last_request_xml()):
            get_account_adapter(request).logout(request)

    try:
        address = auth.process_slo(delete_session_cb=end_session)
    except (OneLogin_Saml2_Error, OneLogin_Saml2_ValidationError, ValueError, SyntaxError) as error:
        logger.warning("A log-out of the SAML provider cannot be read: %s", error)
        address = None
    if auth.get_errors():
        logger.warning(
            "A log-out of the SAML provider was refused: %s", auth.get_last_error_reason()
        )
        address = None
    if address is None:
        return HttpResponseBadRequest("The request cannot be used.", content_type="text/plain")
    return HttpResponseRedirect(address)
