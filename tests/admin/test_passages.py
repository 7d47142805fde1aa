"""Passages of a change, decided one by one through the services, REST and the page."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from content.comparison.references import References
from content.document.differences import SEPARATOR
from content.inbox.rejections import undo_rejections
from content.layers import approve, digest_of, reject, submit
from content.models import Layer, Post, RejectedChange
from content.posts.decide import decide
from content.presenters.cards import cards_of_layer
from proofroom.core.errors import CmsError
from proofroom.definitions.richtext.markdown_reader import from_markdown
from proofroom.definitions.richtext.markdown_writer import to_markdown
from tests import make
from tests.admin.pages import fields, review

pytestmark = pytest.mark.django_db
SignedIn = Callable[..., Client]
BEFORE = "The first sentense is here. And the second won is there.\n\nThe end."
AFTER = "The first sentence is here. And the second one is there.\n\nThe end."
FIRST = "The first sentence is here. And the second won is there.\n\nThe end."
SECOND = "The first sentense is here. And the second one is there.\n\nThe end."


def prose(post: Post) -> tuple[str, str]:
    """Return the id of the prose module, and the path of its text."""
    found = next(module.id for module in make.layers(post).live.modules if module.type == "prose")
    return found, f"modules.{found}.props.content"


def corrected(layer: Layer = Layer.REVIEW) -> tuple[Post, str]:
    """Create a post with two pending corrections in one text."""
    post = make.post()
    module, path = prose(post)
    make.changed_module(post, module, props={"content": from_markdown(BEFORE)})
    make.staged_module(post, module, props={"content": from_markdown(AFTER)}, layer=layer)
    return post, path


def text_in(document: Any, path: str) -> str:
    module = document.module(path.split(".")[1])
    return to_markdown(module.props["content"]).strip()


def passages(client: Client, post: Post, layer: str = "review") -> list[str]:
    """Return the names of the passages in the API."""
    found = client.get(f"/api/posts/{post.pk}/changes?layer={layer}").json()
    [change] = found["changes"]
    names = [piece["passage"] for piece in change["pieces"]]
    return [f"{change['path']}{SEPARATOR}{name}" for name in dict.fromkeys(names)]


def test_one_of_two_corrections_is_approved_and_the_other_waits(signed_in: SignedIn) -> None:
    post, path = corrected()
    client = signed_in()
    one, two = passages(client, post)
    digest = client.get(f"/api/posts/{post.pk}/changes?layer=review").json()["digest"]

    answer = client.post(
        f"/api/posts/{post.pk}/review/approve",
        {"digest": digest, "paths": [two]},
        content_type="application/json",
    )

    assert answer.status_code == 200
    layers = make.layers(post)
    assert text_in(layers.live, path) == SECOND
    assert text_in(layers.review.document, path) == AFTER
    assert layers.review.changes.paths == (path,)
    # The other one keeps its name, and the whole change is one decision now.
    assert passages(client, post) == [f"{path}{SEPARATOR}None"]
    assert one != two


def test_a_passage_is_called_by_what_differs_in_it() -> None:
    post, _path = corrected()

    [group] = cards_of_layer(make.layers(post).review, References(), is_live=True)

    found = group.cards[0].passages
    assert len(found) == 2
    assert [passage.label for passage in found] == [passage.notes[0].text for passage in found]


def test_approving_all_passages_leaves_nothing(signed_in: SignedIn) -> None:
    post, path = corrected()
    view = make.layers(post).review

    approve(
        post_id=post.pk,
        actor=make.actor("editor", via="admin"),
        digest=digest_of(view.changes),
        paths=passages(signed_in(), post),
    )

    layers = make.layers(post)
    assert text_in(layers.live, path) == AFTER
    assert not layers.review.exists


def test_a_passage_is_submitted_and_the_rest_stays_in_ai_review(signed_in: SignedIn) -> None:
    post, path = corrected(Layer.AI_REVIEW)
    one, _two = passages(signed_in(), post, "ai-review")

    submit(post_id=post.pk, actor=make.actor("editor"), paths=[one])

    layers = make.layers(post)
    assert text_in(layers.live, path) == BEFORE
    assert text_in(layers.review.document, path) == FIRST
    assert text_in(layers.ai_review.document, path) == AFTER


def test_a_rejected_passage_goes_and_can_be_taken_back(signed_in: SignedIn) -> None:
    post, path = corrected()
    one, _two = passages(signed_in(), post)
    editor = make.actor("editor")

    done = reject(post_id=post.pk, layer=Layer.REVIEW, actor=editor, paths=[one], note="No")

    assert text_in(make.layers(post).review.document, path) == SECOND
    assert RejectedChange.objects.get(post=post).path == path
    undo_rejections(post_id=post.pk, rejections=[done.rejection], actor=editor)
    assert text_in(make.layers(post).review.document, path) == AFTER


@pytest.mark.parametrize("layer", [Layer.AI_REVIEW, Layer.REVIEW])
def test_one_passage_accepted_and_the_other_rejected_in_one_go(
    signed_in: SignedIn, layer: Layer
) -> None:
    post, path = corrected(layer)
    one, two = passages(signed_in(), post, layer)
    view = make.layers(post).view(layer)

    decide(
        post_id=post.pk,
        layer=layer,
        actor=make.actor("editor", via="admin"),
        digest=digest_of(view.changes),
        accept=[one],
        refuse=[two],
    )

    layers = make.layers(post)
    below = layers.live if layer == Layer.REVIEW else layers.review.document
    assert text_in(below, path) == FIRST
    assert not layers.view(layer).exists


@pytest.mark.parametrize(
    ("marked", "live"),
    [
        ({0: "accept"}, FIRST),
        ({"": "accept", 0: "reject"}, SECOND),
        ({"": "accept"}, AFTER),
        ({"": "accept", 0: "leave"}, AFTER),
        ({0: "accept", 1: "reject"}, FIRST),
    ],
    ids=["one", "all but one", "all", "all, one as the whole", "one and not the other"],
)
def test_the_page_takes_a_word_on_a_passage_before_the_one_on_the_change(
    signed_in: SignedIn, marked: dict[Any, str], live: str
) -> None:
    post, path = corrected()
    client = signed_in()
    names = passages(client, post)
    page = client.get(review(post, "review"))
    assert all(f'name="{name}"' in page.content.decode() for name in names)
    sent = fields(page, "digest")
    words = {path if at == "" else names[at]: word for at, word in marked.items()}

    client.post(review(post, "review"), {**sent, **words, "action": "approve"})

    assert text_in(make.layers(post).live, path) == live


def test_what_moved_since_it_was_seen_is_stale_in_all_its_passages(signed_in: SignedIn) -> None:
    post, path = corrected()
    one, _two = passages(signed_in(), post)
    digest = digest_of(make.layers(post).review.changes)
    module = path.split(".")[1]
    make.staged_module(
        post, module, props={"content": from_markdown(f"{AFTER} More.")}, layer=Layer.REVIEW
    )
    before = make.live_hash()

    with pytest.raises(CmsError) as caught:
        approve(
            post_id=post.pk,
            actor=make.actor("editor", via="admin"),
            digest=digest,
            paths=[one],
        )

    assert caught.value.code == "stale_review"
    assert make.live_hash() == before


def test_a_passage_that_is_not_there_is_refused(signed_in: SignedIn) -> None:
    post, path = corrected()
    before = make.live_hash()

    with pytest.raises(CmsError) as caught:
        reject(
            post_id=post.pk,
            layer=Layer.REVIEW,
            actor=make.actor("editor"),
            paths=[f"{path}{SEPARATOR}00000000"],
        )

    assert caught.value.code == "unknown_path"
    assert make.live_hash() == before
    assert text_in(make.layers(post).review.document, path) == AFTER


def thrice(layer: Layer = Layer.REVIEW) -> tuple[Post, str]:
    """Create the same correction three times in one text."""
    before = "This place is won. That house is won. Here it is won more."
    post = make.post(excerpt=before)
    make.staged(post, {"excerpt": before.replace("won", "one")}, layer=layer)
    return post, "post.excerpt"


def test_of_equal_corrections_only_the_named_ones_are_decided(
    signed_in: SignedIn,
) -> None:
    post, path = thrice()
    one, two, _three = passages(signed_in(), post)
    view = make.layers(post).review

    decide(
        post_id=post.pk,
        layer=Layer.REVIEW,
        actor=make.actor("editor", via="admin"),
        digest=digest_of(view.changes),
        accept=[one],
        refuse=[two],
    )

    layers = make.layers(post)
    assert (
        layers.live.fields["excerpt"]
        == "This place is one. That house is won. Here it is won more."
    )
    assert layers.review.document.fields["excerpt"] == (
        "This place is one. That house is won. Here it is one more."
    )
    assert layers.review.changes.paths == (path,)


def test_what_is_accepted_of_a_conflict_stays_when_the_rest_is_rejected(
    signed_in: SignedIn,
) -> None:
    post, path = thrice(Layer.AI_REVIEW)
    by_a_person = "This place is won. That house is won. Here it is won more. Really."
    make.staged(post, {"excerpt": by_a_person}, layer=Layer.REVIEW)
    view = make.layers(post).ai_review
    names = passages(signed_in(), post, "ai-review")
    first, *others = names

    done = decide(
        post_id=post.pk,
        layer=Layer.AI_REVIEW,
        actor=make.actor("editor", via="admin"),
        digest=digest_of(view.changes),
        accept=[first],
        refuse=others,
    )

    assert done.conflicts == (path,)
    layers = make.layers(post)
    assert layers.review.document.fields["excerpt"] == by_a_person
    assert layers.ai_review.changes.paths == (path,)
