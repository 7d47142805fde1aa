"""Data that is deleted by age: feedback, invitations and sessions."""

from __future__ import annotations

from datetime import timedelta

import pytest
from allauth.usersessions.models import UserSession
from django.contrib.sessions.models import Session
from django.utils import timezone

from proofroom.accounts.models import Invitation
from proofroom.accounts.services.invitations import create_invitation
from proofroom.accounts.tasks import purge_sign_ins
from proofroom_apps.comments.models import Comment
from proofroom_apps.comments.tasks import prune_comments
from proofroom_apps.feedback.models import Feedback
from proofroom_apps.feedback.services import change_feedback, create_feedback
from proofroom_apps.feedback.tasks import prune_feedback
from tests import make
from tests.api_client import ApiClient
from tests.comments.talk import say
from tests.privacy.test_declarations import change_environment

pytestmark = pytest.mark.django_db
LONG_AGO = timedelta(days=40)


def test_only_resolved_feedback_is_deleted_and_only_if_wanted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    editor = make.actor("editor")
    post = str(make.post().pk)
    notes = [create_feedback(post_id=post, content=text, actor=editor) for text in "abc"]
    for note in notes[:2]:
        change_feedback(feedback_id=note.pk, status="resolved", actor=editor)
    Feedback.objects.update(created_at=timezone.now() - LONG_AGO)
    Feedback.objects.filter(pk=notes[0].pk).update(resolved_at=timezone.now() - LONG_AGO)

    assert prune_feedback() == 0
    change_environment(monkeypatch, feedback_days=30)
    assert prune_feedback() == 1

    assert {row.content for row in Feedback.objects.all()} == {"b", "c"}


def test_only_resolved_comments_are_deleted_with_their_replies_and_only_if_wanted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    post = make.post()
    old, new, opened = (say(post, text) for text in ("old", "new", "open"))
    say(post, "a reply", parentId=old["id"])
    for thread in (old, new):
        sent = {"status": "resolved"}
        ApiClient("editor").write("PATCH", f"/api/comments/{thread['id']}", sent)
    Comment.objects.update(created_at=timezone.now() - LONG_AGO)
    Comment.objects.filter(pk=old["id"]).update(resolved_at=timezone.now() - LONG_AGO)

    assert prune_comments() == 0
    change_environment(monkeypatch, comment_days=30)
    assert prune_comments() == 1

    assert {str(pk) for pk in Comment.objects.values_list("pk", flat=True)} == {
        new["id"],
        opened["id"],
    }


def test_only_ended_invitations_are_deleted_and_only_if_wanted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    admin = make.actor("admin", via="admin")
    for name in ("old", "new"):
        create_invitation(email=f"{name}@example.com", role="editor", actor=admin)
    old = Invitation.objects.filter(email="old@example.com")
    old.update(expires_at=timezone.now() - LONG_AGO)

    purge_sign_ins()
    assert Invitation.objects.count() == 2
    change_environment(monkeypatch, invitation_days=30)
    purge_sign_ins()

    assert [row.email for row in Invitation.objects.all()] == ["new@example.com"]


def test_expired_sessions_go_with_their_address_and_browser() -> None:
    for role in ("editor", "translator"):
        key = ApiClient(role).session.session_key
        user = make.user(role)
        UserSession.objects.create(user=user, session_key=key, ip="192.0.2.1", user_agent="x")
    ended = UserSession.objects.get(user=make.user("editor"))
    Session.objects.filter(session_key=ended.session_key).update(
        expire_date=timezone.now() - timedelta(days=2)
    )
    UserSession.objects.update(created_at=timezone.now() - LONG_AGO)

    assert purge_sign_ins() == 1

    assert [row.user.username for row in UserSession.objects.all()] == ["translator"]
