"""A check that blocks a post type holds wherever content becomes public."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from content.models import AccessibilityReport, JobKind, JobOutcome, Layer, Post, Status
from content.posts.decide import decide
from content.posts.jobs import start_job
from content.posts.publish import set_status
from content.posts.schedule import SCHEDULE_FAILED, run_due_dates
from content.posts.undo import undo_status
from content.posts.variations import create_variation, promote_variation
from content.store.layer_state import open_layers
from content.store.traffic import change_variation
from proofroom.core.errors import RuleViolation
from proofroom.core.models import Event
from tests import make
from tests.api_client import ApiClient
from tests.content.checking import level, set_levels
from tests.definition_checks import definition_errors

pytestmark = pytest.mark.django_db
GOOD, LONG = "A fine title", "x" * 61


@pytest.fixture(autouse=True)
def _titles_block(monkeypatch: pytest.MonkeyPatch) -> None:
    set_levels(monkeypatch, {"seoTitle": "block"})


def draft(title: str = LONG, *, name: str = "Coffee") -> Post:
    return make.post(name, status="draft", metaTitle=title)


def live(title: str = GOOD) -> Post:
    return make.post(metaTitle=title, metaDescription="A fine description")


def status_of(post: Post) -> str:
    return Post.objects.values_list("status", flat=True).get(pk=post.pk)


def test_the_level_of_the_type_is_answered():
    assert level(draft(), "seoTitle") == "block"
    assert level(draft(GOOD, name="Tea"), "seoTitle") == "ok"


def test_a_check_that_is_off_has_no_result(monkeypatch):
    set_levels(monkeypatch, {"seoTitle": "off"})

    assert level(draft(), "seoTitle") == ""


def test_publishing_through_the_api_is_refused_with_the_field():
    post = draft()

    body = ApiClient("editor").write(
        "PUT", f"/api/posts/{post.pk}", {"status": "published"}, expect=422
    )

    assert body["code"] == "checks_failed"
    assert body["details"] == {
        "metaTitle": ["The meta title has 61 characters. Search engines show about 60."]
    }
    assert status_of(post) == Status.DRAFT


def test_a_correction_and_the_publication_may_come_in_one_call():
    post = draft()

    body = {"status": "published", "metaTitle": GOOD}
    ApiClient("editor").write("PUT", f"/api/posts/{post.pk}", body)

    assert status_of(post) == Status.PUBLISHED


def test_a_new_post_is_not_created_as_published():
    body = {"type": "blog", "title": "New", "status": "published"}
    answer = ApiClient("editor").write("POST", "/api/posts", body, expect=422)

    assert answer["code"] == "checks_failed"
    assert not Post.objects.filter(title="New").exists()
    ApiClient("editor").write("POST", "/api/posts", {**body, "metaTitle": GOOD}, expect=201)


def test_a_live_edit_may_not_break_a_published_post():
    post = live()

    body = ApiClient("editor").write(
        "PUT", f"/api/posts/{post.pk}", {"metaTitle": LONG}, expect=422
    )

    assert body["code"] == "checks_failed"
    assert Post.objects.get(pk=post.pk).meta_title == GOOD


def test_a_failure_from_before_does_not_prevent_other_edits(monkeypatch):
    set_levels(monkeypatch, {})
    post = live(LONG)
    set_levels(monkeypatch, {"seoTitle": "block", "seoDescription": "block"})

    make.edited(post, {"title": "Corrected"})
    make.edited(post, {"metaTitle": LONG + "x"})
    with pytest.raises(RuleViolation):
        make.edited(post, {"metaDescription": "x" * 161, "metaTitle": GOOD})


def test_an_approval_on_a_published_post_is_refused():
    post = live()
    make.staged(post, {"metaTitle": LONG}, layer=Layer.REVIEW)
    digest = ApiClient("editor").read(f"/api/posts/{post.pk}/changes?layer=review")["digest"]

    body = ApiClient("editor").write(
        "POST", f"/api/posts/{post.pk}/review/approve", {"digest": digest}, expect=422
    )

    assert body["code"] == "checks_failed"
    assert Post.objects.get(pk=post.pk).meta_title == GOOD
    assert open_layers(post).review.exists


def test_an_approval_on_a_draft_is_allowed_and_its_publication_is_not():
    post = draft(GOOD)
    make.staged(post, {"metaTitle": LONG}, layer=Layer.REVIEW)
    digest = ApiClient("editor").read(f"/api/posts/{post.pk}/changes?layer=review")["digest"]

    def take(*, publishes: bool) -> None:
        decide(
            post_id=post.pk,
            layer=Layer.REVIEW,
            actor=make.actor("editor", via="admin"),
            digest=digest,
            accept=["post.metaTitle"],
            refuse=[],
            publishes=publishes,
        )

    with pytest.raises(RuleViolation) as refused:
        take(publishes=True)
    assert refused.value.code == "checks_failed"
    assert (status_of(post), Post.objects.get(pk=post.pk).meta_title) == (Status.DRAFT, GOOD)
    take(publishes=False)
    assert Post.objects.get(pk=post.pk).meta_title == LONG


def test_a_bulk_publication_names_the_reason_and_publishes_the_others():
    bad, good = draft(), draft(GOOD, name="Tea")

    job = start_job(
        kind=JobKind.PUBLISH, post_ids=[bad.pk, good.pk], actor=make.actor("editor", via="admin")
    )

    outcomes = {item.post: (item.outcome, item.why) for item in job.items.all()}
    assert outcomes[good.pk][0] == JobOutcome.DONE
    assert outcomes[bad.pk][0] == JobOutcome.REFUSED
    assert "The meta title has 61 characters." in outcomes[bad.pk][1]
    assert (status_of(bad), status_of(good)) == (Status.DRAFT, Status.PUBLISHED)


def test_a_schedule_is_refused_when_it_is_set():
    post = draft()

    body = ApiClient("editor").write(
        "PUT", f"/api/posts/{post.pk}", {"publishAt": "2099-01-01T08:00:00Z"}, expect=422
    )

    assert body["code"] == "checks_failed"
    assert Post.objects.get(pk=post.pk).publish_at is None


def test_a_schedule_is_judged_again_when_it_is_due():
    post = draft(GOOD)
    make.edited(post, {"publishAt": "2099-01-01T08:00:00.000Z"})
    make.edited(post, {"metaTitle": LONG})  # a draft may fail
    Post.objects.filter(pk=post.pk).update(publish_at=timezone.now() - timedelta(minutes=1))

    assert run_due_dates(make.actor("admin", via="system")) == 0

    assert status_of(post) == Status.DRAFT
    event = Event.objects.get(name=SCHEDULE_FAILED, post_id=post.pk)
    assert "The meta title has 61 characters." in event.payload["reason"]


def test_an_undone_unpublication_is_judged():
    post = live()
    set_status(post_id=post.pk, status="draft", actor=make.actor("editor"))
    version = make.edited(post, {"metaTitle": LONG}).version

    with pytest.raises(RuleViolation) as refused:
        undo_status(
            post_id=post.pk,
            version=version,
            status="published",
            publish_at=None,
            actor=make.actor("editor", via="admin"),
            running=[],
            was_never_published=False,
        )
    assert refused.value.code == "checks_failed"


def test_a_variation_is_judged_before_visitors_see_it_and_before_it_is_promoted():
    post, editor = live(), make.actor("editor")
    variation = create_variation(post_id=post.pk, variation="B", weight=50, actor=editor)
    make.edited(variation, {"metaTitle": LONG})

    for call in (
        lambda: change_variation(
            post_id=post.pk, variation_id=variation.pk, actor=editor, running=True
        ),
        lambda: promote_variation(post_id=post.pk, variation_id=variation.pk, actor=editor),
    ):
        with pytest.raises(RuleViolation) as refused:
            call()
        assert refused.value.code == "checks_failed"

    make.edited(variation, {"metaTitle": GOOD})
    change_variation(post_id=post.pk, variation_id=variation.pk, actor=editor, running=True)
    with pytest.raises(RuleViolation):
        make.edited(variation, {"metaTitle": LONG})


def test_replaced_text_is_judged_for_each_post(monkeypatch):
    from content.find_replace.services import find_and_replace

    good = live("A title about tea")
    other = make.post("Tea", metaTitle="x" * 55 + " tea", metaDescription="Fine")

    with pytest.raises(RuleViolation) as refused:
        find_and_replace(
            actor=make.actor("admin", via="admin"),
            find="tea",
            replace="filter coffee",
            tables=["posts"],
        )

    assert [key for key in refused.value.details if str(other.pk) in key]
    assert not [key for key in refused.value.details if str(good.pk) in key]
    assert Post.objects.get(pk=good.pk).meta_title == "A title about tea"


def test_accessibility_blocks_until_it_was_tested(monkeypatch):
    set_levels(monkeypatch, {"accessibility": "block"})
    post = draft(GOOD)

    body = ApiClient("editor").write(
        "PUT", f"/api/posts/{post.pk}", {"status": "published"}, expect=422
    )

    assert body["details"] == {
        "checks.accessibility": ["The accessibility of this content was not tested yet."]
    }


def test_a_tested_page_can_be_published_and_not_changed_without_another_test(monkeypatch):
    from content.post_checks.accessibility_reports import document_digest
    from content.store import post_repository

    post = draft(GOOD)
    AccessibilityReport.objects.create(
        post=post, digest=document_digest(post, post_repository.load(post)), engine="axe"
    )
    set_levels(monkeypatch, {"accessibility": "block"})

    set_status(post_id=post.pk, status="published", actor=make.actor("editor"))
    with pytest.raises(RuleViolation) as refused:
        make.edited(post, {"excerpt": "Another"})

    assert refused.value.code == "checks_failed"
    make.edited(post, {"orderIndex": 7})  # visitors get the same page


def test_types_without_blocking_checks_need_no_query(monkeypatch, django_assert_num_queries):
    from content.post_checks.results import require_live_change, require_publishable
    from content.store import post_repository

    set_levels(monkeypatch, {})
    post = live(LONG)
    document = post_repository.load(post)

    with django_assert_num_queries(0):
        require_publishable(post, document)
        require_live_change([(post, document, document)])


def test_the_system_check_names_unknown_checks_and_levels(monkeypatch):
    set_levels(monkeypatch, {"seoTitel": "block", "altText": "error"})  # type: ignore[dict-item]

    errors = " ".join(definition_errors())

    assert "checks names 'seoTitel', no check; known: seoTitle, seoDescription" in errors
    assert "checks['altText'] is 'error'; it must be off, warn or block" in errors
