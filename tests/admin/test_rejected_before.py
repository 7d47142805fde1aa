"""Earlier rejections are shown with a new proposal: on cards, in the inbox, in the API, over MCP."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from content.inbox.rejections import undo_rejections
from content.layers.reject import reject
from content.layers.rejected_changes import (
    MAX_REJECTED_BYTES,
    earlier_rejections,
    rejections_before,
)
from content.models import Layer, Post, RejectedChange
from content.tools.read_post import PostContext, get_post_context
from proofroom.core.models import Event
from tests import make
from tests.admin.pages import review
from tests.queries import page_queries

pytestmark = pytest.mark.django_db
SignedIn = Callable[..., Client]
SAME = "The same text was rejected before"


def rejected(
    post: Post,
    note: str,
    layer: Layer = Layer.AI_REVIEW,
    path: str = "post.title",
    **patch: Any,
) -> int:
    """Propose a change, and reject it as the editor."""
    make.staged(post, patch or {"title": f"Title, {note}"}, layer=layer)
    done = reject(post_id=post.pk, layer=layer, actor=make.actor("editor"), paths=[path], note=note)
    return done.rejection


def card(client: Client, post: Post, layer: str = "ai-review", path: str = "post.title") -> str:
    html = client.get(review(post, layer)).content.decode()
    return html.split(f'data-path="{path}"')[1].split("</article>")[0]


def changes(client: Client, post: Post, layer: str = "ai-review") -> dict[str, Any]:
    answer = client.get(f"/api/posts/{post.pk}/changes?layer={layer}").json()
    return {item["path"]: item["rejectedBefore"] for item in answer["changes"]}


@pytest.mark.parametrize("layer", list(Layer))
@pytest.mark.parametrize("before", list(Layer))
def test_a_card_says_when_by_whom_and_why_its_path_was_rejected(
    signed_in: SignedIn, layer: Layer, before: Layer
) -> None:
    post, client = make.post(), signed_in()
    event = Event.objects.get(pk=rejected(post, "too <b>salesy</b>", before))
    make.staged(post, {"title": "Another title", "excerpt": "Untouched"}, layer=layer)

    shown = card(client, post, layer)

    day = timezone.localtime(event.created_at)
    assert f"Rejected on {day.day} {day:%B} by editor" in shown
    assert "too &lt;b&gt;salesy&lt;/b&gt;" in shown
    assert SAME not in shown
    assert "Rejected on" not in card(client, post, layer, "post.excerpt")


def test_the_same_words_are_marked_as_rejected_before(signed_in: SignedIn) -> None:
    post, client = make.post(), signed_in()
    rejected(post, "No", title="Buy now")
    rejected(post, "Neither", title="Buy later")
    make.staged(post, {"title": "Buy now"})

    assert SAME in card(client, post)
    assert [(one["note"], one["same"]) for one in changes(client, post)["post.title"]] == [
        ("Neither", False),
        ("No", True),
    ]
    make.staged(post, {"title": "Buy nothing"})
    assert SAME not in card(client, post)


def test_three_rejections_are_shown_newest_first_and_the_others_folded(
    signed_in: SignedIn,
) -> None:
    post = make.post()
    for number in range(1, 6):
        rejected(post, f"reason {number}")
    make.staged(post, {"title": "Once more"})

    shown = card(signed_in(), post)

    first, folded = shown.split("<details>", 1)
    assert [number for number in range(6, 0, -1) if f"reason {number}" in first] == [5, 4, 3]
    assert first.index("reason 5") < first.index("reason 4") < first.index("reason 3")
    assert (
        folded.index("2 earlier rejections") < folded.index("reason 2") < folded.index("reason 1")
    )


def test_what_was_taken_back_or_is_old_does_not_count(signed_in: SignedIn) -> None:
    post, client = make.post(), signed_in()
    rejection = rejected(post, "Hasty")
    undo_rejections(post_id=post.pk, rejections=[rejection], actor=make.actor("editor"))
    assert changes(client, post) == {"post.title": []}
    assert "Rejected on" not in card(client, post)

    rejected(post, "Long ago", title="Something else")
    RejectedChange.objects.update(created_at=timezone.now() - timedelta(days=31))
    make.staged(post, {"title": "New"})

    assert changes(client, post) == {"post.title": []}


def test_other_posts_and_paths_do_not_count(signed_in: SignedIn) -> None:
    post, other = make.post(), make.post("Tea", slug="tea")
    rejected(other, "Not here")
    rejected(post, "Nor there", path="post.excerpt", excerpt="Old")
    make.staged(post, {"title": "New"})

    assert changes(signed_in(), post) == {"post.title": []}


def test_modules_and_rich_text_are_compared_by_their_values(signed_in: SignedIn) -> None:
    post, client = make.post(), signed_in()
    prose = make.module_id(post, "prose")
    path = f"modules.{prose}.props.content"

    def told(words: str) -> None:
        make.staged_module(post, prose, content_markdown=words)

    told("Grind **coarse**.")
    reject(
        post_id=post.pk, layer=Layer.AI_REVIEW, actor=make.actor("editor"), paths=[path], note="No"
    )
    told("Grind **coarse**.")
    assert [one["same"] for one in changes(client, post)[path]] == [True]
    told("Grind coarse.")
    assert [one["same"] for one in changes(client, post)[path]] == [False]


def test_what_was_too_large_to_keep_is_known_by_its_fingerprint(signed_in: SignedIn) -> None:
    post, client = make.post(), signed_in()
    prose = make.module_id(post, "prose")
    path = f"modules.{prose}.props.content"
    words = "word " * (MAX_REJECTED_BYTES // 5 + 1)
    for _ in range(2):
        make.staged_module(post, prose, content_markdown=words)
        if not RejectedChange.objects.exists():
            reject(post_id=post.pk, layer=Layer.AI_REVIEW, actor=make.actor("editor"), note="Long")

    assert RejectedChange.objects.get().proposal is None
    assert [one["same"] for one in changes(client, post)[path]] == [True]


def test_the_api_and_the_tool_name_who_rejected_it_and_why(signed_in: SignedIn) -> None:
    post = make.post()
    event = Event.objects.get(pk=rejected(post, "too salesy", title="Buy now"))
    make.staged(post, {"title": "Buy now"})

    (one,) = changes(signed_in(), post)["post.title"]
    told: Any = get_post_context(make.mcp_actor("editor"), PostContext(post_id=post.pk))

    editor = make.user("editor")
    at = event.created_at.isoformat(timespec="milliseconds").replace("+00:00", "Z")
    assert one == {
        "at": at,
        "by": {"id": editor.pk, "username": "editor"},
        "note": "too salesy",
        "same": True,
    }
    (staged,) = told["aiReview"]["changes"]
    assert staged["rejectedBefore"] == [
        {"at": at, "by": "editor", "note": "too salesy", "same": True}
    ]
    make.staged(post, {"excerpt": "New"})
    told = get_post_context(make.mcp_actor("editor"), PostContext(post_id=post.pk))
    by_path = {item["path"]: item for item in told["aiReview"]["changes"]}
    assert "rejectedBefore" not in by_path["post.excerpt"]


def test_a_line_of_the_inbox_names_the_rejection_as_a_reason(signed_in: SignedIn) -> None:
    post, other = make.post(), make.post("Tea", slug="tea")
    rejected(post, "too salesy", title="Buy now")
    make.staged(post, {"title": "Buy now"})
    rejected(other, "", title="Drink tea")
    make.staged(other, {"title": "Sip tea"})

    lines = signed_in().get("/admin/inbox/").content.decode().split('<li class="wait ')[1:]

    mine = next(line for line in lines if "Buy" in line)
    assert '<span class="why">rejected before: “too salesy”</span>' in mine
    assert '<span class="why">the same text was rejected</span>' in mine
    theirs = next(line for line in lines if "Sip" in line)
    assert '<span class="why">rejected before</span>' in theirs
    assert "same words were rejected" not in theirs


def test_the_words_of_a_line_are_the_same_also_where_the_live_text_moved_on(
    signed_in: SignedIn,
) -> None:
    post = make.post()
    rejected(post, "No", title="Buy now")
    make.edited(post, {"title": "Another live title"})
    make.staged(post, {"title": "Buy now"})

    assert "the same text was rejected" in signed_in().get("/admin/inbox/").content.decode()


def test_it_takes_one_query_however_many_changes_and_rejections() -> None:
    post = make.post()
    few = {"title": "A", "excerpt": "B"}
    many = {**few, "metaTitle": "C", "metaDescription": "D", "canonicalUrl": "https://x.test/"}

    def count(patch: dict[str, Any]) -> int:
        for _ in range(2):
            make.staged(post, patch)
            reject(post_id=post.pk, layer=Layer.AI_REVIEW, actor=make.actor("editor"), note="No")
        make.staged(post, patch)
        view = make.layers(post).ai_review
        with CaptureQueriesContext(connection) as queries:
            found = rejections_before(post, view.changes)
        assert set(found) == set(view.changes.paths)
        return len(queries)

    assert (count(few), count(many)) == (1, 1)


def test_pages_ask_as_much_for_many_rejections_as_for_one(signed_in: SignedIn) -> None:
    post, client = make.post(), signed_in()
    rejected(post, "Once")
    make.staged(post, {"title": "New"})
    addresses = (review(post), "/admin/inbox/", f"/api/posts/{post.pk}/changes?layer=ai-review")

    def counts() -> list[int]:
        found = []
        for address in addresses:
            client.get(address)
            found.append(page_queries(client, address))
        return found

    before = counts()
    for number in range(4):
        rejected(post, f"Again {number}", title=f"Title {number}")
    make.staged(post, {"title": "New"})

    assert counts() == before


def test_nothing_is_asked_where_nothing_is_proposed() -> None:
    with CaptureQueriesContext(connection) as queries:
        assert rejections_before(Post(), []) == {}
        assert earlier_rejections([Post().pk], []).latest() == []
    assert len(queries) == 0


def test_only_the_newest_of_a_path_are_read() -> None:
    post = make.post()
    for number in range(23):
        rejected(post, f"No {number}")

    found = earlier_rejections([post.pk]).latest()

    assert [one.note for one in found] == [f"No {number}" for number in range(22, 2, -1)]


def test_the_reason_is_read_though_the_entry_of_the_log_is_gone(signed_in: SignedIn) -> None:
    post = make.post()
    Event.objects.filter(pk=rejected(post, "Gone")).delete()
    make.staged(post, {"title": "New"})

    (one,) = changes(signed_in(), post)["post.title"]

    assert (one["by"], one["note"]) == (None, "")
    assert "by a deleted account" in card(signed_in(), post)
