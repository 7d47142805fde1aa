"""Suggestions of the search page without hits, and excluded content."""

from __future__ import annotations

import re
from html import unescape
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext

from content.models import Layer, Post, SearchWord
from content.posts.trash import delete_post
from content.store import search_words
from content.store.search_words import collect_words, distance_between
from content.tasks import collect_search_words
from tests import make
from tests.site.test_pages import text

pytestmark = pytest.mark.django_db
needs_trigrams = pytest.mark.skipif("connection.vendor != 'postgresql'", reason="SQLite has none")


@pytest.fixture(params=["trigrams", "letters"], autouse=True)
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Run with PostgreSQL's extension, and without, like SQLite."""
    if request.param == "trigrams" and connection.vendor != "postgresql":
        pytest.skip("SQLite has no trigrams")
    has_trigrams = request.param == "trigrams"
    monkeypatch.setattr(search_words, "_has_trigrams", lambda alias: has_trigrams)
    return str(request.param)


def suggested(client: Any, words: str, locale: str = "") -> str:
    html = text(client.get(f"{locale}/search", {"q": words}))
    found = re.search(r'<p>(?:Did you mean|Meinten Sie) <a href="([^"]*)">(.*?)</a>\?</p>', html)
    return unescape(found[2]) if found else ""


def test_a_mistyped_word_leads_to_the_one_that_a_post_has(client: Any) -> None:
    make.post("Kettles compared", excerpt="Boiling water.")
    collect_words()

    assert suggested(client, "ketles") == "kettles"
    assert suggested(client, "water ketles") == "water kettles"
    assert suggested(client, "watre ketles") == "water kettles"
    html = text(client.get("/search?q=ketles"))
    assert 'Did you mean <a href="/search?q=kettles">kettles</a>?' in html
    assert "1 page with “kettles”" in text(client.get("/search?q=kettles"))


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        ("Keettle", "kettle"),
        ("kttle", "kettle"),
        ("kettel", "kettle"),
        ("kette", "kettle"),
        ("kettl", ""),  # the beginning of a word finds it
        ("kxxxle", ""),
        ("ket", ""),
        ("kett1e", ""),
        ("kettle kettle", ""),
        ("!", ""),
        ("boiling keettle water", "boiling kettle water"),
        ("keettle absent", ""),
        ("a b c d e f keettle", ""),
    ],
)
def test_what_is_near_enough(client: Any, words: str, shown: str) -> None:
    make.post("Kettle", excerpt="Boiling water.")
    collect_words()

    assert suggested(client, words) == shown


def test_words_are_suggested_as_a_post_spells_them_in_its_language(client: Any) -> None:
    make.post("Frühstücksbrötchen", locale="de", markdown="Mit Käse")
    make.post("Breakfast")
    collect_words()

    assert suggested(client, "frühstuecksbrotchen", "/de") == "frühstücksbrötchen"
    assert suggested(client, "fruhstuksbrotchen", "/de") == "frühstücksbrötchen"
    assert "Meinten Sie" in text(client.get("/de/search?q=fruhstuksbrotchen"))
    assert suggested(client, "fruhstuksbrotchen") == ""
    assert suggested(client, "breakfats", "/de") == ""
    assert suggested(client, "breakfats") == "breakfast"


@pytest.mark.parametrize(
    "hidden", ["draft", "archived", "trash", "locale", "review", "ai-review", "proposed", "later"]
)
@pytest.mark.parametrize("is_collected", [False, True], ids=["", "collected all the same"])
def test_no_word_that_is_not_live_is_ever_suggested(
    client: Any, hidden: str, is_collected: bool
) -> None:
    make.post("Nothing at all", slug="nothing", markdown="Zanzibars")
    post = make.post("A teapot", slug="hidden")
    canary = {"title": "Zanzibarian"}
    if hidden in ("draft", "archived", "trash", "later", "locale"):
        make.edited(post, canary)
    collect_words() if hidden == "later" else None
    if hidden == "trash":
        delete_post(post_id=post.pk, actor=make.actor("admin"))
    elif hidden == "locale":
        Post.objects.filter(pk=post.pk).update(locale="de")
    elif hidden in ("draft", "archived", "later"):
        Post.objects.filter(pk=post.pk).update(status="draft" if hidden != "archived" else hidden)
    elif hidden == "review":
        make.staged(post, canary, layer=Layer.REVIEW)
    elif hidden == "ai-review":
        make.staged(post, canary)
    else:
        make.post("Zanzibarian", slug="proposed", status="draft")
    if hidden != "later":
        collect_words()
    if is_collected:
        SearchWord.objects.bulk_create(
            [SearchWord(locale="en", beginning="z", word="zanzibarian", posts=9)],
            ignore_conflicts=True,
        )

    for asked in ("zanzibarain", "zanzibariam", "zanzibaria nothing"):
        html = text(client.get("/search", {"q": asked}))
        assert "zanzibarian" not in html.lower()
    # Public words are still suggested.
    assert suggested(client, "zanzibas") == "zanzibars"


