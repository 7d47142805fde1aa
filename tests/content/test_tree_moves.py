"""Moving a post with many descendants: a worker updates them, and no address is lost meanwhile."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from content.models import Post, TreeMove
from content.paths import tree_changes
from content.paths.url_patterns import create_pattern
from content.posts.create import create_post
from content.posts.trash import delete_post, restore_post
from proofroom.core.errors import RuleViolation
from proofroom.core.models import Event
from seo.models import Redirect
from tests import make
from tests.conftest import RunOnCommit

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def two_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tree_changes, "BATCH_SIZE", 2)


def page(slug: str, parent: Post | None = None, **fields: Any) -> Post:
    status = fields.pop("status", "published")
    values = {"title": slug.title(), "slug": slug, **fields}
    if parent is not None:
        values["parentId"] = str(parent.pk)
    return create_post(actor=make.actor("admin"), type="page", fields=values, status=status)


def edit(post: Post, **patch: Any) -> Post:
    return make.edited(post, patch)


def paths() -> set[str]:
    return set(Post.objects.values_list("path", flat=True))


def tree() -> Post:
    """Create a page with four descendants on two levels."""
    top = page("about")
    team = page("team", top)
    for slug in ("ann", "bob"):
        page(slug, team)
    page("jobs", top)
    return top


BEFORE = {"/about", "/about/team", "/about/team/ann", "/about/team/bob", "/about/jobs"}
AFTER = {"/us", "/us/team", "/us/team/ann", "/us/team/bob", "/us/jobs"}


def test_the_post_moves_at_once_and_the_rest_in_a_worker(run_on_commit: RunOnCommit) -> None:
    top = tree()

    with run_on_commit():
        edit(top, slug="us")
        assert paths() == BEFORE - {"/about"} | {"/us"}
        assert TreeMove.objects.get().post_id == top.pk

    assert paths() == AFTER
    assert TreeMove.objects.count() == 0
    assert {row.from_path: row.to_path for row in Redirect.objects.all()} == dict(
        zip(sorted(BEFORE), sorted(AFTER), strict=True)
    )


def test_every_address_answers_before_and_after(client: Client, run_on_commit: RunOnCommit) -> None:
    top = tree()

    with run_on_commit():
        edit(top, slug="us")
        assert client.get("/about")["Location"] == "/us"
        for path in BEFORE - {"/about"} | {"/us"}:
            assert (path, client.get(path).status_code) == (path, 200)

    for old, new in zip(sorted(BEFORE), sorted(AFTER), strict=True):
        assert (old, client.get(old)["Location"]) == (old, new)
        assert client.get(new).status_code == 200


def test_a_small_tree_follows_in_the_same_transaction() -> None:
    top = page("about")
    page("team", top)
    page("jobs", top)

    edit(top, slug="us")

    assert paths() == {"/us", "/us/team", "/us/jobs"}
    assert TreeMove.objects.count() == 0


def test_a_worker_that_is_killed_in_between_leaves_the_rest_to_the_next(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    top = tree()
    edit(top, slug="us")
    original, calls = tree_changes._move_batch, []

    def killed(*arguments: Any) -> int:
        calls.append(arguments)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return original(*arguments)

    monkeypatch.setattr(tree_changes, "_move_batch", killed)
    with pytest.raises(KeyboardInterrupt):
        tree_changes.follow_pending(top.pk)

    row = TreeMove.objects.get()
    assert (row.done, row.total) == (2, 4)
    for path in BEFORE:
        assert client.get(path, follow=True).status_code == 200
    assert tree_changes.follow_pending(top.pk) == 2
    assert paths() == AFTER
    assert tree_changes.follow_pending(top.pk) == 0
    assert Event.objects.filter(name="post.moved").count() == 5


def test_a_second_move_meanwhile_is_not_done_by_the_first(run_on_commit: RunOnCommit) -> None:
    top = tree()

    with run_on_commit():
        edit(top, slug="we")
        edit(top, slug="us")
        assert TreeMove.objects.get().version == 2

    assert paths() == AFTER
    leads = {row.from_path: row.to_path for row in Redirect.objects.all()}
    assert leads["/about/team/ann"] == "/us/team/ann"
    assert leads["/about"] == leads["/we"] == "/us"


def test_a_row_that_changed_meanwhile_stays_for_its_own_event(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    top = tree()
    edit(top, slug="we")
    original = tree_changes._move_batch

    def moved_again(*arguments: Any) -> int:
        monkeypatch.setattr(tree_changes, "_move_batch", original)
        edit(top, slug="us")
        return original(*arguments)

    monkeypatch.setattr(tree_changes, "_move_batch", moved_again)
    tree_changes.follow_pending(top.pk)

    assert TreeMove.objects.get().version == 2
    tree_changes.follow_pending(top.pk)
    assert (paths(), TreeMove.objects.count()) == (AFTER, 0)


def test_back_again_before_it_was_done_leaves_everything_where_it_was(client: Client) -> None:
    top = tree()
    edit(top, slug="us")

    edit(top, slug="about")
    tree_changes.follow_pending(top.pk)

    assert paths() == BEFORE
    assert client.get("/us")["Location"] == "/about"
    assert {path: client.get(path).status_code for path in BEFORE} == dict.fromkeys(BEFORE, 200)


def test_a_move_that_would_take_the_address_of_another_is_refused_whole() -> None:
    top = tree()
    taken = make.post("Taken", slug="jobs")
    Post.objects.filter(pk=taken.pk).update(path="/us/jobs")

    with pytest.raises(RuleViolation) as refusal:
        edit(top, slug="us")

    assert refusal.value.code == "path_taken"
    assert paths() == BEFORE | {"/us/jobs"}
    assert TreeMove.objects.count() == 0


def test_an_address_that_was_taken_meanwhile_is_left_alone(client: Client) -> None:
    top = tree()
    edit(top, slug="us")
    taken = make.post("Taken", slug="taken")
    Post.objects.filter(pk=taken.pk).update(path="/us/jobs")

    tree_changes.follow_pending(top.pk)

    assert paths() == AFTER | {"/about/jobs"}
    assert client.get("/about/jobs").status_code == 200


def test_a_new_parent_moves_the_descendants_too(run_on_commit: RunOnCommit) -> None:
    top = tree()
    firm = page("firm")

    with run_on_commit():
        edit(top, parentId=str(firm.pk))

    assert paths() == {"/firm"} | {f"/firm{path}" for path in BEFORE}
    assert {row.to_path for row in Redirect.objects.all()} == {f"/firm{path}" for path in BEFORE}


def test_drafts_the_trash_and_the_archive_follow_and_only_known_addresses_lead_on(
    run_on_commit: RunOnCommit,
) -> None:
    top = tree()
    page("plans", top, status="draft")
    gone = page("gone", top)
    delete_post(post_id=gone.pk, actor=make.actor("admin"))

    with run_on_commit():
        edit(top, slug="us")

    assert paths() == AFTER | {"/us/plans", "/us/gone"}
    assert not Redirect.objects.filter(from_path="/about/plans").exists()
    assert Redirect.objects.get(from_path="/about/gone").to_path == "/us/gone"
    assert restore_post(post_id=gone.pk, actor=make.actor("admin")).path == "/us/gone"


def test_the_worker_asks_as_much_for_each_batch(
    django_assert_max_num_queries: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    top = page("about")
    for number in range(8):
        page(f"p{number}", top, status="draft")
    edit(top, slug="us")
    monkeypatch.setattr(tree_changes, "BATCH_SIZE", 100)

    with django_assert_max_num_queries(40):
        tree_changes.follow_pending(top.pk)


def test_a_canonical_address_of_its_own_follows_the_post() -> None:
    site = "http://127.0.0.1:8000"
    top = page("about", canonicalUrl=f"{site}/about")
    child = page("team", top, canonicalUrl=f"{site}/about/team")
    other = page("jobs", top, canonicalUrl="https://other.example/jobs")

    edit(top, slug="us")

    found = dict(Post.objects.values_list("pk", "canonical_url"))
    assert found == {
        top.pk: f"{site}/us",
        child.pk: f"{site}/us/team",
        other.pk: "https://other.example/jobs",
    }
    revision = Post.objects.get(pk=top.pk).revisions.latest("version")
    assert revision.document["post"]["canonicalUrl"] == f"{site}/us"
    assert "post.canonicalUrl" in revision.changed_paths


def test_a_canonical_address_follows_a_pattern() -> None:
    site = "http://127.0.0.1:8000"
    post = make.post(slug="tea", status="draft", canonicalUrl=f"{site}/blog/tea")

    create_pattern(actor=make.actor(), type="blog", locale="en", pattern="/news/{slug}")

    assert Post.objects.get(pk=post.pk).canonical_url == f"{site}/news/tea"
