"""The end of API tokens and sessions."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from proofroom.accounts.models import ApiToken, User
from proofroom.accounts.services.tokens import revoke_token
from proofroom.accounts.services.users import change_user
from proofroom.core.models import Event
from tests import make
from tests.accounts.bearer import program, token_of
from tests.api.refusals import error
from tests.api_client import ApiClient

pytestmark = pytest.mark.django_db


def test_unknown_expired_revoked_and_dead_tokens_get_one_answer() -> None:
    editor = make.user("editor")
    soon = timezone.now() + timedelta(hours=1)
    expired, revoked, demoted, off = (token_of(editor, expires_at=soon) for _ in range(4))
    program(expired[1]).read("/api/auth/me")
    ApiToken.objects.filter(pk=expired[0].pk).update(expires_at=timezone.now())
    revoke_token(token_id=revoked[0].pk, actor=make.actor("admin"))
    ApiToken.objects.filter(pk=demoted[0].pk).update(role="admin")
    ApiToken.objects.filter(pk=off[0].pk).update(user=make.user("translator"), role="translator")
    User.objects.filter(username="translator").update(is_active=False)

    answers = [
        program(secret).get("/api/auth/me")
        for secret in ("cms_unknown", expired[1], revoked[1], demoted[1], off[1])
    ]

    assert {answer.status_code for answer in answers} == {401}
    assert len({answer.content for answer in answers}) == 1


@pytest.mark.parametrize(
    "change",
    [{"is_active": False}, {"role": "translator"}, {"role": "admin"}, {"role": "ai_agent"}, None],
    ids=str,
)
def test_threat_43_a_token_dies_at_once_with_what_it_stood_on(
    change: dict[str, Any] | None,
) -> None:
    user = make.user("editor")
    _, secret = token_of(user, "posts.view")
    client = program(secret)
    client.read("/api/posts")

    if change is None:
        user.delete()
    else:
        User.objects.filter(pk=user.pk).update(**change)

    error(client.get("/api/posts"), 401, "invalid_token")
    error(program(secret, "admin").get("/api/posts"), 401, "invalid_token")


@pytest.mark.parametrize("change", [{"is_active": False}, {"role": "translator"}], ids=str)
def test_threat_55_what_comes_back_brings_no_token_and_no_session(change: dict[str, Any]) -> None:
    user, admin = make.user("editor"), make.actor("admin")
    _, secret = token_of(user, "posts.view")
    session, client = ApiClient("editor"), program(secret)

    change_user(user_id=user.pk, actor=admin, **change)
    back = {"is_active": True} if "is_active" in change else {"role": "editor"}
    change_user(user_id=user.pk, actor=admin, **back)

    session.read("/api/auth/me", expect=401)
    error(client.get("/api/auth/me"), 401, "invalid_token")
    assert ApiToken.objects.get().revoked_at is not None
    ApiClient("editor").read("/api/auth/me")


def test_threat_14_another_account_with_the_number_of_a_deleted_one_inherits_nothing() -> None:
    user = make.user("editor")
    _, secret = token_of(user, "posts.view")
    session, number = ApiClient("editor"), user.pk
    user.delete()

    heir = User(pk=number, email="heir@example.com", username="heir", role="editor")
    heir.set_password(make.PASSWORD)
    heir.save(force_insert=True)

    session.read("/api/auth/me", expect=401)
    error(program(secret).get("/api/auth/me"), 401, "invalid_token")
    assert ApiClient("admin").read(f"/api/tokens?userId={number}")["data"] == []


def test_revoking_twice_is_one_revocation() -> None:
    token, secret = token_of(make.user("editor"))
    admin = ApiClient("admin")

    first = admin.write("DELETE", f"/api/tokens/{token.pk}")
    again = admin.write("DELETE", f"/api/tokens/{token.pk}")

    assert (first["state"], first["revokedAt"]) == ("revoked", again["revokedAt"])
    assert Event.objects.filter(name="token.revoked").count() == 1
    error(program(secret).get("/api/auth/me"), 401, "invalid_token")
    assert admin.read("/api/tokens?active=true")["data"] == []
    assert len(admin.read("/api/tokens?active=false")["data"]) == 1
