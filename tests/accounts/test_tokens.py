"""API tokens: their permissions, their limits, and their end."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from content.models import Layer, Post
from proofroom.accounts.models import ApiToken, User
from proofroom.accounts.services.tokens import revoke_token
from proofroom.accounts.services.users import change_user
from proofroom.core.models import Event
from tests import make
from tests.accounts.bearer import program, token_of
from tests.api.refusals import error, stored
from tests.api_client import ApiClient

pytestmark = pytest.mark.django_db


def test_a_token_needs_no_csrf_token_and_writes_as_its_person() -> None:
    _, secret = token_of(make.user("editor"), "posts.create", "posts.edit", "posts.view")

    made = program(secret).write(
        "POST", "/api/posts", {"type": "blog", "title": "By a program"}, expect=201
    )

    assert Post.objects.get(pk=made["id"]).title == "By a program"
    assert Event.objects.get(name="post.created").actor == make.user("editor")


def test_a_token_narrows_and_never_widens() -> None:
    post = make.post()
    _, secret = token_of(make.user("editor"), "posts.view")
    client, before = program(secret), stored()

    client.read(f"/api/posts/{post.pk}")
    for method, path, body in (
        ("PUT", f"/api/posts/{post.pk}", {"title": "x"}),
        ("DELETE", f"/api/posts/{post.pk}", None),
        ("POST", "/api/posts", {"type": "blog", "title": "x"}),
        ("PUT", f"/api/posts/{post.pk}/review", {"title": "x"}),
        ("GET", "/api/users", None),
    ):
        error(client.send(method, path, body), 403, "not_allowed")

    assert stored() == before


def test_a_token_that_may_only_create_creates_and_changes_nothing() -> None:
    _, secret = token_of(make.user("editor"), "posts.view", "posts.create")
    client, original = program(secret), make.post()

    made = client.write("POST", "/api/posts", {"type": "blog", "title": "New"}, expect=201)
    document = client.read(f"/api/posts/{made['id']}/export")
    for module in document["modules"]:
        module["locked"] = False
    imported = {"document": document, "slug": "imported"}
    client.write("POST", "/api/posts/import", imported, expect=201)
    client.write("POST", f"/api/posts/{original.pk}/variations", {"variation": "B"}, expect=201)

    before = stored()
    locked = [{"type": "hero", "locked": True}]
    for method, path, body in (
        ("PUT", f"/api/posts/{made['id']}", {"title": "x"}),
        ("POST", "/api/posts", {"type": "blog", "title": "x", "status": "published"}),
        ("POST", "/api/posts", {"type": "blog", "title": "x", "modules": locked}),
    ):
        error(client.send(method, path, body), 403, "not_allowed")
    assert stored() == before


def test_reading_is_narrowed_as_well() -> None:
    """Where no service checks the permission, the endpoint's check includes the token."""
    _, secret = token_of(make.user("admin"), "posts.view")

    for path in ("/api/users", "/api/tokens", "/api/roles", "/api/agents"):
        error(program(secret).get(path), 403, "not_allowed")
        assert ApiClient("admin").get(path).status_code == 200


def test_a_wider_right_than_the_services_question_is_still_narrowed() -> None:
    """The endpoint accepts one of two permissions; the service requires the one for the change."""
    post = make.post()
    _, secret = token_of(make.user("editor"), "posts.view", "posts.translate")
    before = stored()

    answer = program(secret).send("PUT", f"/api/posts/{post.pk}", {"title": "x"})

    assert answer.status_code == 403
    assert stored() == before


@pytest.mark.parametrize(
    "sent", ["", "x", "cms_", "cms_" + "x" * 43, "x" * 5000, "cms_\xff", "a b"]
)
@pytest.mark.parametrize("session", [None, "admin"], ids=["alone", "with-a-session"])
def test_a_wrong_token_is_401_whatever_session_came_with_it(sent: str, session: str | None) -> None:
    make.post()
    token_of(make.user("editor"))

    response = program(sent, session).get("/api/posts")

    error(response, 401, "invalid_token")
    assert response["WWW-Authenticate"] == "Bearer"


