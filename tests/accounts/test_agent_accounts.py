"""The account of an agent is made once, whoever asks first, and takes nobody else's names."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from django.db import connection

from accounts.models import User
from accounts.services import ensure_agent_user
from agents_app.definitions.files import get_agent
from agents_app.definitions.switches import account_of, bootstrap_agent_users
from core.errors import RuleViolation
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
    taken = agent.user_account.username or f"agent+{agent.id}"
    User.objects.create(email="person@example.com", username=taken, role="editor")

    with pytest.raises(RuleViolation):
        account_of(agent)
    bootstrap_agent_users()

    assert "has no account" in caplog.text


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
