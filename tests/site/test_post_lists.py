"""Modules that list posts: selection, order, language, and excluded posts."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from content.models import ModuleInstance, Post, PostModule
from content.posts.publish import set_status
from content.posts.trash import delete_post
from content.posts.variations import create_variation
from content.store.opening_images import NO_MODULE, media_of_opening_module, opening_module
from proofroom.definitions import modules
from proofroom_apps.menus.models import Menu
from proofroom_apps.website.prefetch import PostCard
from proofroom_apps.website.rendering import RenderableModule, render_modules
from tests import make
from tests.content.test_definitions import UUID_
from tests.content.test_rendering import ATTACK, Page, attacked
from tests.site.test_images import image
from tests.site.test_page_queries import aged, with_modules
from tests.site.test_pages import home, page, text

pytestmark = pytest.mark.django_db
LISTS = {
    "blog-list": "blog",
    "profile-list": "profile",
    "company-list": "company",
    "testimonial-list": "testimonial",
}


def cards(html: str) -> list[tuple[str, str]]:
    """Return the headings of the cards, or the names of quoted people."""
    return re.findall(r"<h[23]><a href=\"[^\"]*\">([^<]+)</a></h[23]>|<cite>([^<]+)</cite>", html)


def names(html: str) -> list[str]:
    return [first or second for first, second in cards(html)]


def shown(client, **props) -> Any:
    """Return the main part of a page with one list of blog posts."""
    type = props.pop("type", "blog-list")
    with_modules(page("News"), [(type, props)])
    html = text(client.get("/news"))
    return html[html.index("<main") : html.index("</main>")]


def test_the_newest_come_first_with_a_link_to_all(client):
    for age, title in enumerate(("New", "Middle", "Old", "Oldest")):
        aged(title, age)

    html = shown(client, heading="Latest", intro="From the blog", count=3)

    assert names(html) == ["New", "Middle", "Old"]
    assert re.search(r'<h2 id="heading-[^"]+">Latest</h2>', html)
    assert '<p class="lead">From the blog</p>' in html
    assert '<a href="/blog">See all<span class="visually-hidden">: Latest</span></a>' in html
    assert '<h3><a href="/blog/new">New</a></h3>' in html


def test_without_a_heading_cards_are_headings_of_the_page_and_links_can_be_left_out(client):
    make.post("Only")

    html = shown(client, showAllLink=False)

    assert '<h2><a href="/blog/only">Only</a></h2>' in html
    assert "listing-all" not in html


def test_chosen_ones_stand_in_their_order_whatever_their_age(client):
    old, new = aged("Old", 9), aged("New", 1)
    aged("Other", 0)

    html = shown(client, postIds=[str(old.pk), str(new.pk)], allLabel="Everything")

    assert names(html) == ["Old", "New"]
    assert '<a href="/blog">Everything</a>' in html


def test_a_topic_narrows_the_newest(client):
    term = str(make.term("Coffee").pk)
    make.post("Of coffee", taxonomyTermIds=[term])
    make.post("Of nothing")

    assert names(shown(client, termId=term)) == ["Of coffee"]


def test_a_page_lists_posts_of_its_language_only(client):
    english = make.post("English")
    german = make.post("Deutsch", locale="de", translation_of=english)
    only = make.post("Only English")
    chosen = [str(english.pk), str(only.pk), str(german.pk)]
    ids = with_modules(
        page("Neues", locale="de"), [("blog-list", {}), ("blog-list", {"postIds": chosen})]
    )

    html = text(client.get("/de/neues"))

    first, second = (html.split(f'id="module-{id_}"')[1].split('id="module-')[0] for id_ in ids)
    assert names(first) == ["Deutsch"]
    assert names(second) == ["Deutsch"]
    assert '<a href="/de/blog">Alle zeigen</a>' in first


@pytest.mark.parametrize("type_name", LISTS)
def test_where_nothing_is_published_nothing_is_shown(client, type_name):
    make.post("Draft", type=LISTS[type_name], status="draft")

    html = shown(client, type=type_name, heading="Latest", intro="Words")

    assert "Latest" not in html
    assert "Draft" not in html


def test_people_companies_and_testimonials_show_their_facts_and_pictures(client):
    logo, face, portrait = image("logo.png"), image("face.png"), image("portrait.png")
    make.post(
        "Sample Roaster", type="profile", excerpt="Roasts.", featuredMediaId=str(face.pk),
        customFields={"role": "Head of roasting", "email": "hidden@example.com"},
    )  # fmt: skip
    make.post("Sample Mill", type="company", featuredMediaId=str(logo.pk),
              customFields={"industry": "Milling"})  # fmt: skip
    make.post(
        "Said once", type="testimonial",
        customFields={
            "quote": "Good & slow.\nTwice.", "authorName": "A guest", "authorRole": "Regular",
            "company": "Sample Mill", "portraitId": str(portrait.pk), "rating": 4,
        },
    )  # fmt: skip
    with_modules(page("All"), [(name, {}) for name in LISTS])

    html = text(client.get("/all"))

    assert '<p class="card-fact">Head of roasting</p>' in html
    assert "hidden@example.com" not in html
    assert '<p class="card-fact">Milling</p>' in html
    for name in ("logo", "face", "portrait"):
        assert f'alt="Picture {name}.png"' in html
    assert "<blockquote><p>Good &amp; slow.<br>Twice.</p></blockquote>" in html
    assert "<cite>A guest</cite>" in html
    assert "<span>Regular, Sample Mill</span>" in html
    assert '<p class="rating" role="img" aria-label="4 of 5 stars">★★★★☆</p>' in html
    assert '<a href="/people">See all</a>' in html
    # Testimonials have no page that lists them.
    assert html.count("listing-all") == 2


def secret_post(state: str) -> Post:
    post = make.post("A secret title", excerpt="Secret words", type="blog")
    if state == "draft":
        set_status(post_id=post.pk, status="draft", actor=make.actor())
    elif state == "archived":
        set_status(post_id=post.pk, status="archived", actor=make.actor())
    elif state == "placeholder":
        Post.objects.filter(pk=post.pk).update(is_placeholder=True)
    else:
        original = make.post("Public")
        varied = create_variation(post_id=original.pk, variation="B", actor=make.actor())
        Post.objects.filter(pk=varied.pk).update(title="A secret title", excerpt="Secret words")
        delete_post(post_id=post.pk, actor=make.actor())
        return varied
    return post


@pytest.mark.parametrize("state", ["draft", "archived", "deleted", "placeholder", "variation"])
def test_threat_16_what_is_not_published_is_in_no_list_reference_or_menu(client, state):
    home()
    post = secret_post(state)
    item = {"id": "1", "label": "", "type": "post", "url": post.path, "postId": str(post.pk)}
    Menu.objects.create(slug="main", locale="en", name="Main", items=[item])
    with_modules(page("News"), [("blog-list", {}), ("blog-list", {"postIds": [str(post.pk)]})])
    if state == "deleted":  # after it was chosen: what is in the trash cannot be
        delete_post(post_id=post.pk, actor=make.actor())

    html = text(client.get("/news"))

    assert "secret" not in html.lower()
    assert "<h1>News</h1>" in html


def test_a_planned_post_and_one_of_another_type_are_in_no_list(client):
    make.post("Later", status="draft", publishAt=(timezone.now() + timedelta(days=1)).isoformat())
    person = make.post("Somebody", type="profile")

    html = shown(client, postIds=[str(person.pk)])

    assert "Later" not in html
    assert "Somebody" not in html


@pytest.mark.parametrize("type_name", LISTS)
def test_no_word_of_a_post_becomes_markup(type_name):
    card = PostCard(
        id=UUID_, type=LISTS[type_name], title=ATTACK, url="javascript:alert(1)", excerpt=ATTACK,
        published_at=None, image=None,
        custom=dict.fromkeys(
            ("quote", "authorName", "authorRole", "company", "role", "industry", "rating"), ATTACK
        ),
    )  # fmt: skip
    props = {**attacked(modules.all()[type_name].Props), "postIds": [UUID_]}

    html = render_modules(
        [RenderableModule("id-0", type_name, props, 0)],
        {"posts": {UUID_: card}, "locale": "en"},
    )

    found = Page(html)
    assert "alert(1)" in html
    assert found.count("script") == found.count("img") == 0
    for tag, attributes in found.elements:
        assert not [name for name in attributes if name.startswith("on")], tag
        assert "script:" not in (attributes.get("href") or "")


@pytest.mark.parametrize(
    "props",
    [
        {"count": "three"}, {"count": True}, {"count": -5}, {"count": 10**30}, {"count": None},
        {"postIds": "x"}, {"postIds": [1, None, {}, "x", UUID_]}, {"postIds": [[UUID_]]},
        {"termId": 5}, {"termId": ["x"]}, {"termId": "no id"}, {"showAllLink": "no"},
        {"heading": ["a"]}, {"intro": {"a": 1}},
    ],
    ids=str,
)  # fmt: skip
def test_stored_props_of_any_shape_take_no_page_with_them(client, props):
    from content.models import ModuleInstance

    make.post("Public")
    with_modules(page("News"), [(name, {}) for name in LISTS])
    for instance in ModuleInstance.objects.filter(type__in=LISTS):
        instance.props = {**instance.props, **props}
        instance.save()

    response = client.get("/news")

    assert response.status_code == 200
    assert "<h1>News</h1>" in text(response)


def with_opening(title: str, picture: str) -> Post:
    post = make.post(title)
    hero = make.module_id(post, "hero")
    make.changed_module(post, hero, props={"imageId": picture})
    return post


def test_lists_and_cards_show_the_picture_that_opens_a_post(client):
    opening, featured, staged = image("opening.png"), image("featured.png"), image("staged.png")
    post = with_opening("Opened", str(opening.pk))
    hero = make.module_id(post, "hero")
    both = with_opening("Both", str(opening.pk))
    make.edited(both, {"featuredMediaId": str(featured.pk)})
    make.post("Neither")
    make.staged_module(post, hero, props={"imageId": str(staged.pk)})
    with_modules(page("News"), [("blog-list", {"count": 6})])
    listed = text(client.get("/blog"))

    for html in (listed, text(client.get("/news"))):
        assert re.findall(r'<img [^>]*alt="Picture (\w+)\.png"', html).count("opening") == 1
        assert "Picture featured.png" in html
        assert "staged" not in html
    counts = []
    for number in range(4):
        with_opening(f"More {number}", str(image(f"more{number}.png").pk))
        with CaptureQueriesContext(connection) as queries:
            assert f"Picture more{number}.png" in text(client.get("/blog"))
        counts.append(len(queries))
    assert len(set(counts)) == 1


def test_a_picture_of_a_global_module_opens_a_post_with_what_the_post_changed(client):
    own, shared = image("own.png"), image("shared.png")
    post = make.post("Opened")
    placed = PostModule.objects.get(pk=make.module_id(post, "hero"))
    ModuleInstance.objects.filter(pk=placed.instance_id).update(
        props={**placed.instance.props, "imageId": str(shared.pk)}
    )
    assert media_of_opening_module(opened(post)) == [str(shared.pk)]

    PostModule.objects.filter(pk=placed.pk).update(overrides={"imageId": str(own.pk)})

    assert media_of_opening_module(opened(post)) == [str(own.pk)]
    Post.objects.filter(pk=post.pk).update(featured_media=shared)
    assert opened(post) == NO_MODULE


def opened(post: Post) -> str:
    rows = Post.objects.filter(pk=post.pk).values_list(opening_module(), flat=True)
    return str(rows[0])
