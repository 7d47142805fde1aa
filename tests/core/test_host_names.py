"""No URL from users, clients or settings may contain an invalid host."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from cms_project.env_values import _http_url
from forms.form_input import _safe_target
from proofroom.core.errors import RuleViolation
from proofroom.core.http_client.address_guard import check_url
from proofroom.core.validation.host_names import has_valid_host, is_host
from proofroom.oauth.redirects import redirect_uri_error
from proofroom_apps.menus.items import _url_of
from seo.redirect_paths import clean_to
from tests import make

NO_HOSTS = [
    "*.example",
    ".example",
    "a..b",
    "-",
    "-a.example",
    "a-.example",
    "%41.example",
    "a" * 64 + ".example",
    ".".join(["a" * 60] * 5),
    "1.2.3.4.5",
    "256.1.1.1",
    "a,b.example",
    "[::g]",
]
HOSTS = [
    "example.com",
    "Example.COM",
    "localhost",
    "a-b.example",
    "xn--bcher-kva.example",
    "bücher.example",
    "my_service.internal",
    "example.com.",
    "127.0.0.1",
    "[2001:db8::1]",
    "0.example",
]


@pytest.mark.parametrize("host", HOSTS)
def test_names_and_addresses_are_hosts(host: str) -> None:
    assert is_host(host.strip("[]"))
    assert has_valid_host(f"https://{host}/path")
    assert has_valid_host(f"http://{host}:8080")


@pytest.mark.parametrize("address", ["/path", "#part", "mailto:a@b.example", "", "tel:+491234"])
def test_an_address_without_a_host_names_no_wrong_one(address: str) -> None:
    assert has_valid_host(address)


@pytest.mark.parametrize("address", ["https://", "https:/a", "https://a.example:x/", "http://?q"])
def test_an_address_of_the_web_has_a_host(address: str) -> None:
    assert not has_valid_host(address)


def _refusals() -> dict[str, Callable[[str], object]]:
    """Return each way to enter a URL; all raise an error."""

    def register(address: str) -> None:
        if redirect_uri_error(address):
            raise ValueError(address)

    return {
        "client": register,
        "call": check_url,
        "redirect": clean_to,
        "menu": lambda address: _url_of(address, "items.0"),
        "form": _safe_target,
        "setting": _http_url,
    }


@pytest.mark.parametrize("way", list(_refusals()))
@pytest.mark.parametrize("host", NO_HOSTS)
def test_a_host_that_there_cannot_be_is_refused(host: str, way: str) -> None:
    with pytest.raises((RuleViolation, ValueError)):
        _refusals()[way](f"https://{host}/callback")


@pytest.mark.parametrize("way", list(_refusals()))
def test_hosts_are_taken(way: str) -> None:
    for host in ("client.example", "a-b.example:8443"):
        _refusals()[way](f"https://{host}/callback")


@pytest.mark.django_db
@pytest.mark.parametrize("host", ["a..b", "*.example"])
def test_a_canonical_address_names_a_host(host: str) -> None:
    with pytest.raises(RuleViolation) as refused:
        make.post(canonicalUrl=f"https://{host}/")

    assert "canonicalUrl" in refused.value.details
