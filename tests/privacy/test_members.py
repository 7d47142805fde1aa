"""Members of staff: their account ends at once, their names go, and their content stays."""

from __future__ import annotations

import json
from typing import Any
from zipfile import ZipFile

import pytest
from allauth.account.models import EmailAddress
from allauth.usersessions.models import UserSession
from django.contrib.auth import authenticate
from django.contrib.sessions.models import Session

from agents_app.models import AgentRun, RunPost
from content.layers import stage
from content.layers.reject import reject
from content.layers.revert import Before
from content.models import Draft, Layer, Provenance, RejectedChange, Revision
from content.posts.edit import edit_post
from content.store.layer_state import open_layers
from proofroom.accounts.models import ApiToken, User
from proofroom.accounts.services.users import change_user
from proofroom.core.activity.chain import seal_events, verify
from proofroom.core.actor import Actor
from proofroom.core.errors import NotAllowed, RuleViolation
from proofroom.core.models import Event
from proofroom_apps.feedback.models import Feedback
from proofroom_apps.feedback.services import create_feedback
from proofroom_apps.privacy.models import PersonalDataRequest
from proofroom_apps.privacy.services.export_file import open_export
from proofroom_apps.privacy.services.requests import start_request
from tests import make
from tests.accounts.bearer import token_of
from tests.api_client import ApiClient
from tests.privacy.scene import request

pytestmark = pytest.mark.django_db
EDITOR = "editor@example.com"


def names_stored(name: str) -> list[str]:
    """Return the tables and columns of the product with this text in any row."""
    from django.apps import apps
    from django.db.models import TextField
    from django.db.models.functions import Cast

    found = []
    for model in apps.get_models():
        if model._meta.proxy:
            continue
        for field in model._meta.concrete_fields:
            if field.is_relation or field.get_internal_type() == "BinaryField":
                continue
            rows = model._default_manager.annotate(as_text=Cast(field.name, TextField()))
            if rows.filter(as_text__icontains=name).exists():
                found.append(f"{model._meta.label}.{field.name}")
    return found


def work_of(name: str = "zelda") -> User:
    """Return an editor who left traces in many places."""
    user = make.user("editor", name)
    actor = Actor(user=user, via="admin")
    post = make.post()
    edit_post(
        post_id=post.pk,
        actor=actor,
        edit=lambda document: document.with_fields({"title": "Better title"}),
    )
    create_feedback(post_id=str(post.pk), content="A typo", actor=actor)
    return user


def test_everything_ends_at_once_and_the_names_go() -> None:
    user = work_of()
    client = ApiClient()
    client.force_login(user)
    assert client.get("/api/auth/me").status_code == 200
    session = client.session.session_key
    UserSession.objects.create(user=user, session_key=session, ip="192.0.2.1", user_agent="Lynx")
    _row, token = token_of(user)
    seal_events()
    assert "proofroom_core.Event.actor_name" in names_stored("zelda")

    job = request("erase", "zelda@example.com")

    assert job.state == "done", job.why
    assert client.get("/api/auth/me").status_code == 401
    assert ApiClient().get("/api/posts", HTTP_AUTHORIZATION=f"Bearer {token}").status_code == 401
    assert not ApiToken.objects.filter(user=user).exists()
    assert not UserSession.objects.filter(user=user).exists()
    assert not Session.objects.filter(session_key=session).exists()
    user.refresh_from_db()
    former = f"Former member {user.pk}"
    assert (user.username, user.is_active, user.has_usable_password()) == (former, False, False)
    assert user.email == f"former-member-{user.pk}@erased.invalid"
    assert authenticate(username="zelda@example.com", password=make.PASSWORD) is None
    # Content keeps its text and its author.
    assert Feedback.objects.get().author == user
    assert Provenance.objects.filter(author=user, author_name=former).exists()
    assert Revision.objects.filter(by=user, by_name=former).exists()
    assert names_stored("zelda") == []
    seal_events()
    verified = verify()
    assert verified.is_whole
    assert verified.pseudonymised > 0


def test_the_log_still_detects_changes_of_pseudonymised_entries() -> None:
    user = work_of()
    seal_events()
    request("erase", "zelda@example.com")
    seal_events()
    event = Event.objects.filter(actor=user).earliest("pk")

    Event.objects.filter(pk=event.pk).update(actor_name="Former member 1000")

    assert [one.code for one in verify().findings] == ["changed_facts"]


def test_an_erased_account_cannot_be_used_again() -> None:
    user = work_of()
    request("erase", "zelda@example.com")

    for change in (
        {"is_active": True},
        {"password": "another-long-password"},
        {"email": "x@example.com"},
    ):
        with pytest.raises(RuleViolation) as refused:
            change_user(user_id=user.pk, actor=make.actor("admin"), **change)
        assert refused.value.code == "erased_account"
    # The address is free for a new account.
    assert make.user("editor", "zelda").pk != user.pk


