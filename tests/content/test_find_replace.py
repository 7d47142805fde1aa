"""Find and replace: hits, and written values."""

from __future__ import annotations

from uuid import uuid4

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from content.find_replace.services import Substitution
from content.find_replace.sources import PostSource
from content.models import Draft, Layer, Post, Provenance, ReplacedPlace, Replacement, Revision
from content.posts.trash import delete_post
from content.posts.variations import create_variation
from proofroom.core.caching.content_version import content_version
from proofroom.core.models import Event
from proofroom.shared_content.revisions import list_revisions
from proofroom.shared_content.shared_types import GLOBAL_MODULE
from proofroom_apps.menus.models import Menu
from tests import make
from tests.api.refusals import refused, stored
from tests.api_client import ApiClient
from tests.content.replacing import URL, keys_of, send, words_of

pytestmark = pytest.mark.django_db


def test_a_word_is_replaced_in_fields_and_modules_with_revision_provenance_and_events() -> None:
    post = make.post("Filter coffee", excerpt="Coffee, again Coffee", markdown="Buy Coffee **now**")
    other = make.post("Tea", slug="tea")
    before, version = content_version(), post.version

    answer = send("Coffee", "Cocoa")

    post.refresh_from_db()
    assert (answer["total"], answer["tables"]) == (2, {"posts": 1, "modules": 1})
    assert answer["dryRun"] is False
    assert {
        (row["table"], row["field"], row["before"], row["after"]) for row in answer["sample"]
    } == {
        ("posts", "excerpt", "Coffee, again Coffee", "Cocoa, again Cocoa"),
        ("modules", "props.content.content.0.content.0.text", "Buy Coffee ", "Buy Cocoa "),
    }
    assert post.excerpt == "Cocoa, again Cocoa"
    assert post.title == "Filter coffee"
    assert "Buy Cocoa " in words_of(post)
    assert post.version == version + 1
    newest = post.revisions.order_by("-version")[0]
    assert (newest.version, newest.reason) == (post.version, "find-replace")
    assert newest.document == make.layers(post).live.to_json()
    assert set(Provenance.objects.filter(revision=newest).values_list("path", flat=True)) == set(
        newest.changed_paths
    )
    told = Event.objects.filter(post_id=post.pk).order_by("-id")[:2]
    assert {event.name for event in told} == {"post.updated", "post.approve"}
    assert content_version() > before
    assert other.revisions.count() == 1
    found = ApiClient("admin").read("/api/posts?search=Cocoa")
    assert [row["id"] for row in found["data"]] == [str(post.pk)]


def test_a_dry_run_answers_the_same_and_writes_nothing() -> None:
    make.post("Coffee", excerpt="Coffee")
    before = stored()

    dry = send("Coffee", "Cocoa", dryRun=True)

    assert stored() == before
    assert Replacement.objects.count() == 0
    done = send("Coffee", "Cocoa")
    assert (dry["dryRun"], dry["id"]) == (True, None)
    assert (dry["total"], dry["tables"], dry["sample"]) == (
        done["total"],
        done["tables"],
        done["sample"],
    )


@pytest.mark.parametrize(
    ("text", "find", "new", "after"),
    [
        ("50% off", "%", " per cent", "50 per cent off"),
        ("a_b", "_", "-", "a-b"),
        ("a.b", ".", "!", "a!b"),
        ("(x)*", "(x)*", r"\1\g<0>", r"\1\g<0>"),
        ('say "hi"', '"', "'", "say 'hi'"),
        ("say hi", "hi", '"hi"\\', 'say "hi"\\'),
        ("back\\slash", "\\", "/", "back/slash"),
        ("Größe ß", "ß", "ss", "Grösse ss"),
        ("日本語", "本", "x", "日x語"),
        ("a😀b", "😀", "", "ab"),
    ],
)
def test_threat_25_every_character_is_literal(text: str, find: str, new: str, after: str) -> None:
    post = make.post("Plain", excerpt=text, markdown="Z")
    by_hand = make.module_id(post, "hero")
    make.changed_module(post, by_hand, props={"subtitle": text}, by=make.actor("admin"))

    answer = send(find, new)

    post.refresh_from_db()
    assert post.excerpt == after
    assert make.layers(post).live.module(by_hand).props["subtitle"] == after
    assert answer["total"] == 2


@pytest.mark.parametrize("find", ["title", "subtitle", "paragraph", "doc", "en", "blog", "hero"])
def test_keys_types_ids_and_choices_are_no_texts(find: str) -> None:
    post = make.post("X", slug="x", markdown="Y")
    before = make.live_hash()

    answer = send(find, "zzz")

    assert answer["total"] == 0
    assert answer["id"] is None
    assert make.live_hash() == before
    assert post.revisions.count() == 1


def test_case_counts_unless_it_is_said_not_to() -> None:
    post = make.post("Ünder coffee COFFEE", markdown="Nothing")
    assert send("ünder Coffee", "x")["total"] == 0

    answer = send("ünder Coffee", "Tea", "posts", caseSensitive=False)

    post.refresh_from_db()
    assert answer["total"] == 1
    assert post.title == "Tea COFFEE"


