"""The library's validator with the rules of this authorization server.

Tokens are for the MCP server only. Codes are stored hashed. Using a code or refresh token twice revokes all tokens
that came from it.
"""

from __future__ import annotations

import logging
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import NAMESPACE_URL, UUID, uuid5

from django.db.models import F
from django.utils import timezone
from django.utils.crypto import constant_time_compare
from oauth2_provider.models import get_access_token_model, get_grant_model, get_refresh_token_model
from oauth2_provider.oauth2_validators import OAuth2Validator
from oauthlib.common import Request
from oauthlib.oauth2.rfc6749.errors import CustomOAuth2Error

from proofroom.oauth.addresses import is_resource, resource
from proofroom.oauth.client_assertions import has_assertion, must_sign, signing_client
from proofroom.oauth.connections import find_consent, revoke_family
from proofroom.oauth.models import OAuthClient
from proofroom.oauth.scopes import CORE, KNOWN_SCOPES, USUAL_SCOPES
from proofroom.oauth.signing_keys import BadSignature
from proofroom.oauth.token_values import hash_value

logger = logging.getLogger(__name__)
RETRY_SECONDS: Final = 10
"""Seconds in which a refresh token may be used again, because clients refresh from several processes at once."""


def wrong_target(request: Request | None = None, state: str | None = None) -> CustomOAuth2Error:
    """Return the error for a token request for another server (RFC 8707)."""
    return CustomOAuth2Error(
        error="invalid_target",
        description="Tokens are issued for the MCP server of this site only.",
        request=request,
        state=state,
    )


class ConnectionValidator(OAuth2Validator):  # type: ignore[misc]  # the library has no types
    def _check_secret(self, provided_secret: str, stored_secret: str) -> bool:
        """Compare the hash of the secret with the stored one."""
        # Secrets are random, so a fast hash is enough. A public client has none, and matches nothing.
        return constant_time_compare(hash_value(provided_secret), stored_secret)

    def client_authentication_required(self, request: Request, *args: Any, **kwargs: Any) -> bool:
        if has_assertion(request) or must_sign(str(request.client_id or "")):
            return True
        return bool(super().client_authentication_required(request))

    def authenticate_client(self, request: Request, *args: Any, **kwargs: Any) -> bool:
        """Authenticate the client by its assertion or its secret."""
        # A client that must sign cannot use its secret instead.
        if not has_assertion(request):
            return not must_sign(str(request.client_id or "")) and bool(
                super().authenticate_client(request)
            )
        # RFC 6749, 2.3: a request must not use more than one method.
        if request.client_secret or self._extract_basic_auth(request):
            return False
        try:
            request.client_id = signing_client(request)
        except BadSignature as error:
            logger.info("an assertion of an AI client was refused: %s", error)
            return False
        return self._load_application(request.client_id, request) is not None

    def validate_scopes(
        self,
        client_id: str,
        scopes: list[str],
        client: OAuthClient,
        request: Request,
        *args: Any,
        **kwargs: Any,
    ) -> bool:
        """Ignore unknown scopes. The response names the granted ones."""
        # Clients often ask for scopes of OpenID Connect too, such as "openid".
        found = [scope for scope in scopes if scope in KNOWN_SCOPES]
        # The core set alone asks for no right, so it comes with the usual ones.
        request.scopes = found if set(found) - {CORE} else [*USUAL_SCOPES, *found]
        return True

    def validate_grant_type(
        self,
        client_id: str,
        grant_type: str,
        client: OAuthClient,
        request: Request,
        *args: Any,
        **kwargs: Any,
    ) -> bool:
        # The library looks the code up several times from here on, and compares it with the stored hash.
        if grant_type == "authorization_code" and request.code:
            request.code = hash_value(request.code)
        return bool(super().validate_grant_type(client_id, grant_type, client, request))

    def validate_code(
        self,
        client_id: str,
        code: str,
        client: OAuthClient,
        request: Request,
        *args: Any,
        **kwargs: Any,
    ) -> bool:
        grant = get_grant_model().objects.filter(code=code).first()
        # An unknown code may be one that was used before: its row is deleted, but its tokens have its family.
        if grant is None:
            revoke_family(_token_family(code))
            return False
        if grant.resource != [resource()]:
            return False
        if find_consent(user_id=grant.user_id, client_id=client.pk) is None:
            return False
        return bool(super().validate_code(client_id, code, client, request))

    def validate_refresh_token(
        self, refresh_token: str, client: OAuthClient, request: Request, *args: Any, **kwargs: Any
    ) -> bool:
        rows = get_refresh_token_model().objects.filter(token_checksum=hash_value(refresh_token))
        # The same token may have several rows; the one that is not revoked counts.
        token = rows.select_related("user").order_by(F("revoked").desc(nulls_first=True)).first()
        if token is None or token.application_id != client.pk:
            return False
        if token.resource != [resource()]:
            return False
        request.allowed = find_consent(user_id=token.user_id, client_id=client.pk)
        if request.allowed is None:
            return False
        if token.revoked is None:
            return bool(super().validate_refresh_token(refresh_token, client, request))
        # A revoked token was exchanged before. Within `RETRY_SECONDS` that is a retry, later it may be theft.
        successor = get_access_token_model().objects.filter(source_refresh_token=token).first()
        if successor is None or token.revoked < timezone.now() - timedelta(seconds=RETRY_SECONDS):
            if token.token_family:
                revoke_family(token.token_family)
            return False
        # The first response cannot be repeated, because its tokens are stored hashed. So this request gets new
        # tokens.
        request.user, request.refresh_token = token.user, refresh_token
        request.refresh_token_instance = None
        request.original_scope, request.family = successor.scope, token.token_family
        return True

    def get_original_scopes(
        self, refresh_token: str, request: Request, *args: Any, **kwargs: Any
    ) -> str:
        """Return the scopes of the first token, without the scopes that the user has withdrawn since."""
        original_scopes = (
            request.original_scope
            if request.refresh_token_instance is None
            else super().get_original_scopes(refresh_token, request)
        )
        return " ".join(scope for scope in original_scopes.split() if scope in request.allowed)

    def _check_and_set_request_resource(self, request: Request) -> None:
        resources = [value for key, value in request.decoded_body or [] if key == "resource"]
        if not all(map(is_resource, resources)):
            raise wrong_target(request)
        request.resource = [resource()]

    def _create_authorization_code(
        self, request: Request, code: dict[str, str], expires: datetime | None = None
    ) -> Any:
        request.resource = [resource()]
        hashed_code = {**code, "code": hash_value(code["code"])}
        return super()._create_authorization_code(request, hashed_code, expires)

    def _create_refresh_token(
        self, request: Request, value: str, access_token: Any, previous: Any
    ) -> Any:
        token = super()._create_refresh_token(request, value, access_token, previous)
        # Without a previous token, the library would start a new family for each.
        if previous is None:
            is_first = request.grant_type == "authorization_code"
            token.token_family = _token_family(request.code) if is_first else request.family
            token.save(update_fields=["token_family"])
        return token


def _token_family(code_hash: str) -> UUID:
    """Return the family of all tokens that came from a code."""
    # Derived from the code's hash, so it is known even after the code's row was deleted.
    return uuid5(NAMESPACE_URL, f"code:{code_hash}")
