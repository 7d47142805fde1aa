"""Cached content equals a fresh rendering after every kind of change, and unrelated entries stay cached."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from django.core.cache import cache
from django.test import Client
from django.utils import timezone

from content.models import Layer, Post
from content.modules.global_modules import edit_global
from content.posts.publish import set_status
from content.posts.schedule import run_due_dates
from content.posts.trash import delete_post, restore_post
from content.translations.translate import create_translation
from media.services.files import delete_asset
from media.services.update import update_asset
from proofroom.core.caching.answer_cache import answers
from proofroom.core.caching.content_memo import content_memo
from proofroom.core.caching.content_version import (
    bump_content_version,
    live_state,
    tags_changed_since,
)
from proofroom.taxonomies.services import change_term
from proofroom_apps.menus.services import change_menu, create_menu
from proofroom_apps.website.page_frame import frames
from seo.models import RedirectChanges
from seo.services.redirects import change_redirect
from tests import make
from tests.queries import page_queries

pytestmark = pytest.mark.django_db
SECRET = "Canary"


class Site:
    """A small site in which everything is displayed by something else."""

    def __init__(self) -> None:
        self.admin = make.actor("admin")
        self.image = make.image(alt_text="A kettle")
        self.term = make.term("Coffee")
        self.home = make.post("Home", type="page", slug="home")
        self.tea = make.post("Tea", slug="tea", featuredMediaId=str(self.image.pk))
        self.post = make.post(
            "Coffee", slug="coffee", taxonomyTermIds=[str(self.term.pk)],
            featuredMediaId=str(self.image.pk),
        )  # fmt: skip
        self.german = create_translation(post_id=self.post.pk, locale="de", actor=self.admin)
        self.draft = make.post("Draft", slug="draft", status="draft")
        self.module = make.global_module()
        make.placed(self.post, self.module)
        self.redirect = make.redirect("/old", "/new")
        items = [
            {"label": "Tea", "type": "post", "postId": str(self.tea.pk)},
            {"label": "", "type": "post", "postId": str(self.draft.pk)},
        ]
        self.menu = create_menu(
            actor=self.admin, name="Main", slug="main", locale="en", items=items
        )
        make.staged(self.post, {"title": SECRET}, layer=Layer.REVIEW)
        make.staged(self.tea, {"excerpt": SECRET})
        self.doors = [
            *("/", "/blog", "/blog.md", "/blog/feed.xml", "/blog/topics/coffee", "/llms.txt"),
            *("/blog/coffee", "/blog/coffee.md", "/blog/tea", "/blog/tea.md", "/de/blog/coffee"),
            *("/blog/draft", "/blog/green-tea", "/sitemap.xml", "/old"),
            *("/api/public/posts", "/api/public/posts?type=blog&locale=en"),
            *("/api/public/posts?type=page", "/api/public/posts?taxonomy=coffee"),
            "/api/public/posts?fields=id,media,modules",
            *(f"/api/public/posts/{post.pk}" for post in (self.post, self.tea, self.draft)),
            *(f"/api/public/resolve?path={path}" for path in ("/blog/tea", "/blog/draft", "/old")),
            "/api/menus/main",
        ]

    def answers(self) -> dict[str, tuple[int, bytes]]:
        client, found = Client(), {}
        for door in self.doors:
            response = client.get(door)
            body = b"".join(response) if response.streaming else response.content
            found[door] = response.status_code, body
        return found


def edit_prose(site: Site) -> None:
    make.edited(site.post, {"excerpt": "With hot water", "metaTitle": "All of coffee"})


def schedule(site: Site) -> None:
    Post.objects.filter(pk=site.draft.pk).update(publish_at=timezone.now())
    assert run_due_dates(make.actor("admin")) == 1


CHANGES: dict[str, Callable[[Site], Any]] = {
    "a text": edit_prose,
    "the title of a post that a menu shows": lambda site: make.edited(site.tea, {"title": "Chai"}),
    "a slug": lambda site: make.edited(site.tea, {"slug": "green-tea"}),
    "published on schedule": schedule,
    "unpublished": lambda site: set_status(
        post_id=site.draft.pk, status="draft", actor=site.admin
    ),
    "a translation published": lambda site: set_status(
        post_id=site.german.pk, status="published", actor=site.admin
    ),
    "a translation": lambda site: make.edited(site.german, {"title": "Kaffee"}),
    "a new post": lambda site: make.post("Cocoa", slug="cocoa"),
    "the name of the site": lambda site: make.edited(site.home, {"title": "The Kettle"}),
    "a term": lambda site: change_term(term_id=site.term.pk, actor=site.admin, name="Beans"),
    "the terms of a post": lambda site: make.edited(
        site.tea, {"taxonomyTermIds": [str(site.term.pk)]}
    ),
    "a menu": lambda site: change_menu(
        menu_id=site.menu.pk, actor=site.admin, items=[{"label": "Elsewhere", "url": "/else"}]
    ),
    "a global module": lambda site: edit_global(
        actor=site.admin, slug="newsletter", props={"title": "Stay in touch"}
    ),
    "the words of a picture": lambda site: update_asset(
        asset_id=site.image.pk, actor=site.admin, alt_text="A pot"
    ),
    "the focal point of a picture": lambda site: update_asset(
        asset_id=site.image.pk, actor=site.admin, focal_point=(0.1, 0.9)
    ),
    "a redirect": lambda site: change_redirect(
        redirect_id=site.redirect.pk,
        actor=site.admin,
        changes=RedirectChanges.model_validate({"toPath": "/newer"}),
    ),
    "deleted": lambda site: delete_post(post_id=site.tea.pk, actor=site.admin),
    "restored": lambda site: restore_post(post_id=site.tea.pk, actor=site.admin),
    "a picture deleted": lambda site: delete_asset(
        asset_id=site.image.pk, actor=site.admin, force=True
    ),
    "archived": lambda site: set_status(
        post_id=site.post.pk, status="archived", actor=site.admin
    ),
    "a page in the place of a list": lambda site: make.post("All", type="page", slug="blog"),
}  # fmt: skip


def test_no_change_leaves_an_old_answer(settings: Any) -> None:
    site = Site()
    before = site.answers()
    assert sum(status == 200 for status, _ in before.values()) >= 20

    for what, change in CHANGES.items():
        cache.clear()  # of how often somebody asked
        change(site)
        kept = site.answers()
        answers.clear()
        of_kept_parts = site.answers()
        answers.clear()
        content_memo.clear()
        frames.clear()
        fresh = site.answers()

        for door in site.doors:
            assert kept[door] == of_kept_parts[door] == fresh[door], (what, door)
            assert SECRET.encode() not in kept[door][1], (what, door)
        assert fresh != before, what
        before = fresh


def queries(path: str) -> int:
    return page_queries(Client(), path)


def test_what_a_change_does_not_touch_stays_kept() -> None:
    site = Site()
    page = make.post("About", type="page", slug="about")
    doors = ("/about", f"/api/public/posts/{page.pk}", "/api/public/posts?type=page")
    touched = ("/blog/coffee", "/blog", "/api/public/posts", f"/api/public/posts/{site.post.pk}")
    for door in (*doors, *touched):
        queries(door)

    edit_prose(site)
    make.staged(page, {"title": "Waits"})
    make.post("Another", slug="another", status="draft")

    assert queries(doors[0]) == 2  # what changed since
    assert [queries(door) for door in doors] == [1, 1, 1]
    assert all(queries(door) > 1 for door in touched)


def test_a_change_that_nobody_remembers_makes_everything_old() -> None:
    post = make.post()
    state = live_state()
    make.edited(post, {"metaTitle": "Tea"})

    assert "*" not in tags_changed_since(state)
    assert tuple(tags_changed_since(replace(state, version=state.version - 1_000))) == ("*",)
    states = []
    for number in range(300):
        tags = [f"post:{number:032}", "list:blog"]
        bump_content_version(tags)
        states.append(live_state())
    assert tuple(tags_changed_since(state)) == ("*",)
    assert set(tags_changed_since(states[-3])) == {
        f"post:{299:032}", f"post:{298:032}", "list:blog",
    }  # fmt: skip
