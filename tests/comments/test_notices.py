"""Notices of comments outside of the admin: the API, mails and the chat."""

from __future__ import annotations

from typing import Any

import pytest
from django.core.mail import EmailMessage

from proofroom.core.actor import Actor
from proofroom.core.content_scope import ContentScope
from proofroom.core.models import Event
from proofroom.notifications.mail import mail_notifications
from proofroom.notifications.queries import (
    count_unread,
    count_unseen,
    describe,
    visible_notifications,
)
from proofroom.notifications.services import add_notifications
from proofroom.webhooks.chat import sentence_of
from proofroom.webhooks.models import Delivery
from tests import make
from tests.api_client import ApiClient
from tests.comments.talk import say

pytestmark = pytest.mark.django_db


def notify() -> None:
    add_notifications(list(Event.objects.filter(name__startswith="comment.").order_by("pk")))


def test_the_api_names_mentions_assignments_and_dates_by_kind() -> None:
    post = make.post("Coffee")
    client = ApiClient("translator")

    say(post, "@translator look", assignee="translator")
    notify()

    rows = client.read("/api/notifications")["data"]
    assert {(row["kind"], row["title"], row["postId"]) for row in rows} == {
        ("mention", "editor mentioned you on “Coffee”", str(post.pk)),
        ("assignment", "A comment on “Coffee” is assigned to you", str(post.pk)),
    }
    assert {row["url"] for row in rows} == {f"/admin/content/post/{post.pk}/change/#comments"}


def test_a_mention_is_mailed_at_once_without_the_words(
    settings: Any, mailoutbox: list[EmailMessage]
) -> None:
    settings.HAS_EMAIL = True
    translator = make.user("translator")
    say(make.post("Coffee"), "@translator canary words")
    notify()

    assert mail_notifications() == 1

    (message,) = mailoutbox
    assert (message.to, message.subject) == (
        [translator.email],
        "editor mentioned you on “Coffee”",
    )
    assert "canary" not in str(message.message())


def test_the_chat_names_the_post_and_who_is_mentioned(settings: Any) -> None:
    env = {"chat_webhook_url": "https://chat.example/hook"}
    settings.CMS_ENV = settings.CMS_ENV.model_copy(update=env)
    make.user("translator")
    post = make.post("Coffee")
    say(post, "@translator canary words")
    event = Event.objects.get(name="comment.created")

    add_notifications([event])

    assert [row.event_name for row in Delivery.objects.all()] == ["comment.created"]
    assert sentence_of(event) == (
        "editor mentioned translator in a comment on “Coffee”: "
        f"{settings.SITE_URL}/admin/content/post/{post.pk}/change/#comments"
    )


def test_the_bell_counts_no_notices_of_files_that_the_list_hides() -> None:
    blog, other = make.post(), make.post(type="page", slug="other")
    scope = ContentScope(types=frozenset({"blog"}))
    make.site_role("bloggers", "posts.view", "comments.view", "media.view", scope=scope)
    reader = make.user("bloggers")
    picture = make.image("cup.png")
    say(blog, f"@{reader.username} look")
    say(picture, f"@{reader.username} look")
    notify()
    actor = Actor(reader, "admin")
    assert (count_unseen(actor), count_unread(actor)) == (2, 2)

    # Now only a post outside of the scope uses the file.
    make.edited(other, {"featuredMediaId": str(picture.pk)})

    assert len(describe(list(visible_notifications(actor)), actor)) == 1
    assert (count_unseen(actor), count_unread(actor)) == (1, 1)


def test_hostile_words_are_text_in_mails_and_chats(
    settings: Any, mailoutbox: list[EmailMessage]
) -> None:
    settings.HAS_EMAIL = True
    make.user("translator")
    title = "<img src=x onerror=alert(1)> *[x](https://evil.example)*"
    say(make.post(title), "<script>alert(1)</script> @translator")
    notify()

    assert mail_notifications() == 1

    (message,) = mailoutbox
    html = str(message.alternatives[0][0])  # type: ignore[attr-defined]  # of EmailMultiAlternatives
    assert "<img src=x" not in html
    assert "&lt;img src=x onerror=alert(1)&gt;" in html
    assert "\n" not in message.subject
    sentence = sentence_of(Event.objects.get(name="comment.created"))
    for markup in ("<img", "](", "*[", "evil.example", "script"):
        assert markup not in sentence


def test_the_events_of_a_file_do_not_name_it() -> None:
    make.user("translator")
    say(make.image("secret-canary.png"), "@translator canary words")

    event = Event.objects.get(name="comment.created")

    assert "canary" not in str(event.payload)
    assert sentence_of(event) == "editor mentioned translator in a comment."
