"""Clients that sign their requests: with the right key, once, for this server."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from django.core.cache import cache
from django.test import Client
from jwt.api_jws import PyJWS

from proofroom.core.http_client import HttpResult
from proofroom.oauth import client_metadata, signing_keys
from proofroom.oauth.models import OAuthClientKeys
from proofroom.oauth.token_values import hash_value
from tests.oauth import flow
from tests.oauth.test_hostile import refused

pytestmark = pytest.mark.django_db
URL = "https://client.example/oauth/metadata"
KEYS_URL = "https://client.example/oauth/keys"
ASSERTION_TYPE = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
KEY = rsa.generate_private_key(public_exponent=65537, key_size=2048)
OTHER_KEY = rsa.generate_private_key(public_exponent=65537, key_size=2048)
CURVE_KEY = ec.generate_private_key(ec.SECP256R1())


def public(key: Any, name: str, algorithm: str = "RS256") -> dict[str, Any]:
    kind = jwt.get_algorithm_by_name(algorithm)
    return {**kind.to_jwk(key.public_key(), as_dict=True), "kid": name, "alg": algorithm}


KEY_SET = {"keys": [public(KEY, "one"), public(CURVE_KEY, "two", "ES256")]}


@pytest.fixture(autouse=True)
def web(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Serve the document and keys of the client."""
    cache.clear()
    answers: dict[str, Any] = {}

    def publish(keys: dict[str, Any] | None = KEY_SET, **changes: object) -> None:
        answers[KEYS_URL] = keys
        answers[URL] = {
            "client_id": URL,
            "client_name": "ChatGPT",
            "redirect_uris": [flow.SITE_REDIRECT],
            "token_endpoint_auth_method": "private_key_jwt",
            "jwks_uri": KEYS_URL,
            **changes,
        }

    def fetch(method: str, url: str, **given: Any) -> HttpResult:
        found = answers.get(url)
        status = 200 if found is not None else 404
        return HttpResult(
            status, {"content-type": "application/json"}, json.dumps(found).encode(), 1
        )

    for module in (client_metadata, signing_keys):
        monkeypatch.setattr(module, "fetch", fetch)
    publish()
    return publish


def assertion(key: Any = KEY, name: str = "one", algorithm: str = "RS256", **changes: Any) -> str:
    now = time.time()
    claims = {
        "iss": URL,
        "sub": URL,
        "aud": "http://localhost:8000",
        "exp": now + 60,
        "iat": now,
        "jti": f"id-{time.perf_counter_ns()}",
        **changes,
    }
    given = {claim: value for claim, value in claims.items() if value is not None}
    return jwt.encode(given, key, algorithm, headers={"kid": name} if name else {})


def signed(token: str, **changes: Any) -> dict[str, Any]:
    return {"client_assertion_type": ASSERTION_TYPE, "client_assertion": token, **changes}


def redeem(**changes: Any) -> Any:
    code = flow.code_of(flow.person(), URL, redirect_uri=flow.SITE_REDIRECT)
    return flow.redeem(URL, code, redirect_uri=flow.SITE_REDIRECT, **changes)


def test_a_client_that_signs_gets_tokens_and_refreshes_them(settings: Any) -> None:
    settings.SITE_URL = "http://localhost:8000"

    tokens = redeem(**signed(assertion()))
    assert tokens.status_code == 200, tokens.content
    again = flow.refresh(
        URL,
        tokens.json()["refresh_token"],
        **signed(assertion(CURVE_KEY, "two", "ES256", aud="http://localhost:8000/oauth/token")),
    )

    assert again.status_code == 200, again.content


def test_a_client_may_leave_its_name_to_the_assertion(settings: Any) -> None:
    settings.SITE_URL = "http://localhost:8000"

    assert redeem(client_id=None, **signed(assertion())).status_code == 200


def test_a_client_with_one_key_needs_no_name_for_it(
    settings: Any, web: Callable[..., None]
) -> None:
    settings.SITE_URL = "http://localhost:8000"
    web(jwks={"keys": [public(KEY, "one")]}, jwks_uri=None)

    assert redeem(**signed(assertion(name=""))).status_code == 200


@pytest.mark.parametrize(
    "spoilt",
    [
        {},
        {"client_assertion": "x"},
        signed("x"),
        signed("a.b.c"),
        signed(""),
        signed("é" * 40),
        {"client_secret": "x"},
    ],
)
def test_a_client_that_must_sign_is_let_in_by_nothing_else(spoilt: dict[str, str]) -> None:
    refused(redeem(**spoilt), "invalid_client", 401)


