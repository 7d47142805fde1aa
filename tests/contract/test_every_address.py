"""Every URL of the configuration × every role, including third-party packages: nothing fails."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

import pytest
from django.core.signals import request_finished
from django.db import close_old_connections
from django.http.response import HttpResponseBase
from django.urls import URLResolver, get_resolver

from tests import make
from tests.api_client import ApiClient

pytestmark = pytest.mark.django_db
NOWHERE: Final = "00000000-0000-4000-8000-000000000000"
ROLES: Final = (None, "ai_agent", "translator", "editor", "admin")
OPEN_ADMIN: Final = ("/admin/login/", "/admin/logout/", "/admin/language/", "/admin/invitation/")
"""Admin pages without a login; the login's own steps are below `login/`."""
_GAP: Final = re.compile(r"<(?:(\w+):)?\w+>")
_SAMPLES: Final = {"uuid": NOWHERE, "int": "1", "slug": "nowhere", "path": "nowhere/x"}
_OPTIONAL: Final = re.compile(r"\((?:[^()]|\([^()]*\))*\)\?")
_GROUP: Final = re.compile(r"\(\?P<\w+>(?:[^()]|\([^()]*\))*\)|\((?:[^()]|\([^()]*\))*\)")


def _walk(patterns: list[Any], prefix: str = "/") -> Iterator[str]:
    for item in patterns:
        text = prefix + str(item.pattern).removeprefix("^")
        if isinstance(item, URLResolver):
            yield from _walk(item.url_patterns, text)
        else:
            yield text


def sample(address: str) -> str:
    """Return the URL with values in all placeholders, including regular expressions."""
    path = _GAP.sub(lambda gap: _SAMPLES.get(gap[1] or "", "1"), address)
    path = _GROUP.sub("1", _OPTIONAL.sub("", path))
    return re.sub(r"\\([./-])", r"\1", path).replace("\\Z", "").replace("$", "").replace("?", "")


ADDRESSES: Final = sorted({sample(address) for address in _walk(get_resolver().url_patterns)})
CALLS: Final = (
    ("GET", ""),
    ("GET", "?app_label=content&model_name=post&field_name=parent&term=%00&next=//x&page=x"),
    ("POST", ""),
)


def close(response: HttpResponseBase) -> None:
    """End a response like Django's test client: the connection of the test's transaction stays open."""
    request_finished.disconnect(close_old_connections)
    response.close()
    request_finished.connect(close_old_connections)


def test_addresses_that_packages_bring_are_walked() -> None:
    walked = "\n".join(ADDRESSES)

    for address in (
        "/admin/jsi18n/",
        "/admin/r/nowhere/x/nowhere/x/",
        "/admin/login/",
        "/oauth/",
        "/api/posts",
    ):
        assert address in walked


@pytest.mark.parametrize("address", ADDRESSES)
def test_no_address_breaks_for_any_role(address: str) -> None:
    make.post()

    for role in ROLES:
        client = ApiClient(role)
        client.raise_request_exception = False
        for method, query in CALLS:
            response = client.send(method, address + query, {} if method == "POST" else None)
            close(response)
            assert response.status_code < 500, (role, method, query)
            if role is None and address.startswith("/admin/") and method == "GET":
                is_open = address.startswith(OPEN_ADMIN) or "password" in address
                assert is_open or response.status_code != 200, address


def test_the_look_up_of_rows_that_django_brings_is_gone() -> None:
    query = "app_label=content&model_name=post&field_name=parent&term=x"

    for role in ("translator", "editor", "admin"):
        assert ApiClient(role).get(f"/admin/autocomplete/?{query}").status_code == 404
