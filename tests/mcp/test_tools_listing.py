"""Finding posts by each filter, drafts or not."""

from __future__ import annotations

import base64
from collections.abc import Callable
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from django.utils import timezone

from content.models import Draft, Layer, Post
from content.posts.trash import delete_post
from media.models import Asset
from proofroom.core.errors import RuleViolation
from proofroom.core.tools.pagination import open_cursor, seal_cursor
from proofroom_apps.previews.services import create_preview_link
from tests import make
from tests.mcp.calling import by, done, refused
from tests.queries import count_queries

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


def _ids(answer: dict[str, Any]) -> list[str]:
    return [row["id"] for row in answer["items"]]


def _posts(number: int) -> list[str]:
    """Create posts with the same modification time, distinguished only by their ids."""
    rows = [make.post(f"Kettle {index}") for index in range(number)]
    Post.objects.update(updated_at=timezone.now() - timedelta(hours=1))
    return sorted(str(row.pk) for row in rows)


def test_a_post_made_between_two_pages_repeats_and_hides_no_other() -> None:
    ids = _posts(4)

    first = done("list_posts", limit=2)
    make.post("Made in between")
    second = done("list_posts", limit=2, cursor=first["nextCursor"])

    assert _ids(first) + _ids(second) == ids
    assert (first["total"], second["total"]) == (4, 5)
    assert "nextCursor" not in second


def test_a_match_made_between_two_pages_of_a_search_repeats_and_hides_no_other() -> None:
    for number in range(4):
        make.post(f"Kettle {number}")

    first = done("list_posts", q="kettle", limit=2)
    make.post("Kettle kettle kettle", markdown="kettle")
    second = done("list_posts", q="kettle", limit=2, cursor=first["nextCursor"])

    assert len({*_ids(first), *_ids(second)}) == 4
    assert (second["total"], "nextCursor" in second) == (4, False)


def test_a_revision_made_between_two_pages_repeats_and_hides_no_other() -> None:
    post = make.post()
    for number in range(3):
        make.edited(post, {"excerpt": f"Edition {number}"})
    all_ = [str(row.pk) for row in post.revisions.order_by("-version")]

    first = done("list_post_revisions", postId=str(post.pk), limit=2)
    make.edited(post, {"excerpt": "In between"})
    rest = done("list_post_revisions", postId=str(post.pk), cursor=first["nextCursor"])

    assert _ids(first) + _ids(rest) == all_


def test_a_file_put_in_between_two_pages_repeats_and_hides_no_other() -> None:
    files = [str(make.image(f"picture-{number}.png").pk) for number in range(3)]
    Asset.objects.update(created_at=timezone.now() - timedelta(hours=1))
    files.sort(key=UUID, reverse=True)

    first = done("list_media", limit=2)
    make.image("in-between.png")
    second = done("list_media", limit=2, cursor=first["nextCursor"])

    assert _ids(first) + _ids(second) == files


def _other_post(cursor: str) -> dict[str, Any]:
    post = make.post("Another")
    create_preview_link(post_id=post.pk, layer="source", actor=make.actor())
    return {"postId": str(post.pk), "cursor": cursor}


def _forged(cursor: str) -> dict[str, Any]:
    raw = bytearray(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
    raw[-1] ^= 1
    return {"cursor": base64.urlsafe_b64encode(bytes(raw)).decode().rstrip("=")}


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("list_posts", lambda cursor: {"cursor": cursor, "type": "blog"}),
        ("list_posts", lambda cursor: {"cursor": cursor, "hasReview": False}),
        ("list_posts", lambda cursor: {"cursor": cursor, "q": "kettle"}),
        ("list_media", lambda cursor: {"cursor": cursor}),
        ("list_modules", lambda cursor: {"cursor": cursor}),
        ("list_post_revisions", _other_post),
        ("list_posts", _forged),
        ("list_posts", lambda cursor: {"cursor": cursor[:-1]}),
        ("list_posts", lambda cursor: {"cursor": f"{cursor}A"}),
        ("list_posts", lambda cursor: {"cursor": "naïve ☕"}),
    ],
    ids=["type", "review", "words", "media", "modules", "another post", "forged", "cut", "longer", "odd"],
)  # fmt: skip
def test_a_cursor_of_another_list_or_filter_is_refused_with_a_lesson(
    tool: str, arguments: Callable[[str], dict[str, Any]]
) -> None:
    _posts(2)
    cursor = done("list_posts", limit=1)["nextCursor"]

    code, text = refused(tool, **arguments(cursor))

    assert code == "invalid"
    assert "not of this list" in text
    assert "Omit cursor" in text


def test_a_cursor_goes_with_another_limit_and_format() -> None:
    ids = _posts(4)
    cursor = done("list_posts", limit=1)["nextCursor"]

    rest = done("list_posts", limit=50, format="full", cursor=cursor)

    assert _ids(rest) == ids[1:]


def test_a_cursor_costs_few_tokens_and_holds_what_was_put_in() -> None:
    parts = [timezone.now(), UUID(int=7), -3, "words with ü"]

    sealed = seal_cursor(parts, of="list")

    assert open_cursor(sealed, of="list") == parts
    assert len(seal_cursor(parts[:2], of="list")) == 43


def test_a_cursor_outlives_the_secret_key_that_sealed_it(settings: Any) -> None:
    cursor, old = seal_cursor([7], of="list"), settings.SECRET_KEY

    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = "n" * 50, ["other" * 10, old]
    assert open_cursor(cursor, of="list") == [7]
    settings.SECRET_KEY_FALLBACKS = []
    with pytest.raises(RuleViolation):
        open_cursor(cursor, of="list")


@pytest.mark.parametrize("limit", [0, 101, -1, True, 1.5, "many"], ids=str)
def test_a_limit_out_of_bounds_is_refused(limit: Any) -> None:
    code, text = refused("list_posts", limit=limit)

    assert code == "invalid_arguments"
    assert "`limit`" in text


@pytest.mark.parametrize(
    ("tool", "more"),
    [
        ("list_posts", {}),
        ("list_posts", {"q": "kettle", "format": "full"}),
        ("list_posts", {"hasAiReview": True, "taxonomyTerm": "coffee", "type": "blog"}),
        ("list_media", {"format": "full"}),
        ("list_global_modules", {"format": "full"}),
        ("list_post_revisions", {"postId": "POST", "format": "full"}),
        ("list_taxonomy_terms", {"slug": "topics"}),
        ("media_where_used", {"id": "FILE"}),
    ],
    ids=lambda value: value if isinstance(value, str) else "-".join(value),
)
def test_a_list_takes_the_same_queries_for_one_row_and_for_many(
    tool: str, more: dict[str, Any]
) -> None:
    post, image = make.post("Kettle"), make.image()
    names = {"POST": str(post.pk), "FILE": str(image.pk)}
    arguments = {name: names.get(value, value) for name, value in more.items()}

    def grow(number: int) -> None:
        other = make.post(f"Kettle {number}")
        make.edited(other, {"taxonomyTermIds": [str(make.term("Coffee").pk)]})
        make.edited(other, {"featuredMediaId": str(image.pk)})
        make.edited(post, {"excerpt": f"Edition {number}"})
        make.staged(other, {"excerpt": "Proposed"})
        make.placed(other, make.global_module(f"shared-{number}"))
        make.image(f"picture-{number}.png")
        make.term(f"Term {number}")

    def queries() -> int:
        return count_queries(done, tool, by("ai_agent"), **arguments)

    grow(0)
    queries()
    few = queries()
    for number in range(1, 4):
        grow(number)

    assert queries() == few