def test_approving_needs_a_session() -> None:
    post = make.post()
    make.staged(post, {"title": "Waits"}, layer=Layer.REVIEW)
    editor = ApiClient("editor")
    digest = editor.read(f"/api/posts/{post.pk}/changes?layer=review")["digest"]
    _, secret = token_of(make.user("editor"))
    path, before = f"/api/posts/{post.pk}/review/approve", stored()
    later = {"digest": digest, "at": "2099-01-01T08:00:00Z"}

    error(program(secret).send("POST", path, {"digest": digest}), 403, "session_required")
    dated = f"/api/posts/{post.pk}/review/schedule"
    error(program(secret).send("POST", dated, later), 403, "session_required")
    # The token also takes precedence over a session of the same person.
    error(program(secret, "editor").send("POST", path, {"digest": digest}), 403, "session_required")
    assert stored() == before

    editor.write("POST", path, {"digest": digest})
    assert Post.objects.get(pk=post.pk).title == "Waits"


def test_a_token_makes_no_tokens_no_accounts_and_no_passwords() -> None:
    target = make.user("editor", "target")
    kept, _ = token_of(target)
    _, secret = token_of(make.user("admin"))
    client = program(secret)
    before = stored(), list(User.objects.order_by("pk").values("pk", "password", "role"))
    new = {"email": "x@example.com", "username": "x", "role": "admin", "password": "long-enough-1"}

    client.read("/api/users")
    client.read("/api/tokens")
    for method, path, body in (
        ("POST", "/api/tokens", {"name": "x", "permissions": ["posts.view"]}),
        ("DELETE", f"/api/tokens/{kept.pk}", None),
        ("POST", "/api/users", new),
        ("PATCH", f"/api/users/{target.pk}", {"password": "a-long-enough-one"}),
        ("PATCH", f"/api/users/{target.pk}", {"role": "admin"}),
        ("DELETE", f"/api/users/{target.pk}", None),
    ):
        error(client.send(method, path, body), 403, "session_required")

    after = stored(), list(User.objects.order_by("pk").values("pk", "password", "role"))
    assert after == before
    assert ApiToken.objects.filter(revoked_at=None).count() == 2


def test_a_token_does_not_open_the_admin() -> None:
    _, secret = token_of(make.user("admin"))

    response = program(secret).get("/admin/")

    assert response.status_code == 302
    assert response["Location"].startswith("/admin/login/")


def test_use_is_noted_at_most_once_a_minute_in_one_more_statement() -> None:
    token, secret = token_of(make.user("editor"), "posts.view")
    client = program(secret)
    counts = []

    for _ in range(3):
        with CaptureQueriesContext(connection) as caught:
            client.read("/api/posts")
        writes = [query["sql"] for query in caught if query["sql"].startswith("UPDATE")]
        counts.append((len(caught), len(writes)))
    first = ApiToken.objects.get().last_used_at
    ApiToken.objects.update(last_used_at=timezone.now() - timedelta(seconds=61))
    client.read("/api/posts")

    assert [writes for _, writes in counts] == [1, 0, 0]
    assert counts[1] == counts[2]
    assert first is not None
    assert ApiToken.objects.get(pk=token.pk).last_used_at >= first


def test_the_answer_comes_also_where_use_cannot_be_noted(monkeypatch: pytest.MonkeyPatch) -> None:
    from django.db import OperationalError
    from django.db.models import QuerySet

    def fail(*_: Any, **__: Any) -> int:
        raise OperationalError("database is locked")

    _, secret = token_of(make.user("editor"), "posts.view")
    monkeypatch.setattr(QuerySet, "update", fail)

    program(secret).read("/api/auth/me")


def test_threat_47_the_triggers_secret_is_no_token_and_a_token_no_secret(settings: Any) -> None:
    settings.CMS_ENV = settings.CMS_ENV.model_copy(
        update={"agent_trigger_secret": "of-the-trigger"}
    )
    post = make.post()
    _, secret = token_of(make.user("admin"))
    path, body = "/api/public/agents/seo-specialist/run", {"postId": str(post.pk)}

    started = program("of-the-trigger").send("POST", path, body)

    assert started.status_code == 201
    error(program(secret).send("POST", path, body), 401, "not_authenticated")
    error(program("of-the-trigger").get("/api/posts"), 401, "invalid_token")


def test_public_endpoints_do_not_look_at_tokens() -> None:
    make.post()

    assert len(program("cms_wrong").read("/api/public/posts")["data"]) == 1


def test_other_schemes_are_not_ours() -> None:
    client = ApiClient("editor")
    client.defaults["HTTP_AUTHORIZATION"] = "Basic eDp5"

    assert client.read("/api/auth/me")["username"] == "editor"


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
