"""A translation beside its source: pairs of modules, and the source's value at the time of the translation."""

from __future__ import annotations

from dataclasses import replace

import pytest

from content.document.changes import ABSENT
from content.layers import open_layers
from content.models import Post
from content.posts.edit import edit_post
from content.translations.source_comparison import SourceComparison, compare_with_source
from content.translations.translate import create_translation
from proofroom.core.content_scope import ContentScope
from tests import make

pytestmark = pytest.mark.django_db


def translated() -> tuple[Post, Post]:
    source = make.post("Coffee", excerpt="First")
    return source, create_translation(post_id=source.pk, locale="de", actor=make.actor("admin"))


def compared(post: Post) -> SourceComparison:
    post.refresh_from_db()
    layers = open_layers(post)
    found = compare_with_source(post, layers, layers.live, make.actor())
    assert found is not None
    return found


def rearrange(post: Post, *types: str) -> None:
    """Keep only modules of these types, in this order."""

    def edit(document):
        by_type = {module.type: replace(module, locked=False) for module in document.modules}
        return replace(document, modules=tuple(by_type[type] for type in types))

    edit_post(post_id=post.pk, actor=make.actor("admin"), edit=edit)


def test_the_text_that_was_translated_is_found_behind_later_saves() -> None:
    source, german = translated()
    for excerpt in ("Second", "Third", "Fourth"):
        make.edited(source, {"excerpt": excerpt})
    make.edited(source, {"title": "Tea"})

    found = compared(german)

    assert found.state.stale_paths == ("post.title", "post.excerpt")
    assert found.earlier == {"post.title": "Coffee", "post.excerpt": "First"}


def test_a_prop_is_found_by_the_module_of_the_source() -> None:
    source, german = translated()
    hero = make.module_id(source, "hero")
    make.changed_module(source, hero, props={"title": "Tea"})

    found = compared(german)
    path = f"modules.{make.module_id(german, 'hero')}.props.title"

    assert found.earlier == {path: "Coffee"}
    assert found.source_path(path) == f"modules.{hero}.props.title"


def test_what_no_revision_tells_is_left_out() -> None:
    source, german = translated()
    make.edited(source, {"excerpt": "Second"})
    source.revisions.all().delete()

    found = compared(german)

    assert found.state.stale_paths == ("post.excerpt",)
    assert found.earlier.get("post.excerpt", ABSENT) is ABSENT


def test_modules_are_paired_in_the_order_of_the_source() -> None:
    source, german = translated()
    prose, faq = make.module_id(german, "prose"), make.module_id(german, "faq")
    hero = make.module_id(german, "hero")
    make.added_module(german, type="callout", index=2, by=make.actor("admin"))
    make.added_module(source, type="separator", by=make.actor("admin"))

    found = compared(german)

    assert [(pair.state, (pair.own or pair.source).type) for pair in found.modules] == [
        ("paired", "hero"),
        ("paired", "prose"),
        ("own", "callout"),
        ("paired", "faq"),
        ("new", "separator"),
    ]
    callout = make.module_id(german, "callout")
    assert found.order == (hero, prose, callout, faq)


def test_a_post_that_was_not_translated_has_no_comparison() -> None:
    post = make.post()

    assert (
        compare_with_source(post, open_layers(post), open_layers(post).live, make.actor()) is None
    )


@pytest.mark.parametrize("reads_all", [False, True])
def test_a_source_that_one_may_not_see_is_not_compared(reads_all: bool) -> None:
    _source, german = translated()
    scope = ContentScope(locales=frozenset({"de"}), reads_all=reads_all)
    make.site_role("desk", "posts.view", "posts.edit", scope=scope)
    layers = open_layers(german)

    found = compare_with_source(german, layers, layers.live, make.actor("desk"))

    assert (found is not None) is reads_all
