"""Copies of pages: independent drafts, including pages below."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from content.models import ModuleInstance, Post, PostJob
from content.posts import jobs
from content.posts.copy import copy_page, list_descendants_to_copy
from content.posts.jobs import start_copy
from content.posts.trash import delete_post
from content.store import post_repository, search
from content.translations.translate import create_translation
from proofroom.core.errors import NotAllowed, NotFound, RuleViolation
from proofroom.core.models import Event
from seo.models import Redirect
from tests import make
from tests.content.test_move import page

pytestmark = pytest.mark.django_db


def paths() -> list[str]:
    return sorted(Post.objects.alive().values_list("path", flat=True))


def test_a_page_is_copied_as_a_draft_with_modules_of_its_own() -> None:
    source = page("overview", page("products"), orderIndex=3)
    shared = make.global_module()
    make.placed(source, shared)
    create_translation(post_id=source.pk, locale="de", actor=make.actor())
    source.refresh_from_db()

    copy = copy_page(post_id=source.pk, actor=make.actor())

    copy.refresh_from_db()
    assert (copy.title, copy.path) == ("Copy of Overview", "/products/overview-copy")
    assert (copy.status, copy.published_at, copy.order_index) == ("draft", None, 3)
    assert copy.translation_group != source.translation_group
    one, other = post_repository.load(source), post_repository.load(copy)
    assert [module.props for module in other.modules] == [module.props for module in one.modules]
    assert not {module.id for module in one.modules} & {module.id for module in other.modules}
    assert ModuleInstance.objects.filter(scope="global").count() == 1
    assert copy.revisions.get().reason == "created"
    assert Event.objects.filter(name="post.created", post_id=copy.pk).count() == 1
    assert Redirect.objects.count() == 0
    assert copy in search.find_posts(Post.objects.all(), "Copy Overview").matching()
    again = copy_page(post_id=source.pk, actor=make.actor())
    assert again.path == "/products/overview-copy-2"


def test_a_copy_keeps_the_terms() -> None:
    source = make.post(taxonomyTermIds=[str(make.term("Coffee").pk)])

    copy = copy_page(post_id=source.pk, actor=make.actor())

    terms = post_repository.load(source).taxonomy_term_ids
    assert len(terms) == 1
    assert post_repository.load(copy).taxonomy_term_ids == terms


def test_the_pages_below_are_copied_on_request() -> None:
    top = page("top")
    middle = page("middle", top)
    page("leaf", middle)
    gone = page("gone", top)
    page("below-gone", gone)
    delete_post(post_id=gone.pk, actor=make.actor())

    copy, job = start_copy(post_id=top.pk, actor=make.actor())

    assert copy.path == "/top-copy"
    assert (job.state, job.done, job.total) == ("done", 3, 3)
    assert [path for path in paths() if path.startswith("/top-copy")] == [
        "/top-copy",
        "/top-copy/middle",
        "/top-copy/middle/leaf",
    ]
    assert set(Post.objects.filter(path__startswith="/top-copy").values_list("status")) == {
        ("draft",)
    }


def test_who_may_not_create_pages_copies_none(monkeypatch: pytest.MonkeyPatch) -> None:
    top = page("top")
    page("below", top)
    proposed = page("proposed")
    Post.objects.filter(pk=proposed.pk).update(is_placeholder=True)
    monkeypatch.setattr(jobs, "MAX_COPIED", 1)

    for actor in (make.actor("translator"), make.mcp_actor("editor"), make.agent_actor()):
        for begin in (copy_page, start_copy):
            with pytest.raises(NotAllowed):
                begin(post_id=top.pk, actor=actor)
    with pytest.raises(RuleViolation, match="at most 1"):
        start_copy(post_id=top.pk, actor=make.actor())
    for begin in (copy_page, start_copy):
        with pytest.raises(RuleViolation, match="Approve this page first"):
            begin(post_id=proposed.pk, actor=make.actor())
    delete_post(post_id=top.pk, actor=make.actor())
    for begin in (copy_page, start_copy):
        with pytest.raises(NotFound):
            begin(post_id=top.pk, actor=make.actor())
    assert Post.objects.count() == 3
    assert PostJob.objects.count() == 0


def test_a_copy_takes_as_many_statements_for_many_pages_as_for_one() -> None:
    few, many = page("few"), page("many")
    page("below", few)
    for number in range(7):
        page(f"below{number}", many)
    start_copy(post_id=few.pk, actor=make.actor())
    counts = []

    for post in (few, many):
        with CaptureQueriesContext(connection) as asked:
            start_copy(post_id=post.pk, actor=make.actor())
        # PostgreSQL stores the words of each page with a separate statement.
        counts.append(len([one for one in asked if "to_tsvector" not in one["sql"]]))

    assert counts[0] == counts[1]


def test_descendants_are_counted_before_they_are_read() -> None:
    top = page("top")
    for number in range(4):
        page(f"below{number}", top)

    with CaptureQueriesContext(connection) as asked:
        found = list_descendants_to_copy(top.pk, most=3)

    assert len(found) == 3
    assert len(asked) == 1


def test_the_dialog_copies_and_says_where() -> None:
    top = page("top")
    page("below", top)
    client = Client(headers={"Accept": "application/json"})
    client.force_login(make.user("editor"))
    url = "/admin/content/post/tree/copy/"

    form = client.get(f"{url}?page={top.pk}").content.decode()
    answer = client.post(url, {"page": str(top.pk), "below": "1"})

    copy = Post.objects.get(path="/top-copy")
    assert "Copy the page below it too" in form
    assert answer.json() == {
        "message": "“Copy of Top” created at /top-copy, with 1 page below it.",
        "page": str(copy.pk),
        "open": f"/admin/content/postjob/{PostJob.objects.get().pk}/change/",
        "undo_step": answer.json()["undo_step"],
        "follow": False,
    }
    client.post("/admin/undo/", {"undo": answer.json()["undo_step"]})
    assert paths() == ["/top", "/top/below"]
    client.force_login(make.user("translator"))
    assert client.post(url, {"page": str(top.pk)}).status_code == 403
    assert Post.objects.count() == 4


def test_a_post_that_is_in_no_tree_is_copied_from_the_list_and_the_editor() -> None:
    post = make.post("Coffee", slug="coffee")
    client = Client()
    client.force_login(make.user("editor"))
    copying = f"/admin/content/post/tree/copy/?page={post.pk}"

    listed = client.get("/admin/content/post/").content.decode()
    edited = client.get(f"/admin/content/post/{post.pk}/change/").content.decode()
    asked = client.get(copying).content.decode()
    done = client.post(copying, {"page": str(post.pk)})

    assert f'href="{copying}"' in listed
    assert f'href="{copying}"' in edited
    assert 'href="/admin/content/post/" data-cancel' in asked
    assert done.headers["Location"] == "/admin/content/post/"
    assert Post.objects.filter(title="Copy of Coffee", status="draft").count() == 1
    client.force_login(make.user("translator"))
    assert copying not in client.get("/admin/content/post/").content.decode()
    assert copying not in client.get(f"/admin/content/post/{post.pk}/change/").content.decode()
