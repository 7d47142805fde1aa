"""Running variations: limits of their shares, and the end of an experiment."""

from __future__ import annotations

from typing import Any

import pytest

from content.models import Post
from content.posts.publish import set_status
from content.posts.trash import delete_post, restore_post
from content.posts.variations import promote_variation
from content.store.traffic import change_variation
from content.translations.translate import create_translation
from proofroom.accounts.services.tokens import create_token
from proofroom.core.caching.content_version import content_version
from proofroom.core.errors import NotAllowed, NotFound, RuleViolation
from proofroom.core.models import Event
from tests import make
from tests.api_client import ApiClient
from tests.content.variations import change, running, state, told, varied

pytestmark = pytest.mark.django_db


def test_start_weight_and_stop_each_record_an_event() -> None:
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

    make.edited(made, {"title": "Other"})

    assert content_version() > version


def test_running_variations_have_at_most_all_visitors() -> None:
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


def test_threat_04_variations_of_that_very_post_only() -> None:
    post, other = make.post(), make.post("Other", slug="other")
    made, gone = varied(other), varied(post, "C")
    delete_post(post_id=gone.pk, actor=make.actor())

    for id_ in (made.pk, gone.pk, other.pk, post.pk, "nonsense", "\x00"):
        with pytest.raises(NotFound):
            change_variation(post_id=post.pk, variation_id=id_, actor=make.actor(), running=True)
    assert told() == []
    assert not Post.objects.filter(variation_running=True).exists()


def test_agents_translators_and_ai_clients_neither_start_weigh_stop_nor_promote() -> None:
    post = make.post()
    made, other = running(post), varied(post, "C", 10)
    before = make.live_hash()
    wanted: list[dict[str, Any]] = [{"running": False}, {"weight": 10}]
    actors = [
        make.actor("translator"), make.agent_actor(), make.mcp_actor("admin"), make.mcp_actor(),
    ]  # fmt: skip

    for actor in actors:
        for words in wanted:
            with pytest.raises(NotAllowed):
                change_variation(post_id=post.pk, variation_id=made.pk, actor=actor, **words)
        with pytest.raises(NotAllowed):
            change_variation(post_id=post.pk, variation_id=other.pk, actor=actor, running=True)
        with pytest.raises(NotAllowed):
            promote_variation(post_id=post.pk, variation_id=made.pk, actor=actor)
    assert (state(made), state(other)) == ((50, True), (10, False))
    assert make.live_hash() == before


@pytest.mark.parametrize(
    ("right", "may", "may_not"),
    [
        ("posts.edit", {"weight": 5}, {"running": True}),
        ("posts.publish", {"running": True}, {"weight": 5}),
    ],
)
def test_each_needs_a_right_of_its_own(
    right: str, may: dict[str, Any], may_not: dict[str, Any]
) -> None:
    post = make.post()
    made = varied(post)
    path = f"/api/posts/{post.pk}/variations/{made.pk}"
    _, secret = create_token(
        name="narrow",
        permissions=["posts.view", right],
        actor=make.actor("admin"),
        user_id=make.user("editor").pk,
    )
    header = {"HTTP_AUTHORIZATION": f"Bearer {secret}"}

    refused = ApiClient().send("PATCH", path, may_not, **header)
    assert (refused.status_code, state(made)) == (403, (50, False))
    assert ApiClient().send("PATCH", path, may, **header).status_code == 200


def test_over_rest() -> None:
    post = make.post()
    made, other = varied(post, "B", 30), varied(post, "C", 10)
    editor = ApiClient("editor")
    path = f"/api/posts/{post.pk}/variations"

    row = editor.write("PATCH", f"{path}/{made.pk}", {"running": True, "weight": 40})
    again = editor.write("PATCH", f"{path}/{made.pk}", row)
    answer = editor.read(path)

    assert (row["running"], row["weight"], row["id"]) == (True, 40, str(made.pk))
    assert again == row
    assert answer["original"] == {"id": str(post.pk), "weight": 60}
    assert [(r["variation"], r["weight"], r["running"]) for r in answer["data"]] == [
        ("B", 40, True),
        ("C", 10, False),
    ]
    whole = editor.read(f"/api/posts/{made.pk}")
    assert (whole["weight"], whole["running"]) == (40, True)
    assert editor.read(f"/api/posts/{post.pk}")["running"] is None
    assert editor.write("PUT", f"/api/posts/{made.pk}", whole)["running"] is True
    hostile: list[Any] = [{"weight": "5"}, {"weight": True}, {"running": 1}, {"runing": True}, []]
    for body in hostile:
        assert editor.send("PATCH", f"{path}/{other.pk}", body).status_code == 422
    assert editor.send("PATCH", f"{path}/{post.pk}", {"weight": 5}).status_code == 404
    assert state(other) == (10, False)
