"""The order of modules in AI Review, and taking back what a credential staged."""

from __future__ import annotations

from dataclasses import replace
from uuid import uuid4

import pytest

from content.layers import unstage
from content.models import Layer, Post
from mcp_bridge.access.principals import Principal
from proofroom.core.content_scope import ContentScope
from proofroom.core.errors import NotAllowed
from proofroom.core.models import Event
from tests import make
from tests.mcp.calling import by, done, refused

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("environment")]


def ids(post: Post) -> tuple[str, str, str]:
    hero, prose, faq = make.layers(post).ai_review.document.order
    return hero, prose, faq


def test_an_order_is_staged() -> None:
    post = make.post("Tea", slug="tea")
    hero, prose, faq = ids(post)

    answer = done("reorder_modules", post="/blog/tea", order=[hero, faq, prose], note="Faq first")

    assert make.layers(post).ai_review.document.order == (hero, faq, prose)
    assert make.layers(post).live.order == (hero, prose, faq)
    assert all(path.endswith(".position") for path in answer["staged"])
    assert {make.layers(post).ai_review.marks[path].reason for path in answer["staged"]} == {
        "Faq first"
    }


def test_moving_a_locked_module_is_refused() -> None:
    post = make.post()
    hero, prose, faq = ids(post)

    code, text = refused("reorder_modules", post=str(post.pk), order=[prose, hero, faq])

    assert code == "locked_module"
    assert hero in text


@pytest.mark.parametrize("wrong", ["missing", "unknown", "repeated"])
def test_an_incomplete_order_is_refused_with_the_present_one(wrong: str) -> None:
    post = make.post()
    hero, prose, faq = ids(post)
    strange = str(uuid4())
    order = {
        "missing": [hero, faq],
        "unknown": [hero, prose, faq, strange],
        "repeated": [hero, prose, faq, faq],
    }[wrong]

    code, text = refused("reorder_modules", post=str(post.pk), order=order)

    assert code == "incomplete_order"
    named = {"missing": prose, "unknown": strange, "repeated": faq}[wrong]
    assert f"{wrong}: {named}" in text
    assert f"The present order is {hero}, {prose}, {faq}." in text


def test_modules_that_were_only_staged_take_part() -> None:
    post = make.post()
    hero, prose, faq = ids(post)
    added = done("add_module_to_post_ai_review", postId=str(post.pk), moduleType="callout")

    assert refused("reorder_modules", post=str(post.pk), order=[hero, faq, prose])[0] == (
        "incomplete_order"
    )
    done("reorder_modules", post=str(post.pk), order=[hero, added["postModuleId"], faq, prose])

    assert make.layers(post).ai_review.document.order == (hero, added["postModuleId"], faq, prose)


def test_a_credential_takes_back_what_it_staged() -> None:
    post = make.post("Tea", slug="tea", excerpt="Before")
    done("save_post_ai_review", postId="/blog/tea", patch={"excerpt": "x", "metaTitle": "y"})

    answer = done("unstage", post="/blog/tea", paths=["post.excerpt"])

    view = make.layers(post).ai_review
    assert answer == {
        "postId": str(post.pk),
        "layer": "ai-review",
        "version": view.version,
        "unstaged": ["post.excerpt"],
    }
    assert view.changes.paths == ("post.metaTitle",)
    assert view.document.fields["excerpt"] == "Before"
    event = Event.objects.get(name="post.ai-review.withdraw")
    assert event.payload["paths"] == ["post.excerpt"]


def test_a_whole_module_is_taken_back() -> None:
    post = make.post()
    added = done("add_module_to_post_ai_review", postId=str(post.pk), moduleType="callout")

    done("unstage", post=str(post.pk), paths=[f"modules.{added['postModuleId']}"])

    assert not make.layers(post).ai_review.exists


def _of_another(post: Post, kind: str) -> None:
    if kind == "agent":
        make.staged(post, {"excerpt": "From an agent"})
    elif kind == "client":
        other = Principal(id="client:other", user_id=make.user("ai_agent").pk)
        done("save_post_ai_review", other, postId=str(post.pk), patch={"excerpt": "x"})
    else:
        done("save_post_ai_review", postId=str(post.pk), patch={"excerpt": "x"})
        make.staged(post, {"excerpt": "Edited"}, by=make.mcp_actor("editor"))


@pytest.mark.parametrize("kind", ["agent", "client", "another account"])
def test_what_others_staged_stays(kind: str) -> None:
    post = make.post()
    _of_another(post, kind)
    done("save_post_ai_review", postId=str(post.pk), patch={"metaTitle": "own"})

    code, text = refused("unstage", post=str(post.pk), paths=["post.metaTitle", "post.excerpt"])

    assert code == "staged_by_others"
    assert "post.excerpt was staged by" in text


def test_what_a_person_edited_is_no_longer_the_clients() -> None:
    post = make.post()
    done("save_post_ai_review", postId=str(post.pk), patch={"excerpt": "x"})
    draft = make.layers(post).ai_review.draft
    assert draft is not None
    draft.marks["post.excerpt"]["edited_by"] = "editor"
    draft.save()

    assert "editor" in refused("unstage", post=str(post.pk), paths=["post.excerpt"])[1]


def test_what_the_credential_staged_for_an_agent_is_its_own() -> None:
    post = make.post()
    make.agent_actor("seo-specialist")
    done(
        "save_post_ai_review",
        postId=str(post.pk),
        patch={"excerpt": "x"},
        agentId="seo-specialist",
    )

    assert done("unstage", post=str(post.pk), paths=["post.excerpt"])["unstaged"] == [
        "post.excerpt"
    ]


@pytest.mark.parametrize(
    ("paths", "code"), [(["post.slug"], "unknown_path"), ([], "invalid_arguments")]
)
def test_paths_that_are_not_staged_are_refused(paths: list[str], code: str) -> None:
    post = make.post()
    done("save_post_ai_review", postId=str(post.pk), patch={"excerpt": "x"})

    assert refused("unstage", post=str(post.pk), paths=paths)[0] == code


def test_nothing_staged_is_said() -> None:
    assert refused("unstage", post=str(make.post().pk), paths=["post.title"])[0] == "nothing_staged"


def test_a_run_takes_back_only_its_own() -> None:
    post = make.post()
    one, other = str(uuid4()), str(uuid4())
    make.staged(post, {"excerpt": "x"}, by=make.agent_actor(run_id=one))

    with pytest.raises(NotAllowed, match="seo-specialist"):
        unstage(post_id=post.pk, actor=make.agent_actor(run_id=other), paths=["post.excerpt"])
    unstage(post_id=post.pk, actor=make.agent_actor(run_id=one), paths=["post.excerpt"])

    assert not make.layers(post).view(Layer.AI_REVIEW).exists


def test_outside_of_the_scope_nothing_is_taken_back() -> None:
    post = make.post()
    done("save_post_ai_review", by("editor"), postId=str(post.pk), patch={"excerpt": "x"})
    narrow = replace(by("editor"), content_scope=ContentScope(types=frozenset({"page"})))

    assert refused("unstage", narrow, post=str(post.pk), paths=["post.excerpt"])[0] == "not_found"
