"""`/api/briefs`: shapes, the effective brief, versions, and hostile bodies."""

from __future__ import annotations

from typing import Any

import pytest

from proofroom.briefs.models import Brief
from tests import make
from tests.api_client import ApiClient
from tests.contract.endpoints.briefs import BRIEF
from tests.queries import count_queries

pytestmark = pytest.mark.django_db


def test_a_brief_is_answered_as_it_was_sent():
    client = ApiClient("editor")

    created = client.write("POST", "/api/briefs", BRIEF, expect=201)

    assert {name: created[name] for name in BRIEF} == BRIEF
    assert set(created) - set(BRIEF) == {"id", "version", "createdAt", "updatedAt"}
    assert client.read(f"/api/briefs/{created['id']}") == created
    assert client.read("/api/briefs")["data"] == [created]


def test_the_answer_can_be_sent_back_and_changes_nothing():
    client = ApiClient("editor")
    created = client.write("POST", "/api/briefs", BRIEF, expect=201)

    assert client.write("PUT", f"/api/briefs/{created['id']}", created) == created


def test_all_but_the_name_is_optional():
    created = ApiClient("editor").write("POST", "/api/briefs", {"name": "Site"}, expect=201)

    del created["id"], created["createdAt"], created["updatedAt"]
    assert created == {
        "name": "Site",
        "locale": None,
        "type": None,
        "section": None,
        "audience": "",
        "voice": "",
        "address": "",
        "readingLevel": "",
        "never": [],
        "terms": [],
        "protectedNames": [],
        "examples": [],
        "version": 1,
    }


def test_the_list_is_filtered_by_language_and_type():
    make.brief("Site")
    make.brief("German", locale="de")
    make.brief("German blog", locale="de", type="blog")
    client = ApiClient("translator")

    def names(query: str) -> list[str]:
        return [row["name"] for row in client.read(f"/api/briefs{query}")["data"]]

    assert names("") == ["Site", "German", "German blog"]
    assert names("?locale=de") == ["German", "German blog"]
    assert names("?type=blog") == ["German blog"]
    assert client.read("/api/briefs?locael=de", expect=422)["details"].keys() == {"locael"}


def test_a_second_brief_for_a_place_is_422():
    client = ApiClient("editor")
    client.write("POST", "/api/briefs", BRIEF, expect=201)

    answer = client.write("POST", "/api/briefs", {**BRIEF, "section": "/guides/"}, expect=422)

    assert (answer["code"], list(answer["details"])) == ("brief_exists", ["section"])


def test_the_etag_of_a_read_protects_a_write():
    client = ApiClient("editor")
    brief = make.brief(voice="Warm.")
    path = f"/api/briefs/{brief.pk}"
    etag = client.get(path)["ETag"]

    assert client.get(path, HTTP_IF_NONE_MATCH=etag).status_code == 304
    client.write("PUT", path, {"voice": "Calm."}, HTTP_IF_MATCH=etag)
    answer = client.write("PUT", path, {"voice": "Old."}, HTTP_IF_MATCH=etag, expect=409)

    assert (answer["code"], answer["version"]) == ("stale_version", 2)
    assert Brief.objects.get().voice == "Calm."


def test_the_effective_brief_is_combined():
    make.brief("Site", audience="All", voice="Calm.", terms=[{"term": "a", "note": "Note."}])
    make.brief("German", locale="de", voice="Warm.", protectedNames=["Nova"])
    make.brief("Guides", section="guides", never=["x"], examples=[{"before": "b", "after": "c"}])
    client = ApiClient("translator")

    found = client.read("/api/briefs/effective?locale=de&type=blog&section=/de/guides/filter")

    sources = found.pop("sources")
    assert [(row["name"], row["version"]) for row in sources] == [
        ("Guides", 1),
        ("German", 1),
        ("Site", 1),
    ]
    assert found.pop("markdown").startswith("# Editorial brief\n\n## Audience\n\nAll\n")
    assert found == {
        "type": "blog",
        "locale": "de",
        "section": "guides/filter",
        "audience": "All",
        "voice": "Warm.",
        "address": "",
        "readingLevel": "",
        "never": ["x"],
        "terms": [{"term": "a", "note": "Note."}],
        "protectedNames": ["Nova"],
        "examples": [{"before": "b", "after": "c"}],
    }
    site = client.read("/api/briefs/effective")
    assert site["voice"] == "Calm."
    assert client.read("/api/briefs/effective?type=&locale=&section=") == site


def test_without_briefs_the_effective_one_is_empty():
    found = ApiClient("editor").read("/api/briefs/effective?locale=de")

    assert (found["markdown"], found["sources"], found["terms"]) == ("", [], [])


