"""Links for reviewers without an account: made, opened, ended, and the advice they bring."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from content import layers
from content.models import Layer, Post, Revision
from content.posts.create import create_post
from content.posts.trash import delete_post
from proofroom.accounts.services.users import change_user
from proofroom.core.actor import Actor
from proofroom.core.errors import NotAllowed
from proofroom.core.models import Event
from proofroom.notifications.models import Notification
from proofroom.notifications.queries import describe, visible_notifications
from proofroom.notifications.services import add_notifications
from proofroom_apps.reviewers import links
from proofroom_apps.reviewers.models import ReviewerAdvice, ReviewerLink
from tests import make
from tests.api_client import ApiClient

pytestmark = pytest.mark.django_db
NAME = "Dr. Ada Weber"


def staged_post(**patch: Any) -> Post:
    post = make.post("Live title", slug="live", excerpt="Live excerpt")
    make.staged(
        post, patch or {"title": "Better title", "excerpt": "Better excerpt"}, layer=Layer.REVIEW
    )
    return post


def digest_of(post: Post, layer: str = "review") -> str:
    return str(ApiClient("editor").read(f"/api/posts/{post.pk}/changes?layer={layer}")["digest"])


def invite(post: Post, *, layer: str = "review", expect: int = 201, **body: Any) -> Any:
    sent = {"name": NAME, "digest": digest_of(post, layer), "expiresInHours": 24, **body}
    return ApiClient("editor").write(
        "POST", f"/api/posts/{post.pk}/reviewer-links", sent, expect=expect
    )


def path_of(made: dict[str, Any]) -> str:
    return str(made["url"]).partition("//")[2].partition("/")[2].join(["/", ""])


def guest(made: dict[str, Any], status: int = 200) -> str:
    response = Client().get(path_of(made))
    assert response.status_code == status
    return response.content.decode()


def answer(made: dict[str, Any], status: int = 303, **fields: str) -> Any:
    data = {name.replace("__", "."): value for name, value in fields.items()}
    response = Client(enforce_csrf_checks=True).post(path_of(made), data)
    assert response.status_code == status, response.content.decode()
    return response


def test_a_link_shows_its_changes_and_takes_advice() -> None:
    post = staged_post()
    made = invite(post)
    assert set(made) == {"id", "url", "expiresAt"}

    page = guest(made)
    assert NAME in page
    assert "Better" in page
    assert page.count('class="change"') == 2
    answer(made, verdict__post__title="yes", comment__post__excerpt="Too long?\r\nShorten it.")

    assert "Thank you" in Client().get(path_of(made) + "?sent=1").content.decode()
    [listed] = ApiClient("editor").read(f"/api/posts/{post.pk}/reviewer-links")["data"]
    assert listed["state"] == "open"
    assert {one["path"]: (one["answer"], one["comment"]) for one in listed["advice"]} == {
        "post.title": ("yes", ""),
        "post.excerpt": (None, "Too long?\nShorten it."),
    }
    assert "url" not in listed


def test_advice_decides_nothing() -> None:
    post = staged_post()
    made = invite(post)
    before = (Revision.objects.count(), digest_of(post))

    answer(made, verdict__post__title="yes", verdict__post__excerpt="yes")

    post.refresh_from_db()
    assert post.title == "Live title"
    assert (Revision.objects.count(), digest_of(post)) == before


def test_advice_can_be_changed_until_the_link_ends() -> None:
    post = staged_post()
    made = invite(post)
    answer(made, verdict__post__title="yes", comment__post__title="Good")
    assert "Good" in guest(made)
    answer(made, verdict__post__title="no")
    [advice] = ReviewerAdvice.objects.all()
    assert (advice.verdict, advice.comment) == ("no", "")


def test_only_the_chosen_changes_are_shown() -> None:
    post = staged_post()
    made = invite(post, paths=["post.title"])

    page = guest(made)
    assert "Better title" in re.sub("<[^>]*>", "", page) or "Better" in page
    assert "excerpt" not in page.lower()
    answer(made, 422, verdict__post__excerpt="yes")
    assert not ReviewerAdvice.objects.exists()
    # Another change may move without ending the link.
    make.staged(post, {"excerpt": "Another excerpt"}, layer=Layer.REVIEW)
    assert "Another excerpt" not in guest(made)


def test_nothing_else_of_the_post_is_shown() -> None:
    post = create_post(
        actor=make.actor("admin"),
        type="page",
        fields={"title": "Secrettitle", "excerpt": "Old", "metaDescription": "Secretmeta"},
    )
    make.staged(post, {"excerpt": "New"}, layer=Layer.REVIEW)
    page = guest(invite(post))
    assert "New" in page
    assert "Secret" not in page


def test_unpublished_posts_are_not_named() -> None:
    parent = create_post(actor=make.actor("admin"), type="page", fields={"title": "Secretparent"})
    post = create_post(actor=make.actor("admin"), type="page", fields={"title": "Child"})
    make.staged(post, {"parentId": str(parent.pk)}, layer=Layer.REVIEW)
    page = guest(invite(post))
    assert 'class="change"' in page
    assert "Secretparent" not in page


def test_proposed_html_is_text() -> None:
    post = staged_post(title="<script>alert(1)</script><img src=x onerror=y>")
    made = invite(post)
    answer(made, comment__post__title="<b onclick=z>bold</b>")
    for page in (
        guest(made),
        ApiClient("editor")
        .get(f"/admin/content/post/{post.pk}/review/?layer=review")
        .content.decode(),
    ):
        assert "<script>alert" not in page
        assert "<img src=x" not in page
        assert "<b onclick" not in page


def test_a_link_to_ai_review() -> None:
    post = make.post("Live title", slug="live")
    make.staged(post, {"title": "Proposed by an agent"})
    made = invite(post, layer="ai-review")
    assert ReviewerLink.objects.get().layer == "ai-review"
    assert "Proposed" in guest(made)


@pytest.mark.parametrize("what", ["restaged", "approved", "rejected", "live"])
def test_a_link_ends_when_its_content_moves(what: str) -> None:
    post = staged_post()
    made = invite(post)
    if what == "restaged":
        make.staged(post, {"title": "Better still"}, layer=Layer.REVIEW)
    elif what == "approved":
        layers.approve(
            post_id=post.pk,
            actor=make.actor("editor"),
            digest=digest_of(post),
            paths=["post.title"],
        )
    elif what == "rejected":
        layers.reject(
            post_id=post.pk, layer=Layer.REVIEW, actor=make.actor("editor"), paths=["post.title"]
        )
    else:
        make.edited(post, {"title": "Changed live"})

    page = guest(made, 410)
    assert "Better" not in page
    answer(made, 410, verdict__post__title="yes")
    assert not ReviewerAdvice.objects.exists()
    [listed] = ApiClient("editor").read(f"/api/posts/{post.pk}/reviewer-links")["data"]
    assert listed["state"] == "changed"


def test_a_link_ends_when_it_is_revoked_or_expires() -> None:
    post = staged_post()
    revoked, expired = invite(post), invite(post)
    url = f"/api/posts/{post.pk}/reviewer-links/{revoked['id']}"
    assert ApiClient("editor").write("DELETE", url) == {"revoked": True}
    ReviewerLink.objects.filter(pk=expired["id"]).update(
        expires_at=timezone.now() - timedelta(seconds=1)
    )

    for made in (revoked, expired):
        guest(made, 410)
        response = Client().get(path_of(made), headers={"Accept": "application/json"})
        assert response.status_code == 410
        assert response.json()["code"] == "gone"
    assert Client().get("/preview/changes/" + "x" * 43).status_code == 404
    assert Client().get("/preview/changes/short").status_code == 404


@pytest.mark.parametrize("change", [{"is_active": False}, {"role": "translator"}], ids=str)
def test_a_link_ends_with_the_right_of_its_maker(change: dict[str, Any]) -> None:
    post = staged_post()
    maker = make.user("editor", "maker")
    _link, token = links.create_reviewer_link(
        post_id=post.pk, actor=Actor(user=maker, via="api"), name=NAME, digest=digest_of(post)
    )
    assert Client().get(f"/preview/changes/{token}").status_code == 200
    change_user(user_id=maker.pk, actor=make.actor("admin"), **change)
    assert Client().get(f"/preview/changes/{token}").status_code == 410


def test_a_link_of_a_post_in_the_trash_has_ended() -> None:
    post = staged_post()
    made = invite(post)
    delete_post(post_id=post.pk, actor=make.actor("admin"))
    guest(made, 410)


def test_the_page_is_private() -> None:
    made = invite(staged_post())
    for response in (
        Client().get(path_of(made)),
        Client().get("/preview/changes/" + "x" * 43),
        answer(made, verdict__post__title="yes"),
    ):
        assert response["Cache-Control"] == "no-store"
        assert response["X-Robots-Tag"] == "noindex, nofollow"
        assert response["Referrer-Policy"] == "no-referrer"
        assert "script-src 'none'" in response["Content-Security-Policy"]
        assert not response.cookies


def test_a_form_of_another_site_is_refused() -> None:
    made = invite(staged_post())
    response = Client().post(
        path_of(made), {"verdict.post.title": "yes"}, headers={"Sec-Fetch-Site": "cross-site"}
    )
    assert response.status_code == 403
    assert not ReviewerAdvice.objects.exists()


def test_the_page_is_rate_limited(settings: Any) -> None:
    settings.THROTTLE_RATES = {**settings.THROTTLE_RATES, "public": "2/minute"}
    made = invite(staged_post())
    statuses = [Client().get(path_of(made)).status_code for _ in range(3)]
    assert statuses == [200, 200, 429]


def test_the_token_is_not_stored() -> None:
    made = invite(staged_post())
    token = path_of(made).rpartition("/")[2]
    assert len(token) == 43
    stored = str(list(ReviewerLink.objects.values())) + str(list(Event.objects.values()))
    assert token not in stored


def test_the_page_speaks_the_language_of_the_post() -> None:
    post = make.post("Deutscher Titel", slug="deutsch", locale="de")
    make.staged(post, {"title": "Besserer Titel"}, layer=Layer.REVIEW)
    page = guest(invite(post))
    assert '<html lang="de"' in page


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"name": " "}, "name"),
        ({"name": "x" * 101}, "name"),
        ({"digest": "nonsense"}, "digest"),
        ({"paths": []}, "paths"),
        ({"paths": ["post.slug"]}, "paths"),
        ({"paths": ["post.title#1"]}, "paths"),
        ({"expiresInHours": 0}, "expiresInHours"),
        ({"expiresInHours": 721}, "expiresInHours"),
    ],
)
def test_wrong_links_are_refused(body: dict[str, Any], field: str) -> None:
    response = invite(staged_post(), expect=422, **body)
    assert field in response["details"]
    assert not ReviewerLink.objects.exists()


def test_a_link_to_what_has_moved_is_refused() -> None:
    post = staged_post()
    digest = digest_of(post)
    make.staged(post, {"title": "Better still"}, layer=Layer.REVIEW)
    assert invite(post, expect=409, digest=digest)["code"] == "stale_review"


def test_translators_invite_nobody() -> None:
    post = staged_post()
    url = f"/api/posts/{post.pk}/reviewer-links"
    body = {"name": NAME, "digest": digest_of(post)}
    client = ApiClient("translator")
    assert client.send("GET", url).status_code == 403
    assert client.send("POST", url, body).status_code == 403


@pytest.mark.parametrize("actor", [make.agent_actor, lambda: make.mcp_actor("editor")])
def test_agents_and_clients_invite_nobody(actor: Callable[[], Actor]) -> None:
    post = staged_post()
    with pytest.raises(NotAllowed):
        links.create_reviewer_link(
            post_id=post.pk, actor=actor(), name=NAME, digest=digest_of(post)
        )


def test_events_name_no_person() -> None:
    post = staged_post()
    made = invite(post)
    answer(made, verdict__post__title="no", comment__post__title="Secretcomment")
    ApiClient("editor").write("DELETE", f"/api/posts/{post.pk}/reviewer-links/{made['id']}")

    events = {
        event.name: event for event in Event.objects.filter(name__startswith="post.reviewer-")
    }
    assert set(events) == {
        "post.reviewer-link.created", "post.reviewer-link.revoked", "post.reviewer-advice.given",
    }  # fmt: skip
    given = events["post.reviewer-advice.given"]
    assert given.payload == {"id": made["id"], "layer": "review", "yes": 0, "no": 1, "comments": 1}
    assert given.actor_id is None
    for event in events.values():
        assert "Ada" not in str(event.payload)
        assert "Secretcomment" not in str(event.payload)


def test_the_maker_is_notified() -> None:
    editor, admin = make.actor("editor"), make.actor("admin")
    post = staged_post()
    made = invite(post)
    answer(made, verdict__post__title="no")
    add_notifications(list(Event.objects.order_by("pk")))

    rows = [row for row in visible_notifications(editor) if row.kind == "reviewer.advice"]
    [line] = describe(rows, editor)
    assert line.text.text == f"{NAME} reviewed “Live title”"
    assert "layer=review" in line.text.url
    assert not Notification.objects.filter(kind="reviewer.advice", user=admin.user.pk).exists()


def test_the_review_screen_shows_advice_beside_the_change() -> None:
    post = staged_post()
    made = invite(post)
    answer(made, verdict__post__title="no", comment__post__title="Not our tone.")
    client = ApiClient("editor")
    url = f"/admin/content/post/{post.pk}/review/?layer=review"

    page = client.get(url).content.decode()
    card = page.partition('id="c-post.title"')[2].partition("</article>")[0]
    assert NAME in card
    assert "Not our tone." in card
    assert "Reviewers without an account" in page
    translator = ApiClient("translator").get(url).content.decode()
    assert "data-reviewers" not in translator

    # Advice on an earlier text says nothing about the new one.
    make.staged(post, {"title": "Better still"}, layer=Layer.REVIEW)
    moved = client.get(url).content.decode()
    card = moved.partition('id="c-post.title"')[2].partition("</article>")[0]
    assert NAME not in card
    assert "ended: the text has changed" in moved
    history = client.get(f"/admin/content/post/{post.pk}/revisions/").content.decode()
    assert "Advice of a reviewer: 1 no, 1 comment" in history
    assert NAME in history


def test_advice_follows_a_proposal_to_review() -> None:
    post = make.post("Live title", slug="live")
    make.staged(post, {"title": "Proposed by an agent"})
    made = invite(post, layer="ai-review")
    answer(made, verdict__post__title="yes", comment__post__title="Just right.")

    layers.submit(post_id=post.pk, actor=make.actor("editor"))

    guest(made, 410)
    url = f"/admin/content/post/{post.pk}/review/?layer=review"
    page = ApiClient("editor").get(url).content.decode()
    card = page.partition('id="c-post.title"')[2].partition("</article>")[0]
    assert "Just right." in card


def test_links_are_made_and_revoked_in_the_admin() -> None:
    post = staged_post()
    client = ApiClient("editor")
    url = f"/admin/content/post/{post.pk}/reviewers/?layer=review"
    form = {"do": "create", "name": NAME, "seen": digest_of(post), "expiresInHours": "72"}

    page = client.send_form("POST", url, {**form, "paths": "post.title"}).content.decode()
    [address] = re.findall(r'value="([^"]+/preview/changes/[^"]+)"', page)
    link = ReviewerLink.objects.get()
    assert link.paths == ["post.title"]
    assert "excerpt" not in guest({"url": address}).lower()
    assert address not in client.get(url).content.decode()

    response = client.send_form("POST", url, {"do": "revoke", "value": str(link.pk)})
    assert response.status_code == 302
    guest({"url": address}, 410)
    stale = client.send_form("POST", url, {**form, "seen": "d2."})
    assert stale.status_code == 422
    assert ApiClient("translator").get(url).status_code == 403


def test_no_chosen_change_is_not_all_changes() -> None:
    post = staged_post()
    client = ApiClient("editor")
    url = f"/admin/content/post/{post.pk}/reviewers/?layer=review"
    [marker] = re.findall(r'<input type="hidden" name="(chosen)"', client.get(url).content.decode())
    form = {"do": "create", "name": NAME, "seen": digest_of(post), "expiresInHours": "72"}

    response = client.send_form("POST", url, {**form, marker: "1"})

    assert response.status_code == 422
    assert "at least one" in response.content.decode()
    assert not ReviewerLink.objects.exists()


def test_old_links_are_deleted_and_advice_stays_longer() -> None:
    post = staged_post()
    silent, answered = invite(post), invite(post)
    answer(answered, verdict__post__title="yes")
    ReviewerLink.objects.update(expires_at=timezone.now() - timedelta(days=links.KEPT_DAYS + 1))
    assert links.forget_old_links() == 1
    assert str(ReviewerLink.objects.get().pk) == answered["id"] != silent["id"]
    ReviewerLink.objects.update(expires_at=timezone.now() - timedelta(days=links.ADVICE_DAYS + 1))
    assert links.forget_old_links() == 1
    assert not ReviewerAdvice.objects.exists()
    assert links.forget_old_links() == 0
