"""Open steps refuse approval and publication by name, wherever content becomes public."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from content.inbox.decisions import Marked, decide_queued
from content.layers.revert import revert_to_revision
from content.layers.schedule import approvals_of, plans_of, schedule_approval
from content.models import JobKind, JobOutcome, Layer, Post, QueuedChange, ScheduledApproval, Status
from content.posts.decide import decide
from content.posts.jobs import start_job
from content.posts.publish import set_status
from content.posts.schedule import SCHEDULE_FAILED, run_due_dates
from content.posts.variations import create_variation, promote_variation
from content.store.layer_state import open_layers
from content.store.traffic import change_variation
from content.tools.definitions import OfPostType, get_post_type_config, list_post_types
from mcp_bridge.management.commands.dump_mcp_context import build_context
from proofroom.core.errors import NotAllowed, RuleViolation
from proofroom.core.models import Event
from proofroom.core.tools.pagination import Paged
from proofroom.definitions import Step
from proofroom_apps.releases.kinds import find_conflicts
from proofroom_apps.releases.models import Release, ReleaseItem
from tests import make
from tests.api_client import ApiClient
from tests.queries import count_queries
from tests.releases import scenes
from tests.steps.taking import (
    HEAD,
    LEGAL,
    approve,
    move,
    passed,
    publish,
    set_steps,
    staged,
    states,
)

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _two_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    for role in ("admin", "editor", "translator"):
        make.user(role)
    set_steps(monkeypatch, LEGAL, HEAD)


@pytest.fixture
def live(monkeypatch: pytest.MonkeyPatch) -> Post:
    """A post that was published before its type had steps."""
    set_steps(monkeypatch)
    post = make.post()
    set_steps(monkeypatch, LEGAL, HEAD)
    return post


def draft(title: str = "Coffee") -> Post:
    return make.post(title, status="draft")


def row(post: Post) -> Post:
    return Post.objects.get(pk=post.pk)


def digest(post: Post, layer: str = "review") -> str:
    found: str = ApiClient("editor").read(f"/api/posts/{post.pk}/changes?layer={layer}")["digest"]
    return found


def test_publication_is_refused_and_names_the_step():
    post = draft()

    refused = publish(post, expect=422)
    assert refused["code"] == "steps_open"
    assert refused["details"] == {"step": ["Legal"]}
    assert "“Legal” was not started" in refused["error"]
    move(post)
    move(post, role="translator")
    refused = publish(post, expect=422)

    assert refused["details"] == {"step": ["Head"]}
    assert "“Head” is open" in refused["error"]
    assert row(post).status == Status.DRAFT


def test_the_editor_leads_to_the_steps_until_they_are_done(signed_in: Callable[..., Client]):
    post, client = draft(), signed_in("editor")
    address = f"/admin/content/post/{post.pk}"

    page = client.get(f"{address}/change/").content.decode()
    assert re.search(
        rf'<a href="{address}/steps/" class="button default"[^>]*>Open the steps<', page
    )
    assert re.search(rf'<a href="{address}/delete/"[^>]*>Move to trash<', page)
    assert 'value="publish"' not in page

    passed(post)
    page = client.get(f"{address}/change/").content.decode()
    assert "Open the steps" not in page
    assert 'value="publish"' in page


def test_a_key_saves_a_live_post_to_review(live, signed_in: Callable[..., Client]):
    page = signed_in("editor").get(f"/admin/content/post/{live.pk}/change/").content.decode()

    assert 'data-key-action="save-pending"' in page
    [button] = re.findall(r"<button[^>]*aria-keyshortcuts[^>]*>", page)
    assert 'value="save-pending"' in button


def test_publication_is_allowed_after_all_steps():
    post = draft()
    passed(post)

    publish(post)

    assert row(post).status == Status.PUBLISHED


def test_a_draft_that_was_edited_after_its_steps_is_not_published():
    post = draft()
    passed(post)
    make.edited(post, {"title": "Sneaked in"})

    refused = publish(post, expect=422)

    assert refused["code"] == "steps_open"
    assert "was changed after its steps were done" in refused["error"]
    assert row(post).status == Status.DRAFT


def test_dates_and_place_need_no_steps_again():
    post = draft()
    passed(post)
    make.edited(post, {"orderIndex": 7})

    publish(post)

    assert row(post).status == Status.PUBLISHED


def test_an_edit_and_the_publication_in_one_call_are_refused():
    post = draft()
    passed(post)

    body = {"status": "published", "title": "Sneaked in"}
    refused = ApiClient("editor").write("PUT", f"/api/posts/{post.pk}", body, expect=422)

    assert refused["code"] == "steps_open"
    assert (row(post).status, row(post).title) == (Status.DRAFT, "Coffee")


def test_a_new_post_is_not_created_as_published():
    body = {"type": "blog", "title": "New", "status": "published"}
    refused = ApiClient("editor").write("POST", "/api/posts", body, expect=422)

    assert refused["code"] == "steps_open"
    assert not Post.objects.filter(title="New").exists()


def test_an_approval_is_refused_and_names_the_step(live):
    staged(live, title="New")

    refused = approve(live, expect=422)
    assert (refused["code"], refused["details"]) == ("steps_open", {"step": ["Legal"]})
    move(live)
    move(live, role="translator")

    assert approve(live, expect=422)["details"] == {"step": ["Head"]}
    assert row(live).title != "New"
    assert open_layers(live).review.exists


def test_an_approval_is_allowed_after_all_steps(live):
    staged(live, title="New")
    passed(live)

    approve(live)

    assert row(live).title == "New"


def test_changes_that_were_staged_after_the_steps_are_not_approved(live):
    staged(live, title="New")
    passed(live)
    staged(live, excerpt="Sneaked in")

    assert approve(live, expect=422)["code"] == "steps_open"
    body = {"digest": digest(live), "paths": ["post.excerpt"]}
    client = ApiClient("editor")
    client.write("POST", f"/api/posts/{live.pk}/review/approve", body, expect=422)
    client.write("POST", f"/api/posts/{live.pk}/review/approve", {**body, "paths": ["post.title"]})

    assert (row(live).title, row(live).excerpt) == ("New", "")
    assert states(live) == ["waiting", "waiting"]


def test_a_change_that_was_edited_after_the_steps_is_not_approved(live):
    staged(live, title="New")
    passed(live)
    staged(live, title="Newer")

    assert approve(live, expect=422)["code"] == "steps_open"


def test_approvals_in_a_draft_pass_with_it():
    post = draft()
    staged(post, title="Better")
    passed(post)

    approve(post)
    publish(post)

    assert (row(post).status, row(post).title) == (Status.PUBLISHED, "Better")


def test_an_approval_does_not_carry_an_edited_draft_past_its_steps():
    post = draft()
    staged(post, title="Better")
    passed(post)
    make.edited(post, {"excerpt": "Sneaked in"})

    approve(post)

    assert publish(post, expect=422)["code"] == "steps_open"


def test_a_post_that_was_taken_off_the_site_can_be_published_again(live):
    staged(live, title="New")
    passed(live)
    approve(live)
    ApiClient("editor").write("PUT", f"/api/posts/{live.pk}", {"status": "draft"})

    publish(live)

    assert row(live).status == Status.PUBLISHED


def test_a_live_edit_is_refused(live):
    refused = ApiClient("editor").write(
        "PUT", f"/api/posts/{live.pk}", {"title": "Sneaked in"}, expect=422
    )

    assert (refused["code"], refused["details"]) == ("steps_open", {"step": ["Legal"]})
    assert row(live).title != "Sneaked in"
    make.edited(live, {"orderIndex": 7})  # when and where is no content


def test_the_review_in_the_admin_is_refused(live):
    staged(live, title="New")
    client = ApiClient("editor")

    for publishes, post in ((False, live), (True, draft())):
        if publishes:
            staged(post, title="New")
        with pytest.raises(RuleViolation) as refused:
            decide(
                post_id=post.pk,
                layer=Layer.REVIEW,
                actor=make.actor("editor", via="admin"),
                digest=digest(post),
                accept=["post.title"],
                refuse=[],
                publishes=publishes,
            )
        assert refused.value.code == "steps_open"
        assert row(post).title != "New"
    assert client.read(f"/api/posts/{live.pk}/changes?layer=review")["digest"] == digest(live)


def test_proposals_that_go_live_at_once_are_refused(live):
    make.staged(live, {"title": "New"})

    with pytest.raises(RuleViolation) as refused:
        decide(
            post_id=live.pk,
            layer=Layer.AI_REVIEW,
            actor=make.actor("editor", via="admin"),
            digest=digest(live, "ai-review"),
            accept=["post.title"],
            refuse=[],
            publishes=True,
        )

    assert refused.value.code == "steps_open"
    assert row(live).title != "New"


def test_a_change_is_rejected_without_steps(live):
    staged(live, title="New")

    decide(
        post_id=live.pk,
        layer=Layer.REVIEW,
        actor=make.actor("editor", via="admin"),
        digest=digest(live),
        accept=[],
        refuse=["post.title"],
    )

    assert not open_layers(row(live)).review.exists


def test_decisions_of_the_inbox_are_refused_for_each_post(live):
    staged(live, title="New")
    queued = QueuedChange.objects.get(post=live)

    outcome = decide_queued(
        marks=[Marked(queued.pk, queued.seen, "accept")],
        actor=make.actor("editor", via="admin"),
    )

    [decision] = outcome.decisions
    assert decision.refused == ("post.title",)
    assert "“Legal”" in decision.why
    assert row(live).title != "New"


def test_a_bulk_publication_names_the_step_and_publishes_the_others():
    waiting, done = draft(), draft("Tea")
    passed(done)

    job = start_job(
        kind=JobKind.PUBLISH,
        post_ids=[waiting.pk, done.pk],
        actor=make.actor("editor", via="admin"),
    )

    outcomes = {item.post: (item.outcome, item.why) for item in job.items.all()}
    assert outcomes[done.pk][0] == JobOutcome.DONE
    assert outcomes[waiting.pk][0] == JobOutcome.REFUSED
    assert "“Legal”" in outcomes[waiting.pk][1]


def test_a_date_is_refused_when_it_is_set():
    post = draft()

    refused = ApiClient("editor").write(
        "PUT", f"/api/posts/{post.pk}", {"publishAt": "2099-01-01T08:00:00Z"}, expect=422
    )

    assert refused["code"] == "steps_open"
    assert row(post).publish_at is None


def test_a_date_is_judged_again_when_it_is_due():
    post = draft()
    passed(post)
    make.edited(post, {"publishAt": "2099-01-01T08:00:00.000Z"})
    make.edited(post, {"title": "Sneaked in"})
    Post.objects.filter(pk=post.pk).update(publish_at=timezone.now() - timedelta(minutes=1))

    assert run_due_dates(make.actor("admin", via="system")) == 0

    assert row(post).status == Status.DRAFT
    event = Event.objects.get(name=SCHEDULE_FAILED, post_id=post.pk)
    assert "“Legal”" in event.payload["reason"]


def test_a_draft_is_published_on_its_date_after_all_steps():
    post = draft()
    passed(post)
    make.edited(post, {"publishAt": "2099-01-01T08:00:00.000Z"})
    Post.objects.filter(pk=post.pk).update(publish_at=timezone.now() - timedelta(minutes=1))

    assert run_due_dates(make.actor("admin", via="system")) == 1
    assert row(post).status == Status.PUBLISHED


def test_scheduled_changes_need_their_steps_now_and_at_their_time(live):
    staged(live, title="New")
    editor, at = make.actor("editor"), timezone.now() + timedelta(days=1)

    with pytest.raises(RuleViolation) as refused:
        schedule_approval(post_id=live.pk, actor=editor, digest=digest(live), at=at)
    assert refused.value.code == "steps_open"
    passed(live)
    schedule_approval(post_id=live.pk, actor=editor, digest=digest(live), at=at)
    move(live, "return", step="Legal", note="Not yet")
    ScheduledApproval.objects.update(at=timezone.now() - timedelta(minutes=1))

    assert run_due_dates(make.actor("admin", via="system")) == 0
    assert row(live).title != "New"
    assert "“Legal” is open" in ScheduledApproval.objects.get().reason


def schedules(post: Post) -> list[str | None]:
    rows = ApiClient("editor").read(f"/api/posts/{post.pk}/review/schedule")["data"]
    return [row["conflict"] and row["conflict"]["message"] for row in rows]


def test_scheduled_changes_say_in_advance_that_a_step_is_open(live, django_assert_num_queries):
    staged(live, title="New", excerpt="Short")
    passed(live)
    for number, path in enumerate(("post.title", "post.excerpt")):
        at = timezone.now() + timedelta(days=1 + number)
        schedule_approval(
            post_id=live.pk, actor=make.actor("editor"), digest=digest(live), at=at, paths=[path]
        )
    assert schedules(live) == [None, None]

    # Somebody works on: only what the steps saw can still go live.
    staged(live, title="Newer")
    first, second = schedules(live)
    assert (second, first is not None and "Changed or decided" in first) == (None, True)
    staged(live, title="New")
    assert schedules(live) == [None, None]
    move(live, "return", step="Legal", note="Not yet")

    text = "The step “Legal” is open. All steps must be done first."
    assert schedules(live) == [text, text]
    review, rows = open_layers(live).review, list(approvals_of(live))
    with django_assert_num_queries(1):
        plans_of(live, rows, review)


def test_items_of_a_release_say_in_advance_that_a_step_is_open(live):
    staged(live, title="New")
    post, edited = draft(), draft("Tea")
    for one in (live, post, edited):
        passed(one)
    release = scenes.create()
    scenes.add_changes(release, live)
    scenes.add(release, "post", post.pk)
    scenes.add(release, "post", edited.pk)

    def conflicts() -> list[str | None]:
        rows = scenes.items(release)
        return [row["conflict"] and row["conflict"]["message"] for row in rows]

    assert conflicts() == [None, None, None]
    move(live, "return", step="Legal", note="Not yet")
    make.edited(edited, {"title": "Sneaked in"})

    assert conflicts() == [
        "The step “Legal” is open. All steps must be done first.",
        None,
        "The content was changed after its steps were done. Start the step “Legal” again.",
    ]
    refused = ApiClient("editor").write("POST", f"{release}/publish", expect=409)
    assert refused["code"] == "release_conflict"
    assert row(post).status == Status.DRAFT
    for one in (live, edited):
        passed(one) if one is edited else (move(one, role="translator"), move(one))
    assert conflicts() == [None, None, None]
    scenes.publish(release)
    assert [row(one).status for one in (live, post, edited)] == [Status.PUBLISHED] * 3
    assert row(live).title == "New"


def test_conflicts_of_a_release_take_the_same_queries_for_any_number_of_items():
    def count(number: int) -> int:
        posts = [draft(f"{number} {each}") for each in range(number)]
        for each in posts:
            passed(each)
        release = Release.objects.create(name=f"{number} posts")
        items = [
            ReleaseItem.objects.create(release=release, kind="post", object_id=each.pk)
            for each in posts
        ]
        assert find_conflicts(items) == {}
        return count_queries(find_conflicts, items)

    # Other releases with them, the release, the posts, their steps, and their modules and terms.
    assert (count(1), count(3)) == (6, 6)


def test_ai_clients_read_the_steps_of_a_type(monkeypatch):
    set_steps(monkeypatch, Step("Legal", role="translator", quorum=2, due=timedelta(days=3)), HEAD)
    steps = [
        {
            "name": "Legal",
            "asks": {"kind": "role", "name": "translator", "quorum": 2},
            "due": "P3DT00H00M00S",
        },
        {"name": "Head", "asks": {"kind": "person", "name": "editor", "quorum": 1}},
    ]
    client = make.mcp_actor()

    listed = {row["slug"]: row for row in list_post_types(client, Paged())["items"]}
    config = get_post_type_config(client, OfPostType(post_type="blog"))
    dumped = {row["name"]: row for row in build_context()["postTypes"]}

    assert listed["blog"]["steps"] == config["steps"] == dumped["blog"]["steps"] == steps
    assert not any("steps" in rows["page"] for rows in (listed, dumped))


def test_agents_and_clients_still_cannot_approve_or_publish():
    post = draft()
    passed(post)

    for actor in (make.agent_actor(), make.mcp_actor("editor")):
        with pytest.raises(NotAllowed):
            set_status(post_id=post.pk, status="published", actor=actor)
    assert row(post).status == Status.DRAFT


def test_a_variation_needs_its_steps_before_visitors_see_it(live):
    editor = make.actor("editor")
    variation = create_variation(post_id=live.pk, variation="B", weight=50, actor=editor)
    make.edited(variation, {"excerpt": "Another"})

    for call in (
        lambda: change_variation(
            post_id=live.pk, variation_id=variation.pk, actor=editor, running=True
        ),
        lambda: promote_variation(post_id=live.pk, variation_id=variation.pk, actor=editor),
    ):
        with pytest.raises(RuleViolation) as refused:
            call()
        assert refused.value.code == "steps_open"
    passed(variation)
    change_variation(post_id=live.pk, variation_id=variation.pk, actor=editor, running=True)
    promote_variation(post_id=live.pk, variation_id=variation.pk, actor=editor)

    assert row(live).excerpt == "Another"


def test_replaced_text_of_public_posts_is_refused(live):
    from content.find_replace.services import find_and_replace

    with pytest.raises(RuleViolation) as refused:
        find_and_replace(
            actor=make.actor("admin", via="admin"),
            find="coffee",
            replace="tea",
            tables=["posts"],
        )

    assert [key for key in refused.value.details if str(live.pk) in key]
    assert "coffee" in row(live).title


def test_content_that_was_public_is_restored_without_steps(live):
    title = live.title
    staged(live, title="New")
    passed(live)
    approve(live)

    revert_to_revision(
        post_id=live.pk,
        revision_id=live.revisions.get(version=1).pk,
        actor=make.actor("editor"),
    )

    assert row(live).title == title


def test_a_revision_that_was_never_public_is_not_restored():
    post = draft()
    make.edited(post, {"title": "Sneaked in"})
    hidden = row(post).revisions.get(version=row(post).version)
    make.edited(post, {"title": "Coffee"})
    passed(post)
    publish(post)

    with pytest.raises(RuleViolation) as refused:
        revert_to_revision(post_id=post.pk, revision_id=hidden.pk, actor=make.actor("editor"))

    assert refused.value.code == "steps_open"
    assert row(post).title == "Coffee"
