"""Releases in the admin: list, page of one, conflicts, time, publication and undo, and adding from other pages."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import urlsplit

import pytest
from django.test import Client
from django.urls import reverse

from content.models import Layer, Post, Status
from proofroom.accounts.models import User
from proofroom.core.models import Event
from proofroom.notifications.models import Notification
from proofroom_apps.menus.models import Menu
from proofroom_apps.releases.models import Release, ReleaseItem, ReleasePreviewLink, ReleaseState
from proofroom_apps.releases.services import add_item, create_release
from tests import make
from tests.admin.test_notifications import tell
from tests.releases.scenes import changed_post, digest_of, menu, pass_time, proposed, tick

pytestmark = pytest.mark.django_db

LIST = "/admin/proofroom_releases/release/"


@pytest.fixture
def client() -> Client:
    signed_in = Client()
    signed_in.force_login(make.user("editor"))
    return signed_in


def release_of(*items: tuple[str, Post]) -> Release:
    editor = make.actor("editor")
    release = create_release(name="Spring launch", actor=editor)
    for kind, post in items:
        add_item(
            release_id=release.pk,
            kind=kind,
            object_id=post.pk,
            digest=digest_of(post) if kind == "changes" else None,
            actor=editor,
        )
    return release


def page_of(release: Release) -> str:
    return reverse("admin:proofroom_releases_release_change", args=[release.pk])


def text_of(answer: Any) -> str:
    words = re.sub(r"<(script|style).*?</\1>|<[^>]+>", " ", answer.content.decode(), flags=re.S)
    return " ".join(words.split())


def press(client: Client, release: Release, action: str, **values: str) -> str:
    answer = client.post(page_of(release), {"action": action, **values}, follow=True)
    assert answer.status_code == 200
    return text_of(answer)


def test_a_release_is_created_and_listed(client: Client) -> None:
    answer = client.post(f"{LIST}add/", {"name": "Spring launch"})

    release = Release.objects.get()
    assert answer["Location"] == page_of(release)
    shown = text_of(client.get(LIST))
    assert "Spring launch" in shown
    assert "In preparation" in shown


def test_the_page_publishes_and_undoes(client: Client) -> None:
    draft = make.post("Draft", slug="draft", status="draft")
    release = release_of(("post", draft))

    assert "All items are live." in press(client, release, "publish")
    assert Post.objects.get(pk=draft.pk).status == Status.PUBLISHED
    assert "Undone." in press(client, release, "undo")
    assert Post.objects.get(pk=draft.pk).status == Status.DRAFT


def test_the_page_names_a_conflict_and_removes_its_item(client: Client) -> None:
    post = changed_post()
    release = release_of(("changes", post))
    assert "could not go live" not in text_of(client.get(page_of(release)))
    make.staged(post, {"title": "Newer"}, layer=Layer.REVIEW)

    shown = text_of(client.get(page_of(release)))
    assert "1 item could not go live now." in shown
    assert "Changed or decided since it was added: Title." in shown
    assert "New title" in press(client, release, "publish")
    assert Post.objects.get(pk=post.pk).title == post.title

    press(client, release, f"remove|changes:{post.pk}")
    assert not ReleaseItem.objects.exists()


def test_a_time_is_set_in_the_readers_zone(client: Client) -> None:
    release = release_of(("post", make.post("Draft", slug="draft", status="draft")))

    shown = press(client, release, "schedule", at="2098-07-01T09:00", time_zone="Europe/Berlin")

    release.refresh_from_db()
    assert release.at is not None
    assert (release.at.isoformat(), release.time_zone, release.state) == (
        "2098-07-01T07:00:00+00:00",
        "Europe/Berlin",
        ReleaseState.SCHEDULED,
    )
    assert "go live at this time" in shown
    press(client, release, "unschedule")
    unplanned = Release.objects.get(pk=release.pk)
    assert (unplanned.at, unplanned.state) == (None, ReleaseState.OPEN)


@pytest.mark.parametrize("at", ["", "soon", "2001-01-01T09:00"])
def test_a_wrong_time_is_refused(client: Client, at: str) -> None:
    release = release_of(("post", make.post("Draft", slug="draft", status="draft")))

    assert "Choose a" in press(client, release, "schedule", at=at, time_zone="UTC")

    release.refresh_from_db()
    assert release.state == ReleaseState.OPEN


def test_waiting_changes_and_inactive_redirects_are_offered(client: Client) -> None:
    main, release = menu(), release_of()
    proposed(main)
    redirect = make.redirect("/old", "/new", active=False)
    make.redirect("/used", "/new")

    shown = client.get(page_of(release)).content.decode()
    assert f'value="menu:{main.pk}"' in shown
    assert f'value="redirect:{redirect.pk}"' in shown
    assert "/used" not in shown

    press(client, release, "add", item=f"menu:{main.pk}")
    assert ReleaseItem.objects.get().title == str(main)
    assert f'value="menu:{main.pk}"' not in client.get(page_of(release)).content.decode()


def test_accepted_changes_are_added_on_the_review(client: Client) -> None:
    post = changed_post(excerpt="New excerpt")
    release = release_of()
    review = f"{reverse('admin:content_post_review', args=[post.pk])}?layer=review"
    assert "Add accepted changes to the release" in text_of(client.get(review))

    body = {
        "action": "release",
        "release": str(release.pk),
        "digest": digest_of(post),
        "post.title": "accept",
    }
    shown = text_of(client.post(review, body, follow=True))

    assert "Added to the release “Spring launch”." in shown
    item = ReleaseItem.objects.get()
    assert (item.kind, item.object_id, item.paths) == ("changes", post.pk, ["post.title"])
    assert "Changes of this post are in: Spring launch" in shown


def test_without_an_accepted_change_nothing_is_added(client: Client) -> None:
    post, release = changed_post(), release_of()
    review = f"{reverse('admin:content_post_review', args=[post.pk])}?layer=review"
    body = {"action": "release", "release": str(release.pk), "digest": digest_of(post)}

    shown = text_of(client.post(review, body))

    assert "Accept the changes that are to go live with the release." in shown
    assert not ReleaseItem.objects.exists()


def test_drafts_of_the_list_are_added(client: Client) -> None:
    release = release_of()
    drafts = [make.post(f"Draft {n}", slug=f"draft-{n}", status="draft") for n in range(2)]
    live = make.post("Live", slug="live")
    chosen = [str(post.pk) for post in (*drafts, live)]
    posts = reverse("admin:content_post_changelist")

    asked = client.post(posts, {"action": "add_to_release", "_selected_action": chosen})
    assert "Spring launch" in text_of(asked)
    answer = client.post(
        f"{LIST}add-posts/", {"posts": ",".join(chosen), "release": str(release.pk)}, follow=True
    )

    shown = text_of(answer)
    assert "2 drafts added to the release." in shown
    assert "Live: Only a draft can be published by a release." in shown
    assert {item.object_id for item in ReleaseItem.objects.all()} == {post.pk for post in drafts}


def test_a_translator_sees_no_release() -> None:
    release = release_of()
    translator = Client()
    translator.force_login(make.user("translator"))

    for address in (LIST, page_of(release), f"{LIST}add/", f"{LIST}add-posts/"):
        assert translator.get(address).status_code == 403


def test_the_maker_of_a_failed_release_is_notified() -> None:
    post = changed_post()
    release = release_of(("changes", post))
    address = f"/api/releases/{release.pk}"
    Release.objects.filter(pk=release.pk).update(
        state=ReleaseState.SCHEDULED, at="2099-01-01T00:00:00Z", scheduled_by=make.user("editor").pk
    )
    ReleaseItem.objects.update(approved_by=make.user("editor"))
    make.edited(post, {"title": "Typed over"})
    pass_time(address)
    assert tick() == 0

    tell()

    [row] = Notification.objects.filter(kind="release.failed")
    assert row.user_id == make.user("editor").pk
    client = Client()
    client.force_login(User.objects.get(pk=row.user_id))
    shown = text_of(client.get(reverse("admin:notifications")))
    assert "The release “Spring launch” could not go live" in shown
    assert Event.objects.filter(name="release.failed").count() == 1


def test_the_page_takes_as_many_queries_for_a_hundred_items(
    client: Client, django_assert_num_queries: Any
) -> None:
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    release = release_of(("post", make.post("Draft", slug="draft", status="draft")))
    client.get(page_of(release))
    with CaptureQueriesContext(
        connection,
    ) as few:
        client.get(page_of(release))
    item = ReleaseItem.objects.get()
    posts = [make.post("Post", slug=f"post-{n}", status="draft") for n in range(20)]
    make.copies(item, 20, object_id=lambda place: posts[place].pk)

    with django_assert_num_queries(len(few)):
        client.get(page_of(release))


def test_a_change_of_a_menu_is_kept_for_a_release(client: Client) -> None:
    main = menu()
    address = reverse("admin:proofroom_menus_menu_change", args=[main.pk])
    page = client.get(address)
    assert "Keep for a release" in text_of(page)
    sent = dict(
        re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)"', page.content.decode())
    )

    body = {**sent, "do": "save", "name": "Main, new", "slug": main.slug, "locale": main.locale}
    answer = client.post(address, {**body, "for_release": "1"}, follow=True)

    assert "Kept for a release." in text_of(answer)
    assert Menu.objects.get(pk=main.pk).name == "Main"
    # A second change would replace the one that waits.
    assert "Keep for a release" not in text_of(client.get(address))
    release = release_of()
    press(client, release, "add", item=f"menu:{main.pk}")
    press(client, release, "publish")
    assert Menu.objects.get(pk=main.pk).name == "Main, new"


def test_the_preview_shows_the_site_in_a_frame_and_shares_it(client: Client) -> None:
    post = changed_post()
    release = release_of(("changes", post))
    shown = client.get(page_of(release)).content.decode()
    page = reverse("admin:proofroom_releases_release_preview", args=[release.pk])
    assert f'href="{page}"' in shown

    preview = client.get(page, {"width": "390"}).content.decode()
    [frame] = re.findall(r'preview-390"><iframe src="([^"]+)"', preview)
    inside = client.get(f"{frame}{post.path[1:]}")
    assert "<title>New title" in inside.content.decode()
    assert "Preview: Spring launch · no date yet" in text_of(inside)
    assert f'href="{frame}"' in inside.content.decode()
    assert inside.headers["Cache-Control"].startswith("no-store")
    assert "script-src 'none'" in inside.headers["Content-Security-Policy"]
    assert inside.headers["X-Frame-Options"] == "SAMEORIGIN"

    # As the button “Copy link” sends it.
    sent = dict(re.findall(r'<input type="hidden" name="(do|expiresInHours)" value="(\w+)"', shown))
    made = client.post(page, sent).content.decode()
    [address] = re.findall(r'id="made-link" class="wide" value="([^"]+)"', made)
    link = ReleasePreviewLink.objects.get()
    assert "Copied." in made
    shared = f"{urlsplit(address).path}{post.path[1:]}"
    assert "<title>New title" in Client().get(shared).content.decode()
    assert "1 time" in text_of(client.get(page))

    client.post(page, {"do": "revoke", "value": str(link.pk)})
    assert Client().get(shared).status_code == 404
    assert client.post(page, {"do": "create", "expiresInHours": "0"}).status_code == 422
    client.force_login(make.user("translator"))
    assert [client.get(address).status_code for address in (page, frame)] == [403, 403]
