"""Withdrawn rejections: the dropped change is pending again with its author, or nothing changes."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from functools import partial
from random import Random
from typing import Any

import pytest
from django.utils import timezone

from content.document.document import PostDocument
from content.inbox.rejections import delete_old_rejections, undo_rejections
from content.layers import digest_of, submit
from content.layers.reject import reject
from content.models import Layer, Post, QueuedChange, RejectedChange
from content.posts.edit import edit_post
from content.posts.trash import delete_post
from content.store import document_edits
from content.tasks import purge_trash
from proofroom.core.errors import CmsError, Conflict, NotAllowed, NotFound, RuleViolation
from proofroom.core.models import Event
from tests import make
from tests.content.at_once import at_once

pytestmark = pytest.mark.django_db
RUN = "run-1"


def drop(post: Post, *paths: str, layer: Layer = Layer.AI_REVIEW) -> int:
    done = reject(
        post_id=post.pk, layer=layer, actor=make.actor("editor"), paths=paths or None, note="No"
    )
    return done.rejection


def back(post: Post, *rejections: int, by: Any = None, **more: Any) -> Any:
    return undo_rejections(
        post_id=post.pk, rejections=rejections, actor=by or make.actor("editor"), **more
    )


def staged(**fields: str) -> Post:
    post = make.post(excerpt="Old excerpt")
    make.staged(post, {"title": "New title", **fields}, by=make.agent_actor(run_id=RUN))
    return post


def shuffled(chance: Random) -> Callable[[PostDocument], PostDocument]:
    """Strategy for fields and modules changed, added, moved and removed together."""

    def edit(document: PostDocument) -> PostDocument:
        free = [module.id for module in document.modules if not module.locked]
        document = document_edits.patch_fields(
            document, {"title": "Told again", "excerpt": "Short"}
        )
        document = document_edits.remove_module(document, free.pop(chance.randrange(len(free))))
        for module_id in free:
            document = document_edits.update_module(
                document, module_id, index=1 + chance.randrange(4)
            )
        first = document.modules[0].id
        document = document_edits.update_module(document, first, props={"title": "Hero told again"})
        return document_edits.add_module(
            document, type="callout", props={"title": "Added"}, index=1 + chance.randrange(4)
        )[0]

    return edit


@pytest.mark.parametrize("seed", range(3))
def test_a_withdrawn_rejection_restores_the_change(seed: int) -> None:
    chance = Random(seed)  # noqa: S311  # no secret
    post = make.post()
    layer = chance.choice([Layer.AI_REVIEW, Layer.REVIEW])
    for _ in range(3):
        make.added_module(post, type="callout", props={"title": "Live"}, by=make.actor("admin"))
    make.staged(post, layer=layer, edit=shuffled(chance))
    before = make.layers(post).view(layer)
    rows = set(QueuedChange.objects.values_list("path", "state"))
    paths = list(before.changes.paths)
    chance.shuffle(paths)
    some = {path for path in paths if path.endswith(".position")} | set(paths[:3])

    rejections = [drop(post, *some, layer=layer)]
    if rest := [path for path in before.changes.paths if path not in some]:
        rejections.append(drop(post, *rest, layer=layer))
    assert not make.layers(post).view(layer).exists
    done = back(post, *rejections)

    after = make.layers(post).view(layer)
    assert set(done.paths) == set(before.changes.paths)
    assert after.document == before.document
    assert digest_of(after.changes) == digest_of(before.changes)
    assert {p: after.marks[p] for p in paths} == {p: before.marks[p] for p in paths}
    assert set(QueuedChange.objects.values_list("path", "state")) == rows


def test_the_words_stay_the_agents_and_the_entry_says_who_took_the_rejection_back() -> None:
    post = staged(excerpt="New excerpt")
    rejection = drop(post)

    done = back(post, rejection, paths=["post.title"])

    view = make.layers(post).ai_review
    mark = view.marks["post.title"]
    assert (done.layer, done.paths, view.changes.paths) == (
        Layer.AI_REVIEW,
        ("post.title",),
        ("post.title",),
    )
    assert (mark.run_id, mark.agent_id, mark.edited_by, mark.via) == (
        RUN,
        "seo-specialist",
        "",
        "agent",
    )
    event = Event.objects.get(name="post.ai-review.reconsider")
    assert (event.actor_name, event.run_id) == ("editor", "")
    assert event.payload == {"paths": ["post.title"], "runs": [RUN], "rejection": rejection}
    rows = {row.path: row for row in RejectedChange.objects.all()}
    assert (rows["post.title"].is_kept, rows["post.title"].taken_back_by) == (False, "editor")
    assert rows["post.excerpt"].is_kept
    # After another rejection it can be withdrawn again, without duplicate proposals.
    again = drop(post)
    with pytest.raises(NotFound):
        back(post, rejection, again)
    assert back(post, again).paths == ("post.title",)


def test_an_order_comes_back_whole_though_one_position_of_it_was_rejected() -> None:
    post = make.post()
    for _ in range(2):
        make.added_module(post, type="callout", props={"title": "Live"}, by=make.actor("admin"))
    *_others, first, last = make.layers(post).live.order
    for module_id in (last, first):  # both to the top: one alone stands as it stood
        make.staged(post, edit=partial(document_edits.update_module, module_id=module_id, index=1))
    before = make.layers(post).ai_review.document.order

    rejection = drop(post, f"modules.{first}.position")
    assert not make.layers(post).ai_review.exists
    back(post, rejection)

    assert make.layers(post).ai_review.document.order == before


def person(post: Post, rejection: int) -> None:
    make.staged(post, {"title": "A person's"}, by=make.agent_actor())


def live(post: Post, rejection: int) -> None:
    make.edited(post, {"title": "Live by now"})


def twice(post: Post, rejection: int) -> None:
    back(post, rejection)


def trashed(post: Post, rejection: int) -> None:
    delete_post(post_id=post.pk, actor=make.actor("admin"))


def too_large(post: Post, rejection: int) -> None:
    RejectedChange.objects.update(proposal=None)


def no_longer_allowed(post: Post, rejection: int) -> None:
    row = RejectedChange.objects.get()
    assert row.proposal is not None
    row.proposal["after"] = {"is": "plain", "value": ["no", "title"]}
    RejectedChange.objects.update(proposal=row.proposal)


def old(post: Post, rejection: int) -> None:
    RejectedChange.objects.update(created_at=timezone.now() - timedelta(days=31))
    purge_trash()


@pytest.mark.parametrize(
    ("meanwhile", "error", "code"),
    [
        (person, Conflict, "moved_on"),
        (live, Conflict, "moved_on"),
        (twice, Conflict, "already_taken_back"),
        (trashed, NotFound, "not_found"),
        (too_large, RuleViolation, "not_kept"),
        (no_longer_allowed, CmsError, None),
        (old, NotFound, "not_found"),
    ],
)
def test_a_withdrawal_that_conflicts_changes_nothing(
    meanwhile: Callable[[Post, int], None], error: type[CmsError], code: str | None
) -> None:
    make.user("admin")
    post = staged()
    rejection = drop(post)
    meanwhile(post, rejection)
    before = (make.layers(post), list(RejectedChange.objects.values_list()), Event.objects.count())

    with pytest.raises(error) as refused:
        back(post, rejection)

    assert code is None or refused.value.code == code
    after = (make.layers(post), list(RejectedChange.objects.values_list()), Event.objects.count())
    assert after[0].ai_review.document == before[0].ai_review.document
    assert after[1:] == before[1:]


def test_a_module_that_is_gone_and_one_of_another_post_are_refused() -> None:
    post, other = make.post(), make.post("Tee", locale="de")
    prose = make.module_id(post, "prose")
    make.staged_module(post, prose, content_markdown="Told again.")
    rejection = drop(post)
    edit_post(
        post_id=post.pk,
        actor=make.actor("admin"),
        edit=lambda d: document_edits.remove_module(d, prose),
    )

    with pytest.raises(Conflict, match="Nothing was changed"):
        back(post, rejection)
    with pytest.raises(NotFound):
        back(other, rejection)
    with pytest.raises(NotFound):
        back(post, 10**30)
    with pytest.raises(RuleViolation):
        back(post, rejection, paths=["post.title"])

    assert not make.layers(post).ai_review.exists
    assert not make.layers(other).ai_review.exists


def test_only_who_may_reject_takes_back_and_no_agent_or_ai_client_does() -> None:
    post = staged()
    rejection = drop(post)

    for by in (
        make.actor("translator"),
        make.actor("ai_agent"),
        make.agent_actor(run_id=RUN),
        make.mcp_actor("admin"),
        make.actor("admin", via="mcp"),
    ):
        with pytest.raises(NotAllowed):
            back(post, rejection, by=by)

    assert not make.layers(post).ai_review.exists
    assert RejectedChange.objects.get().is_kept


def test_in_review_it_comes_back_below_what_ai_review_holds() -> None:
    post = staged()
    submit(post_id=post.pk, actor=make.actor("editor"))
    rejection = drop(post, layer=Layer.REVIEW)
    make.staged(post, {"excerpt": "Waits above"})

    assert back(post, rejection).layer == Layer.REVIEW

    layers = make.layers(post)
    assert layers.review.document.fields["title"] == "New title"
    assert layers.review.marks["post.title"].run_id == RUN
    assert layers.ai_review.changes.paths == ("post.excerpt",)


def test_what_is_too_large_is_not_kept_and_the_rest_is() -> None:
    post = make.post()
    prose = make.module_id(post, "prose")
    words = "word " * 60_000
    make.staged(
        post,
        edit=lambda d: document_edits.patch_fields(
            document_edits.update_module(d, prose, content_markdown=words), {"title": "New title"}
        ),
    )

    rejection = drop(post)

    assert [row.is_kept for row in RejectedChange.objects.order_by("pk")] == [True, False]
    assert back(post, rejection).paths == ("post.title",)
    assert delete_old_rejections() == 0


@pytest.mark.services
@pytest.mark.django_db(transaction=True)
def test_of_two_who_take_it_back_at_once_one_does() -> None:
    post = staged()
    rejection = drop(post)
    editor = make.actor("editor")

    done = at_once(*[lambda: back(post, rejection, by=editor)] * 2)

    assert sorted(getattr(one, "code", "done") for one in done) == ["already_taken_back", "done"]
    assert Event.objects.filter(name="post.ai-review.reconsider").count() == 1