@pytest.mark.parametrize(
    ("query", "key"),
    [
        ("locale=xx", "locale"),
        ("type=nothing", "type"),
        ("section=%00", "section"),
        ("section=" + "x" * 301, "section"),
    ],
)
def test_an_effective_brief_needs_known_values(query: str, key: str):
    answer = ApiClient("editor").read(f"/api/briefs/effective?{query}", expect=422)
    assert list(answer["details"]) == [key]


def test_versions_say_who_changed_what_and_can_be_restored():
    client = ApiClient("admin")
    brief = make.brief(voice="Warm.", readingLevel="B1")
    path = f"/api/briefs/{brief.pk}"
    client.write("PUT", path, {"voice": "Calm.", "readingLevel": "B2"})

    rows = client.read(f"{path}/versions")["data"]

    assert [
        (row["version"], row["reason"], row["by"]["username"], row["changed"]) for row in rows
    ] == [
        (2, "edited", "admin", ["voice", "readingLevel"]),
        (1, "created", "editor", []),
    ]
    first = client.read(f"{path}/versions/1")
    assert (first["voice"], first["version"], first["locale"]) == ("Warm.", 1, None)
    restored = client.write("POST", f"{path}/versions/1/restore", {"version": 2})
    assert (restored["voice"], restored["readingLevel"], restored["version"]) == ("Warm.", "B1", 3)
    assert client.read(f"{path}/versions")["data"][0]["reason"] == "reverted"
    for unknown in ("4", "0", "x", "9" * 30):
        client.read(f"{path}/versions/{unknown}", expect=404)


def test_each_page_of_versions_compares_with_the_version_before():
    client = ApiClient("editor")
    brief = make.brief()
    for voice in ("a", "b", "c"):
        make.changed_brief(brief, voice=voice)

    page = client.read(f"/api/briefs/{brief.pk}/versions?per_page=2&page=2")

    assert [(row["version"], row["changed"]) for row in page["data"]] == [(2, ["voice"]), (1, [])]
    assert page["meta"]["total"] == 4


def test_the_number_of_queries_does_not_grow_with_the_briefs():
    client = ApiClient("editor")
    make.brief("Site")
    client.read("/api/briefs/effective?type=blog&locale=de")

    def read() -> None:
        client.read("/api/briefs/effective?type=blog&locale=de")

    few = count_queries(read)
    for locale in ("en", "de"):
        make.brief(locale, locale=locale)
        make.brief(f"{locale} blog", locale=locale, type="blog")
    assert count_queries(read) == few


DEEP: Any = "x"
for _ in range(30):
    DEEP = [DEEP]


@pytest.mark.parametrize(
    ("values", "path"),
    [
        ({"terms": [{"term": "x"}] * 201}, "terms"),
        ({"terms": "x"}, "terms"),
        ({"terms": {"term": "x"}}, "terms"),
        ({"terms": ["x"]}, "terms.0"),
        ({"terms": [{"term": "x", "colour": "red"}]}, "terms.0.colour"),
        ({"terms": [{"preferred": "x"}]}, "terms.0.term"),
        ({"terms": [{"term": "x" * 101}]}, "terms.0.term"),
        ({"terms": [{"term": "x\ny"}]}, "terms.0.term"),
        ({"terms": [{"term": "x", "forbidden": "yes"}]}, "terms.0.forbidden"),
        ({"terms": [{"term": "x", "translations": ["de"]}]}, "terms.0.translations"),
        ({"terms": [{"term": "x", "translations": {"Deutsch!": "y"}}]}, "terms.0.translations"),
        ({"terms": [{"term": "x", "translations": {"de": 5}}]}, "terms.0.translations.de"),
        ({"never": ["x"] * 51}, "never"),
        ({"never": [DEEP]}, "never.0"),
        ({"never": ["\x00"]}, "never.0"),
        ({"protectedNames": [f"{n}" for n in range(201)]}, "protectedNames"),
        ({"protectedNames": [None]}, "protectedNames.0"),
        ({"examples": [{"before": "x", "after": "y"}] * 11}, "examples"),
        ({"examples": [{"before": "x", "after": " "}]}, "examples.0.after"),
        ({"examples": [{"before": "x" * 1001, "after": "y"}]}, "examples.0.before"),
        ({"audience": "x" * 2001}, "audience"),
        ({"voice": {"$ne": 1}}, "voice"),
        ({"address": 5}, "address"),
        ({"readingLevel": "\x1b[31m"}, "readingLevel"),
        ({"section": "x" * 301}, "section"),
        ({"section": "x\u202ey"}, "section"),
        ({"locale": ["de"]}, "locale"),
        ({"type": "x" * 61}, "type"),
        ({"name": ""}, "name"),
        ({"name": "x" * 201}, "name"),
        ({"names": "x"}, "names"),
    ],
)
def test_a_hostile_body_is_422_with_the_path(values: dict[str, Any], path: str):
    client = ApiClient("editor")

    answer = client.write("POST", "/api/briefs", {"name": "Site", **values}, expect=422)

    assert list(answer["details"]) == [path]
    assert not Brief.objects.exists()
