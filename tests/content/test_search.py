"""Search over posts: hits, order, and content that is never found."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection, connections, transaction
from django.db.models import QuerySet

from content.document.document import PostDocument
from content.layers import approve, digest_of
from content.models import Layer, ModuleInstance, Post, SearchEntry
from content.posts.create import create_post, propose_post
from content.posts.edit import edit_post
from content.posts.trash import delete_post, restore_post
from content.store import document_edits, search
from content.store.scopes import visible_to
from proofroom.core import search as core_search
from proofroom.core.content_scope import ContentScope
from proofroom.core.database.row_counts import RowCount
from proofroom.core.models import Event
from proofroom.core.search import ranked_rows
from tests import make
from tests.content.at_once import is_lock_awaited

pytestmark = pytest.mark.django_db

needs_stems = pytest.mark.skipif(
    "connection.vendor != 'postgresql'", reason="only PostgreSQL knows stems"
)


def page(title: str, body: str = "", excerpt: str = "", locale: str = "en") -> Post:
    """Create a post with only these words."""

    def fill(document: PostDocument) -> PostDocument:
        return document_edits.add_module(
            document, type="prose", content_markdown=body or "Nothing"
        )[0]

    return create_post(
        actor=make.actor("admin"),
        type="blog",
        fields={"title": title, "excerpt": excerpt, "slug": f"post-{Post.objects.count()}"},
        status="published",
        edit=fill,
        locale=locale,
    )


def found(words: str, locale: str | None = "en") -> list[str]:
    posts = search.find_posts(Post.objects.filter(deleted_at=None), words, locale)
    return [post.title for post in posts[:100]]


def test_a_title_comes_before_an_excerpt_before_a_module() -> None:
    page("Deep", body="kettle " * 60)
    page("Between", excerpt="Every kettle boils.", body="water " * 60)
    page("The kettle and a longer title than the others have")
    page("Nowhere")

    assert found("kettle") == [
        "The kettle and a longer title than the others have",
        "Between",
        "Deep",
    ]


@pytest.mark.parametrize(
    ("title", "words"),
    [
        ("Café au lait", "cafe"),
        ("Cafe au lait", "CAFÉ"),
        ("Die Straße", "strasse"),
        ("Die Strasse", "straße"),
        ("Frühstück", "fruhstuck"),
        ("Łódź", "lodz"),
        ("Кофейня", "кофеиня"),
        ("東京の喫茶店", "喫茶"),
    ],
)
def test_case_and_accents_do_not_count(title: str, words: str) -> None:
    page(title)

    assert found(words) == [title]


def test_german_is_found_by_two_letters_for_an_umlaut() -> None:
    page("Die Mühle", locale="de")

    assert found("muehle", "de") == found("mühle", "de") == found("muhle", "de") == ["Die Mühle"]


def test_all_words_must_be_there_and_the_last_may_be_a_beginning() -> None:
    page("Brewing filter coffee")
    page("Brewing tea")

    assert found("brewing coffee") == ["Brewing filter coffee"]
    assert found("coffee brew") == ["Brewing filter coffee"]
    assert found("brewing filt cof") == []
    assert sorted(found("brewi")) == ["Brewing filter coffee", "Brewing tea"]
    assert found("offee") == []
    assert found("coffee wine") == []


@needs_stems
@pytest.mark.parametrize(
    ("locale", "title", "words"),
    [
        ("en", "Grinders compared", "comparing grinder"),
        ("en", "The knives", "the knife"),
        ("de", "Die Bücher der Häuser", "buch haus"),
        ("de", "Zubereitungen", "zubereitung tasse"),
    ],
)
def test_other_forms_of_a_word_are_found(locale: str, title: str, words: str) -> None:
    page(title, locale=locale, body="Knife und Tassen")

    assert found(words, locale) == [title]
    assert found(words, None) == [title]


@pytest.mark.parametrize("words", ["kettle", "Kettle'", '"kettle', "kettle*", "-kettle", "(kettle"])
def test_signs_around_a_word_are_none_of_it(words: str) -> None:
    page("A kettle")

    assert found(words) == ["A kettle"]


@pytest.mark.parametrize(
    "words",
    [
        "kettle OR tea",
        "kettle NOT teapot",
        "kettle NEAR(pot, 2)",
        "title:kettle",
        "b:kettle",
        "kettle & !teapot",
        "kettle <-> pot",
        "' OR 1=1 --",
        '"; DROP TABLE content_post; --',
        "kettle:*B",
        "🦆",
        "!!!",
        "\\",
        "%",
        "_",
        "\x00",
        "\ud800",
        "x" * 100_000,
        "(" * 100_000,
        "'" * 100_000,
        "kettle " * 30_000 + "absent",
    ],
)
def test_threat_25_operators_are_words_and_signs_are_nothing(words: str) -> None:
    page("A kettle")

    # Words cut off a very long query do not prevent hits for the rest.
    assert found(words) == (["A kettle"] if words.startswith("kettle kettle") else [])
    assert Post.objects.count() == 1


def test_what_is_written_is_found_at_once_and_what_it_replaced_no_more() -> None:
    post = page("A kettle")
    make.edited(post, {"title": "A teapot"})

    assert found("kettle") == []
    assert found("teapot") == ["A teapot"]


def test_staged_words_are_found_by_nobody_until_they_are_approved() -> None:
    post = page("A kettle", body="Steel")
    make.staged(post, {"title": "A zeppelin"})
    make.staged(post, {"excerpt": "Of zirconium"}, layer=Layer.REVIEW)
    proposed = propose_post(
        actor=make.agent_actor(), type="blog", fields={"title": "Zoology of kettles"}
    ).post

    for words in ("zeppelin", "zirconium", "zoology"):
        assert found(words) == []
        search.reindex([post.pk, proposed.pk])
        assert found(words) == []

    changes = make.layers(post).review.changes
    approve(post_id=post.pk, actor=make.actor("editor"), digest=digest_of(changes))

    assert found("zirconium") == ["A kettle"]
    assert found("zeppelin") == []


def test_words_come_and_go_with_their_module_and_shared_ones_count() -> None:
    shared = make.global_module(title="Letters on Sunday")
    post = page("A kettle", body="Steel")

    def place(document: PostDocument) -> PostDocument:
        there = ("newsletter", str(shared.pk))
        return document_edits.add_module(document, type="callout", shared=there)[0]

    edit_post(post_id=post.pk, actor=make.actor("editor"), edit=place)
    assert found("sunday") == ["A kettle"]

    ModuleInstance.objects.filter(pk=shared.pk).update(props={**shared.props, "title": "Monday"})
    search.reindex([post.pk])

    assert found("sunday") == []
    assert found("monday") == found("steel") == ["A kettle"]


def test_a_post_in_the_trash_comes_back_with_its_words_and_one_deleted_leaves_none() -> None:
    post = page("A kettle")
    delete_post(post_id=post.pk, actor=make.actor("admin"))
    assert found("kettle") == []
    restore_post(post_id=post.pk, actor=make.actor("admin"))
    assert found("kettle") == ["A kettle"]

    Post.objects.get(pk=post.pk).delete()

    kept = "_words" if connection.vendor == "sqlite" else ""
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT count(*) FROM content_searchentry{kept}")  # noqa: S608
        assert cursor.fetchone() == (0,)


def test_texts_of_any_size_can_be_kept() -> None:
    words = " ".join(f"wört{number}" for number in range(100_000))
    post = page("Long")
    for body in (words, "ß" * 1_000_000, "\U0001d538 " * 300_000, "a b " * 300_000):
        ModuleInstance.objects.update(props={"title": body})
        assert search.reindex([post.pk]) == 1

    ModuleInstance.objects.update(props={"title": words})
    search.reindex([post.pk])
    assert found("wört7") == found("wort7") == ["Long"]


def test_the_command_fills_what_is_missing(capsys: Any) -> None:
    page("A kettle")
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM content_searchentry")
    assert found("kettle") == []

    call_command("reindex_search")

    assert found("kettle") == ["A kettle"]
    assert "1 post" in capsys.readouterr().out


def test_a_search_is_two_queries(django_assert_num_queries: Any) -> None:
    for number in range(30):
        page(f"Kettle {number}")

    with django_assert_num_queries(2):
        assert len(found("kettle")) == 30


WAYS = {
    "every entry is ranked": {},
    "entries are looked up in a set": {"MAX_RANKED": 0},
    "entries are compared one by one": {"MAX_RANKED": 0, "MAX_IN_SET": 0},
}


@pytest.fixture(params=WAYS)
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return the query plan for words in few, many, or most entries."""
    for name, value in WAYS[request.param].items():
        monkeypatch.setattr(ranked_rows, name, value)
    return str(request.param)


