"""Two users and an agent on one post at once: no successful write is lost. Real threads, real transactions."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from itertools import pairwise

import pytest

from content.layers import approve, digest_of, open_layers, stage, submit
from content.models import Layer, Post, Provenance, Revision
from content.posts.create import create_post
from content.posts.edit import edit_post
from content.posts.move import Place, move_posts
from content.store import document_edits
from proofroom.core.actor import Actor
from proofroom.core.errors import CmsError, Conflict, RuleViolation
from proofroom.core.json import Json
from proofroom.core.models import Event
from tests import make
from tests.content.at_once import at_once

OPERATIONS = 70

FIELDS = ("title", "excerpt", "metaTitle", "metaDescription")

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.services]


@dataclass
class Worker:
    """A random writer that stages, submits, approves and edits, and records its successes."""

    actor: Actor
    post_id: object
    seed: int
    done: int = 0
    live: list[tuple[str, str]] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)

    def __call__(self) -> None:
        chance = random.Random(self.seed)  # noqa: S311  # a test's dice
        for number in range(OPERATIONS):
            name = chance.choice(FIELDS)
            value = f"{self.actor.user.username} {number}"
            try:
                self.step(chance, name, value)
                self.done += 1
            except (Conflict, RuleViolation) as error:
                self.refused.append(error.code)

    def step(self, chance: random.Random, name: str, value: str) -> None:
        patch = {name: value}
        if not self.actor.is_person:
            self.stage(Layer.AI_REVIEW, patch)
            if chance.random() < 0.3:
                submit(post_id=str(self.post_id), actor=self.actor)
            return
        kind = chance.choice(["stage", "edit", "approve", "submit"])
        if kind == "stage":
            self.stage(Layer.REVIEW, patch)
        elif kind == "submit":
            submit(post_id=str(self.post_id), actor=self.actor)
        elif kind == "edit":
            edit_post(
                post_id=str(self.post_id),
                actor=self.actor,
                edit=lambda document: document_edits.patch_fields(document, patch),
            )
            self.live.append((f"post.{name}", value))
        else:
            review = open_layers(Post.objects.get(pk=str(self.post_id))).review
            approve(post_id=str(self.post_id), actor=self.actor, digest=digest_of(review.changes))
            self.live += [(change.path, str(change.after)) for change in review.changes]

    def stage(self, layer: Layer, patch: dict[str, str]) -> None:
        stage(
            post_id=str(self.post_id),
            layer=layer,
            actor=self.actor,
            edit=lambda document: document_edits.patch_fields(document, dict(patch)),
        )


def test_two_people_and_an_agent_at_once_lose_nothing() -> None:
    post = make.post()
    workers = [
        Worker(make.actor("editor"), post.pk, 1),
        Worker(make.actor("admin"), post.pk, 2),
        Worker(make.agent_actor(run_id="run-1"), post.pk, 3),
    ]

    answers = at_once(*workers)

    assert answers == [None, None, None]
    assert set().union(*(worker.refused for worker in workers)) <= {
        "stale_review",
        "nothing_staged",
    }
    assert sum(worker.done for worker in workers) > OPERATIONS
    history = list(Revision.objects.filter(post=post).order_by("version"))
    post.refresh_from_db()
    # One revision per version, without gaps: no live write overwrote another one unnoticed.
    assert [row.version for row in history] == list(range(1, post.version + 1))
    # Each success is a revision that changed just that path to just that value.
    moved = {
        (path, row.document["post"][path.removeprefix("post.")])
        for row in history
        for path in row.changed_paths
        if path.startswith("post.")
    }
    for worker in workers:
        assert set(worker.live) <= moved
    for earlier, later in pairwise(history):
        for name in FIELDS:
            if f"post.{name}" not in later.changed_paths:
                assert later.document["post"][name] == earlier.document["post"][name]
    last = history[-1].document["post"]
    assert {name: last[name] for name in FIELDS} == {
        "title": post.title,
        "excerpt": post.excerpt,
        "metaTitle": post.meta_title,
        "metaDescription": post.meta_description,
    }
    assert Provenance.objects.filter(post=post).count() == sum(
        len(row.changed_paths) for row in history
    )
    assert Event.objects.filter(name="post.updated").count() == len(history) - 1


def test_what_is_staged_at_once_in_both_layers_is_all_there() -> None:
    post = make.post()
    works = [
        (Layer.REVIEW, make.actor("editor"), "title"),
        (Layer.REVIEW, make.actor("admin"), "excerpt"),
        (Layer.REVIEW, make.actor("editor"), "metaTitle"),
        (Layer.AI_REVIEW, make.agent_actor(), "metaDescription"),
        (Layer.AI_REVIEW, make.agent_actor(), "slug"),
        (Layer.AI_REVIEW, make.agent_actor(), "robotsJson"),
    ]

    def write(layer: Layer, by: Actor, name: str) -> object:
        value: Json = {"index": False} if name == "robotsJson" else "new"
        return stage(
            post_id=post.pk,
            layer=layer,
            actor=by,
            edit=lambda document: document_edits.patch_fields(document, {name: value}),
        )

    answers = at_once(*[lambda work=work: write(*work) for work in works])

    assert not [answer for answer in answers if isinstance(answer, Exception)]
    layers = make.layers(post)
    assert set(layers.review.changes.paths) == {"post.title", "post.excerpt", "post.metaTitle"}
    assert set(layers.ai_review.changes.paths) == {
        "post.metaDescription",
        "post.slug",
        "post.robotsJson",
    }
    assert (layers.review.version, layers.ai_review.version) == (3, 3)


def test_of_two_approvals_with_one_digest_exactly_one_succeeds() -> None:
    post = make.post()
    make.staged(post, {"title": "Once"}, layer=Layer.REVIEW)
    digest = digest_of(make.layers(post).review.changes)
    people = [make.actor("editor"), make.actor("admin"), make.actor("editor"), make.actor("admin")]

    answers = at_once(
        *[lambda by=by: approve(post_id=post.pk, actor=by, digest=digest) for by in people]
    )

    refused = [answer for answer in answers if isinstance(answer, CmsError)]
    assert len(refused) == 3
    assert {error.code for error in refused} == {"stale_review"}
    post.refresh_from_db()
    assert (post.title, post.version) == ("Once", 2)
    assert Event.objects.filter(name="post.review.approve").count() == 1


def test_an_approval_and_a_live_edit_at_once_lose_no_update() -> None:
    for number in range(10):
        post = make.post(slug=f"post-{number}")
        make.staged(post, {"title": "Approved", "excerpt": "Approved"}, layer=Layer.REVIEW)
        digest = digest_of(make.layers(post).review.changes)
        editor, admin = make.actor("editor"), make.actor("admin")

        approved, edited = at_once(
            lambda: approve(post_id=post.pk, actor=admin, digest=digest),  # noqa: B023
            lambda: make.edited(post, {"title": "Edited"}, by=editor),  # noqa: B023
        )

        post.refresh_from_db()
        assert not isinstance(edited, CmsError)
        assert post.title == "Edited"
        if isinstance(approved, CmsError):  # the edit came first, and moved what was to be approved
            assert approved.code == "stale_review"
            assert (post.excerpt, make.layers(post).review.document.fields["title"]) == (
                "",
                "Approved",
            )
        else:
            assert post.excerpt == "Approved"


def test_of_writers_with_one_version_exactly_one_succeeds() -> None:
    post = make.post()
    by = make.actor("editor")

    answers = at_once(
        *[
            lambda n=n: edit_post(
                post_id=post.pk,
                actor=by,
                edit=lambda document: document_edits.patch_fields(
                    document, {"title": f"Writer {n}"}
                ),
                expected_version=1,
            )
            for n in range(6)
        ]
    )

    refused = [answer for answer in answers if isinstance(answer, Conflict)]
    assert len(refused) == 5
    assert {error.current for error in refused} == {2}
    post.refresh_from_db()
    assert post.version == 2


def test_of_concurrent_posts_with_one_slug_exactly_one_is_created() -> None:
    by = make.actor("editor")

    answers = at_once(
        *[lambda: create_post(actor=by, type="blog", fields={"title": "Same"}) for _ in range(6)]
    )

    refused = [answer for answer in answers if isinstance(answer, CmsError)]
    assert len(refused) == 5
    assert {(error.code, *error.details) for error in refused} == {("slug_taken", "slug")}
    assert Post.objects.count() == 1


def test_two_pages_put_below_each_other_at_once_make_no_cycle() -> None:
    by = make.actor("editor")
    for number in range(5):
        one, other = (
            create_post(actor=by, type="page", fields={"title": f"{name} {number}"})
            for name in ("One", "Other")
        )

        def below(child: Post, parent: Post) -> Post:
            return make.edited(child, {"parentId": str(parent.pk)}, by=by)

        answers = at_once(lambda: below(one, other), lambda: below(other, one))  # noqa: B023

        refused = [answer for answer in answers if isinstance(answer, CmsError)]
        assert [error.code for error in refused] == ["parent_cycle"]
        parents = set(
            Post.objects.filter(pk__in=[one.pk, other.pk]).values_list("parent_id", flat=True)
        )
        assert None in parents
        assert len(parents) == 2


def test_parents_and_children_renamed_at_once_end_at_the_right_address() -> None:
    by = make.actor("editor")
    for number in range(8):
        parent = create_post(actor=by, type="page", fields={"title": f"Parent {number}"})
        child = create_post(
            actor=by, type="page", fields={"title": f"Child {number}", "parentId": str(parent.pk)}
        )

        def rename(post: Post, slug: str) -> Post:
            return make.edited(post, {"slug": slug}, by=by)

        answers = at_once(
            lambda: rename(parent, f"p{number}"),  # noqa: B023
            lambda: rename(child, f"c{number}"),  # noqa: B023
        )

        assert not [answer for answer in answers if isinstance(answer, CmsError)]
        child.refresh_from_db()
        assert child.path == f"/p{number}/c{number}"


def test_pages_moved_below_each_other_and_put_in_order_at_once_stay_a_tree() -> None:
    by = make.actor("editor")
    for number in range(4):
        one, other, third = (
            create_post(actor=by, type="page", fields={"title": f"{name} {number}"})
            for name in ("One", "Other", "Third")
        )
        create_post(
            actor=by, type="page", fields={"title": f"Below {number}", "parentId": str(one.pk)}
        )

        answers = at_once(
            lambda: move_posts(post_ids=[one.pk, third.pk], place=Place(other.pk), actor=by),  # noqa: B023
            lambda: move_posts(post_ids=[third.pk, other.pk], place=Place(one.pk), actor=by),  # noqa: B023
            lambda: move_posts(post_ids=[third.pk], place=Place(None, other.pk), actor=by),  # noqa: B023
        )

        refused = [answer for answer in answers if isinstance(answer, CmsError)]
        assert "parent_cycle" in [error.code for error in refused]
        assert {error.code for error in refused} <= {"parent_cycle", "stale_place"}
        one.refresh_from_db()
        other.refresh_from_db()
        assert None in (one.parent_id, other.parent_id)
        for post in Post.objects.select_related("parent"):
            above = post.parent.path if post.parent is not None else ""
            assert post.path == f"{above}/{post.slug}"
