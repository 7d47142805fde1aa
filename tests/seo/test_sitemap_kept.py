"""Caching of the sitemap: headers, parts, one per host name, generated once."""

from __future__ import annotations

import gzip
import time
from typing import Any
from uuid import uuid4

import pytest
from django.core.cache import cache
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from content.models import Post
from content.posts.publish import set_status
from proofroom.core.caching.content_version import bump_content_version
from proofroom.core.caching.content_version_cache import lease
from seo import sitemap, sitemap_query
from seo.sitemap import Limits
from tests import make
from tests.content.at_once import at_once
from tests.seo.protocol import parts_of, urls_of

pytestmark = pytest.mark.django_db
SITE = "http://testserver"


@pytest.fixture
def builds(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Record the host names a sitemap is generated for."""
    made: list[str] = []
    original = sitemap.make_sitemap

    def counted(origin: str) -> sitemap.SitemapBuild:
        made.append(origin)
        return original(origin)

    monkeypatch.setattr(sitemap, "make_sitemap", counted)
    return made


def many(number: int) -> None:
    make.copies(
        make.post(),
        number - 1,
        slug=lambda place: f"copy-{place}",
        path=lambda place: f"/blog/copy-{place}",
        translation_group=lambda _: uuid4(),
    )


def test_it_is_public_for_five_minutes_and_needs_no_session(client: Client) -> None:
    make.post()

    response = client.get("/sitemap.xml")

    assert response["Content-Type"] == "application/xml; charset=utf-8"
    assert response["Cache-Control"] == "public, max-age=300"
    assert response["Vary"] == "Accept-Encoding"
    assert response["Last-Modified"].endswith("GMT")
    assert not response.cookies
    assert client.post("/sitemap.xml").status_code == 405
    assert client.head("/sitemap.xml").getvalue() == b""


def test_who_takes_it_packed_gets_it_packed(client: Client) -> None:
    make.post()
    plain = client.get("/sitemap.xml").getvalue()

    for header, is_packed in (
        ("gzip", True),
        ("br, gzip;q=0.5", True),
        ("*", True),
        ("gzip;q=0", False),
        ("gzip; q=0.0, br", False),
        ("identity", False),
        ("", False),
    ):
        response = client.get("/sitemap.xml", headers={"Accept-Encoding": header})
        assert (header, response.has_header("Content-Encoding")) == (header, is_packed)
        body = response.getvalue()
        assert (gzip.decompress(body) if is_packed else body) == plain


def test_an_unchanged_sitemap_is_answered_304(client: Client) -> None:
    make.post()
    first = client.get("/sitemap.xml")

    for name, value in (
        ("If-None-Match", first["ETag"]),
        ("If-Modified-Since", first["Last-Modified"]),
    ):
        again = client.get("/sitemap.xml", headers={name: value})
        assert (again.status_code, again.getvalue()) == (304, b"")
        assert again["Cache-Control"] == "public, max-age=300"
    assert client.get("/sitemap.xml", headers={"If-None-Match": '"x"'}).status_code == 200


def test_a_warm_answer_asks_the_database_at_most_for_the_version(client: Client) -> None:
    make.post()
    client.get("/sitemap.xml")

    with CaptureQueriesContext(connection) as caught:
        client.get("/sitemap.xml")

    # But for the version, once a second.
    assert [query for query in caught if "contentversion" not in query["sql"]] == []


def test_it_is_made_anew_where_a_post_changed_and_kept_where_none_did(
    client: Client, builds: list[str]
) -> None:
    def paths() -> set[str]:
        lease.forget()  # a second later
        found = urls_of(client.get("/sitemap.xml").getvalue())
        return {url.location.removeprefix(SITE) for url in found}

    one = make.post(slug="one")
    assert paths() == {"/blog/one"}
    make.post("Two", slug="two")
    assert paths() == {"/blog/one", "/blog/two"}
    set_status(post_id=one.pk, status="archived", actor=make.actor("admin"))
    assert paths() == {"/blog/two"}
    assert len(builds) == 3
    bump_content_version(("menu:main",))
    assert (paths(), len(builds)) == ({"/blog/two"}, 3)
    assert client.get("/sitemap.xml")["Cache-Control"] == "public, max-age=300"


def test_an_unchanged_sitemap_is_reused_after_five_minutes(
    client: Client, monkeypatch: pytest.MonkeyPatch, builds: list[str]
) -> None:
    now = [1_000_000.0]
    monkeypatch.setattr(time, "time", lambda: now[0])
    make.post(slug="one")
    client.get("/sitemap.xml")

    now[0] += 301

    assert len(urls_of(client.get("/sitemap.xml").getvalue())) == 1
    assert len(builds) == 1


def test_beyond_its_limit_an_index_names_the_parts(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sitemap, "LIMITS", Limits(urls=3))
    many(7)

    names = parts_of(client.get("/sitemap.xml").getvalue())

    assert names == [f"{SITE}/sitemap-{number}.xml" for number in (1, 2, 3)]
    parts = [urls_of(client.get(name).getvalue(), most=3) for name in names]
    assert [len(part) for part in parts] == [3, 3, 1]
    addresses = {url.location for part in parts for url in part}
    assert addresses == {f"{SITE}{path}" for path in Post.objects.values_list("path", flat=True)}
    for wrong in ("/sitemap-4.xml", "/sitemap-0.xml", "/sitemap-01.xml", "/sitemap-99999.xml"):
        assert client.get(wrong).status_code == 404


def test_up_to_its_limit_it_is_one_file(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sitemap, "LIMITS", Limits(urls=3))
    many(3)

    assert len(urls_of(client.get("/sitemap.xml").getvalue(), most=3)) == 3
    assert client.get("/sitemap-1.xml").status_code == 404


def test_a_part_is_no_larger_than_the_protocol_allows(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sitemap, "LIMITS", Limits(size=600))
    many(9)

    names = parts_of(client.get("/sitemap.xml").getvalue())
    bodies = [client.get(name).getvalue() for name in names]

    assert len(names) > 1
    assert max(map(len, bodies)) <= 600
    assert sum(len(urls_of(body)) for body in bodies) == 9


def test_each_name_of_the_site_has_its_own(client: Client, settings: Any) -> None:
    settings.ALLOWED_HOSTS = ["testserver", "shop.example"]
    make.post(slug="tea")

    def first(**extra: Any) -> str:
        return urls_of(client.get("/sitemap.xml", **extra).getvalue())[0].location

    assert first(HTTP_HOST="shop.example") == "http://shop.example/blog/tea"
    assert first(HTTP_HOST="shop.example", secure=True) == "https://shop.example/blog/tea"
    assert first(HTTP_HOST="shop.example:8000") == "http://shop.example:8000/blog/tea"
    assert first() == f"{SITE}/blog/tea"


def test_a_hundred_made_up_names_make_one_sitemap(
    client: Client, settings: Any, builds: list[str]
) -> None:
    settings.ALLOWED_HOSTS = ["testserver", ".site.example", "*"]
    make.post(slug="tea")

    for number in range(100):
        for host in (
            f"h{number}.site.example",
            f"h{number}.example",
            f"testserver:{9000 + number}",
        ):
            body = client.get("/sitemap.xml", HTTP_HOST=host).getvalue()
            assert host.encode() not in body
            assert f"h{number}.".encode() not in body

    assert builds == ["http://127.0.0.1:8000"]


def test_a_name_that_is_not_the_sites_is_refused(client: Client, settings: Any) -> None:
    settings.ALLOWED_HOSTS = ["testserver"]

    assert client.get("/sitemap.xml", HTTP_HOST="evil.example").status_code == 400
    assert client.get("/robots.txt", HTTP_HOST="evil.example").status_code == 400


def test_who_finds_it_being_made_gets_the_old_one(builds: list[str]) -> None:
    make.post(slug="one")
    old = sitemap.current_sitemap(SITE)
    stale = {"fresh_until": 0.0, "version": "-1"}
    cache.set(sitemap.cache_key(SITE), {**_values(old), **stale}, 60)

    with sitemap.build_lock(SITE):
        found = sitemap.current_sitemap(SITE)

    assert (found.id, builds) == (old.id, [SITE])
    assert sitemap.current_sitemap(SITE).id != old.id


def test_a_sitemap_under_construction_is_answered_503(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sitemap, "_WAIT_SECONDS", 0.1)

    with sitemap.build_lock(SITE):
        response = client.get("/sitemap.xml")

    assert (response.status_code, response["Retry-After"]) == (503, "30")
    assert client.get("/sitemap.xml").status_code == 200


def test_a_file_that_the_cache_lost_is_made_again(client: Client, builds: list[str]) -> None:
    make.post(slug="one")
    build = sitemap.current_sitemap(SITE)
    cache.delete(sitemap.file_key(build.id, 0))

    assert len(urls_of(client.get("/sitemap.xml").getvalue())) == 1
    assert len(builds) == 2


def _values(build: sitemap.SitemapBuild) -> dict[str, Any]:
    return {name: getattr(build, name) for name in build.__slots__}


@pytest.mark.services
@pytest.mark.django_db(transaction=True)
def test_two_at_once_make_it_once(builds: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    make.post(slug="one")
    original = sitemap_query.listed_posts

    def slowly() -> Any:
        time.sleep(0.3)
        return original()

    monkeypatch.setattr(sitemap, "listed_posts", slowly)

    bodies = at_once(*[lambda: Client().get("/sitemap.xml").getvalue()] * 4)

    assert builds == [SITE]
    assert len(set(map(str, bodies))) == 1
