"""The consent page: a user decides whether an AI client may act for them."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.contrib import admin
from django.http import Http404, HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods
from oauth2_provider.http import OAuth2ResponseRedirect
from oauth2_provider.oauth2_backends import OAuthLibCore, get_oauthlib_core
from oauthlib.oauth2 import FatalClientError, OAuth2Error
from oauthlib.oauth2.rfc6749.errors import AccessDeniedError, InvalidRequestError

from proofroom.accounts.admin.scope_fields import ScopeForm
from proofroom.core.admin.form_pages import save_form
from proofroom.core.admin.permissions import actor_of, service_errors_as_http
from proofroom.core.middleware import csp_override
from proofroom.oauth.addresses import is_resource, issuer, issues_tokens, resource
from proofroom.oauth.connections import connect, find_limits
from proofroom.oauth.models import OAuthClient, OAuthConnection
from proofroom.oauth.redirects import destination_of, with_issuer
from proofroom.oauth.scopes import READ, grantable
from proofroom.oauth.validator import wrong_target


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
# The response to the form redirects to the client, and often further, which the usual policy would forbid.
@csp_override({**settings.SECURE_CSP, "form-action": None})
@service_errors_as_http
def authorize(request: HttpRequest) -> HttpResponse:
    """GET shows the consent form. POST redirects to the client. The request parameters are in the URL both times."""
    if not issues_tokens():
        raise Http404
    core = get_oauthlib_core()
    try:
        requested_scopes, parameters = _read_request(core, request)
    except FatalClientError as error:
        return _error_page(request, error)
    except OAuth2Error as error:
        # No automatic redirect: an attacker who made the link would have an open redirect on this site.
        return _error_page(request, error, with_issuer(error.in_uri(error.redirect_uri), issuer()))
    client: OAuthClient = parameters["request"].client
    actor, redirect_uri = actor_of(request), parameters["redirect_uri"]
    offered = grantable(requested_scopes, actor)
    known = find_limits(client=client, user_id=actor.user.pk)
    allows = request.POST.get("decision") == "allow"
    form = ScopeForm(request.POST if allows else None, scope=known, who=actor)
    if request.method == "POST" and not allows:
        denied = AccessDeniedError(state=parameters["state"])
        return _redirect_to_client(client, denied.in_uri(redirect_uri))
    # Reading is part of every grant, so the form cannot leave it out.
    chosen = [scope for scope in offered if scope == READ or scope in request.POST.getlist("grant")]
    connected: list[OAuthConnection] = []
    if not save_form(
        form,
        lambda: connected.append(
            connect(client=client, scopes=chosen, actor=actor, limits=form.scope)
        ),
    ):
        context: dict[str, Any] = {
            "title": "",
            "client": client,
            "account": request.user,
            "scopes": [(scope, scope != READ) for scope in offered],
            "destination": destination_of(redirect_uri),
            "form": form,
            "is_limited": form.is_bound or known.is_limited,
        }
        status = 422 if form.is_bound else 200
        return _page(request, "admin/oauth/consent.html", context, status)
    granted = connected[0].scopes
    credentials = {
        name: parameters[name] for name in ("client_id", "redirect_uri", "response_type", "state")
    }
    uri, *_rest = core.create_authorization_response(
        request, granted, {**credentials, "resource": [resource()]}, allow=True
    )
    return _redirect_to_client(client, uri)


def _read_request(core: OAuthLibCore, request: HttpRequest) -> tuple[list[str], dict[str, Any]]:
    """Return the scopes and the other request parameters, validated. Raises `OAuth2Error`."""
    # oauthlib fails on a broken escape, and on characters that browsers send as they are.
    request.META["QUERY_STRING"] = request.GET.urlencode()
    # The library's own method would also read the body, where the consent form is.
    scopes, parameters = core.server.validate_authorization_request(
        request.get_full_path(), "GET", None, core.extract_headers(request)
    )
    problem: OAuth2Error | None = None
    # The library also accepts the method `plain`, which does not protect an intercepted request.
    if parameters.get("code_challenge_method") != "S256":
        problem = InvalidRequestError(
            "code_challenge_method must be S256.", state=parameters["state"]
        )
    elif not all(map(is_resource, request.GET.getlist("resource"))):
        problem = wrong_target(state=parameters["state"])
    if problem is not None:
        problem.redirect_uri = parameters["redirect_uri"]
        raise problem
    return scopes, parameters


def _redirect_to_client(client: OAuthClient, uri: str) -> HttpResponse:
    response: HttpResponse = OAuth2ResponseRedirect(
        with_issuer(uri, issuer()), client.get_allowed_schemes()
    )
    return response


def _error_page(request: HttpRequest, error: OAuth2Error, back: str = "") -> HttpResponse:
    """Show the error of an invalid request. `back`: URL of the client with the error, for a link; may be empty."""
    context = {
        "title": _("This client cannot be connected"),
        "error": error.error,
        "description": error.description,
        "back": back,
        "destination": destination_of(back) if back else None,
    }
    return _page(request, "admin/oauth/failed.html", context, status=400)


def _page(
    request: HttpRequest, template: str, context: dict[str, Any], status: int = 200
) -> HttpResponse:
    # Without the admin's navigation, because the page is about one decision.
    frame = {**admin.site.each_context(request), "has_permission": False}
    return TemplateResponse(request, template, {**frame, **context}, status=status)