@pytest.mark.parametrize(
    "changes",
    [
        {"key": OTHER_KEY},
        {"name": "three"},
        {"key": CURVE_KEY, "algorithm": "ES256"},  # by the name of another key
        {"key": "a-shared-secret-that-is-long-enough", "algorithm": "HS256"},
        {"key": None, "algorithm": "none"},
        {"aud": "https://other.example"},
        {"aud": None},
        {"iss": "https://other.example/oauth/metadata"},
        {"sub": "https://other.example/oauth/metadata"},
        {"sub": None},
        {"exp": time.time() - 3600},
        {"exp": time.time() + 86_400},
        {"exp": None},
        {"exp": "soon"},
        {"nbf": time.time() + 3600},
        {"jti": None},
        {"jti": 5},
    ],
)
def test_an_assertion_that_is_not_right_is_refused(settings: Any, changes: dict[str, Any]) -> None:
    settings.SITE_URL = "http://localhost:8000"

    refused(redeem(**signed(assertion(**changes))), "invalid_client", 401)


def test_an_assertion_is_good_once(settings: Any) -> None:
    settings.SITE_URL = "http://localhost:8000"
    token = assertion()

    assert redeem(**signed(token)).status_code == 200
    refused(redeem(**signed(token)), "invalid_client", 401)


def test_an_assertion_and_a_secret_together_are_refused(settings: Any) -> None:
    settings.SITE_URL = "http://localhost:8000"

    refused(redeem(**signed(assertion(), client_secret="x")), "invalid_client", 401)


def test_new_keys_are_found_but_not_at_every_guess(
    settings: Any, web: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.SITE_URL = "http://localhost:8000"
    assert redeem(**signed(assertion())).status_code == 200
    web(keys={"keys": [public(OTHER_KEY, "three")]})
    asked: list[str] = []
    read = signing_keys.read_json

    def count(url: str) -> Any:
        asked.append(url)
        return read(url)

    monkeypatch.setattr(signing_keys, "read_json", count)

    cache.delete(f"oauth:keys-renewed:{hash_value(KEYS_URL)}")  # a minute later
    assert redeem(**signed(assertion(OTHER_KEY, "three"))).status_code == 200
    for name in ("four", "five", "six"):
        refused(redeem(**signed(assertion(name=name))), "invalid_client", 401)
    assert asked == [KEYS_URL]


def test_a_client_that_offers_to_sign_may_do_without_but_not_sign_wrongly(
    settings: Any, web: Callable[..., None]
) -> None:
    settings.SITE_URL = "http://localhost:8000"
    web(token_endpoint_auth_methods_supported=["none", "private_key_jwt"])

    assert redeem().status_code == 200
    assert redeem(**signed(assertion())).status_code == 200
    refused(redeem(**signed(assertion(OTHER_KEY))), "invalid_client", 401)


@pytest.mark.parametrize(
    "changes",
    [{"jwks_uri": None}, {"jwks_uri": "http://client.example/keys"}, {"jwks_uri": 5}],
)
def test_a_document_that_must_sign_without_keys_makes_no_client(
    web: Callable[..., None], changes: dict[str, Any]
) -> None:
    web(**changes)

    page = flow.person().get(flow.authorize_url(URL, redirect_uri=flow.SITE_REDIRECT))

    assert page.status_code == 400
    assert not OAuthClientKeys.objects.exists()


def test_the_keys_of_another_client_open_nothing(settings: Any) -> None:
    """A self-registered client presents an assertion of another one that has keys."""
    settings.SITE_URL = "http://localhost:8000"
    assert redeem(**signed(assertion())).status_code == 200
    own = flow.register()["client_id"]
    code = flow.code_of(flow.person(), own)

    refused(flow.redeem(own, code, **signed(assertion())), "invalid_client", 401)
    assert flow.redeem(own, code).status_code == 200


@pytest.mark.parametrize(
    "claims",
    [
        {"exp": 10**400},
        {"exp": True},
        {"exp": [1]},
        {"nbf": 10**400},
        {"jti": "\ud800"},
        {"iss": "\ud800"},
        {"iss": "\0"},
        {"iss": ["x"]},
        {"sub": "\ud800"},
        {"aud": [1, None]},
    ],
)
@pytest.mark.parametrize("path", ["/oauth/token", "/oauth/revoke"])
def test_claims_of_any_kind_are_refused(settings: Any, path: str, claims: dict[str, Any]) -> None:
    settings.SITE_URL = "http://localhost:8000"
    code = flow.code_of(flow.person(), URL, redirect_uri=flow.SITE_REDIRECT)
    now = time.time()
    said = {
        "iss": URL,
        "sub": URL,
        "aud": "http://localhost:8000",
        "exp": now + 60,
        "jti": "1",
        **claims,
    }
    token = PyJWS().encode(json.dumps(said).encode(), KEY, "RS256", headers={"kid": "one"})
    body = {
        "grant_type": "authorization_code",
        "code": code,
        "redirect_uri": flow.SITE_REDIRECT,
        "code_verifier": flow.VERIFIER,
        "token": "x",
    }

    refused(Client().post(path, {**body, **signed(token)}), "invalid_client", 401)
