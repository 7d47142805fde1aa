"""Running variations: limits of their shares, and the end of an experiment."""

from __future__ import annotations

from typing import Any

import pytest

from content.models import Post
from content.posts.edit import edit_post
from content.posts.publish import set_status
from content.posts.trash import delete_post, restore_post
from content.posts.variations import promote_variation
from content.store import document_edits
from content.translations.translate import create_translation
from proofroom.core.caching.content_version import content_version
from proofroom.core.errors import RuleViolation
from proofroom.core.models import Event
from tests import make
from tests.content.variations import change, running, state, told, varied

pytestmark = pytest.mark.django_db


def test_it_is_started_weighed_and_stopped_and_each_is_told() -> None:
    made = varied(make.post(), weight=10)
    version = content_version()

    change(made, running=True)
    change(made, weight=20)
    change(made, running=False, weight=20)

    assert state(made) == (20, False)
    assert told() == [f"post.variation.{what}" for what in ("started", "changed", "stopped")]
    changed = Event.objects.get(name="post.variation.changed")
    assert (changed.post_id, changed.payload["variationOf"]) == (
        made.pk, str(made.variation_of_id),
    )  # fmt: skip
    assert [changed.payload[key] for key in ("variation", "weight", "before")] == ["B", 20, 10]
    assert content_version() == version + 3


def test_what_is_as_it_should_be_already_records_nothing() -> None:
    made = running(make.post())
    before = Event.objects.count()

    change(made, running=True, weight=50)
    change(made)

    assert Event.objects.count() == before


def test_live_changes_of_what_runs_make_caches_old() -> None:
    made = running(make.post())
    version = content_version()

    edit_post(
        post_id=made.pk,
        actor=make.actor(),
        edit=lambda document: document_edits.patch_fields(document, {"title": "Other"}),
    )

    assert content_version() > version


def test_those_that_run_have_all_visitors_at_most() -> None:
    post = make.post()
    running(post, "B", 60)
    other, idle = varied(post, "C", 41), varied(post, "D", 100)

    with pytest.raises(RuleViolation) as refusal:
        change(other, running=True)

    assert refusal.value.code == "too_many_visitors"
    assert refusal.value.details == {
        "weight": [
            "The other running variations get 60 of 100 percent of visitors. C can get at most 40."
        ]
    }
    assert state(other) == (41, False)
    change(other, running=True, weight=40)
    assert (state(other), state(idle)) == ((40, True), (100, False))
    with pytest.raises(RuleViolation):
        change(other, weight=41)
    assert state(other) == (40, True)


@pytest.mark.parametrize("weight", [0, 101, -1, True, 2**60])
def test_a_weight_is_a_part_of_a_hundred(weight: int) -> None:
    made = varied(make.post())

    with pytest.raises(RuleViolation) as refusal:
        change(made, weight=weight)

    assert list(refusal.value.details) == ["weight"]
    assert (state(made), told()) == ((50, False), [])


@pytest.mark.parametrize("status", ["draft", "archived"])
def test_only_in_the_place_of_a_published_original(status: str) -> None:
    post = make.post()
    made = varied(post)
    set_status(post_id=post.pk, status=status, actor=make.actor())

    with pytest.raises(RuleViolation) as refusal:
        change(made, running=True)

    assert (refusal.value.code, list(refusal.value.details)) == (
        "original_not_published",
        ["running"],
    )
    assert (state(made), told()) == ((50, False), [])


def test_an_archived_one_does_not_start() -> None:
    made = varied(make.post())
    set_status(post_id=made.pk, status="archived", actor=make.actor())

    with pytest.raises(RuleViolation) as refusal:
        change(made, running=True)

    assert refusal.value.code == "archived"
    assert state(made) == (50, False)


def archive_original(post: Post, made: Post) -> None:
    set_status(post_id=post.pk, status="archived", actor=make.actor())


def unpublish_original(post: Post, made: Post) -> None:
    set_status(post_id=post.pk, status="draft", actor=make.actor())


def trash_original(post: Post, made: Post) -> None:
    delete_post(post_id=post.pk, actor=make.actor())


def archive_it(post: Post, made: Post) -> None:
    set_status(post_id=made.pk, status="archived", actor=make.actor())


def trash_it(post: Post, made: Post) -> None:
    delete_post(post_id=made.pk, actor=make.actor())


def promote_it(post: Post, made: Post) -> None:
    promote_variation(post_id=post.pk, variation_id=made.pk, actor=make.actor())


def promote_another(post: Post, made: Post) -> None:
    promote_variation(post_id=post.pk, variation_id=varied(post, "C").pk, actor=make.actor())


ENDS = [
    archive_original, unpublish_original, trash_original, archive_it, trash_it, promote_it,
    promote_another,
]  # fmt: skip


@pytest.mark.parametrize("end", ENDS, ids=lambda end: end.__name__)
def test_what_ends_a_test(end: Any) -> None:
    post = make.post()
    made = running(post)

    end(post, made)

    assert state(made) == (50, False)
    assert told() == ["post.variation.started", "post.variation.stopped"]


def test_nothing_starts_again_by_itself() -> None:
    post = make.post()
    first, second = running(post, "B", 20), running(post, "C", 20)

    delete_post(post_id=second.pk, actor=make.actor())
    restore_post(post_id=second.pk, actor=make.actor())
    set_status(post_id=post.pk, status="draft", actor=make.actor())
    set_status(post_id=post.pk, status="published", actor=make.actor())

    assert (state(first), state(second)) == ((20, False), (20, False))


def test_a_copy_of_what_is_tested_does_not_run() -> None:
    post = make.post()
    running(post)

    translation = create_translation(post_id=post.pk, locale="de", actor=make.actor())

    assert (translation.variation_of_id, translation.variation_running) == (None, False)
    assert state(varied(post, "C")) == (50, False)
    assert list(Post.objects.filter(variation_running=True).values_list("variation")) == [("B",)]


def test_the_original_is_called_a() -> None:
    post = make.post()

    with pytest.raises(RuleViolation) as refusal:
        varied(post, "A")

    assert (refusal.value.code, list(refusal.value.details)) == ("variation_exists", ["variation"])
    assert Post.objects.count() == 1
