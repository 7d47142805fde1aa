"""The addresses that a SAML identity provider knows of this site: its metadata, and where answers and log-outs go.

They are there where `SAML_METADATA_URL` is set. Importing allauth's views needs the extra `saml`.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import wraps
from typing import Final, Protocol

from allauth.core.exceptions import ImmediateHttpResponse
from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBadRequest
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt

from proofroom.accounts.login_limits import has_too_many_tries
from proofroom.accounts.provider_adapter import refuse
from proofroom.accounts.provider_ids import SAML

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
        except Exception:  # python3-saml raises bare ones, and those of lxml and of the network
            logger.exception("The SAML provider cannot be reached, or what it said cannot be used.")
            refuse(request, _("The login did not work. Try again."))

    return guarded


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

    response: HttpResponse = finish_acs(request, organization_slug=SAML)
    return response


@_where_configured
def show_metadata(request: HttpRequest) -> HttpResponse:
    """GET answers what the provider needs to know of this site, as XML."""
    from allauth.socialaccount.providers.saml.views import metadata

    response: HttpResponse = metadata(request, organization_slug=SAML)
    return response


@csrf_exempt
@_where_configured
def log_out(request: HttpRequest) -> HttpResponse:
    """GET with a signed request of the provider ends the session; one that is not signed could come from anybody."""
    from allauth.socialaccount.providers.saml.views import sls

    if request.method != "GET" or not request.GET.get("Signature"):
        return HttpResponseBadRequest("The request is not signed.", content_type="text/plain")
    response: HttpResponse = sls(request, organization_slug=SAML)
    return response
