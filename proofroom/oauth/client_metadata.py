"""How AI clients make themselves known: by a document on the web, or by registering.

Either way the client names itself, so a person is shown where its answers go, and decides.
"""

from __future__ import annotations

import re
from typing import Annotated, Final, Literal
from urllib.parse import urlsplit

import orjson
from django.core.exceptions import ValidationError
from oauth2_provider.cimd import CIMDError
from oauthlib.common import Request
from pydantic import BaseModel, Field

from proofroom.core.caching.rate_limits import HitCount, caller_address, is_allowed_freely
from proofroom.core.errors import CmsError
from proofroom.core.http_client import fetch
from proofroom.core.http_client.connection import Unreachable
from proofroom.core.json import JsonObject
from proofroom.oauth.client_assertions import METHOD, keep_keys
from proofroom.oauth.models import REDIRECTS_MAX, OAuthClient, clean_name
from proofroom.oauth.signing_keys import BadSignature
from proofroom.oauth.token_values import hash_value

_DOCUMENT_BYTES: Final = 16 * 1024
_FETCH_SECONDS: Final = 5.0
_FRESH_SECONDS: Final = (300, 86_400)
_MAX_AGE: Final = re.compile(r"max-age\s*=\s*(\d{1,9})", re.IGNORECASE)
ClientMethod = Literal["none", "client_secret_basic", "client_secret_post"]
_NO_SECRET: Final = "none"  # noqa: S105  # the name of a way to log in
_USUAL_METHOD: Final = "client_secret_basic"


class DocumentFetcher:
    """Reads the document of a client that names itself by an address, as the library asks for it."""

    def fetch(self, client_id: str) -> tuple[dict[str, object], int]:
        """Return the document, and for how many seconds it is believed. Raises `CIMDError`."""
        parts = urlsplit(client_id)
        segments = parts.path.split("/")
        if parts.scheme != "https" or len(segments) < 2 or not parts.path.strip("/"):
            raise CIMDError("the client ID must be an https address with a path")
        if "#" in client_id or {".", ".."}.intersection(segments):
            raise CIMDError("the client ID must have no fragment and no dots as path segments")
        try:
            found = fetch(
                "GET",
                client_id,
                headers={"Accept": "application/json"},
                seconds=_FETCH_SECONDS,
                max_bytes=_DOCUMENT_BYTES,
            )
        except (CmsError, Unreachable) as error:
            raise CIMDError(str(error)) from error
        kind = found.headers.get("content-type", "").partition(";")[0].strip().lower()
        if found.status != 200 or found.note:
            raise CIMDError(f"the document answered {found.status} {found.note}")
        if not re.fullmatch(r"application/([\w.-]+\+)?json", kind):
            raise CIMDError(f"the document is {kind!r}, not JSON")
        try:
            document = orjson.loads(found.body)
        except orjson.JSONDecodeError as error:
            raise CIMDError("the document is not JSON") from error
        if not isinstance(document, dict):
            raise CIMDError("the document is no object")
        if document.get("client_id") == client_id:
            try:
                keep_keys(client_id, document)
            except BadSignature as error:
                raise CIMDError(str(error)) from error
        return as_public_client(document), _fresh_seconds(found.headers.get("cache-control", ""))


def as_public_client(document: dict[str, object]) -> dict[str, object]:
    """The document with a clean name, and as a client without a secret.

    The library knows no clients that sign; what they sign is checked beside it.
    """
    methods = document.get("token_endpoint_auth_methods_supported")
    has_no_secret = document.get("token_endpoint_auth_method") == METHOD or (
        isinstance(methods, list) and "none" in methods
    )
    name = document.get("client_name")
    grants = document.get("grant_types")
    cleaned = {**document, "client_name": clean_name(name) if isinstance(name, str) else ""}
    if has_no_secret:
        cleaned["token_endpoint_auth_method"] = _NO_SECRET
    if isinstance(grants, list) and "authorization_code" in grants:
        # Others that the client knows are of no use here.
        cleaned["grant_types"] = ["authorization_code"]
    return cleaned


def _fresh_seconds(cache_control: str) -> int:
    least, most = _FRESH_SECONDS
    if re.search(r"no-(store|cache)", cache_control, re.IGNORECASE):
        return least
    age = _MAX_AGE.search(cache_control)
    return min(max(int(age[1]), least), most) if age else most


def count_new_client(peer: str, forwarded: str) -> HitCount | None:
    """Count one more client of a caller's address. None for an address that is free of limits."""
    address = caller_address(peer, forwarded)
    return None if is_allowed_freely(address) else HitCount("oauth", address)


class DocumentLimit:
    """Limits how many documents are read for one address, as the library asks for it."""

    def has_permission(self, request: Request, client_id: str) -> bool:
        headers = request.headers
        forwarded = str(headers.get("HTTP_X_FORWARDED_FOR", ""))
        count = count_new_client(str(headers.get("REMOTE_ADDR", "")), forwarded)
        return count is None or not count.is_over


class Registration(BaseModel):
    """What a client says of itself when it registers (RFC 7591). What else it says is of no use here."""

    redirect_uris: list[Annotated[str, Field(max_length=2_000)]] = Field(
        min_length=1, max_length=REDIRECTS_MAX
    )
    client_name: Annotated[str, Field(max_length=1_000)] | None = None
    token_endpoint_auth_method: ClientMethod = _USUAL_METHOD
    grant_types: list[str] = Field(["authorization_code"], max_length=10)
    response_types: list[str] = Field(["code"], max_length=10)


def register_client(given: Registration) -> JsonObject:
    """Register a client, and answer what it has to know, its secret included.

    Raises Django's `ValidationError` with a field of the client.
    """
    if "authorization_code" not in given.grant_types or "code" not in given.response_types:
        raise ValidationError({"grant_types": "Only authorization_code with code is served."})
    is_public = given.token_endpoint_auth_method == _NO_SECRET
    if any(" " in uri for uri in given.redirect_uris):
        raise ValidationError({"redirect_uris": "A redirect URI holds a blank."})
    client = OAuthClient(
        name=clean_name(given.client_name or ""),
        redirect_uris=" ".join(given.redirect_uris),
        client_type=OAuthClient.CLIENT_PUBLIC if is_public else OAuthClient.CLIENT_CONFIDENTIAL,
        authorization_grant_type=OAuthClient.GRANT_AUTHORIZATION_CODE,
        registration_source=OAuthClient.RegistrationSource.DCR,
    )
    client.full_clean(exclude=["client_secret"])
    secret = client.client_secret
    client.client_secret, client.hash_client_secret = hash_value(secret), False
    client.save(force_insert=True)
    answer: JsonObject = {
        "client_id": client.client_id,
        "client_id_issued_at": int(client.created.timestamp()),
        "client_name": client.label,
        "redirect_uris": [*given.redirect_uris],
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        "token_endpoint_auth_method": given.token_endpoint_auth_method,
    }
    if not is_public:
        answer |= {"client_secret": secret, "client_secret_expires_at": 0}
    return answer
