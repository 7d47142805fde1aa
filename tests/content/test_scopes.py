"""Roles with a content scope: posts inside, and allowed writes."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from content.layers import approve, stage
from content.models import Layer, Post
from content.posts.copy import copy_page
from content.posts.create import create_post, propose_post
from content.posts.edit import edit_post
from content.posts.move import Place, move_posts
from content.posts.trash import delete_post, restore_post
from content.posts.variations import create_variation
from content.store.digest import digest_of
from content.store.scopes import can_view, changeable_by, visible_to
from content.translations.translate import create_translation, propose_translation
from proofroom.accounts.roles import GRANTS, PERMISSIONS
from proofroom.core.actor import Actor
from proofroom.core.content_scope import WHOLE_SITE, ContentScope
from proofroom.core.errors import NotAllowed, NotFound, RuleViolation
from tests import make

pytestmark = pytest.mark.django_db
LIMITABLE = sorted(PERMISSIONS & GRANTS["admin"] - WHOLE_SITE)


def limited(via: Any = "admin", **parts: Any) -> Actor:
    """Return an actor with every limitable permission, for this part of the content."""
    values = {name: one if name == "reads_all" else frozenset(one) for name, one in parts.items()}
    make.site_role("desk", *LIMITABLE, scope=ContentScope(**values))
    return make.actor("desk", via=via)


def seen_by(actor: Actor) -> set[str]:
    return set(visible_to(Post.objects.kept(), actor).values_list("title", flat=True))


def page(title: str, parent: Post | None = None, locale: str = "en", **rest: Any) -> Post:
    slug = title.lower().replace(" ", "-")
    fields = {"slug": slug, "parentId": str(parent.pk) if parent else None}
    return make.post(title, type="page", locale=locale, **{**fields, **rest})


@pytest.fixture
def docs() -> Post:
    """Create a section with a page below it, in two languages; also one with a similar address, and a blog post."""
    root = page("Docs")
    page("Install", root)
    german = page("Handbuch", locale="de", translation_of=root)
    page("Einrichten", german, locale="de")
    page("Docsy")
    page("About")
    make.post("News")
    return root


def test_without_limits_nothing_is_asked_and_everything_is_seen(docs: Post) -> None:
    editor = make.actor("editor")
    posts = Post.objects.kept()

    assert visible_to(posts, editor) is posts
    with CaptureQueriesContext(
        connection,
    ) as seen:
        assert can_view(editor, docs)
        assert editor.can("posts.publish", docs)
    assert len(seen) == 0


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        ({"types": ["blog"]}, {"News"}),
        ({"locales": ["de"]}, {"Handbuch", "Einrichten"}),
        ({"types": ["page"], "locales": ["en"]}, {"Docs", "Install", "Docsy", "About"}),
    ],
)
def test_types_and_languages(docs: Post, parts: dict[str, Any], expected: set[str]) -> None:
    assert seen_by(limited(**parts)) == expected


def test_a_section_is_a_page_and_all_below_it_in_every_language(docs: Post) -> None:
    actor = limited(sections=[docs.pk])

    assert seen_by(actor) == {"Docs", "Install", "Handbuch", "Einrichten"}
    moved = edit_post(
        post_id=docs.pk, actor=make.actor(), edit=lambda one: one.with_fields({"slug": "manual"})
    )
    assert moved.path == "/manual"
    assert seen_by(make.actor("desk")) == {"Docs", "Install", "Handbuch", "Einrichten"}


def test_a_role_limited_to_terms_sees_posts_with_them(docs: Post) -> None:
    term = make.term("Coffee")
    make.post("Filter", taxonomyTermIds=[str(term.pk)])

    assert seen_by(limited(terms=[term.pk])) == {"Filter"}


def test_what_is_no_post_is_outside_of_no_scope() -> None:
    assert limited(types=["blog"]).can("taxonomies.edit", make.term("Coffee"))


def test_a_variation_is_where_its_original_is(docs: Post) -> None:
    news = Post.objects.get(title="News")
    create_variation(post_id=news.pk, variation="B", actor=make.actor())
    create_variation(post_id=docs.pk, variation="B", actor=make.actor())

    actor = limited(sections=[docs.pk])
    variations = visible_to(Post.objects.filter(variation="B"), actor)
    assert [one.variation_of_id for one in variations] == [docs.pk]


def test_a_role_that_reads_all_changes_its_part_alone(docs: Post) -> None:
    actor = limited(types=["blog"], reads_all=True)
    news = Post.objects.get(title="News")

    assert seen_by(actor) >= {"News", "Docs"}
    assert set(changeable_by(Post.objects.all(), actor)) == {news}
    assert actor.can("posts.view", docs)
    assert not actor.can("posts.edit", docs)
    with pytest.raises(NotAllowed) as refused:
        edit_post(post_id=docs.pk, actor=actor, edit=lambda one: one.with_fields({"title": "x"}))
    assert refused.value.code == "outside_of_scope"


def writes(post: Post) -> dict[str, Any]:
    """Return writes to a post, by name."""

    def title(document: Any) -> Any:
        return document.with_fields({"title": "Changed"})

    waiting = make.staged(post, {"excerpt": "Waits"}, layer=Layer.REVIEW)
    digest = digest_of(make.layers(post).review.changes)
    assert waiting.paths
    return {
        "edit": lambda actor: edit_post(post_id=post.pk, actor=actor, edit=title),
        "status": lambda actor: edit_post(post_id=post.pk, actor=actor, status="archived"),
        "stage": lambda actor: stage(post_id=post.pk, layer=Layer.REVIEW, actor=actor, edit=title),
        "approve": lambda actor: approve(post_id=post.pk, actor=actor, digest=digest),
        "delete": lambda actor: delete_post(post_id=post.pk, actor=actor),
        "copy": lambda actor: copy_page(post_id=post.pk, actor=actor),
        "translate": lambda actor: create_translation(post_id=post.pk, locale="de", actor=actor),
        "variation": lambda actor: create_variation(post_id=post.pk, variation="B", actor=actor),
    }


@pytest.mark.parametrize(
    "name", ["edit", "status", "stage", "approve", "delete", "copy", "translate", "variation"]
)
def test_a_post_outside_is_not_there_for_any_write(docs: Post, name: str) -> None:
    about = Post.objects.get(title="About")
    write, before = writes(about)[name], make.live_hash()

    with pytest.raises(NotFound):
        write(limited(sections=[docs.pk]))
    assert make.live_hash() == before


def test_writes_inside_go_on_as_they_did(docs: Post) -> None:
    install = Post.objects.get(title="Install")
    actor = limited(sections=[docs.pk])

    for name, write in writes(install).items():
        if name not in ("translate", "delete", "variation"):
            write(actor)
    delete_post(post_id=install.pk, actor=actor)
    restore_post(post_id=install.pk, actor=actor)


def test_nothing_is_made_outside(docs: Post) -> None:
    actor = limited(sections=[docs.pk])
    fields: dict[str, Any] = {"title": "New", "slug": "new"}
    before = Post.objects.count()

    for parent in (None, str(Post.objects.get(title="About").pk)):
        with pytest.raises(NotAllowed):
            create_post(actor=actor, type="page", fields={**fields, "parentId": parent})
    assert Post.objects.count() == before
    made = create_post(actor=actor, type="page", fields={**fields, "parentId": str(docs.pk)})
    assert can_view(actor, made)


def test_nothing_is_brought_out_of_the_scope(docs: Post) -> None:
    install, about = (Post.objects.get(title=title) for title in ("Install", "About"))
    actor = limited(sections=[docs.pk])

    for parent in (None, about.pk):
        with pytest.raises((NotAllowed, NotFound)):
            move_posts(post_ids=[install.pk], place=Place(parent), actor=actor)
        make.staged(install, {"parentId": str(parent) if parent else None}, layer=Layer.REVIEW)
        digest = digest_of(make.layers(install).review.changes)
        with pytest.raises(NotAllowed):
            approve(post_id=install.pk, actor=actor, digest=digest)
    assert Post.objects.get(pk=install.pk).parent_id == docs.pk


@pytest.mark.parametrize("reads_all", [False, True])
def test_nobody_widens_their_section_by_its_first_page(docs: Post, reads_all: bool) -> None:
    make.post("Neues", locale="de")
    guide = page("Guide")
    actor = limited(sections=[guide.pk], reads_all=reads_all)
    before = Post.objects.count()

    for slug in ("blog", "about-2"):  # all of the blog is below the first
        with pytest.raises((NotAllowed, RuleViolation)):
            edit_post(
                post_id=guide.pk,
                actor=actor,
                edit=lambda document, slug=slug: document.with_fields({"slug": slug}),  # type: ignore[misc]
            )
    with pytest.raises((NotAllowed, RuleViolation)):
        create_translation(post_id=guide.pk, locale="de", slug="blog", actor=actor)
    assert Post.objects.count() == before
    assert Post.objects.get(pk=guide.pk).path == "/guide"


def test_users_limited_to_a_term_cannot_remove_it() -> None:
    term = make.term("Coffee")
    post = make.post("Filter", taxonomyTermIds=[str(term.pk)])
    actor = limited(terms=[term.pk])

    with pytest.raises(NotAllowed):
        edit_post(post_id=post.pk, actor=actor, edit=lambda document: document.with_terms([]))
    edit_post(
        post_id=post.pk, actor=actor, edit=lambda document: document.with_fields({"title": "x"})
    )


@pytest.mark.parametrize("via", ["agent", "mcp"])
def test_a_proposed_post_is_inside_by_what_is_proposed(docs: Post, via: Any) -> None:
    term = make.term("Coffee")
    actor, in_section = (
        Actor(user=make.user("ai_agent"), via=via, limited_to=(scope,))
        for scope in (
            ContentScope(terms=frozenset({term.pk})),
            ContentScope(sections=frozenset({docs.pk})),
        )
    )

    with pytest.raises(NotAllowed):
        propose_post(actor=actor, type="blog", fields={"title": "Nowhere"})
    with pytest.raises(NotAllowed):  # nor can agents say where a post stands
        propose_post(actor=in_section, type="page", fields={"title": "Nowhere"})
    assert not Post.objects.filter(is_placeholder=True).exists()
    terms = {"title": "Beans", "taxonomyTermIds": [str(term.pk)]}
    carrying = propose_post(actor=actor, type="blog", fields=terms)
    translated = propose_translation(
        post_id=Post.objects.get(title="Install").pk, locale="de", actor=in_section
    )
    proposed = Post.objects.filter(is_placeholder=True)
    assert set(visible_to(proposed, actor)) == {carrying.post}
    assert set(visible_to(proposed, in_section)) == {translated.staged.post}


def test_statements_are_fixed(docs: Post) -> None:
    install = Post.objects.get(title="Install")
    actor = limited(sections=[docs.pk], terms=[], locales=["en"])
    can_view(actor, install)  # the role and the addresses of its sections are read once
    for count in (2, 12):
        while Post.objects.filter(parent=docs).count() < count:
            page(f"Page {Post.objects.count()}", docs)
        with CaptureQueriesContext(connection) as listed:
            assert len(visible_to(Post.objects.alive(), actor).filter(parent=docs)) == count
        with CaptureQueriesContext(connection) as asked:
            assert can_view(actor, install)
        assert (len(listed), len(asked)) == (1, 1)