def test_whole_words_are_no_part_of_longer_ones() -> None:
    post = make.post("Tea, Teapot, Tea-time, T\u00e9tea and 2Tea: Tea", markdown="Nothing")
    assert send("Tea", "x", "posts", dryRun=True)["sample"][0]["after"].count("x") == 5

    answer = send("Tea", "Mate", "posts", wholeWords=True)

    post.refresh_from_db()
    assert post.title == "Mate, Teapot, Mate-time, T\u00e9tea and 2Tea: Mate"
    (row,) = ApiClient("admin").get("/api/database/find-replace").json()["data"]
    assert (row["id"], row["wholeWords"]) == (answer["id"], True)


@pytest.mark.parametrize(
    ("find", "text", "after"),
    [
        (" tea", "A tea, a teapot", "A*, a teapot"),
        ("tea ", "tea A steal tea B", "*A steal *B"),
        ("(tea)", "a(tea)b", "a*b"),
        ("tea", "TEA Steam", "* Steam"),
        ("t.a", "t.a tea", "* tea"),
        ("tea", "tea\u0301 tea", "tea\u0301 *"),
    ],
)
def test_whole_words_end_where_the_text_to_find_does(find: str, text: str, after: str) -> None:
    edit = Substitution(
        reason="", writes=False, old=find, new="*", is_case_sensitive=False, is_whole_words=True
    )

    assert edit.value("posts", "1", "title", text) == after


def test_drafts_the_trash_and_placeholders_stay() -> None:
    post, gone = make.post("Coffee"), make.post("Coffee gone", slug="gone")
    delete_post(post_id=gone.pk, actor=make.actor("admin"))
    make.staged(post, {"excerpt": "Coffee staged"}, layer=Layer.REVIEW)
    documents = list(Draft.objects.values_list("document", flat=True))

    send("Coffee", "Cocoa")

    gone.refresh_from_db()
    assert gone.title == "Coffee gone"
    assert list(Draft.objects.values_list("document", flat=True)) == documents
    review = make.layers(post).review
    assert review.changes.paths == ("post.excerpt",)
    assert review.document.fields["title"] == "Cocoa"


def test_what_live_comes_to_hold_is_staged_no_longer() -> None:
    post = make.post("Coffee", markdown="x")
    make.staged(post, {"title": "Cocoa"}, layer=Layer.REVIEW)

    send("Coffee", "Cocoa", "posts")

    assert Draft.objects.get(post=post, layer=Layer.REVIEW).is_empty


def test_overrides_global_modules_menus_and_terms_are_reached() -> None:
    module = make.global_module(ctaLabel="Letters of Coffee")
    post = make.post("X", markdown="y")
    make.placed(post, module, title="Coffee letter")
    term = make.term("Coffee")
    menu = Menu.objects.create(
        slug="main", locale="en", name="Main", items=[
            {"id": "1", "label": "Coffee", "type": "custom", "url": "/Coffee", "children": [
                {"id": "2", "label": "More Coffee", "type": "post", "url": "/blog/Coffee",
                 "postId": str(post.pk), "children": []}]},
        ],
    )  # fmt: skip

    answer = send("Coffee", "Cocoa", "modules", "global_modules", "menus", "taxonomies")

    for row in (module, term, menu):
        row.refresh_from_db()
    assert answer["tables"] == {"modules": 1, "global_modules": 1, "menus": 3, "taxonomies": 1}
    assert module.props["ctaLabel"] == "Letters of Cocoa"
    assert [(row.version, row.reason) for row in list_revisions(GLOBAL_MODULE, module.pk)] == [
        (2, "find-replace"),
        (1, "before"),
    ]
    assert make.layers(post).live.modules[-1].overrides == {"title": "Cocoa letter"}
    assert (term.name, term.slug) == ("Cocoa", "coffee")
    assert menu.items[0]["label"] == "Cocoa"
    assert menu.items[0]["url"] == "/Cocoa"
    assert menu.items[0]["children"][0]["label"] == "More Cocoa"
    assert menu.items[0]["children"][0]["url"] == Post.objects.get(pk=post.pk).path
    script = {"find": "/Cocoa", "replace": "javascript:x", "tables": ["menus"]}
    refused("POST", URL, script, 422, "invalid", f"menus.{menu.pk}.items.0.url", role="admin")
    ApiClient("admin").write("POST", f"{URL}/{answer['id']}/undo")
    for row in (module, term, menu):
        row.refresh_from_db()
    assert (module.props["ctaLabel"], term.name) == ("Letters of Coffee", "Coffee")
    assert menu.items[0]["children"][0]["label"] == "More Coffee"