def test_common_words_are_found_like_rare_ones(way: str) -> None:
    page("Deep", body="kettle " * 60)
    page("Between", excerpt="Every kettle boils.", body="water " * 60)
    page("The kettle and a longer title than the others have")
    page("Nowhere")
    page("Ein kettle", locale="de")
    deleted = page("A kettle in the trash")
    delete_post(post_id=deleted.pk, actor=make.actor("admin"))
    english = Post.objects.alive().filter(locale="en")

    posts = search.find_posts(english, "kettle", "en")

    assert [post.title for post in posts[:9]] == [
        "The kettle and a longer title than the others have",
        "Between",
        "Deep",
    ]
    assert posts.count() == 3
    assert posts.estimate(1000) == RowCount(3)
    assert {post.title for post in posts.matching()} == {post.title for post in posts[:9]}
    assert [post.title for post in posts.ranked()] == [post.title for post in posts[:9]]
    assert [post.title for post in posts.filter(title="Deep")[:9]] == ["Deep"]
    assert search.find_posts(english, "absent", "en")[:9] == []
    assert search.find_posts(english, "!", "en")[:9] == []


def test_pages_of_what_many_have_hold_every_post_once(
    way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ranked_rows, "MAX_OF_MANY", 3)
    for number in range(8):
        page(f"Kettle {number}")
        page(f"Number {number}", excerpt="With a kettle" if number % 2 else "", body="A kettle")

    posts = search.find_posts(Post.objects.all(), "kettle", "en")
    titles = [post.title for post in posts[:100]]

    assert len(titles) == len(set(titles)) == 16
    assert {title.split()[0] for title in titles[:8]} == {"Kettle"}
    for size in (1, 2, 5, 7):
        pages = [posts[begin : begin + size] for begin in range(0, 18, size)]
        assert [post.title for page_ in pages for post in page_] == titles
    shown = search.find_posts(
        Post.objects.all(), "kettle", "en", shown=lambda rows: rows.values("id", "title")
    )
    assert [row["title"] for row in shown[2:13]] == titles[2:13]
    if way != "every entry is ranked":
        assert titles[3:8] == [f"Kettle {number}" for number in (4, 3, 2, 1, 0)]
        # Among the newest others, posts with the word in the excerpt rank higher.
        assert titles[8:] == [f"Number {number}" for number in (7, 5, 6, 4, 3, 2, 1, 0)]


