"""The endpoints for programs: metadata, registration, tokens, revocation and introspection."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable
from functools import wraps
from typing import Final
from urllib.parse import unquote

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.utils.crypto import constant_time_compare
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST, require_safe
from oauth2_provider.cimd import refresh_if_stale
from oauth2_provider.models import get_grant_model, get_refresh_token_model
from oauth2_provider.oauth2_backends import get_oauthlib_core
from oauthlib.common import Request
from pydantic import ValidationError as WrongShape

from proofroom.core.caching.rate_limits import HitCount, client_address, is_allow_listed
from proofroom.core.validation.errors import first_fault, reason_of
from proofroom.oauth.addresses import issuer, issues_tokens, resource_metadata, server_metadata
from proofroom.oauth.client_metadata import Registration, count_new_client, register_client
from proofroom.oauth.connections import find_connected_client
from proofroom.oauth.models import OAuthClient
from proofroom.oauth.token_values import hash_value

View = Callable[..., HttpResponse]
_BODY_BYTES: Final = 64 * 1024
_GRANT_TYPES: Final = ("authorization_code", "refresh_token")


def _require_issuer(view: View) -> View:
    """Answer 404 unless this site issues tokens, and forbid caching."""

    @wraps(view)
    def wrapper(request: HttpRequest, *args: object, **kwargs: object) -> HttpResponse:
        if not issues_tokens():
            raise Http404
        # oauthlib fails on a broken escape such as %zz.
        request.META["QUERY_STRING"] = request.GET.urlencode()
        response = view(request, *args, **kwargs)
        response.setdefault("Cache-Control", "no-store")
        response.setdefault("Pragma", "no-cache")
        return response

    return wrapper


def _refuse_nul(view: View) -> View:
    """Answer 400 if a parameter has a NUL character, which PostgreSQL refuses in a query."""

    @wraps(view)
    def wrapper(request: HttpRequest, *args: object, **kwargs: object) -> HttpResponse:
        for parameters in (request.GET, request.POST):
            if any("\x00" in value for _, values in parameters.lists() for value in values):
                return _error("invalid_request", "A parameter contains a NUL character.")
        return view(request, *args, **kwargs)

    return wrapper


@require_safe
def protected_resource(request: HttpRequest) -> HttpResponse:
    """Answer the metadata of the MCP server, which answers the same at its own URL."""
    if not settings.CMS_ENV.mcp_oauth:
        raise Http404
    return JsonResponse(resource_metadata())


@require_safe
@_require_issuer
def authorization_server(request: HttpRequest) -> HttpResponse:
    """Answer the metadata of the authorization server."""
    return JsonResponse(server_metadata())


@csrf_exempt
@require_POST
@_require_issuer
@_refuse_nul
def token(request: HttpRequest) -> HttpResponse:
    """Answer tokens for a code or a refresh token."""
    if request.POST.get("grant_type") not in _GRANT_TYPES:
        return _error("unsupported_grant_type", "Codes and refresh tokens are taken.")
    core = get_oauthlib_core()
    client = OAuthClient.objects.filter(client_id=request.POST.get("client_id", "")[:255]).first()
    if client is not None:
        # Before the transaction: fetching a document must not keep rows locked.
        refresh_if_stale(client, Request(request.path, headers=core.extract_headers(request)))
    with transaction.atomic():
        code, refresh_token = request.POST.get("code", ""), request.POST.get("refresh_token", "")
        # Lock the code or token first: of two equal requests, the second must see what the first changed.
        if code:
            list(get_grant_model().objects.select_for_update().filter(code=hash_value(code)))
        if refresh_token:
            rows = get_refresh_token_model().objects.select_for_update()
            list(rows.filter(token_checksum=hash_value(refresh_token)))
        _, headers, body, status = core.create_token_response(request)
    return HttpResponse(
        body, status=status, headers={"Content-Type": "application/json", **headers}
    )


@csrf_exempt
@require_POST
@_require_issuer
@_refuse_nul
def revoke(request: HttpRequest) -> HttpResponse:
    """Revoke a token of the client, and the tokens that depend on it (RFC 7009)."""
    with transaction.atomic():
        _, headers, body, status = get_oauthlib_core().create_revocation_response(request)
    return HttpResponse(
        body or "", status=status, headers={"Content-Type": "application/json", **headers}
    )


@csrf_exempt
@require_POST
@_require_issuer
def register(request: HttpRequest) -> HttpResponse:
    """Register a client (RFC 7591)."""
    if not settings.CMS_ENV.mcp_oauth_registration:
        raise Http404
    count = count_new_client(
        str(request.META.get("REMOTE_ADDR", "")), str(request.META.get("HTTP_X_FORWARDED_FOR", ""))
    )
    if count is not None and count.is_over:
        answer = _error("temporarily_unavailable", "Too many clients of this address.", 429)
        answer["Retry-After"] = str(count.wait)
        return answer
    if len(request.body) > _BODY_BYTES:
        return _error("invalid_client_metadata", "The metadata is too long.")
    try:
        return JsonResponse(
            register_client(Registration.model_validate_json(request.body)), status=201
        )
    except WrongShape as error:
        field, reason = first_fault(error, reason_of, root="body")
        return _error(_metadata_error(field), f"{field}: {reason}")
    except ValidationError as error:
        field = next(iter(error.message_dict))
        return _error(_metadata_error(field), " ".join(error.messages))


def _metadata_error(field: str) -> str:
    is_redirect = field.startswith("redirect_uris")
    return "invalid_redirect_uri" if is_redirect else "invalid_client_metadata"


@csrf_exempt
@require_POST
@_require_issuer
def introspect(request: HttpRequest) -> HttpResponse:
    """Answer whether a token is valid, to clients named by the operator (RFC 7662)."""
    client_secrets = settings.CMS_ENV.mcp_oauth_introspection
    if not client_secrets:
        raise Http404
    address = client_address(request)
    name, secret = _basic_credentials(request)
    expected = client_secrets.get(name)
    if not expected or not constant_time_compare(expected, secret):
        # Only failures count, so that a busy resource server is not limited.
        count = None if is_allow_listed(address) else HitCount("login", f"oauth:{address}")
        if count is not None and count.is_over:
            response = _error("temporarily_unavailable", "Too many wrong credentials.", 429)
            response["Retry-After"] = str(count.wait)
            return response
        response = _error("invalid_client", "Only clients that the operator named may ask.", 401)
        response["WWW-Authenticate"] = 'Basic realm="introspection"'
        return response
    # A check is not a use of the token by its client.
    found = find_connected_client(request.POST.get("token", ""), is_use=False)
    if found is None:
        return JsonResponse({"active": False})
    return JsonResponse(
        {
            "active": True,
            "iss": issuer(),
            "aud": resource_metadata()["resource"],
            "sub": str(found.user_id),
            "client_id": found.client_id,
            "scope": " ".join(sorted(found.scopes)),
            "exp": int(found.expires.timestamp()),
            "token_type": "Bearer",
        }
    )


def _basic_credentials(request: HttpRequest) -> tuple[str, str]:
    scheme, _, value = request.headers.get("Authorization", "").partition(" ")
    if scheme.lower() != "basic":
        return "", ""
    try:
        name, _, secret = base64.b64decode(value, validate=True).decode().partition(":")
    except (binascii.Error, UnicodeDecodeError):
        return "", ""
    # RFC 6749, 2.3.1: name and secret are form-encoded before base64.
    return unquote(name), unquote(secret)


def _error(error: str, description: str, status: int = 400) -> JsonResponse:
    return JsonResponse({"error": error, "error_description": description}, status=status)
