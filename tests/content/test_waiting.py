"""The queue of pending changes: its rows match the drafts after any operations."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from random import Random
from typing import Any

import pytest
from django.core.management import call_command

from content.document.document import PostDocument
from content.inbox.queries import QueueFilter, filter_queue
from content.inbox.rejections import undo_rejections
from content.inbox.rows import check_queue
from content.layers import (
    approve,
    digest_of,
    reject,
    revert_run,
    revert_to_revision,
    submit,
    withdraw_run,
)
from content.models import Draft, Layer, Post, QueuedChange, Revision, Status
from content.posts.decide import decide
from content.posts.publish import set_status
from content.store import document_edits
from proofroom.core.errors import CmsError
from proofroom.taxonomies.services import delete_term
from tests import make
from tests.content.waiting import by_the_drafts, of, queued

pytestmark = pytest.mark.django_db
RUN = "run-1"
_WORDS = ("Brew 3 cups", "Brew 4 cups", "Not for children", "Grind", "")


def _edit(chance: Random) -> Callable[[PostDocument], PostDocument]:
    """Return one of the possible edits of a document."""

    def edit(document: PostDocument) -> PostDocument:
        what = chance.randrange(6)
        module = chance.choice(document.modules)
        if what == 0:
            return document_edits.patch_fields(document, {"title": chance.choice(_WORDS[:4])})
        if what == 1:
            return document_edits.patch_fields(document, {"metaDescription": chance.choice(_WORDS)})
        if what == 2:
            return document_edits.add_module(
                document, type="prose", content_markdown=chance.choice(_WORDS[:4])
            )[0]
        if what == 3:
            return document_edits.reorder_modules(
                document, chance.sample(document.order, len(document.order))
            )
        if what == 4 and not module.locked:
            return document_edits.remove_module(document, module.id)
        return document_edits.update_module(
            document, document.modules[0].id, props={"title": chance.choice(_WORDS[:4])}
        )

    return edit


def _step(post: Post, chance: Random) -> None:
    layers = make.layers(post)
    layer = chance.choice([Layer.REVIEW, Layer.AI_REVIEW])
    view = layers.view(layer)
    some = [path for path in view.changes.paths if chance.random() < 0.6] or view.changes.paths[:1]
    admin = make.actor("admin")
    agent = make.agent_actor(run_id=RUN)
    steps: list[Callable[[], object]] = [
        lambda: make.staged(post, layer=Layer.AI_REVIEW, by=agent, edit=_edit(chance)),
        lambda: make.staged(post, layer=Layer.AI_REVIEW, by=agent, edit=_edit(chance)),
        lambda: make.staged(post, layer=Layer.REVIEW, edit=_edit(chance)),
        lambda: make.edited(post, {"title": chance.choice(_WORDS[:4])}),
        lambda: submit(post_id=post.pk, actor=admin, paths=some),
        lambda: reject(post_id=post.pk, actor=admin, layer=layer, paths=some),
        lambda: approve(
            post_id=post.pk,
            actor=make.actor("admin", via="admin"),
            digest=digest_of(layers.review.changes),
            paths=some,
        ),
        lambda: decide(
            post_id=post.pk,
            layer=layer,
            actor=make.actor("admin", via="admin"),
            digest=digest_of(view.changes),
            accept=some[:1],
            refuse=some[1:],
        ),
        lambda: undo_rejections(
            post_id=post.pk,
            rejections=list(post.rejected.values_list("rejection", flat=True)[:1]),
            actor=admin,
        ),
        lambda: withdraw_run(post_id=post.pk, run_id=RUN, actor=admin),
        lambda: revert_run(post_id=post.pk, run_id=RUN, actor=admin),
        lambda: revert_to_revision(
            post_id=post.pk,
            revision_id=post.revisions.earliest("version").pk,
            actor=admin,
        ),
    ]
    # A refused operation must not change anything.
    with suppress(CmsError, Revision.DoesNotExist):
        chance.choice(steps)()


@pytest.mark.parametrize("seed", range(6))
def test_after_any_steps_the_rows_equal_a_rebuild(seed: int) -> None:
    chance = Random(seed)  # noqa: S311  # no secret
    post = make.post()
    make.staged(post, {"title": "New", "metaTitle": "New too", "excerpt": "And this"})
    assert len(queued()) == 3
    for _ in range(14):
        _step(post, chance)
        assert queued() == by_the_drafts()


def test_a_row_says_who_what_and_how_closely_to_look() -> None:
    post = make.post(metaDescription="Brew with 40 g for four cups of coffee.")
    make.staged(
        post,
        {"metaDescription": "Brew with 45 g for four cups of coffee.", "slug": "brew"},
        by=make.agent_actor(run_id=RUN),
    )

    row = of(post, "post.metaDescription")
    assert [line["segments"] for line in row.pieces] == [
        [
            ["same", "Brew with "],
            ["removed", "40"],
            ["inserted", "45"],
            ["same", " g for four cups of coffee."],
        ]
    ]
    assert (row.risk, row.flags, row.is_whole, row.is_ai) == (
        3,
        ["number", "ungrounded"],
        True,
        True,
    )
    assert (row.agent_id, row.run_id, row.via) == ("seo-specialist", RUN, "agent")
    assert row.subject == "post.metaDescription"
    slug = of(post, "post.slug")
    assert (slug.risk, slug.risk_live, slug.flags) == (2, 3, ["slug"])


def test_what_weighs_otherwise_where_visitors_see_it_follows_the_status_of_the_post() -> None:
    post = make.post("Brew", status="draft")
    other = make.post("Other", metaDescription="For paper cups.")
    make.staged(post, {"slug": "brewing"})
    make.staged(other, {"metaDescription": "For china cups."})
    admin = make.actor("admin")

    def listed() -> list[tuple[str, int]]:
        return [(row.path, row.weight) for row in filter_queue(QueueFilter(), make.actor())]

    assert listed() == [("post.slug", 2), ("post.metaDescription", 2)]

    set_status(post_id=post.pk, status=Status.PUBLISHED, actor=admin)
    assert listed() == [("post.slug", 3), ("post.metaDescription", 2)]
    assert queued() == by_the_drafts()

    set_status(post_id=post.pk, status=Status.ARCHIVED, actor=admin)
    assert listed() == [("post.slug", 2), ("post.metaDescription", 2)]
    assert queued() == by_the_drafts()


def test_a_denial_is_found_in_the_language_of_the_post() -> None:
    post = make.post(locale="de", metaDescription="Der Filter ist waschbar.")
    make.staged(post, {"metaDescription": "Der Filter ist nicht waschbar."})

    row = of(post, "post.metaDescription")
    assert (row.risk, row.flags) == (3, ["negation"])


def test_what_moved_below_weighs_most_and_comes_to_weigh_nothing_where_it_agrees() -> None:
    post = make.post()
    make.staged(post, {"title": "An agent's"})
    make.staged(post, {"title": "A person's"}, layer=Layer.REVIEW)

    row = QueuedChange.objects.get(post=post, layer=Layer.AI_REVIEW)
    assert (row.risk, row.flags) == (3, ["drifted", "rewording"])
    make.edited(post, {"title": "A person's"})
    assert [row.layer for row in QueuedChange.objects.filter(post=post)] == ["ai-review"]


def test_changes_are_like_that_are_the_same_in_every_piece_and_came_the_same_way() -> None:
    first = make.post("One", excerpt="Acme Inc makes the beans that we roast.")
    second = make.post("Two", excerpt="Nobody but Acme Inc knows.")
    third = make.post("Three", excerpt="Acme Inc it is.")
    make.staged(first, {"excerpt": "Acme GmbH makes the beans that we roast."})
    make.staged(second, {"excerpt": "Nobody but Acme GmbH knows."})
    make.staged(third, {"excerpt": "Acme Ltd it is."})

    likes = [of(post, "post.excerpt").like for post in (first, second, third)]
    assert likes[0] == likes[1] != likes[2]


@pytest.mark.parametrize(
    "another",
    [
        {"agent_id": "proofreader"},
        {"run_id": "run-1"},
        {"via": "mcp"},
        {"via": "mcp", "principal": "token:1"},
    ],
    ids=["another agent", "a run of it", "a client in its name", "another credential"],
)
def test_changes_that_came_another_way_are_not_like(another: dict[str, Any]) -> None:
    first, second = make.post("One"), make.post("Two")
    by = make.agent_actor()
    make.staged(first, {"metaTitle": "The same"}, by=by)
    make.staged(second, {"metaTitle": "The same"}, by=replace(by, **another))

    assert of(first, "post.metaTitle").like != of(second, "post.metaTitle").like


def test_a_row_names_the_place_of_its_change_without_ids() -> None:
    post = make.post()
    hero = make.module_id(post, "hero")
    make.staged(post, {"excerpt": "New"})
    make.staged_module(post, hero, props={"title": "New"})
    make.staged_addition(post, type="callout")

    subjects = QueuedChange.objects.values_list("subject", flat=True)
    assert set(subjects) == {"post.excerpt", "module.hero.title", "module.callout"}


def test_a_term_that_is_deleted_takes_its_rows_along() -> None:
    post, term = make.post(), make.term("Coffee")
    make.staged(post, edit=lambda document: document.with_terms([str(term.pk)]))
    assert QueuedChange.objects.count() == 1

    delete_term(term_id=term.pk, actor=make.actor("admin"), force=True)

    assert queued() == by_the_drafts() == []


def test_the_command_makes_lost_rows_anew_and_the_doctor_sees_them_lacking() -> None:
    post = make.post()
    make.staged(post, {"title": "New"})
    before = queued()
    QueuedChange.objects.all().delete()
    assert [finding.level for finding in check_queue()] == ["warn"]

    call_command("rebuild_inbox")

    assert queued() == before
    assert [finding.level for finding in check_queue()] == ["ok"]
    Draft.objects.all().delete()
    assert queued() == []


def test_long_texts_give_short_rows() -> None:
    post = make.post(excerpt="word " * 300)
    make.staged(post, {"excerpt": "word " * 150 + "other " + "word " * 149})

    row = of(post, "post.excerpt")
    around = "word word word word word word word word"
    assert [line["segments"] for line in row.pieces] == [
        [
            ["same", f"…{around} "],
            ["removed", "word"],
            ["inserted", "other"],
            ["same", f" {around}…"],
        ]
    ]
    assert row.is_whole


def test_rows_of_another_key_are_made_anew(settings: Any) -> None:
    post = make.post()
    make.staged(post, {"title": "New"})
    seen = of(post, "post.title").seen
    settings.SECRET_KEY = "another key, as long as it must be: 0123456789 0123456789"
    assert [finding.level for finding in check_queue()] == ["warn"]

    call_command("rebuild_inbox")

    assert of(post, "post.title").seen != seen
    assert [finding.level for finding in check_queue()] == ["ok"]
