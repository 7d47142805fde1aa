"""Decisions on many changes: executed post by post, by a task that may be killed, cancelled or stopped."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from datetime import timedelta
from typing import Any

import pytest
from django.db.models import F

from content.inbox import decision_batches
from content.inbox.decision_batches import (
    DECISION_BATCHES,
    begin_batch,
    cancel_batch,
    count_batch_outcomes,
    find_batch,
)
from content.inbox.decisions import Marked, Word, decide_for_post, find_queued_rows, require_all
from content.models import (
    BatchState,
    DecisionBatch,
    DecisionItem,
    DecisionOutcome,
    Layer,
    Post,
    QueuedChange,
)
from proofroom.accounts.models import User
from proofroom.core.actor import Actor
from proofroom.core.errors import Conflict, NotAllowed, NotFound, RuleViolation
from proofroom.core.models import Event
from tests import make

pytestmark = pytest.mark.django_db


def described(count: int) -> list[Post]:
    posts = [make.post(f"Post {number}", slug=f"post-{number}") for number in range(count)]
    for number, post in enumerate(posts):
        make.staged(post, {"metaDescription": f"All about {number}."}, by=make.agent_actor())
    return posts


def marks(word: Word = "accept", posts: Sequence[Post] = ()) -> list[Marked]:
    rows = QueuedChange.objects.filter(post__in=posts) if posts else QueuedChange.objects.all()
    return [Marked(row.pk, row.seen, word) for row in rows.order_by("pk")]


def editor() -> Actor:
    return make.actor("editor", via="admin")


@pytest.mark.parametrize(
    ("right", "allowed"),
    [
        ("posts.ai-review.approve", {("ai-review", "accept")}),
        (
            "posts.review.approve",
            {("ai-review", "reject"), ("review", "accept"), ("review", "reject")},
        ),
    ],
)
def test_each_decision_needs_a_right_of_its_own(right: str, allowed: set[tuple[str, str]]) -> None:
    post = make.post()
    make.staged(post, {"title": "New"})
    make.staged(post, {"excerpt": "New"}, layer=Layer.REVIEW)
    make.site_role("desk", "posts.view", right)
    actor = make.actor("desk", via="admin")
    words: tuple[Word, ...] = ("accept", "reject")

    found = set()
    for row in QueuedChange.objects.all():
        for word in words:
            marked = {row.pk: Marked(row.pk, row.seen, word)}
            with suppress(NotAllowed):
                require_all(actor, find_queued_rows(marked.values(), actor), marked)
                found.add((row.layer, word))

    assert found == allowed


def outcomes(batch: DecisionBatch) -> list[str]:
    """Return the outcomes by address of the post; deleted posts first."""
    items = batch.items.order_by(F("post__slug").asc(nulls_first=True))
    return list(items.values_list("outcome", flat=True))


def test_what_moved_is_left_and_a_worker_that_died_is_followed_by_another(
    monkeypatch: Any,
) -> None:
    posts = described(6)
    make.staged(posts[2], {"metaDescription": "A person's own"}, layer=Layer.REVIEW)
    proposed = [mark for mark in marks() if layer_of(mark) == Layer.AI_REVIEW]
    batch = begin_batch(marks=proposed, actor=editor(), note="As agreed")
    make.staged(posts[1], {"metaDescription": "Moved meanwhile"}, by=make.agent_actor())
    Post.objects.filter(pk=posts[3].pk).delete()
    monkeypatch.setattr(decision_batches, "decide_for_post", dying_at(posts[4]))

    for _ in range(6):  # each time it comes to that post, the worker dies
        with pytest.raises(KeyboardInterrupt):
            DECISION_BATCHES.execute(batch.pk)
    monkeypatch.undo()
    assert count_batch_outcomes([batch.pk])[batch.pk][DecisionOutcome.WAITING] > 0
    DECISION_BATCHES.execute(batch.pk)
    DECISION_BATCHES.execute(batch.pk)

    assert outcomes(batch) == ["gone", "taken", "moved", "held", "taken", "taken"]
    batch.refresh_from_db()
    assert (batch.state, batch.ended_at is not None) == (BatchState.DONE, True)
    submitted = Event.objects.filter(name="post.ai-review.approve")
    assert {event.post_id for event in submitted} == {posts[number].pk for number in (0, 4, 5)}
    assert len(submitted) == 3
    assert {event.payload["note"] for event in submitted} == {"As agreed"}
    ended = Event.objects.get(name="inbox.batch.ended")
    assert ended.payload == {
        "id": str(batch.pk),
        "taken": 3,
        "rejected": 0,
        "left": 3,
        "state": "done",
    }


def test_a_post_that_is_purged_while_its_changes_are_read_holds_nothing_up(
    monkeypatch: Any,
) -> None:
    posts = described(2)
    batch = begin_batch(marks=marks(), actor=editor())
    whole = DECISION_BATCHES.do_part

    def purged(of: DecisionBatch, items: Sequence[DecisionItem], actor: Actor) -> None:
        if Post.objects.count() == len(posts):
            Post.objects.filter(pk=str(items[0].post_id)).delete()
        whole(of, items, actor)

    monkeypatch.setattr(DECISION_BATCHES, "do_part", purged)
    DECISION_BATCHES.execute(batch.pk)

    assert outcomes(batch) == ["gone", "taken"]


def layer_of(mark: Marked) -> str:
    return QueuedChange.objects.get(pk=mark.id).layer


def dying_at(post: Post) -> Any:
    def decide(**given: Any) -> Any:
        done = decide_for_post(**given)
        if given["post"] == post:
            raise KeyboardInterrupt
        return done

    return decide


def test_who_lost_their_rights_decides_on_nothing_more() -> None:
    posts = described(3)
    batch = begin_batch(marks=marks("reject"), actor=editor(), note="No")
    DECISION_BATCHES.execute_part(batch.pk)
    User.objects.filter(username="editor").update(role="translator")

    DECISION_BATCHES.execute(batch.pk)

    batch.refresh_from_db()
    assert batch.state == BatchState.STOPPED
    assert "posts.review.approve" in batch.why
    assert sorted(outcomes(batch)) == ["rejected", "waiting", "waiting"]
    assert sum(make.layers(post).ai_review.exists for post in posts) == 2


def test_cancelled_decisions_keep_what_is_done_and_are_for_their_person_and_admins() -> None:
    described(3)
    batch = begin_batch(marks=marks("reject"), actor=editor())
    DECISION_BATCHES.execute_part(batch.pk)
    other = Actor(user=make.user("editor", "other"), via="admin")

    for call in (find_batch, cancel_batch):
        with pytest.raises(NotFound):
            call(batch_id=batch.pk, actor=other)
    assert find_batch(batch_id=batch.pk, actor=make.actor("admin")) == batch
    cancel_batch(batch_id=batch.pk, actor=editor())
    with pytest.raises(Conflict):
        cancel_batch(batch_id=batch.pk, actor=editor())
    DECISION_BATCHES.execute(batch.pk)

    assert sorted(outcomes(batch)) == ["rejected", "waiting", "waiting"]
    assert DECISION_BATCHES.forget_old() == 0
    DecisionBatch.objects.update(touched_at=F("created_at") - timedelta(days=31))
    DECISION_BATCHES.forget_old()
    assert not DecisionBatch.objects.exists()


def test_what_may_not_be_begun_stores_nothing() -> None:
    described(1)
    many = [Marked(number, "0" * 20, "accept") for number in range(2001)]

    for refused, actor, note, given in (
        (RuleViolation, editor(), "", many),
        (RuleViolation, editor(), "", []),
        (RuleViolation, editor(), "a\x00b", marks()),
        (RuleViolation, editor(), "\ud800", marks()),
        (RuleViolation, editor(), "a" * 2001, marks()),
        (NotAllowed, make.actor("translator"), "", marks()),
        (NotAllowed, make.mcp_actor("admin"), "", marks()),
        (NotAllowed, make.agent_actor(), "", marks()),
    ):
        with pytest.raises(refused):
            begin_batch(marks=given, actor=actor, note=note)

    assert not DecisionBatch.objects.exists()
    assert QueuedChange.objects.filter(layer="ai-review").count() == 1


def test_a_lost_message_is_made_good_by_the_sweep(run_on_commit: Any) -> None:
    described(2)
    batch = begin_batch(marks=marks(), actor=editor())
    assert DECISION_BATCHES.resume_late() == 0
    DecisionBatch.objects.update(touched_at=F("created_at") - timedelta(minutes=2))

    with run_on_commit():
        assert DECISION_BATCHES.resume_late() == 1

    assert outcomes(batch) == ["taken", "taken"]
