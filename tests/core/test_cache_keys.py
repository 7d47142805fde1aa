"""Cached answers and hostile requests: no request changes the answer of another, or fills the memory."""

from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Callable

import pytest

from proofroom.core.caching.answer_cache import answers
from proofroom.core.caching.front_cache import is_allowed_host
from proofroom_apps.menus.services import create_menu
from tests import make
from tests.front import Front

pytestmark = pytest.mark.django_db(transaction=True)
LIST = "/api/public/posts"
PAGE = "/blog/how-to-brew-filter-coffee"


@pytest.fixture(autouse=True)
def long_lease(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("proofroom.core.caching.content_version_cache.LEASE_SECONDS", 3600)


def raw(text: str) -> str:
    """Return unescaped text as a WSGI server passes it."""
    return text.encode().decode("latin-1")


def test_a_server_that_decodes_the_query_as_utf_8_is_understood() -> None:
    make.post("5 €", slug="price")

    answer = Front().get(f"{LIST}?search=5 €")

    assert [post["title"] for post in answer.json()["data"]] == ["5 €"]


def test_bytes_that_are_no_utf_8_change_no_other_parameter() -> None:
    make.post("Käse", slug="cheese")
    front = Front()

    # Django decodes the whole query string as Latin-1 if a single byte is not UTF-8.
    first = front.get(f"{LIST}?search={raw('Käse')}&_x=\xff")
    kept = front.get(f"{LIST}?search=K%C3%A4se")

    assert [post["title"] for post in first.json()["data"]] == ["Käse"]
    assert [post["title"] for post in kept.json()["data"]] == ["Käse"]
    assert kept.is_kept


def grown(call: Callable[[int], object], times: int) -> int:
    """Return the bytes of memory that remain after calls with the numbers 1 to `times`."""
    call(0)
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        for number in range(1, times + 1):
            call(number)
        gc.collect()  # Django's requests are in reference cycles
        return tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("header", ["HTTP_ACCEPT", "HTTP_ACCEPT_ENCODING"])
def test_headers_of_any_length_are_not_kept(header: str) -> None:
    make.post()
    front = Front()
    front.get(PAGE)

    size = grown(lambda number: front.get(PAGE, **{header: f"{number}" + "x" * 100_000}), 50)

    assert size < 1_000_000


def test_host_names_of_any_length_are_not_kept() -> None:
    def ask(number: int) -> None:
        assert not is_allowed_host(f"{number}{'x' * 100_000}")

    assert grown(ask, 50) < 1_000_000


def test_addresses_of_any_length_are_not_kept() -> None:
    post_id = make.post().pk.hex
    front = Front()

    def ask(number: int) -> None:
        assert front.get(f"{LIST}/{post_id}{'-' * (100_000 + number)}").status == 200

    assert grown(ask, 50) < 1_000_000


@pytest.mark.parametrize(
    "address", [f"{LIST}/{{post}}", f"/api/public/resolve?path={PAGE}", "/api/menus/main", LIST]
)
def test_ignored_parameters_store_no_further_answers(address: str) -> None:
    create_menu(actor=make.actor("admin"), name="Main", slug="main", locale="en", items=[])
    address = address.format(post=make.post().pk)
    front = Front()
    front.get(address)
    stored = len(answers._answers)

    sign = "&" if "?" in address else "?"
    for number in range(5):
        assert front.get(f"{address}{sign}_x={number}").is_kept

    assert len(answers._answers) == stored


def test_lists_of_terms_that_do_not_exist_store_nothing() -> None:
    make.post()
    front = Front()
    front.get(PAGE)
    stored = len(answers._answers)

    for number in range(5):
        assert front.get(f"/blog/topics/x{number}?page=2").status == 404

    assert len(answers._answers) == stored