def test_forms_and_redirects_are_reached_and_keep_their_rules() -> None:
    client = ApiClient("admin")
    form = {
        "slug": "contact", "title": "Write about Coffee", "fields": [
            {"name": "coffee", "label": "Your Coffee", "type": "select", "required": True,
             "options": ["Coffee", "Tea"]},
        ],
    }  # fmt: skip
    client.write("POST", "/api/forms-definitions", form, expect=201)
    redirect = {"fromPath": "/old-coffee", "toPath": "/blog/coffee"}
    made = client.write("POST", "/api/redirects", redirect, expect=201)

    answer = send("Coffee", "Cocoa", "forms", "redirects", dryRun=True)
    assert answer["tables"] == {"forms": 3, "redirects": 0}
    refusal = {"find": "Coffee", "replace": "Tea", "tables": ["forms"]}
    client.write("POST", URL, refusal, expect=422)  # two options would be the same
    done = send("coffee", "tea", "forms", "redirects")

    assert done["tables"] == {"forms": 0, "redirects": 2}
    after = client.read(f"/api/redirects/{made['id']}")
    assert (after["fromPath"], after["toPath"]) == ("/old-tea", "/blog/tea")
    loop = {"find": "/blog/tea", "replace": "/old-tea", "tables": ["redirects"]}
    client.write("POST", URL, loop, expect=422)
    script = {"find": "/blog/tea", "replace": "javascript:x", "tables": ["redirects"]}
    client.write("POST", URL, script, expect=422)
    assert client.read("/api/forms-definitions/contact")["fields"][0]["name"] == "coffee"


def test_many_posts_take_as_many_statements_as_few() -> None:
    first = make.post("Coffee", markdown="Coffee")
    place = first.placements.select_related("instance").order_by("order_index")[1]
    counts = []

    for number in (10, 80):
        posts = make.copies(
            first, number, slug=lambda _: uuid4().hex, translation_group=lambda _: uuid4()
        )
        instances = make.copies(place.instance, number)
        make.copies(
            place,
            number,
            post_id=keys_of(posts),
            instance_id=keys_of(instances),
        )
        with CaptureQueriesContext(connection) as caught:
            answer = send("Coffee", "Cocoa")
        # Search words are stored row by row; beyond a hundred posts in a task.
        counts.append(len([row for row in caught if "searchentry" not in row["sql"]]))
        assert answer["total"] >= 2 * number
        send("Cocoa", "Coffee")

    # A few more batches, because SQLite limits parameters; never one for each of the 70 additional
    # rows.
    assert counts[1] - counts[0] < 15
    assert Post.objects.filter(title="Coffee").count() == 91


def test_the_content_version_is_the_last_that_is_locked() -> None:
    """Live writers hold the search words of a post and wait for the version, so nothing may wait for
    words after it.
    """
    shared = make.global_module(title="Coffee")
    post, other = make.post("Coffee", slug="coffee"), make.post("Tea", slug="tea")
    for of in (post, other):
        make.placed(of, shared)

    with CaptureQueriesContext(connection) as caught:
        answer = send("Coffee", "Cocoa", "posts", "global_modules")

    assert answer["tables"] == {"posts": 1, "global_modules": 1}
    statements = [query["sql"] for query in caught]
    raised = [
        n
        for n, sql in enumerate(statements)
        if sql.startswith('UPDATE "proofroom_core_contentversion"')
    ]
    words = [n for n, sql in enumerate(statements) if '"content_searchentry' in sql]
    assert len(raised) == 1
    assert words[-1] < raised[0]


def test_variations_are_locked_behind_their_originals() -> None:
    """In the same order as promotions and changes of slugs, to avoid a deadlock."""
    originals = [make.post("Coffee", slug=f"coffee-{n}") for n in range(3)]
    for post in originals:
        for name in "BCD":
            create_variation(post_id=post.pk, variation=name, actor=make.actor("admin"))
    edit = Substitution(reason="", old="Coffee", new="Cocoa")

    found = PostSource().find(edit, frozenset({"posts"}))

    assert found[:3] == sorted(post.pk for post in originals)
    assert len(found) == 12


def test_a_text_node_that_is_emptied_goes_and_comes_back_when_undone() -> None:
    post = make.post(markdown="Keep **drop** keep")
    before = words_of(post)

    done = send("drop", "", "modules")

    assert "drop" not in words_of(post)
    assert make.layers(post).live.modules[1].props != {}
    ApiClient("admin").write("POST", f"{URL}/{done['id']}/undo")
    assert words_of(post) == before


def test_undo_keeps_what_people_wrote_since() -> None:
    post = make.post("Coffee one", excerpt="Coffee two", markdown="Coffee three")
    done = send("Coffee", "Cocoa")
    make.edited(post, {"excerpt": "Mine"})

    undone = ApiClient("admin").write("POST", f"{URL}/{done['id']}/undo")

    post.refresh_from_db()
    assert (post.title, post.excerpt) == ("Coffee one", "Mine")
    assert "Coffee three" in words_of(post)
    assert undone == {
        "id": done["id"],
        "restored": 3,
        "keptTotal": 1,
        "kept": [{"table": "posts", "id": str(post.pk), "field": "excerpt"}],
    }
    assert Revision.objects.filter(post=post, reason="find-replace undone").count() == 1
    again = ApiClient("admin").write("POST", f"{URL}/{done['id']}/undo", expect=409)
    assert again["code"] == "already_undone"
    listed = ApiClient("admin").read(URL)["data"][0]
    assert (listed["total"], listed["find"]) == (4, "Coffee")
    assert listed["undoneAt"] is not None
    assert ReplacedPlace.objects.count() == 4
