"""Client identification: by a metadata document on the web, or by registration.

A client names itself in both cases. So the consent page shows where its response goes.
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

from proofroom.core.caching.rate_limits import HitCount, caller_address, is_allow_listed
from proofroom.core.errors import CmsError
from proofroom.core.http_client import fetch
from proofroom.core.http_client.connection import Unreachable
from proofroom.core.json import JsonObject
from proofroom.oauth.client_assertions import METHOD, store_client_keys
from proofroom.oauth.models import REDIRECTS_MAX, OAuthClient, clean_name
from proofroom.oauth.signing_keys import BadSignature
from proofroom.oauth.token_values import hash_value

# Any web site can be named as a client, so its document is read with limits.
_DOCUMENT_BYTES: Final = 16 * 1024
_FETCH_SECONDS: Final = 5.0
_CACHE_SECONDS: Final = (300, 86_400)
_MAX_AGE: Final = re.compile(r"max-age\s*=\s*(\d{1,9})", re.IGNORECASE)
ClientMethod = Literal["none", "client_secret_basic", "client_secret_post"]
_NO_SECRET: Final = "none"  # noqa: S105  # the name of a way to log in
_DEFAULT_METHOD: Final = "client_secret_basic"


class DocumentFetcher:
    """Reads the metadata document of a client whose ID is a URL. The library's interface."""

    def fetch(self, client_id: str) -> tuple[dict[str, object], int]:
        """Return the document, and the seconds it may be cached. Raises `CIMDError`."""
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
        # Otherwise a document could replace the keys of another client.
        if document.get("client_id") == client_id:
            try:
                store_client_keys(client_id, document)
            except BadSignature as error:
                raise CIMDError(str(error)) from error
        return as_public_client(document), _cache_seconds(found.headers.get("cache-control", ""))


def as_public_client(document: dict[str, object]) -> dict[str, object]:
    """Return the document with a clean name, as a client without a secret if it signs or needs none."""
    # The library does not know `private_key_jwt`. Signatures are checked in `ConnectionValidator`.
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
        # Other grant types of the client are not supported here.
        cleaned["grant_types"] = ["authorization_code"]
    return cleaned


def _cache_seconds(cache_control: str) -> int:
    min_seconds, max_seconds = _CACHE_SECONDS
    if re.search(r"no-(store|cache)", cache_control, re.IGNORECASE):
        return min_seconds
    age = _MAX_AGE.search(cache_control)
    return min(max(int(age[1]), min_seconds), max_seconds) if age else max_seconds


def count_new_client(peer: str, forwarded: str) -> HitCount | None:
    """Count a new client of the caller's address. Return None if the address has no limit."""
    address = caller_address(peer, forwarded)
    return None if is_allow_listed(address) else HitCount("oauth", address)


class DocumentLimit:
    """Limits how many documents are read for one address. The library's interface."""

    def has_permission(self, request: Request, client_id: str) -> bool:
        headers = request.headers
        forwarded = str(headers.get("HTTP_X_FORWARDED_FOR", ""))
        count = count_new_client(str(headers.get("REMOTE_ADDR", "")), forwarded)
        return count is None or not count.is_over


class Registration(BaseModel):
    """The metadata of a client that registers (RFC 7591). Other fields are ignored."""

    redirect_uris: list[Annotated[str, Field(max_length=2_000)]] = Field(
        min_length=1, max_length=REDIRECTS_MAX
    )
    client_name: Annotated[str, Field(max_length=1_000)] | None = None
    token_endpoint_auth_method: ClientMethod = _DEFAULT_METHOD
    grant_types: list[str] = Field(["authorization_code"], max_length=10)
    response_types: list[str] = Field(["code"], max_length=10)


def register_client(metadata: Registration) -> JsonObject:
    """Register a client. Return its registration response, with its secret.

    Raises Django's `ValidationError` with a field of the client.
    """
    if "authorization_code" not in metadata.grant_types or "code" not in metadata.response_types:
        raise ValidationError({"grant_types": "Only authorization_code with code is served."})
    is_public = metadata.token_endpoint_auth_method == _NO_SECRET
    # The model stores all URIs in one field, separated by spaces.
    if any(" " in uri for uri in metadata.redirect_uris):
        raise ValidationError({"redirect_uris": "A redirect URI holds a blank."})
    client = OAuthClient(
        name=clean_name(metadata.client_name or ""),
        redirect_uris=" ".join(metadata.redirect_uris),
        client_type=OAuthClient.CLIENT_PUBLIC if is_public else OAuthClient.CLIENT_CONFIDENTIAL,
        authorization_grant_type=OAuthClient.GRANT_AUTHORIZATION_CODE,
        registration_source=OAuthClient.RegistrationSource.DCR,
    )
    client.full_clean(exclude=["client_secret"])
    secret = client.client_secret
    # The library would hash it with a slow password hasher. A random secret needs no slow hash.
    client.client_secret, client.hash_client_secret = hash_value(secret), False
    client.save(force_insert=True)
    answer: JsonObject = {
        "client_id": client.client_id,
        "client_id_issued_at": int(client.created.timestamp()),
        "client_name": client.label,
        "redirect_uris": [*metadata.redirect_uris],
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        "token_endpoint_auth_method": metadata.token_endpoint_auth_method,
    }
    if not is_public:
        answer |= {"client_secret": secret, "client_secret_expires_at": 0}
    return answer
