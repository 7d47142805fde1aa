"""Find and replace: what is found, what is written, and what refuses it."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any
from uuid import uuid4

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from content import edits
from content.models import (
    Draft,
    Layer,
    Menu,
    ModuleInstance,
    Post,
    Provenance,
    ReplacedPlace,
    Replacement,
    Revision,
)
from content.replacing.edits import Substitution
from content.replacing.posts import PostSource
from content.services.edit import edit_post
from content.services.trash import delete_post
from content.services.vary import create_variation
from core.events import content_version
from core.models import Event
from media.models import Asset
from tests import make
from tests.api.refusals import refused, stored
from tests.api_client import ApiClient

pytestmark = pytest.mark.django_db
URL = "/api/database/find-replace"
CONTENT = ["posts", "modules"]


def send(find: str, replace: str, *tables: str, **more: Any) -> Any:
    body = {"find": find, "replace": replace, "tables": list(tables or CONTENT), **more}
    return ApiClient("admin").write("POST", URL, body)


def words_of(post: Post, type: str = "prose") -> str:
    return json.dumps(make.layers(post).live.module(make.module_id(post, type)).props)


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
def test_threat_25_every_character_stands_for_itself(
    text: str, find: str, new: str, after: str
) -> None:
    post = make.post("Plain", excerpt=text, markdown="Z")
    by_hand = make.module_id(post, "hero")
    edit_post(
        post_id=post.pk,
        actor=make.actor("admin"),
        edit=lambda document: edits.update_module(document, by_hand, props={"subtitle": text}),
    )

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


def test_a_text_node_that_is_emptied_goes_and_comes_back_when_undone() -> None:
    post = make.post(markdown="Keep **drop** keep")
    before = words_of(post)

    done = send("drop", "", "modules")

    assert "drop" not in words_of(post)
    assert make.layers(post).live.modules[1].props != {}
    ApiClient("admin").write("POST", f"{URL}/{done['id']}/undo")
    assert words_of(post) == before


def test_a_value_against_its_rule_refuses_all_and_says_where() -> None:
    short = make.post("Short a", slug="short", markdown="b")
    long = make.post("Long " + "a" * 100, slug="long", markdown="b")
    hero = f"modules.{make.module_id(long, 'hero')}.props.title"

    for tables, key in ((CONTENT, f"posts.{long.pk}.title"), (["modules"], hero)):
        body = {"find": "a", "replace": "aaaa", "tables": tables}
        answer = refused("POST", URL, body, 422, "invalid", key, role="admin")
        assert "Nothing was replaced" in answer["error"]
        refused("POST", URL, {**body, "dryRun": True}, 422, "invalid", key, role="admin")

    short.refresh_from_db()
    assert short.title == "Short a"


def test_threat_29_no_address_becomes_a_script() -> None:
    post = make.post(markdown="[here](https://one.example/x)", canonicalUrl="https://one.example/")
    before = stored()

    for find, new in (
        ("https://one.example", "javascript:alert(1)"),
        ("https:", "javascript:"),
        ("https:", "java\tscript:"),
        ("https://one.example/x", "data:text/html,<script>"),
    ):
        ApiClient("admin").write(
            "POST", URL, {"find": find, "replace": new, "tables": CONTENT}, expect=422
        )
        assert stored() == before
    assert send("one.example", "two.example")["total"] == 2
    assert "https://two.example/x" in words_of(post)


def test_threat_34_files_and_their_addresses_stay() -> None:
    asset = Asset.objects.create(
        filename="a.webp", file="aa/a.webp", size=1, mime="image/webp", alt_text="A webp picture",
        categories=["webp", "x"], variants={"large": "aa/a-large.webp"},
    )  # fmt: skip
    make.post(markdown="![webp](https://cdn.example/a.webp)")

    answer = send("webp", "svg", "media", "modules")

    asset.refresh_from_db()
    assert (asset.filename, asset.file.name, asset.mime) == ("a.webp", "aa/a.webp", "image/webp")
    assert asset.variants == {"large": "aa/a-large.webp"}
    assert (asset.alt_text, asset.categories) == ("A svg picture", ["svg", "x"])
    assert answer["tables"] == {"modules": 1, "media": 2} or answer["tables"] == {
        "media": 2,
        "modules": 1,
    }
    assert "https://cdn.example/a.webp" in json.dumps(
        [row.props for row in ModuleInstance.objects.all()]
    )


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
    assert [(row.version, row.reason) for row in module.revisions.all()] == [
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


def test_undo_keeps_what_people_wrote_since() -> None:
    post = make.post("Coffee one", excerpt="Coffee two", markdown="Coffee three")
    done = send("Coffee", "Cocoa")
    edit_post(
        post_id=post.pk,
        actor=make.actor("editor"),
        edit=lambda document: edits.patch_fields(document, {"excerpt": "Mine"}),
    )

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


@pytest.mark.parametrize(
    ("patch", "key"),
    [
        ({"find": ""}, "find"),
        ({"find": "x" * 1001}, "find"),
        ({"find": "a\u0000b"}, "find"),
        ({"find": 1}, "find"),
        ({"replace": "x" * 10_001}, "replace"),
        ({"replace": None}, "replace"),
        ({"tables": []}, "tables"),
        ({"tables": ["users"]}, "tables"),
        ({"tables": ["posts", "auth_user; DROP TABLE x"]}, "tables"),
        ({"tables": "posts"}, "tables"),
        ({"dryRun": 1}, "dryRun"),
        ({"caseSensitive": "no"}, "caseSensitive"),
        ({"regex": True}, "regex"),
    ],
)
def test_hostile_bodies_are_refused(patch: dict[str, Any], key: str) -> None:
    make.post("a")
    body = {"find": "a", "replace": "b", "tables": ["posts"], **patch}
    refused("POST", URL, body, 422, "invalid", key, role="admin")


def test_a_text_does_not_grow_without_bound() -> None:
    post = make.post(markdown="a" * 5_000)
    key = f"modules.{make.module_id(post, 'prose')}"
    client = ApiClient("admin")

    answer = client.write(
        "POST", URL, {"find": "a", "replace": "b" * 10_000, "tables": ["modules"]}, expect=422
    )

    assert next(iter(answer["details"])).startswith(("posts.", key))
    assert "aaaa" in words_of(post)


def test_agents_and_programs_without_the_right_cannot() -> None:
    from content.services.find_replace import find_and_replace
    from core.errors import NotAllowed

    make.post("Coffee")
    before = stored()
    for actor in (make.agent_actor(), make.mcp_actor("admin"), make.actor("editor")):
        with pytest.raises(NotAllowed):
            find_and_replace(actor=actor, find="Coffee", replace="x", tables=["posts"])
    assert stored() == before


def keys_of(rows: Sequence[Post | ModuleInstance]) -> Callable[[int], object]:
    return lambda number: rows[number].pk


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
        # The words of search are put row by row; beyond a hundred posts in a task.
        counts.append(len([row for row in caught if "searchentry" not in row["sql"]]))
        assert answer["total"] >= 2 * number
        send("Cocoa", "Coffee")

    # Some batches more, for SQLite takes few parameters at a time; never one for each of the 70 rows more.
    assert counts[1] - counts[0] < 15
    assert Post.objects.filter(title="Coffee").count() == 91


def test_the_content_version_is_the_last_that_is_locked() -> None:
    """Live writers hold the words of a post and wait at the version: nothing waits for words behind it."""
    shared = make.global_module(title="Coffee")
    post, other = make.post("Coffee", slug="coffee"), make.post("Tea", slug="tea")
    for of in (post, other):
        make.placed(of, shared)

    with CaptureQueriesContext(connection) as caught:
        answer = send("Coffee", "Cocoa", "posts", "global_modules")

    assert answer["tables"] == {"posts": 1, "global_modules": 1}
    statements = [query["sql"] for query in caught]
    raised = [
        n for n, sql in enumerate(statements) if sql.startswith('UPDATE "core_contentversion"')
    ]
    words = [n for n, sql in enumerate(statements) if '"content_searchentry' in sql]
    assert len(raised) == 1
    assert words[-1] < raised[0]


def test_variations_are_locked_behind_their_originals() -> None:
    """As a promotion and a change of slug do, which would else wait for us while we wait for them."""
    originals = [make.post("Coffee", slug=f"coffee-{n}") for n in range(3)]
    for post in originals:
        for name in "BCD":
            create_variation(post_id=post.pk, variation=name, actor=make.actor("admin"))
    edit = Substitution(reason="", old="Coffee", new="Cocoa")

    found = PostSource().find(edit, frozenset({"posts"}))

    assert found[:3] == sorted(post.pk for post in originals)
    assert len(found) == 12
