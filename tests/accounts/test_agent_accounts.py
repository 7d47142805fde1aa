"""An agent's account is created once, also by concurrent callers, and takes no existing names."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from django.db import connection
from django.test import Client

from agents_app.definitions.agents import account_of, bootstrap_agent_users, get_agent
from proofroom.accounts.models import User
from proofroom.accounts.services.agents import ensure_agent_user, rename_agent_user
from proofroom.accounts.services.users import change_user
from proofroom.core.errors import RuleViolation
from proofroom.core.models import Event
from tests import make


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("field", "value"), [("email", "Editor@Example.com"), ("username", "editor")]
)
def test_a_name_of_another_account_is_refused_in_plain_words(field: str, value: str) -> None:
    make.user("editor")
    before = User.objects.count()

    with pytest.raises(RuleViolation, match="another account has it") as caught:
        ensure_agent_user(agent_id="new-agent", **{field: value})

    assert caught.value.code == f"{field}_taken"
    assert list(caught.value.details) == [f"userAccount.{field}"]
    assert User.objects.count() == before


@pytest.mark.django_db
def test_one_agent_without_an_account_keeps_nobody_from_starting(
    caplog: pytest.LogCaptureFixture,
) -> None:
    agent = get_agent("seo-specialist")
    assert agent is not None
    User.objects.filter(agent_id=agent.id).delete()
    taken = agent.user_account.username or f"agent:{agent.id}"
    User.objects.create(email="person@example.com", username=taken, role="editor")

    with pytest.raises(RuleViolation):
        account_of(agent)
    bootstrap_agent_users()

    assert "Cannot create the account of agent" in caplog.text


@pytest.mark.django_db
def test_an_account_follows_the_names_in_its_file_and_what_was_written_keeps_the_old_ones() -> None:
    user = ensure_agent_user(agent_id="named-agent")
    before = user.pk

    rename_agent_user(agent_id="named-agent", email="New@Example.com", username="robot")
    rename_agent_user(agent_id="named-agent")
    rename_agent_user(agent_id="nobody")

    user.refresh_from_db()
    assert (user.pk, user.email, user.username) == (before, "new@example.com", "robot")
    (event,) = Event.objects.filter(name="user.changed")
    assert event.payload["changed"] == ["email", "username"]


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("field", "value"), [("email", "editor@example.com"), ("username", "editor")]
)
def test_no_account_takes_the_name_of_a_person_later(field: str, value: str) -> None:
    make.user("editor")
    user = ensure_agent_user(agent_id="named-agent")

    with pytest.raises(RuleViolation) as caught:
        rename_agent_user(agent_id="named-agent", **{field: value})

    assert (caught.value.code, list(caught.value.details)) == (
        f"{field}_taken",
        [f"userAccount.{field}"],
    )
    after = User.objects.get(pk=user.pk)
    assert (after.email, after.username) == (user.email, "agent:named-agent")


@pytest.mark.django_db
def test_an_account_with_the_name_of_the_specification_can_be_switched_off() -> None:
    user = ensure_agent_user(agent_id="named-agent")

    change_user(user_id=user.pk, is_active=False, actor=make.actor("admin"))

    user.refresh_from_db()
    assert (user.username, user.is_active) == ("agent:named-agent", False)


@pytest.mark.django_db
def test_no_credential_of_an_agent_opens_a_session() -> None:
    """Neither the login of the API nor that of the admin, even with a password set directly in the database."""
    user = ensure_agent_user(agent_id="named-agent")
    user.set_password(make.PASSWORD)
    user.save()
    body = {"email": user.email, "password": make.PASSWORD}

    api, admin = Client(), Client()
    answer = api.post("/api/auth/login", body, content_type="application/json")
    page = admin.post("/admin/login/", {"username": user.email, "password": make.PASSWORD})
    admin.force_login(user)

    assert answer.status_code == 401
    assert (page.status_code, "sessionid" in page.cookies) == (200, False)
    assert admin.get("/admin/").status_code == 302
    assert admin.get("/api/posts").status_code == 401


@pytest.mark.services
@pytest.mark.django_db(transaction=True)
def test_two_workers_at_once_make_one_account() -> None:
    barrier = Barrier(4)

    def make_it(_: int) -> int:
        try:
            barrier.wait()
            return ensure_agent_user(agent_id="raced-agent").pk
        finally:
            connection.close()

    for _ in range(10):
        User.objects.filter(agent_id="raced-agent").delete()
        with ThreadPoolExecutor(4) as pool:
            made = set(pool.map(make_it, range(4)))
        assert len(made) == 1
