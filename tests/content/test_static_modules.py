"""Modules without values: placed, shown, copied and removed like others."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from content.models import ModuleInstance, Post, PostModule
from content.posts.trash import delete_post, purge_trash
from content.posts.variations import create_variation
from tests import make
from tests.api_client import ApiClient
from tests.site.test_pages import crumbs, home, page, text

pytestmark = pytest.mark.django_db


@pytest.fixture
def editor() -> ApiClient:
    return ApiClient("editor")


def placed(editor: ApiClient, post: Post, **body: object) -> Any:
    return editor.write(
        "POST", f"/api/posts/{post.pk}/modules", {"type": "breadcrumb", **body}, expect=201
    )


def test_it_is_listed_and_placed_without_naming_its_scope(editor, client):
    home()
    post = page("About")

    listed = editor.read("/api/modules/static?q=bread")
    module = placed(editor, post)

    assert [row["type"] for row in listed["data"]] == ["breadcrumb"]
    assert (module["scope"], module["props"]) == ("static", {})
    row = PostModule.objects.select_related("instance").get(pk=module["postModuleId"])
    assert (row.instance.scope, row.instance.props) == ("static", {})
    response = client.get("/about")
    assert crumbs(response) == [("/", "Kettle"), ("", "About")]
    assert text(response).count('<nav class="breadcrumb"') == 1
    assert text(response).index('<main id="main"') < text(response).index('<nav class="breadcrumb"')
    assert '"BreadcrumbList"' in text(response)


@pytest.mark.parametrize(
    ("body", "key"),
    [({"scope": "local"}, "scope"), ({"scope": "global"}, "globalSlug"), ({"props": {"a": 1}}, "")],
    ids=["local", "global", "props"],
)
def test_it_is_nothing_else_and_takes_no_props(editor, body, key):
    post = page("About")

    answer = editor.write(
        "POST", f"/api/posts/{post.pk}/modules", {"type": "breadcrumb", **body}, expect=422
    )

    assert any(key in path for path in answer["details"])
    assert not PostModule.objects.filter(post=post).exists()


def test_it_goes_with_its_place_and_its_copies_have_their_own(editor):
    post = page("About")
    module = placed(editor, post)
    copy = create_variation(post_id=post.pk, actor=make.actor("admin"), variation="B")
    instances = ModuleInstance.objects.filter(type="breadcrumb")
    assert instances.count() == 2

    editor.write("DELETE", f"/api/post-modules/{module['postModuleId']}", None, expect=200)
    assert instances.count() == 1
    assert PostModule.objects.get(instance__type="breadcrumb").post_id == copy.pk

    delete_post(post_id=post.pk, actor=make.actor("admin"))
    Post.objects.update(deleted_at=timezone.now() - timedelta(days=2))
    purge_trash(days=1, actor=make.actor("admin", via="system"))
    assert instances.count() == 0
