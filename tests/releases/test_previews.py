"""Previews of releases: the site and the delivery API as of a release, and who may see it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any, cast
from urllib.parse import urlsplit
from uuid import UUID

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from content.models import Layer, Post
from content.modules.shared_kind import GlobalModuleKind
from proofroom.accounts.models import User
from proofroom.core.caching.answer_cache import answers
from proofroom.core.caching.content_memo import content_memo
from proofroom.core.models import Event
from proofroom.shared_content.proposals import propose_change
from proofroom.taxonomies.shared_kind import TermKind
from proofroom_apps.menus.services import create_menu, edited_menu
from proofroom_apps.menus.shared_kind import MenuKind
from proofroom_apps.previews.services import forget_old_links
from proofroom_apps.releases import preview
from proofroom_apps.releases.models import ReleasePreviewLink
from proofroom_apps.website.page_frame import frames
from tests import make
from tests.accounts.bearer import token_of
from tests.api.refusals import refused
from tests.api_client import ApiClient
from tests.releases.scenes import (
    add,
    add_changes,
    changed_post,
    create,
    offered,
    publish,
    undo,
)

pytestmark = pytest.mark.django_db


class Opened:
    """The site and the delivery API, as a link of a release shows them."""

    def __init__(self, release: str, *, by: str = "editor") -> None:
        made = ApiClient(by).write("POST", f"{release}/preview-links", {}, expect=201)
        self.id, self.token = made["id"], made["token"]
        self.path = urlsplit(made["url"]).path
        assert self.path == f"/preview/release/{self.token}/"

    def page(self, path: str, status: int = 200) -> Any:
        response = Client().get(self.path.rstrip("/") + path)
        assert response.status_code == status, response.content[:300]
        assert response.headers["Cache-Control"] == "no-store"
        assert response.headers["X-Robots-Tag"] == "noindex, nofollow"
        return response

    def text(self, path: str) -> str:
        return cast(str, self.page(path).content.decode())

    def read(self, path: str, status: int = 200) -> Any:
        client = Client(headers={"authorization": f"Preview {self.token}"})
        response = client.get(f"/api/{path}")
        assert response.status_code == status, response.content[:300]
        if status != 401:
            assert response.headers["Cache-Control"] == "no-store"
            assert not {"ETag", "Cache-Tag", "Last-Modified"}.intersection(response.headers)
        return response.json()


def live(path: str, status: int = 200) -> Any:
    response = Client().get(path)
    assert response.status_code == status
    return response


def whole_release(**values: Any) -> tuple[str, Post, Post]:
    """Create a release of all kinds of items, for a page with a module of its own and a shared one."""
    module, term = make.global_module(), make.term("News")
    post = make.post("Old title", slug="coffee", type="blog")
    make.placed(post, module)
    home = make.post("Our site", slug="home", type="page")
    draft = make.post("Fresh draft", slug="fresh", type="blog", status="draft")
    make.edited(draft, {"taxonomyTermIds": [str(term.pk)]})
    items = [{"label": "Coffee", "type": "post", "postId": str(post.pk)}]
    menu = create_menu(
        actor=make.actor("admin"), name="Main", slug="main", locale="en", items=items
    )
    make.staged(post, {"title": "New title", "excerpt": "Unreleased words"}, layer=Layer.REVIEW)
    props = {"props": {**module.props, "title": "Letters, new"}}
    offered(GlobalModuleKind(), module, **cast(Any, props))
    offered(TermKind(), term, name="News, new")
    propose_change(
        kind=MenuKind(),
        row_id=menu.pk,
        document=edited_menu(
            menu, items=[*items, {"label": "Fresh", "type": "post", "postId": str(draft.pk)}]
        ),
        actor=make.actor("editor"),
        expected_version=menu.version,
        expected_proposal=None,
    )
    redirect = make.redirect("/old", "/blog/fresh", active=False)
    release = create(**values)
    add_changes(release, post, "post.title")
    for kind, id_ in (
        ("post", draft.pk),
        ("menu", menu.pk),
        ("term", term.pk),
        ("global", module.pk),
        ("redirect", redirect.pk),
    ):
        add(release, kind, id_)
    assert home.path == "/"
    return release, post, draft


def test_the_site_is_shown_as_of_the_release_and_nothing_of_it_is_live() -> None:
    release, post, draft = whole_release(at="2099-03-01T09:00:00Z")
    for path in ("/", "/blog", post.path):
        live(path)  # so that caches have them
    before, events = make.live_hash(), Event.objects.count()
    opened = Opened(release)
    prefix = opened.path.rstrip("/")

    page = opened.text(post.path)
    assert "<title>New title" in page
    assert "Unreleased words" not in page
    assert "Letters, new" in page
    assert "Preview: Spring launch · 2099-03-01 09:00 (UTC)" in page
    assert "not shown" not in page
    # The menu leads on to pages of the preview.
    assert f'href="{prefix}{post.path}"' in page
    assert f'href="{prefix}{draft.path}"' in page
    assert 'href="/blog' not in page.partition("<body")[2]
    assert "News, new" in opened.text(draft.path)
    listed = opened.text("/blog")
    assert "New title" in listed
    assert "Fresh draft" in listed
    assert f'href="{prefix}{draft.path}"' in opened.text("/")
    assert opened.page("/old", 302).headers["Location"] == f"{prefix}/blog/fresh"
    assert "Spring launch" in opened.page("/nowhere", 404).content.decode()

    for path in ("/", "/blog", post.path):
        content = live(path).content.decode()
        assert "New title" not in content
        assert "Fresh" not in content
    live(draft.path, 404)
    live("/old", 404)
    assert make.live_hash() == before
    made = Event.objects.order_by("pk")[events:]
    assert [event.name for event in made] == ["release.preview-link.created"]
    link = ReleasePreviewLink.objects.get(pk=opened.id)
    assert link.views == 6
    assert link.token_hash != opened.token


def test_the_delivery_api_answers_as_of_the_release() -> None:
    release, post, draft = whole_release()
    own, listing = f"public/posts/{post.pk}", "public/posts?type=blog&facets=terms&search=New"
    fresh = f"public/posts/{draft.pk}"
    every = "public/posts?type=blog"
    kept = {path: live(f"/api/{path}").json() for path in (own, listing, every, "menus/main")}
    opened = Opened(release)

    shown = opened.read(own)
    assert (shown["title"], shown["excerpt"]) == ("New title", kept[own]["excerpt"])
    assert [module["props"].get("title") for module in shown["modules"]][-1] == "Letters, new"
    assert [post["title"] for post in opened.read(listing)["data"]] == ["New title"]
    assert opened.read(every)["meta"]["total"] == 2
    assert [term["name"] for term in opened.read(fresh)["terms"]] == ["News, new"]
    labels = [item["label"] for item in opened.read("menus/main")["items"]]
    assert labels == ["Coffee", "Fresh"]
    resolved = {
        path: opened.read(f"public/resolve?path={path}") for path in (draft.path, "/old", "/blog")
    }
    assert resolved[draft.path]["post"]["title"] == "Fresh draft"
    assert resolved["/old"]["redirect"]["toPath"] == "/blog/fresh"
    assert len(resolved["/blog"]["posts"]) == 2
    many = Client(headers={"authorization": f"Preview {opened.token}"}).post(
        "/api/public/resolve", {"paths": [draft.path]}, content_type="application/json"
    )
    assert many.json()["data"][draft.path]["type"] == "post"

    for path, answer in kept.items():
        assert live(f"/api/{path}").json() == answer
    live(f"/api/{fresh}", 404)
    assert ReleasePreviewLink.objects.get(pk=opened.id).views == 0


def test_no_cache_has_anything_of_a_preview() -> None:
    release, post, _draft = whole_release()
    opened = Opened(release)
    answers.clear()
    content_memo.clear()
    frames.clear()

    opened.text(post.path)
    opened.text("/blog")
    opened.read(f"public/posts/{post.pk}")
    opened.read("public/posts?type=blog")

    assert (answers._size, content_memo._size, frames) == (0, 0, {})


def expire(link: ReleasePreviewLink) -> None:
    link.expires_at = timezone.now()
    link.save()


def revoke(link: ReleasePreviewLink) -> None:
    path = f"/api/releases/{link.release_id}/preview-links"
    [listed] = ApiClient("editor").read(path)["data"]
    assert "token" not in listed
    assert ApiClient("editor").write("DELETE", f"{path}/{link.pk}") == {"revoked": True}
    assert ApiClient("editor").read(path)["data"] == []


def disable(link: ReleasePreviewLink) -> None:
    User.objects.filter(username=link.created_by_name).update(is_active=False)


def demote(link: ReleasePreviewLink) -> None:
    User.objects.filter(username=link.created_by_name).update(role="translator")


def delete(link: ReleasePreviewLink) -> None:
    ApiClient("admin").write("DELETE", f"/api/releases/{link.release_id}")


@pytest.mark.parametrize("end", [expire, revoke, disable, demote, delete])
def test_a_link_ends_for_the_site_and_the_delivery_api(
    end: Callable[[ReleasePreviewLink], None],
) -> None:
    post, release = changed_post(), create()
    add_changes(release, post)
    opened = Opened(release)
    assert "New title" in opened.text(post.path)

    end(ReleasePreviewLink.objects.get(pk=opened.id))

    assert b"New title" not in opened.page(post.path, 404).content
    assert opened.read(f"public/posts/{post.pk}", 401)["code"] == "invalid_token"


def test_items_in_conflict_and_what_the_maker_may_not_view_stay_live() -> None:
    release, post, draft = whole_release()
    opened = Opened(release)
    make.staged(post, {"title": "Typed over"}, layer=Layer.REVIEW)
    ReleasePreviewLink.objects.filter(pk=opened.id).update(kinds=["post", "changes", "menu"])

    page = opened.text(post.path)

    assert "<title>Old title" in page
    assert "Letters, new" not in page
    # The changed post, the term, the global module and the redirect.
    assert "4 items are not shown" in page
    assert f'href="{opened.path.rstrip("/")}{draft.path}"' in page
    opened.page("/old", 404)


def test_a_token_of_a_program_shows_no_more_than_the_program_may_read() -> None:
    release, post, _draft = whole_release()
    user = make.user("editor", "builder")
    _token, secret = token_of(user, "releases.manage", "posts.preview", "posts.view")
    client = Client(headers={"authorization": f"Bearer {secret}"})

    answer = client.post(f"{release}/preview-links", {}, content_type="application/json")

    assert answer.status_code == 201, answer.content
    page = Client().get(urlsplit(answer.json()["url"]).path + post.path[1:]).content.decode()
    assert "<title>New title" in page
    assert "Letters, new" not in page


def test_a_change_of_the_address_moves_the_page_and_those_below() -> None:
    parent = make.post("Parent", slug="parent", type="page")
    child = make.post("Child", slug="child", type="page", parentId=str(parent.pk))
    make.staged(parent, {"slug": "moved"}, layer=Layer.REVIEW)
    release = create()
    add_changes(release, parent)
    opened = Opened(release)

    assert "Parent" in opened.text("/moved")
    assert "Child" in opened.text("/moved/child")
    assert live(child.path)


def test_a_published_release_shows_the_site_as_it_is() -> None:
    post, release = changed_post(), create()
    add_changes(release, post)
    opened = Opened(release)
    publish(release)

    page = opened.text(post.path)

    assert "<title>New title" in page
    assert "went live on" in page
    refused("POST", f"{release}/preview-links", {}, 409, "release_published")
    undo(release)
    assert "<title>New title" not in opened.text(post.path)


def test_a_large_release_is_shown_in_part_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(preview, "MAX_SHOWN", 1)
    release = create()
    posts = sorted(
        (changed_post(f"New {n}", f"post-{n}") for n in range(2)), key=lambda p: str(p.pk)
    )
    for post in posts:
        add_changes(release, post)

    opened = Opened(release)

    shown = [opened.read(f"public/posts/{post.pk}")["title"].startswith("New") for post in posts]
    assert shown == [True, False]
    assert "1 item is not shown" in opened.text(posts[0].path)


def test_each_item_takes_the_same_number_of_statements() -> None:
    release, numbers = create(), []
    opened = Opened(release)
    path = changed_post("Shown", "shown").path
    opened.text(path)
    for number in range(3):
        add_changes(release, changed_post(f"New {number}", f"post-{number}"))
        with CaptureQueriesContext(connection) as statements:
            opened.text(path)
        numbers.append(len(statements))

    assert numbers[2] - numbers[1] == numbers[1] - numbers[0] <= 7


def test_refusals_of_links() -> None:
    release, other = create(), create("Other")
    opened = Opened(release)
    link = f"{other}/preview-links/{opened.id}"

    path = f"{release}/preview-links"
    refused("POST", path, {"expiresInHours": 721}, 422, "invalid", "expiresInHours")
    refused("POST", path, {"layer": "review"}, 422, "invalid", "layer")
    assert ApiClient("editor").write("DELETE", link, expect=404)["code"] == "not_found"
    assert ApiClient("translator").write("POST", path, {}, expect=403)["code"] == "not_allowed"
    gone = f"/api/releases/{UUID(int=0)}/preview-links"
    assert ApiClient("editor").write("POST", gone, {}, expect=404)["code"] == "not_found"
    assert Client().post(opened.path).status_code == 405
    ReleasePreviewLink.objects.update(expires_at=timezone.now() - timedelta(days=31))
    assert forget_old_links() == 1
