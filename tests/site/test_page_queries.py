"""Database queries of a page: a small constant number, with any modules."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from content.document.document import PostDocument
from content.models import Post
from content.posts.edit import edit_post
from content.store import document_edits
from content.store import linked_posts as linked_posts
from content.store.linked_posts import LinkedPostsRequest, load_linked_posts
from proofroom.core.json import Json, JsonObject
from proofroom.definitions import MOST_LISTED, ModuleProps, PostList, modules, props_of
from proofroom.definitions.props import Prop
from proofroom_apps.menus.models import Menu
from tests import make
from tests.content.test_definitions import paragraph
from tests.site.test_images import image
from tests.site.test_pages import home, page, text

pytestmark = pytest.mark.django_db
OF_THE_CONTRACT = {
    "hero", "hero-with-media", "prose", "prose-with-media", "prose-with-form", "faq",
    "features-list", "callout", "blockquote", "gallery", "statistics", "pricing",
    "testimonial-list", "blog-list", "profile-list", "company-list", "form", "accordions",
    "tabbed-features", "separator", "breadcrumb", "embed", "table", "logos",
}  # fmt: skip


def test_every_module_of_the_contract_is_there():
    # The contract asks for at least these.
    assert set(modules.names()) == OF_THE_CONTRACT | {"video"}


def filled(props: type[ModuleProps], known: dict[str, Json]) -> JsonObject:
    """Return props that refer to every kind of object a page loads."""
    values = props().model_dump(mode="json", by_alias=True)
    for prop in props_of(props).values():
        value = _value(prop, known)
        if value is not None:
            values[prop.name] = value
    return values


def _value(prop: Prop, known: dict[str, Json]) -> Json:
    if prop.nested is not None:
        item = filled(prop.nested, known)
        return [item] if prop.kind == "repeater" else item
    if prop.kind in ("text", "textarea"):
        return "Words"
    return known.get(prop.kind)


@pytest.fixture
def known() -> dict[str, Json]:
    """Create the objects fields can refer to: a file, a form, rich text with an image."""
    make.form()
    inline = image("inline.png")
    picture: Json = {"src": f"/media/{inline.file.name}", "alt": "Inline"}
    document = paragraph("Words")
    document["content"][0]["content"].append({"type": "image", "attrs": picture})
    return {"media": str(image().pk), "form-reference": "contact", "richtext": document}


def posts_of_every_type() -> None:
    portrait = str(image("portrait.png").pk)
    for number in range(4):
        make.post(f"Blog {number}", featuredMediaId=str(image(f"blog{number}.png").pk))
        for type, fields in (
            ("profile", {"role": "Roaster"}),
            ("company", {"logoId": portrait}),
            ("testimonial", {"quote": f"Quote {number}", "portraitId": portrait}),
        ):
            make.post(f"{type} {number}", type=type, customFields=fields)


def with_modules(post: Post, wanted: list[tuple[str, JsonObject]]) -> list[str]:
    ids: list[str] = []

    def fill(document: PostDocument) -> PostDocument:
        for type, props in wanted:
            document, id_ = document_edits.add_module(document, type=type, props=props)
            ids.append(id_)
        return document

    edit_post(post_id=post.pk, actor=make.actor("admin"), edit=fill)
    return ids


def cost_of(client: Any, address: str) -> tuple[int, str]:
    linked_posts._statement.cache_clear()
    with CaptureQueriesContext(connection) as queries:
        response = client.get(address)
    assert response.status_code == 200
    return len(queries), text(response)


def test_one_module_costs_what_all_of_them_ten_times_cost(client, known):
    home()
    posts_of_every_type()
    one, all_ = page("One"), page("All")
    Menu.objects.create(
        slug="main", locale="en", name="Main",
        items=[{"id": "1", "label": "", "type": "post", "url": "", "postId": str(one.pk)}],
    )  # fmt: skip
    with_modules(one, [("prose-with-form", filled(modules.all()["prose-with-form"].Props, known))])
    chosen = {
        type: [str(pk) for pk in Post.objects.filter(type=type).values_list("pk", flat=True)]
        for type in ("blog", "profile", "company", "testimonial")
    }
    wanted: list[tuple[str, JsonObject]] = []
    for number in range(10):
        for name in modules.names():
            props = filled(modules.all()[name].Props, known)
            if name.endswith("-list") and "count" in props:
                props["count"] = number + 1
                props["postIds"] = chosen[name.removesuffix("-list")] if number % 2 else []
            wanted.append((name, props))
    with_modules(all_, wanted)

    few, small = cost_of(client, "/one")
    many, large = cost_of(client, "/all")

    # The page, files and forms; two for the page frame, and one for the posts it links to.
    assert (few, many) == (3 + 2, 3 + 1)
    assert 'alt="Inline"' in small
    assert small.count('<form class="form"') == 1
    assert large.count('<form class="form"') == 20
    # Five lists of four chosen ones, and the newest 1, 3, 5, 7, 9 of four.
    assert large.count('card-blog"') == 5 * 4 + 1 + 3 + 4 + 4 + 4
    assert "Quote 3" in large
    assert large.count('<nav class="breadcrumb"') == 10


def test_terms_come_with_the_post_in_their_order(client):
    for name, taxonomy in (("Zebra", "topics"), ("Apple", "topics"), ("Mango", "tags")):
        make.term(name, taxonomy)
    ids = [str(make.term(name, of).pk) for name, of in (("Zebra", "topics"), ("Apple", "topics"))]
    make.post(taxonomyTermIds=[*ids, str(make.term("Mango", "tags").pk)])
    make.post("Bare")

    html = text(client.get("/blog/how-to-brew-filter-coffee"))

    byline = html[html.index('class="byline"') : html.index("</p>", html.index('class="byline"'))]
    places = [byline.index(name) for name in ("Mango", "Apple", "Zebra")]
    assert places == sorted(places)
    assert client.get("/blog/bare").status_code == 200


def titles(asked: LinkedPostsRequest, wanted: PostList) -> list[str]:
    return [row["title"] for row in load_linked_posts(asked).listed.get(wanted, ())]


def aged(title: str, days: int, **more: Any) -> Post:
    post = make.post(title, **more)
    Post.objects.filter(pk=post.pk).update(published_at=timezone.now() - timedelta(days=days))
    return post


def test_lists_have_the_newest_of_their_type_term_and_language():
    term = str(make.term("Coffee").pk)
    aged("Old", 3, taxonomyTermIds=[term])
    aged("Middle", 2)
    new = aged("New", 1, taxonomyTermIds=[term])
    aged("Neu", 1, locale="de", translation_of=new)
    aged("Somebody", 1, type="profile")
    lists = [PostList("blog", 1), PostList("blog", 2), PostList("blog", 9, (term,))]
    asked = LinkedPostsRequest("en", lists=lists)

    with CaptureQueriesContext(connection) as queries:
        found = load_linked_posts(asked)

    assert len(queries) == 1
    assert [[row["title"] for row in found.listed[wanted]] for wanted in lists] == [
        ["New"], ["New", "Middle"], ["New", "Old"],
    ]  # fmt: skip
    assert titles(LinkedPostsRequest("de", lists=lists[:1]), lists[0]) == ["Neu"]


@pytest.mark.parametrize(
    "wanted",
    [
        PostList("blog", 0),
        PostList("blog", -1),
        PostList("no\x00type", 3),
        PostList("nothing", 3),
        PostList("blog", 3, ("no id",)),
        PostList("blog", 3, ("5f0b1c1e-0000-4000-8000-00000000abcd",)),
    ],
    ids=["none", "less", "nul", "unknown", "no-id", "other-term"],
)
def test_what_cannot_be_listed_is_empty(wanted):
    make.post()

    assert titles(LinkedPostsRequest("en", lists=[wanted]), wanted) == []


def test_lists_are_bounded_in_length_and_number():
    make.copies(
        make.post("First"), MOST_LISTED + 5,
        id=lambda n: f"00000000-0000-4000-8000-{n:012}",
        translation_group=lambda n: f"10000000-0000-4000-8000-{n:012}",
        slug=lambda n: f"copy-{n}", path=lambda n: f"/blog/copy-{n}",
    )  # fmt: skip
    huge = PostList("blog", 10**9)
    many = [PostList(f"type-{n}", 3) for n in range(200)]

    found = load_linked_posts(LinkedPostsRequest("en", lists=[huge, *many]))

    assert len(found.listed[huge]) == MOST_LISTED
    assert len(found.listed) == linked_posts.MAX_LISTS


def test_nothing_asked_costs_nothing():
    with CaptureQueriesContext(connection) as queries:
        assert load_linked_posts(LinkedPostsRequest("en")).neighbours == ()

    assert len(queries) == 0
