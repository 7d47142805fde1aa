"""Taxonomy terms: the tree, errors, and the effect of deletion on posts and drafts."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from content.layers import approve, digest_of
from content.models import Draft, Layer, Post, PostTerm
from content.posts.edit import edit_post
from content.posts.trash import delete_post
from content.posts.variations import create_variation
from proofroom.core.caching.content_version import content_version
from proofroom.core.errors import CmsError, Conflict, NotAllowed
from proofroom.core.models import Event
from proofroom.definitions import TaxonomyUse
from proofroom.taxonomies import services
from proofroom.taxonomies.models import Term
from proofroom.taxonomies.services import change_term, create_term, delete_term
from proofroom_apps.starter.post_types.blog import Blog
from tests import make
from tests.admin.pages import fields, url
from tests.api.refusals import refused
from tests.api_client import ApiClient
from tests.content.at_once import at_once, while_under_way
from tests.mcp.calling import refused as tool_refused

pytestmark = pytest.mark.django_db
TERMS = "/api/taxonomies/topics/terms"


def term(name: str, parent: Term | None = None, **values: Any) -> Term:
    parent_id = parent.pk if parent else None
    values = {"taxonomy": "topics", "parent_id": parent_id, **values}
    return create_term(actor=make.actor(), name=name, **values)


def tree(rows: Any) -> Any:
    return {row["slug"]: tree(row["children"]) for row in rows}


def read(query: str = "") -> Any:
    return tree(ApiClient("translator").read(TERMS + query)["data"])


def test_taxonomies_say_how_they_are_used() -> None:
    rows = {row["slug"]: row for row in ApiClient("translator").read("/api/taxonomies")["data"]}

    assert set(rows) == {"tags", "topics"}
    assert rows["topics"] == {
        "slug": "topics",
        "name": "Topics",
        "description": "What a post is about, from general to specific.",
        "hierarchical": True,
        "freeTagging": False,
        "postTypes": [{"slug": "blog", "maxSelections": 3}],
    }
    assert rows["tags"]["freeTagging"] is True


def test_terms_are_a_tree_in_their_order() -> None:
    drinks = term("Drinks", order_index=2)
    coffee = term("Coffee", drinks, order_index=1)
    term("Tea", drinks)
    term("Filter", coffee)
    term("Food")

    assert list(read()) == ["food", "drinks"]
    assert read()["drinks"] == {"tea": {}, "coffee": {"filter": {}}}
    page = ApiClient("editor").read(TERMS + "?per_page=1&page=2")
    assert tree(page["data"]) == {"drinks": {"tea": {}, "coffee": {"filter": {}}}}
    assert page["meta"]["total"] == 2


def test_a_languages_terms_include_the_shared_ones() -> None:
    term("Coffee")
    term("Kaffee", locale="de")
    term("Anything", locale="")

    assert set(read()) == {"coffee", "kaffee", "anything"}
    assert set(read("?locale=de")) == {"kaffee", "anything"}
    assert set(read("?locale=en")) == {"coffee", "anything"}


def test_a_term_is_made_with_a_slug_of_its_name() -> None:
    before = content_version()

    made = ApiClient("editor").write("POST", TERMS, {"name": " Über Kaffee! "}, expect=201)

    assert made == {
        "id": made["id"],
        "taxonomy": "topics",
        "slug": "über-kaffee",
        "name": "Über Kaffee!",
        "description": "",
        "parentId": None,
        "locale": "en",
        "orderIndex": 0,
    }
    assert content_version() > before
    event = Event.objects.get(name="content.changed")
    assert event.payload["what"] == "term"


def test_a_description_is_written_checked_and_listed() -> None:
    client = ApiClient("editor")
    made = client.write(
        "POST", TERMS, {"name": "Tea", "description": "Leaves\r\nand water"}, expect=201
    )
    address = f"/api/taxonomy-terms/{made['id']}"

    assert made["description"] == "Leaves\nand water"
    assert client.read(TERMS)["data"][0]["description"] == "Leaves\nand water"
    for bad in ("x" * 5001, "a\x07b", 4):
        refused("PATCH", address, {"description": bad}, 422, "invalid", "description")
    assert client.write("PATCH", address, {"name": "Teas"})["description"] == "Leaves\nand water"
    assert client.write("PATCH", address, {"description": ""})["description"] == ""


def test_a_term_moves_and_what_was_read_can_be_put_back() -> None:
    drinks, coffee = term("Drinks"), term("Coffee")
    client = ApiClient("editor")
    address = f"/api/taxonomy-terms/{coffee.pk}"

    client.write("PATCH", address, {"parentId": str(drinks.pk)})
    assert read() == {"drinks": {"coffee": {}}}
    node = client.read(TERMS)["data"][0]["children"][0]
    assert {**client.write("PATCH", address, node), "children": []} == node
    client.write("PATCH", address, {"name": "Koffie"})
    assert read() == {"drinks": {"coffee": {}}}
    client.write("PATCH", address, {"parentId": None})

    assert read() == {"coffee": {}, "drinks": {}}
    assert Term.objects.get(pk=coffee.pk).name == "Koffie"


def test_a_circle_is_refused() -> None:
    top = term("Top")
    middle = term("Middle", top)
    bottom = term("Bottom", middle)

    for below in (top, middle, bottom):
        body = {"parentId": str(below.pk)}
        refused("PATCH", f"/api/taxonomy-terms/{top.pk}", body, 422, "parent_cycle", "parentId")
    assert read() == {"top": {"middle": {"bottom": {}}}}


def test_a_tree_has_eight_levels_at_most() -> None:
    row: Term | None = None
    for number in range(8):
        row = term(f"Level {number}", row)
    assert row is not None
    other = term("Other")
    term("Below", other)

    body = {"name": "Nine", "parentId": str(row.pk)}
    refused("POST", TERMS, body, 422, "invalid", "parentId")
    assert row.parent is not None
    moved = {"parentId": str(row.parent.pk)}
    refused("PATCH", f"/api/taxonomy-terms/{other.pk}", moved, 422, "invalid", "parentId")
    assert Term.objects.count() == 10


def test_threat_06_a_parent_of_another_taxonomy_is_not_there() -> None:
    tag = make.term("Tag", "tags")
    german = term("Kaffee", locale="de")
    own = term("Own")

    for parent in (tag.pk, german.pk, "no-id", make.post().pk):
        body = {"name": "x", "parentId": str(parent)}
        refused("POST", TERMS, body, 422, "invalid", "parentId")
        refused("PATCH", f"/api/taxonomy-terms/{own.pk}", body, 422, "invalid", "parentId")
    body = {"name": "x", "parentId": str(tag.pk)}
    refused("POST", "/api/taxonomies/tags/terms", body, 422, "invalid", "parentId")
    assert Term.objects.filter(parent__isnull=False).count() == 0


def test_a_slug_is_once_in_a_language() -> None:
    term("Coffee")
    other = term("Other")

    refused("POST", TERMS, {"name": "Coffee"}, 422, "slug_taken", "slug")
    address = f"/api/taxonomy-terms/{other.pk}"
    refused("PATCH", address, {"slug": "coffee"}, 422, "slug_taken", "slug")
    term("Coffee", locale="de")
    assert Term.objects.count() == 3


@pytest.mark.parametrize(
    ("body", "key"),
    [
        ({}, "name"),
        ({"name": " "}, "name"),
        ({"name": 1}, "name"),
        ({"name": "x\ny"}, "name"),
        ({"name": "x\x00"}, "name"),
        ({"name": "x" * 201}, "name"),
        ({"name": "x" * 1_000_000}, "name"),
        ({"name": "x", "slug": ""}, "slug"),
        ({"name": "x", "slug": "A"}, "slug"),
        ({"name": "x", "slug": "a_b"}, "slug"),
        ({"name": "x", "slug": "a" * 101}, "slug"),
        ({"name": "x", "locale": "xx"}, "locale"),
        ({"name": "x", "orderIndex": True}, "orderIndex"),
        ({"name": "x", "orderIndex": 10**9}, "orderIndex"),
        ({"name": "x", "parentId": 1}, "parentId"),
        ({"name": "x", "evil": 1}, "evil"),
    ],
)
def test_bodies_that_do_not_fit_are_refused(body: dict[str, Any], key: str) -> None:
    refused("POST", TERMS, body, 422, "invalid", key)
    assert Term.objects.count() == 0


def test_a_deleted_terms_children_move_up() -> None:
    top = term("Top")
    middle = term("Middle", top)
    term("Bottom", middle)

    ApiClient("editor").write("DELETE", f"/api/taxonomy-terms/{middle.pk}")

    assert read() == {"top": {"bottom": {}}}
    delete_term(term_id=top.pk, actor=make.actor())
    assert read() == {"bottom": {}}


def test_a_term_in_use_is_deleted_by_force_only() -> None:
    coffee, tea = term("Coffee"), term("Tea")
    post = make.post(taxonomyTermIds=[str(coffee.pk), str(tea.pk)])
    address = f"/api/taxonomy-terms/{coffee.pk}"

    answer = refused("DELETE", address, None, 409, "in_use", "posts")
    assert answer["details"] == {"posts": ["1"]}
    refused("DELETE", f"{address}?force=yes", None, 422, "invalid", "force")
    before = content_version()
    ApiClient("editor").write("DELETE", f"{address}?force=true")

    post.refresh_from_db()
    assert make.layers(post).live.taxonomy_term_ids == (str(tea.pk),)
    assert post.version == 2
    assert post.revisions.get(version=2).changed_paths == ["post.taxonomyTermIds"]
    assert content_version() > before
    assert Event.objects.filter(name="post.updated", post_id=post.pk).count() == 1


def test_a_draft_that_named_a_deleted_term_can_still_be_approved() -> None:
    coffee, tea, milk = term("Coffee"), term("Tea"), term("Milk")
    ids = [str(row.pk) for row in (coffee, tea, milk)]
    post = make.post(taxonomyTermIds=ids[:1])
    make.staged(post, {"taxonomyTermIds": ids, "excerpt": "New"}, layer=Layer.REVIEW)
    other = make.post("Other", slug="other")
    make.staged(other, {"taxonomyTermIds": ids[:1]})

    with pytest.raises(Conflict) as refusal:
        delete_term(term_id=coffee.pk, actor=make.actor())
    assert refusal.value.details == {"posts": ["2"]}
    delete_term(term_id=coffee.pk, actor=make.actor(), force=True)

    review = make.layers(post).review
    assert set(review.changes.paths) == {"post.taxonomyTermIds", "post.excerpt"}
    assert not review.drifted
    approve(post_id=post.pk, actor=make.actor(), digest=digest_of(review.changes))
    assert set(make.layers(post).live.taxonomy_term_ids) == set(ids[1:])
    assert not make.layers(other).ai_review.exists
    assert Draft.objects.get(post=other).is_empty
    assert Draft.objects.get(post=other).version == 2


def test_the_one_other_change_of_such_a_draft_stays() -> None:
    coffee, post = term("Coffee"), make.post()
    make.staged(post, {"taxonomyTermIds": [str(coffee.pk)], "excerpt": "New"})

    delete_term(term_id=coffee.pk, actor=make.actor(), force=True)

    assert make.layers(post).ai_review.changes.paths == ("post.excerpt",)


def test_too_many_posts_are_not_changed_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    coffee = term("Coffee")
    for number in range(3):
        make.post(f"Post {number}", taxonomyTermIds=[str(coffee.pk)])
    monkeypatch.setattr(services, "MAX_POSTS_AT_ONCE", 2)

    with pytest.raises(Conflict) as refusal:
        delete_term(term_id=coffee.pk, actor=make.actor(), force=True)

    assert refusal.value.message.endswith("At most 2 posts can be changed at once.")
    assert PostTerm.objects.count() == 3


def test_a_post_in_the_trash_does_not_hold_a_term() -> None:
    coffee = term("Coffee")
    post = make.post(taxonomyTermIds=[str(coffee.pk)])
    delete_post(post_id=post.pk, actor=make.actor("admin"))

    delete_term(term_id=coffee.pk, actor=make.actor())

    ApiClient("editor").write("POST", f"/api/posts/{post.pk}/restore")
    assert make.layers(post).live.taxonomy_term_ids == ()


def test_only_people_with_the_right_change_terms() -> None:
    row = term("Coffee")
    for actor in (make.mcp_actor("admin"), make.agent_actor(), make.actor("translator")):
        for write in (
            lambda actor=actor: create_term(actor=actor, taxonomy="topics", name="x"),
            lambda actor=actor: change_term(actor=actor, term_id=row.pk, name="x"),
            lambda actor=actor: delete_term(actor=actor, term_id=row.pk),
        ):
            with pytest.raises(NotAllowed):
                write()
    assert Term.objects.get().name == "Coffee"


@pytest.mark.services
@pytest.mark.django_db(transaction=True)
def test_two_terms_put_below_each_other_at_once_are_no_circle() -> None:
    actor = make.actor()
    one, two = term("One"), term("Two")

    results = at_once(
        lambda: change_term(term_id=one.pk, actor=actor, parent_id=two.pk),
        lambda: change_term(term_id=two.pk, actor=actor, parent_id=one.pk),
    )

    codes = [result.code for result in results if isinstance(result, CmsError)]
    assert codes == ["parent_cycle"]
    assert Term.objects.filter(parent__isnull=True).count() == 1


@pytest.mark.services
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("force", [False, True])
def test_two_at_once_a_post_does_not_lose_the_term_that_it_just_got(force: bool) -> None:
    coffee, post = term("Coffee"), make.post()

    answer = while_under_way(
        lambda: edit_post(
            post_id=post.pk,
            actor=make.actor(),
            edit=lambda document: document.with_terms([str(coffee.pk)]),
        ),
        lambda: delete_term(term_id=coffee.pk, actor=make.actor("admin"), force=force),
    )

    assert isinstance(answer, Conflict)
    assert make.layers(post).live.taxonomy_term_ids == (str(coffee.pk),)


@pytest.mark.services
@pytest.mark.django_db(transaction=True)
def test_two_terms_of_a_slug_made_at_once_are_one() -> None:
    actor = make.actor()

    def work() -> object:
        return create_term(actor=actor, taxonomy="topics", name="Coffee")

    results = at_once(work, work)

    assert [result.code for result in results if isinstance(result, CmsError)] == ["slug_taken"]
    assert Term.objects.count() == 1


def many() -> list[str]:
    return [str(make.term(f"Topic {number}").pk) for number in range(4)]


@pytest.mark.parametrize("door", ["create", "update", "review"])
def test_max_selections_hold_over_rest(door: str) -> None:
    post = make.post()
    method, path, body = {
        "create": ("POST", "/api/posts", {"type": "blog", "title": "New"}),
        "update": ("PUT", f"/api/posts/{post.pk}", {}),
        "review": ("PUT", f"/api/posts/{post.pk}/review", {}),
    }[door]

    answer = refused(
        method, path, {**body, "taxonomyTermIds": many()}, 422, "invalid", "taxonomyTermIds"
    )

    assert answer["error"] == "At most 3 terms of 'topics' are allowed. You sent 4."


def test_max_selections_hold_when_review_is_approved(monkeypatch: pytest.MonkeyPatch) -> None:
    post, ids = make.post(), many()
    with monkeypatch.context() as patch:
        # The limit came after the draft was written.
        patch.setattr(Blog, "taxonomies", (TaxonomyUse("topics"),))
        make.staged(post, {"taxonomyTermIds": ids}, layer=Layer.REVIEW)
    body = {"digest": digest_of(make.layers(post).review.changes)}

    path = f"/api/posts/{post.pk}/review/approve"
    refused("POST", path, body, 422, "invalid", "taxonomyTermIds")

    assert Post.objects.get(pk=post.pk).version == 1


@pytest.mark.parametrize("do", ["save", "save-review"])
def test_max_selections_hold_in_the_admin(do: str) -> None:
    post = make.post()
    ids = many()
    client = Client()
    client.force_login(make.user())
    before = make.live_hash()
    sent = {**fields(client.get(url(post))), "post.taxonomyTermIds": ids}

    answer = client.post(url(post), {**sent, "do": do})

    assert answer.status_code == 422
    assert b"At most 3 terms of" in answer.content
    assert (make.live_hash(), Draft.objects.count()) == (before, 0)


def test_max_selections_hold_for_ai_clients() -> None:
    post = make.post()

    code, text = tool_refused(
        "set_post_taxonomy_terms_ai_review", postId=str(post.pk), taxonomyTermIds=many()
    )

    assert code == "invalid"
    assert "At most 3 terms of 'topics' are allowed. You sent 4." in text


def test_a_variation_loses_a_deleted_term_with_a_revision() -> None:
    coffee = term("Coffee")
    post = make.post(taxonomyTermIds=[str(coffee.pk)])
    other = create_variation(post_id=post.pk, variation="B", actor=make.actor())
    before = other.version

    delete_term(term_id=coffee.pk, actor=make.actor(), force=True)

    assert make.layers(other).live.taxonomy_term_ids == ()
    assert Post.objects.get(pk=other.pk).version == before + 1
