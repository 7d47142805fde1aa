"""Modules of a translation that follow its source's."""

from __future__ import annotations

from dataclasses import replace

import pytest

from content.document.document import PostDocument
from content.models import CopyOrigin, Layer, Post
from content.posts.edit import edit_post
from content.store.translation_status import states_of
from content.translations.module_structure import (
    add_source_module,
    adopt_source_order,
    remove_own_module,
)
from content.translations.translate import create_translation
from proofroom.core.errors import Conflict, NotAllowed, NotFound, RuleViolation
from tests import make

pytestmark = pytest.mark.django_db


def translated() -> tuple[Post, Post]:
    """Create a source with a module after its hero that its translation does not have."""
    source = make.post("Coffee")
    german = create_translation(post_id=source.pk, locale="de", actor=make.actor("admin"))
    make.added_module(
        source, type="callout", props={"title": "Mind the heat"}, index=1, by=make.actor("admin")
    )
    return source, german


def types(post: Post) -> list[str]:
    return [module.type for module in make.layers(post).live.modules]


def test_a_source_module_is_added_at_its_place_in_the_source() -> None:
    source, german = translated()
    callout = make.module_id(source, "callout")

    made = add_source_module(post_id=german.pk, module_id=callout, actor=make.actor("editor"))

    assert types(german) == ["hero", "callout", "prose", "faq"]
    module = make.layers(german).live.module(made)
    assert module is not None
    assert module.props["title"] == "Mind the heat"
    assert made != callout
    state = states_of([Post.objects.get(pk=german.pk)])[german.pk]
    assert (state.new_modules, state.stale_paths) == ((), ())
    with pytest.raises(RuleViolation):
        add_source_module(post_id=german.pk, module_id=callout, actor=make.actor("editor"))


def test_a_module_is_added_to_review_and_live_stays() -> None:
    source, german = translated()
    callout = make.module_id(source, "callout")

    made = add_source_module(
        post_id=german.pk, module_id=callout, actor=make.actor("editor"), layer=Layer.REVIEW
    )

    assert types(german) == ["hero", "prose", "faq"]
    assert made in make.layers(german).review.document.order


def test_the_order_of_the_source_is_adopted_and_own_modules_follow() -> None:
    source, german = translated()
    make.added_module(german, type="separator", by=make.actor("admin"))

    def swap(document: PostDocument) -> PostDocument:
        hero, callout, prose, faq = document.modules
        return replace(document, modules=(hero, faq, callout, prose))

    edit_post(post_id=source.pk, actor=make.actor("admin"), edit=swap)

    adopt_source_order(post_id=german.pk, actor=make.actor("editor"))

    assert types(german) == ["hero", "faq", "separator", "prose"]


def test_a_module_whose_source_is_gone_is_removed() -> None:
    source, german = translated()
    made = add_source_module(
        post_id=german.pk,
        module_id=make.module_id(source, "callout"),
        actor=make.actor("editor"),
    )

    remove_own_module(post_id=german.pk, module_id=made, actor=make.actor("editor"))

    assert types(german) == ["hero", "prose", "faq"]


def test_refusals_change_nothing() -> None:
    source, german = translated()
    callout = make.module_id(source, "callout")
    before = make.live_hash(), CopyOrigin.objects.get(post=german).modules

    with pytest.raises(NotAllowed):
        add_source_module(post_id=german.pk, module_id=callout, actor=make.actor("translator"))
    with pytest.raises(NotAllowed):
        add_source_module(post_id=german.pk, module_id=callout, actor=make.agent_actor())
    with pytest.raises(NotAllowed):
        adopt_source_order(post_id=german.pk, actor=make.mcp_actor("admin"))
    with pytest.raises(NotAllowed):
        remove_own_module(
            post_id=german.pk, module_id=make.module_id(german, "faq"), actor=make.agent_actor()
        )
    with pytest.raises(RuleViolation):
        add_source_module(post_id=german.pk, module_id="nonsense", actor=make.actor("editor"))
    with pytest.raises(NotFound):
        add_source_module(post_id=source.pk, module_id=callout, actor=make.actor("editor"))
    with pytest.raises(Conflict):
        add_source_module(
            post_id=german.pk, module_id=callout, actor=make.actor("editor"), expected_version=99
        )

    assert (make.live_hash(), CopyOrigin.objects.get(post=german).modules) == before
