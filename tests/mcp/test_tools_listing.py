"""Finding posts by each filter, drafts or not."""

from __future__ import annotations

from typing import Any

import pytest

from content.models import Draft, Layer
from content.posts.trash import delete_post
from tests import make
from tests.mcp.calling import done

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("environment")]


def found(**arguments: Any) -> set[str]:
    answer = done("list_posts", **arguments)
    titles = {row["title"] for row in answer["items"]}
    assert answer["total"] == len(titles)
    return titles


def test_what_waits_in_each_layer_is_found_by_it() -> None:
    ai, review, both, emptied = (make.post(name) for name in ("Ai", "Review", "Both", "Emptied"))
    make.post("Neither")
    for post in (ai, both, emptied):
        make.staged(post, {"metaTitle": "x"})
    for post in (review, both):
        make.staged(post, {"excerpt": "y"}, layer=Layer.REVIEW)
    make.staged(emptied, {"metaTitle": None})
    assert Draft.objects.filter(post=emptied, is_empty=True).exists()

    assert found(hasAiReview=True) == {"Ai", "Both"}
    assert found(hasAiReview=False) == {"Review", "Emptied", "Neither"}
    assert found(hasReview=True) == {"Review", "Both"}
    assert found(hasReview=False) == {"Ai", "Emptied", "Neither"}
    assert found(hasReview=True, hasAiReview=False) == {"Review"}
    layers = {row["title"]: row["layers"] for row in done("list_posts")["items"]}
    assert layers == {
        "Ai": ["ai-review"], "Review": ["review"], "Both": ["ai-review", "review"],
        "Emptied": [], "Neither": [],
    }  # fmt: skip


def test_a_term_finds_what_carries_it_live() -> None:
    coffee = make.term("Coffee")
    make.term("Coffee", "tags")
    live, proposed = make.post("Live"), make.post("Proposed")
    make.edited(live, {"taxonomyTermIds": [str(coffee.pk)]})
    make.staged(proposed, {"taxonomyTermIds": [str(coffee.pk)]})

    assert found(taxonomyTerm="coffee") == {"Live"}
    assert found(taxonomyTerm="topics:coffee") == {"Live"}
    assert found(taxonomyTerm="tags:coffee") == set()
    assert found(taxonomyTerm="tea") == set()


def test_words_find_live_text_and_never_what_is_only_staged() -> None:
    post = make.post("Kettle", markdown="A spout made of copper.")
    make.post("Pan")
    make.staged(post, {"title": "Samovar"})

    assert found(q="kettle") == found(q="copper spout") == {"Kettle"}
    assert found(q="samovar") == set()
    assert found(q="kettle", hasAiReview=True) == {"Kettle"}
    assert found(q="kettle", hasAiReview=False) == set()


def test_a_post_that_is_only_proposed_is_recognised_by_its_title() -> None:
    make.staged(make.post("Kettle"), {"title": "Better kettle"})
    done("create_post_ai_review", type="blog", title="Filter paper, compared")
    id_ = done("create_post_ai_review", type="blog", title="Grinders")["postId"]
    done("save_post_ai_review", postId=id_, patch={"title": "Grinders, tested"})

    rows = done("list_posts", hasAiReview=True)["items"]

    proposed = {row["proposedTitle"] for row in rows if "proposedTitle" in row}
    assert proposed == {"Filter paper, compared", "Grinders, tested"}
    assert "Filter paper" not in str(done("list_posts", hasAiReview=False))


def test_trash_and_variations_are_in_no_list() -> None:
    gone = make.post("Gone")
    make.post("Here")
    delete_post(post_id=gone.pk, actor=make.actor("editor"))

    assert found() == found(status="published") == {"Here"}


def test_full_adds_what_rest_shows_and_who_staged() -> None:
    parent = make.post("Parent", type="page")
    child = make.post("Child", type="page", parentId=str(parent.pk), excerpt="Short")
    staged = make.staged(child, {"metaTitle": "x"})

    row = next(
        row
        for row in done("list_posts", type="page", format="full")["items"]
        if row["title"] == "Child"
    )

    assert (row["excerpt"], row["parentId"], row["version"]) == ("Short", str(parent.pk), 1)
    assert row["staged"]["ai-review"]["version"] == staged.version
    assert row["staged"]["ai-review"]["by"] == make.agent_actor().user.username
    assert {"orderIndex", "createdAt", "publishedAt"} <= set(row)
    assert "featuredMediaId" not in row
