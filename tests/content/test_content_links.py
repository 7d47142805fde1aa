"""The index of links follows every write of live content."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from io import StringIO

import pytest
from django.core.management import call_command
from django.utils import timezone

from content.models import ContentLink, Layer, ModuleInstance, Post
from content.modules.global_modules import create_global, delete_global, edit_global
from content.posts.copy import copy_page
from content.posts.trash import delete_post, purge_trash
from content.store import content_links
from content.store.content_links import needs_rebuild, rebuild_links, url_key
from proofroom.core.json import Json
from tests import make
from tests.queries import count_queries

pytestmark = pytest.mark.django_db


def links(post: Post | None = None) -> list[tuple[str, str]]:
    rows = ContentLink.objects.all() if post is None else ContentLink.objects.filter(post=post)
    return sorted(rows.values_list("kind", "href"))


def test_creation_and_edits_store_the_links_of_all_kinds():
    target = make.post("Target")
    post = make.post(
        markdown="[a](/a#x) [again](/a#x) [b](https://b.example/?q=1#x) [c](#c) [d](mailto:d@example.com)",
        canonicalUrl="https://canonical.example/",
    )
    make.added_module(post, type="hero", props={"ctaLabel": "Go", "ctaUrl": "/cta"})
    make.added_module(post, type="profile-list", props={"postIds": [str(target.pk)]})

    assert links(post) == [
        ("path", "/a#x"),
        ("path", "/cta"),
        ("post", str(target.pk)),
        ("url", "https://b.example/?q=1#x"),
    ]
    assert ContentLink.objects.get(kind="url").key == url_key("https://b.example/?q=1")

    make.changed_module(post, make.module_id(post, "prose"), content_markdown="[e](/e)")
    assert ("path", "/e") in links(post)
    assert ("path", "/a#x") not in links(post)


def test_an_edit_of_other_values_writes_no_links():
    plain = make.post("Plain")
    linking = make.post("Linking", markdown="[a](/a)")
    make.edited(plain, {"excerpt": "zero"})
    make.edited(linking, {"excerpt": "zero"})

    def edit(post: Post) -> int:
        return count_queries(lambda: make.edited(post, {"excerpt": "one"}))

    assert edit(plain) == edit(linking)


def test_staged_links_are_not_live():
    post = make.post()
    make.staged_module(
        post, make.module_id(post, "prose"), content_markdown="[a](/a)", layer=Layer.REVIEW
    )

    assert links(post) == []


def test_copies_have_the_links_of_their_original():
    post = make.post("Page", type="page")
    make.added_module(post, type="prose", content_markdown="[a](/a)")

    copy = copy_page(post_id=post.pk, actor=make.actor("editor", via="admin"))

    assert links(copy) == links(post) == [("path", "/a")]


def test_global_modules_have_links_of_their_own():
    actor = make.actor("editor")
    props = {"title": "More", "ctaLabel": "Go", "ctaUrl": "/a"}
    create_global(actor=actor, slug="more", type="callout", label="More", props=props)
    assert links() == [("path", "/a")]

    edit_global(actor=actor, slug="more", props={"ctaUrl": "https://b.example/"})
    assert links() == [("url", "https://b.example/")]

    delete_global(actor=actor, slug="more")
    assert links() == []


def test_purged_posts_take_their_links_along():
    post = make.post(markdown="[a](/a)")
    delete_post(post_id=post.pk, actor=make.actor("editor"))
    assert links() == [("path", "/a")]  # as restoring brings them back
    Post.objects.update(deleted_at=timezone.now() - timedelta(days=31))
    purge_trash(actor=make.actor("admin"), days=30)

    assert links() == []


def test_the_index_can_be_rebuilt():
    post = make.post(markdown="[a](/a)")
    module = make.global_module(ctaLabel="Go", ctaUrl="/b")
    before = links(post)
    ContentLink.objects.all().delete()
    assert needs_rebuild()

    call_command("rebuild_links", stdout=StringIO())

    assert links(post) == before
    assert ContentLink.objects.filter(module=module).count() == 1
    assert not needs_rebuild()
    ids = set(ContentLink.objects.filter(post=post).values_list("pk", flat=True))
    rebuild_links()  # rows that are right stay
    assert set(ContentLink.objects.filter(post=post).values_list("pk", flat=True)) == ids
    assert ModuleInstance.objects.globals().count() == 1


def test_a_rebuild_leaves_the_links_of_a_module_that_was_created_meanwhile(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    make.global_module("first")

    def collect(type: str, props: Mapping[str, Json]) -> list[content_links.LinkValue]:
        new = make.global_module("second")
        ContentLink.objects.create(
            module=new, path="props.ctaUrl", kind=ContentLink.Kind.PATH, href="/a", key="a"
        )
        return []

    monkeypatch.setattr(content_links, "collect_module_links", collect)
    content_links.rebuild_links()

    assert ContentLink.objects.filter(module__global_slug="second").count() == 1
