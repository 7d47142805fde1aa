"""The page where a person decides whether an AI client may act for them."""

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
from proofroom.core.admin.permissions import actor_of, answers_refusals
from proofroom.core.middleware import csp_override
from proofroom.oauth.addresses import is_resource, issuer, issues_tokens, resource
from proofroom.oauth.connections import connect, find_limits
from proofroom.oauth.models import OAuthClient, OAuthConnection
from proofroom.oauth.redirects import destination_of, with_issuer
from proofroom.oauth.scopes import READ, grantable
from proofroom.oauth.validator import wrong_target


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
# The answer to the form leads to the client, and often on from there, which the usual policy would forbid.
@csp_override({**settings.SECURE_CSP, "form-action": None})
@answers_refusals
def authorize(request: HttpRequest) -> HttpResponse:
    """GET asks the person; POST answers the client. What is asked for stands in the address both times."""
    if not issues_tokens():
        raise Http404
    core = get_oauthlib_core()
    try:
        wanted, asked = _read(core, request)
    except FatalClientError as error:
        return _failed(request, error)
    except OAuth2Error as error:
        # No redirect by itself: whoever made the link would lead people of this site wherever they like.
        return _failed(request, error, with_issuer(error.in_uri(error.redirect_uri), issuer()))
    client: OAuthClient = asked["request"].client
    actor, redirect_uri = actor_of(request), asked["redirect_uri"]
    offered = grantable(wanted, actor)
    known = find_limits(client=client, user_id=actor.user.pk)
    allows = request.POST.get("decision") == "allow"
    form = ScopeForm(request.POST if allows else None, scope=known, who=actor)
    if request.method == "POST" and not allows:
        denied = AccessDeniedError(state=asked["state"])
        return _lead_to(client, denied.in_uri(redirect_uri))
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
        name: asked[name] for name in ("client_id", "redirect_uri", "response_type", "state")
    }
    uri, *_rest = core.create_authorization_response(
        request, granted, {**credentials, "resource": [resource()]}, allow=True
    )
    return _lead_to(client, uri)


def _read(core: OAuthLibCore, request: HttpRequest) -> tuple[list[str], dict[str, Any]]:
    """The scopes and the rest of what the address asks for, checked. Raises `OAuth2Error`."""
    uri, _method, _body, headers = core._extract_params(request)
    scopes, asked = core.server.validate_authorization_request(uri, "GET", None, headers)
    problem: OAuth2Error | None = None
    if asked.get("code_challenge_method") != "S256":
        problem = InvalidRequestError("code_challenge_method must be S256.", state=asked["state"])
    elif not all(map(is_resource, request.GET.getlist("resource"))):
        problem = wrong_target(state=asked["state"])
    if problem is not None:
        problem.redirect_uri = asked["redirect_uri"]
        raise problem
    return scopes, asked


def _lead_to(client: OAuthClient, uri: str) -> HttpResponse:
    response: HttpResponse = OAuth2ResponseRedirect(
        with_issuer(uri, issuer()), client.get_allowed_schemes()
    )
    return response


def _failed(request: HttpRequest, error: OAuth2Error, back: str = "") -> HttpResponse:
    """Say that the client asked wrongly. `back` leads to it with the error, if the person wants that."""
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
    # Without the navigation: there is one thing to decide here.
    frame = {**admin.site.each_context(request), "has_permission": False}
    return TemplateResponse(request, template, {**frame, **context}, status=status)
