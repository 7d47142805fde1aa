"""Locks: a locked module cannot be removed or moved in any interface, and its props can change."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from content.document.document import PostDocument
from content.layers import approve, digest_of, stage, submit
from content.models import Layer, PostModule, Revision
from content.posts.edit import edit_post
from content.store import document_edits
from proofroom.core.errors import CmsError, NotAllowed, RuleViolation
from tests import make
from tests.api.refusals import refused, stored
from tests.api_client import ApiClient

pytestmark = pytest.mark.django_db
Edit = Callable[[PostDocument], PostDocument]


def removed(document: PostDocument) -> PostDocument:
    return document_edits.remove_module(document, document.modules[0].id)


def moved(document: PostDocument) -> PostDocument:
    return document_edits.reorder_modules(document, list(reversed(document.order)))


def pushed_down(document: PostDocument) -> PostDocument:
    return document_edits.add_module(document, type="callout", index=0)[0]


def unlocked(document: PostDocument) -> PostDocument:
    return document.with_module(replace(document.modules[0], locked=False))


def retyped(document: PostDocument) -> PostDocument:
    return document.with_module(replace(document.modules[0], type="faq", props={}))


WRONGS = [removed, moved, pushed_down, unlocked, retyped]


@pytest.mark.parametrize("edit", WRONGS)
@pytest.mark.parametrize("door", ["live", "review", "ai-review"])
def test_threat_52_no_layer_takes_a_change_of_a_lock(door: str, edit: Edit) -> None:
    post = make.post()
    before = stored()

    def send() -> None:
        if door == "live":
            edit_post(post_id=post.pk, actor=make.actor("admin"), edit=edit)
        else:
            make.staged(post, layer=Layer(door), edit=edit)

    with pytest.raises(RuleViolation) as error:
        send()

    assert error.value.code == "locked_module"
    assert stored() == before


@pytest.mark.parametrize("edit", [removed, moved, pushed_down])
def test_threat_52_a_lock_holds_at_approval_and_not_only_when_it_is_staged(edit: Edit) -> None:
    post = make.post()
    PostModule.objects.filter(post=post).update(locked=False)
    make.staged(post, layer=Layer.REVIEW, edit=edit)
    hero = PostModule.objects.filter(post=post).order_by("order_index")[:1].get()
    PostModule.objects.filter(pk=hero.pk).update(locked=True)
    view = make.layers(post).review
    before = stored()

    with pytest.raises(CmsError) as error:
        approve(post_id=post.pk, actor=make.actor("editor"), digest=digest_of(view.changes))

    assert error.value.code == "locked_module"
    assert stored() == before


def test_threat_52_a_module_that_is_locked_further_down_stays_behind_what_precedes_it() -> None:
    post = make.post()
    first, second, last = make.layers(post).live.order
    PostModule.objects.filter(post=post).update(locked=False)
    PostModule.objects.filter(pk=last).update(locked=True)
    url = f"/api/posts/{post.pk}/modules/reorder"

    for order in ([first, last, second], [last, first, second]):
        answer = refused("POST", url, {"order": order}, 422, "locked_module", f"modules.{last}")
        assert "cannot be moved" in answer["error"]

    ApiClient("editor").write("POST", url, {"order": [second, first, last]})
    assert make.layers(post).live.order == (second, first, last)


def test_threat_52_submitting_does_not_carry_a_removal_over_a_lock() -> None:
    post = make.post()
    PostModule.objects.filter(post=post).update(locked=False)
    make.staged(post, edit=removed)
    PostModule.objects.filter(post=post, order_index=0).update(locked=True)

    with pytest.raises(CmsError) as error:
        submit(post_id=post.pk, actor=make.actor("editor"))

    assert error.value.code == "locked_module"
    assert PostModule.objects.filter(post=post, order_index=0, locked=True).count() == 1


def test_threat_52_the_review_endpoint_neither_moves_nor_unlocks() -> None:
    post = make.post()
    hero = make.module_id(post, "hero")
    url = f"/api/posts/{post.pk}/review"
    key = f"modules.{hero}"

    body = {"modules": [{"postModuleId": hero, "position": 2}]}
    refused("PUT", url, body, 422, "locked_module", key)
    for extra in ({"locked": False}, {"type": "faq"}):
        refused(
            "PUT", url, {"modules": [{"postModuleId": hero, **extra}]}, 422, "unknown_field",
            f"modules.0.{next(iter(extra))}",
        )  # fmt: skip
    ApiClient("editor").write(
        "PUT", url, {"modules": [{"postModuleId": hero, "props": {"title": "Fine"}}]}
    )
    assert make.layers(post).review.document.modules[0].props["title"] == "Fine"


def test_threat_52_a_revision_from_before_the_lock_does_not_undo_it() -> None:
    post = make.post()
    row = post.revisions.get()
    document: dict[str, Any] = row.document
    document["modules"] = document["modules"][1:]
    Revision.objects.filter(pk=row.pk).update(document=document)

    refused(
        "POST",
        f"/api/posts/{post.pk}/revisions/{row.pk}/revert",
        {},
        422,
        "locked_module",
        f"modules.{make.module_id(post, 'hero')}",
    )


def test_locks_are_set_by_users_who_edit_live_content() -> None:
    post = make.post()
    made = ApiClient("editor").write(
        "POST", f"/api/posts/{post.pk}/modules", {"type": "callout", "locked": True}, expect=201
    )
    assert made["locked"] is True
    refused(
        "DELETE", f"/api/post-modules/{made['postModuleId']}", None, 422, "locked_module",
        f"modules.{made['postModuleId']}",
    )  # fmt: skip
    with pytest.raises(NotAllowed):
        edit_post(post_id=post.pk, actor=make.agent_actor(), edit=pushed_down)


def test_the_props_of_a_locked_module_can_change_at_every_door() -> None:
    post = make.post()
    hero = make.module_id(post, "hero")

    ApiClient("editor").write("PUT", f"/api/post-modules/{hero}", {"props": {"title": "Live"}})
    for layer, actor in (
        (Layer.REVIEW, make.actor("editor")),
        (Layer.AI_REVIEW, make.agent_actor()),
    ):
        stage(
            post_id=post.pk,
            layer=layer,
            actor=actor,
            edit=lambda document: document_edits.update_module(
                document, hero, props={"title": "Staged"}
            ),
        )

    layers = make.layers(post)
    assert layers.live.modules[0].props["title"] == "Live"
    assert layers.ai_review.document.modules[0].props["title"] == "Staged"