@needs_stems
def test_of_what_most_have_the_number_is_estimated(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("MAX_RANKED", "MAX_IN_SET"):
        monkeypatch.setattr(ranked_rows, name, 0)
    for number in range(12):
        page(f"Kettle {number}" if number % 2 else f"Teapot {number}")
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE content_post")

    posts = search.find_posts(Post.objects.all(), "kettle", "en")

    assert posts.estimate(6) == RowCount(6)
    # Three of the newest five have it, so three in five of all.
    assert posts.estimate(2) == RowCount(7, is_exact=False)
    assert posts.count() == 6


@pytest.mark.services
@pytest.mark.django_db(transaction=True)
def test_two_at_once_words_kept_anew_wait_for_a_write_that_is_under_way() -> None:
    post = page("A kettle")

    def again() -> int:
        try:
            return search.reindex([post.pk])
        finally:
            connections.close_all()

    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            make.edited(post, {"title": "A teapot"}, by=make.actor("admin"))
            waiting = pool.submit(again)
            while not is_lock_awaited() and not waiting.done():
                pass
        assert waiting.result(timeout=60) == 1

    assert found("teapot") == ["A teapot"]
    assert found("kettle") == []


def test_what_is_outside_of_a_scope_is_neither_found_nor_counted() -> None:
    root = make.post("Docs", type="page", slug="docs")
    make.site_role("docs", "posts.view", scope=ContentScope(sections=frozenset({root.pk})))
    for number in range(3):
        page(f"Kettle {number}")
    inside = make.post("Kettle inside", type="page", slug="inside", parentId=str(root.pk))
    make.post("Kettle elsewhere", type="page", slug="elsewhere")

    posts = search.find_posts(visible_to(Post.objects.alive(), make.actor("docs")), "kettle", "en")

    assert list(posts[:10]) == [inside]
    assert (posts.count(), posts.estimate(1)) == (1, RowCount(1))
    assert search.find_posts(Post.objects.alive(), "kettle", "en").count() == 5


def _alive_in(locale: str) -> QuerySet[Post]:
    return Post.objects.alive().filter(locale=locale)


@pytest.mark.parametrize(
    "words",
    ["kettle", "kettle boils", "boils kettle kettle", "käse", "kase", "numb", "!", "absent"],
)
def test_keys_equal_those_of_the_found_posts(
    way: str, monkeypatch: pytest.MonkeyPatch, words: str
) -> None:
    monkeypatch.setattr(ranked_rows, "MAX_OF_MANY", 3)
    for number in range(8):
        page(f"Kettle {number}", excerpt="Käse" if number % 3 else "Boils")
        page(f"Number {number}", excerpt="A kettle boils" if number % 2 else "", body="A kettle")
    page("Ein kettle", locale="de")
    posts = search.find_posts(_alive_in("en"), words, "en")
    expected = [post.pk for post in posts[:100]]

    for size in (1, 5, 7, 100):
        keys: list[Any] = []
        for begin in range(0, len(expected) + size, size):
            found_keys = search.find_keys(_alive_in, core_search.query_words(words), "en")
            part = found_keys.page(begin, begin + size)
            keys += part
            if part:
                assert found_keys.count() == len(expected)
        assert keys == expected


def test_a_page_of_keys_is_two_queries_and_compiled_once(
    django_assert_num_queries: Any,
) -> None:
    for number in range(3):
        page(f"Kettle {number}")
    made = []

    def rows(locale: str) -> QuerySet[Post]:
        made.append(locale)
        return _alive_in(locale)

    for words, found_posts in (("kettle", 3), ("kettl", 3), ("number", 0)):
        # No further query without matching entries.
        with django_assert_num_queries(2 if found_posts else 1):
            assert (
                len(search.find_keys(rows, core_search.query_words(words), "en").page(0, 10))
                == found_posts
            )
    # The words are parameters of one statement.
    assert len(made) == 1


SEEN_ALIKE = {
    "Zusam\u00admen\u00adarbeit": "zusammenarbeit",
    "Long\u200bword\u200bbreaks": "longwordbreaks",
    "مَرْحَبًا": "مرحبا",
    "שָׁלוֹם": "שלום",
    "नमस्ते": "नमस्ते",
    "தமிழ்": "தமிழ்",
    "ภาษาไทยที่นี่": "ที่นี่",
    "İSTANBUL": "istanbul",
    "می\u200cخواهم": "میخواهم",
    "ꤊꤋꤌ": "ꤊꤋꤌ",
    "𞤀𞤣𞤤𞤢𞤥": "𞤀𞤣𞤤𞤢𞤥",
}


@pytest.mark.parametrize(("written", "asked"), SEEN_ALIKE.items())
def test_words_are_found_as_readers_see_them(written: str, asked: str) -> None:
    page("Seen", body=f"Before {written} after.")

    assert found(asked) == ["Seen"]
    assert found(asked, locale=None) == ["Seen"]


def test_a_word_is_not_found_by_one_with_other_vowel_signs() -> None:
    page("दिन")

    assert found("दिन") == ["दिन"]
    assert found("दौन") == []


def test_words_that_an_earlier_version_cut_are_kept_anew() -> None:
    posts = [page("दिन"), page("Coffee")]
    with connection.cursor() as cursor:
        kept = "" if connection.vendor == "postgresql" else "_words"
        emptied = (
            "document = ''"
            if connection.vendor == "postgresql"
            else "a = '', b = '', c = '', d = ''"
        )
        cursor.execute(f"UPDATE content_searchentry{kept} SET {emptied}")  # noqa: S608
    assert found("दिन") == []
    search.follow_word_rules()
    assert found("दिन") == [], "they were cut by the present rules"

    SearchEntry.objects.filter(post=posts[0]).update(word_rules=1)
    search.follow_word_rules()

    assert found("दिन") == ["दिन"]
    assert found("coffee") == []
    assert set(SearchEntry.objects.values_list("word_rules", flat=True)) == {core_search.WORD_RULES}


def test_words_of_many_posts_are_kept_anew_in_the_background(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(search, "POSTS_PER_TASK", 1)
    posts = [page("One"), page("Two")]
    SearchEntry.objects.update(word_rules=1)

    search.follow_word_rules()

    events = Event.objects.filter(name=search.STALE)
    assert [event.payload for event in events] == [{"postIds": [str(posts[1].pk)]}]
    search.follow(events[0])
    assert set(SearchEntry.objects.values_list("word_rules", flat=True)) == {core_search.WORD_RULES}