def test_the_export_of_a_member_has_no_secrets() -> None:
    user = work_of()
    client = ApiClient()
    client.force_login(user)
    client.get("/api/auth/me")
    token_of(user)
    job = request("export", "zelda@example.com")

    with ZipFile(open_export(job, make.actor("admin", via="admin"))) as archive:
        text = archive.read("data.json").decode()

    by_kind = {kind["kind"] for kind in json.loads(text)["data"]}
    assert {"accounts.account", "accounts.tokens", "activity.member", "content.history"} <= by_kind
    assert user.password not in text
    assert ApiToken.objects.get(user=user).hash not in text
    assert client.cookies["sessionid"].value not in text


def test_neither_ones_own_account_nor_an_agents_is_erased() -> None:
    emails = [make.user("admin").email, make.user("ai_agent", "seo-specialist").email]
    for email in emails:
        with pytest.raises(RuleViolation) as refused:
            request("erase", email)
        assert [*refused.value.details] == ["email"]

    assert not PersonalDataRequest.objects.exists()
    assert not User.objects.filter(is_active=False).exists()


def test_the_last_admin_is_refused() -> None:
    make.user("admin")
    make.site_role("keepers", "privacy.manage", "users.manage")
    keeper = Actor(user=make.user("keepers", "keeper"), via="admin")

    with pytest.raises((RuleViolation, NotAllowed)):
        start_request(
            email="admin@example.com", action="erase", actor=keeper, confirm="admin@example.com"
        )

    assert User.objects.get(email="admin@example.com").is_active


def test_who_may_not_manage_accounts_erases_and_exports_none() -> None:
    make.user("editor")
    make.site_role("keepers", "privacy.manage")
    keeper = Actor(user=make.user("keepers", "keeper"), via="admin")

    for action in ("export", "erase"):
        with pytest.raises(NotAllowed):
            start_request(email=EDITOR, action=action, actor=keeper, confirm=EDITOR)
    # A visitor's data is theirs to handle.
    done = start_request(
        email="v@example.com", action="erase", actor=keeper, confirm="v@example.com"
    )
    assert done.state == "done"
    assert User.objects.get(email=EDITOR).is_active


def test_a_program_may_not_erase_accounts() -> None:
    make.user("editor")
    _row, token = token_of(make.user("admin"))
    answer: Any = ApiClient().send(
        "POST",
        "/api/personal-data/requests",
        {"email": EDITOR, "action": "erase", "confirm": EDITOR},
        HTTP_AUTHORIZATION=f"Bearer {token}",
    )

    assert (answer.status_code, answer.json()["code"]) == (403, "session_required")
    assert User.objects.get(email=EDITOR).is_active


def test_marks_of_drafts_lose_the_name() -> None:
    user = make.user("editor", "zelda")
    post = make.post()
    stage(
        post_id=post.pk,
        layer=Layer.REVIEW,
        actor=Actor(user=user, via="admin"),
        edit=lambda document: document.with_fields({"title": "New title"}),
    )
    assert "zelda" in json.dumps(Draft.objects.get(is_empty=False).marks)

    request("erase", "zelda@example.com")

    marks = Draft.objects.get(is_empty=False).marks
    assert {mark["user"] for mark in marks.values()} == {f"Former member {user.pk}"}


def test_marks_of_rejections_and_runs_lose_the_name() -> None:
    user = make.user("editor", "zelda")
    post = make.post()
    stage(
        post_id=post.pk,
        layer=Layer.REVIEW,
        actor=Actor(user=user, via="admin"),
        edit=lambda document: document.with_fields({"title": "New title"}),
    )
    run = AgentRun.objects.create(agent_id="x", scope="dropdown", post=post, status="succeeded")
    view = open_layers(post).view(Layer.REVIEW)
    RunPost.objects.create(run=run, post=post, before=Before.of(view).to_json())
    reject(post_id=post.pk, layer=Layer.REVIEW, actor=make.actor("admin"))
    assert "zelda" in json.dumps(RejectedChange.objects.get().proposal)

    job = request("erase", "zelda@example.com")

    assert names_stored("zelda") == []
    former = f"Former member {user.pk}"
    assert former in json.dumps(RejectedChange.objects.get().proposal)
    assert former in json.dumps(RunPost.objects.get().before)
    assert {job.results[name]["erased"] for name in ("content.rejections", "agents.before")} == {1}


def test_an_address_that_another_account_claims_does_not_erase_the_account() -> None:
    user = make.user("editor", "zelda")
    EmailAddress.objects.create(user=user, email="Anna@example.com", verified=False)

    job = request("erase", "anna@example.com")

    user.refresh_from_db()
    assert (user.username, user.is_active, job.account_id) == ("zelda", True, None)
    assert job.results["accounts.unconfirmed"] == {"found": 1, "erased": 1}
    assert [*EmailAddress.objects.filter(user=user).values_list("email", flat=True)] == [
        "zelda@example.com"
    ]


def test_a_confirmed_second_address_finds_the_account() -> None:
    user = make.user("editor", "zelda")
    EmailAddress.objects.create(user=user, email="z@example.com", verified=True)

    assert request("search", "z@example.com").account_id == user.pk