def test_only_words_of_published_posts_are_collected_and_the_command_does_so_too() -> None:
    make.post("Kettle", markdown="Live words")
    make.post("Zeppelin", slug="draft", status="draft")
    make.post("Käse", locale="de")
    SearchWord.objects.create(locale="en", beginning="o", word="obsolete", posts=1)

    collect_search_words()

    words = set(SearchWord.objects.filter(locale="en").values_list("word", flat=True))
    assert {"kettle", "live", "words"} <= words
    assert not {"zeppelin", "kase", "obsolete"} & words
    assert SearchWord.objects.filter(locale="de", word="kase", beginning="k", posts=1).exists()
    SearchWord.objects.all().delete()
    call_command("reindex_search", verbosity=0)
    assert SearchWord.objects.filter(word="kettle").exists()


def test_queries_are_as_many_however_many_posts_and_words_there_are(client: Any) -> None:
    counts = []
    for number in (1, 12):
        for each in range(number):
            make.post(f"Kettles {number} {each}", excerpt="Boiling water.")
        collect_words()
        client.get("/search")
        with CaptureQueriesContext(connection) as queries:
            assert suggested(client, "watre ketles") == "water kettles"
        counts.append(len(queries))

    # The version, the words that nothing has, near ones, and of posts with these: entries, keys and texts.
    assert counts == [6, 6]
    with CaptureQueriesContext(connection) as queries:
        assert suggested(client, "xyzzyx") == ""
    assert len(queries) == 3


@pytest.mark.parametrize(
    "asked",
    ["<b>ketles</b>", "ketles' | 'x", 'ketles" OR "x', "ketles:*", "%ketles%", "\x00ketles", "ketles" * 40],
)  # fmt: skip
def test_threat_25_signs_are_nothing_in_a_suggestion(client: Any, asked: str) -> None:
    make.post("Kettles <script>", markdown="kettles")
    collect_words()

    response = client.get("/search", {"q": asked})

    assert response.status_code == 200
    body = text(response)[text(response).index("<main") :]
    assert "<script" not in body.partition("</main")[0]
    assert suggested(client, asked) in ("kettles", "")


@needs_trigrams
@pytest.mark.django_db(transaction=True)
def test_a_role_without_the_right_migrates_too() -> None:
    from importlib import import_module

    migration = import_module("content.migrations.0002_search_words")

    class Editor:
        pass

    Editor.connection = connection  # type: ignore[attr-defined]
    with connection.cursor() as cursor:
        cursor.execute("DROP EXTENSION pg_trgm CASCADE")
        cursor.execute("CREATE ROLE no_rights")
        cursor.execute("SET ROLE no_rights")
    try:
        migration.create_trigrams(None, Editor)
        with connection.cursor() as cursor:
            cursor.execute("SELECT count(*) FROM pg_extension WHERE extname = 'pg_trgm'")
            assert cursor.fetchone() == (0,)
    finally:
        with connection.cursor() as cursor:
            cursor.execute("RESET ROLE")
            cursor.execute("DROP ROLE no_rights")
    migration.create_trigrams(None, Editor)
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM pg_indexes WHERE indexname = %s", ["content_searchword_trigrams"]
        )
        assert cursor.fetchone() == (1,)


@pytest.mark.parametrize(
    ("one", "other", "distance"),
    [
        ("kettle", "kettle", 0), ("kettle", "ketle", 1), ("kettle", "kettel", 1), ("ab", "ba", 1),
        ("kettle", "kittles", 2), ("kettle", "teapot", 3), ("a", "abcd", 3), ("", "ab", 2),
        ("abcdef", "badcfe", 3), ("accomodation", "acommodation", 2),
    ],
)  # fmt: skip
def test_letters_that_differ_are_counted(one: str, other: str, distance: int) -> None:
    assert distance_between(one, other) == distance_between(other, one) == distance
