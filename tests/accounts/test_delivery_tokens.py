"""Delivery tokens give a frontend a rate of its own and open nothing else."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.conf import settings
from django.db import InterfaceError, InternalError, OperationalError, connection
from django.test import Client
from django.utils import timezone

from proofroom.accounts.models import ApiToken, DeliveryToken
from proofroom.accounts.services.delivery_tokens import create_delivery_token
from proofroom.core.api.permissions import PUBLIC
from proofroom.core.caching.answer_cache import answers
from proofroom.core.models import Event
from tests import make
from tests.accounts.bearer import program, token_of
from tests.api.refusals import error, refused
from tests.api_client import ApiClient
from tests.contract.addresses import addresses, filled

pytestmark = pytest.mark.django_db
NOW = 1_900_000_010.0


@pytest.fixture
def one_window(monkeypatch: pytest.MonkeyPatch) -> None:
    """Put all calls of a test into one window."""
    monkeypatch.setattr("proofroom.core.caching.rate_limits.time.time", lambda: NOW)


def secret_of(**values: Any) -> str:
    _, secret = create_delivery_token(name="Shop", actor=make.actor("admin"), **values)
    return secret


def test_a_token_is_made_shown_once_listed_and_revoked() -> None:
    admin = ApiClient("admin")

    made = admin.write("POST", "/api/tokens", {"name": " Shop ", "kind": "delivery"}, expect=201)
    secret = made.pop("token")

    assert secret.startswith("cmsd_")
    assert (made["kind"], made["name"], made["rate"]) == ("delivery", "Shop", "6000/minute")
    assert (made["userId"], made["username"], made["permissions"]) == (None, None, [])
    assert (made["state"], made["hint"]) == ("active", secret[-4:])
    token_of(make.user("editor"))
    listed = admin.read("/api/tokens")
    assert [row["kind"] for row in listed["data"]] == ["api", "delivery"]
    assert listed["meta"]["total"] == 2
    assert admin.read("/api/tokens?kind=delivery")["data"] == [made]
    assert [row["kind"] for row in admin.read("/api/tokens?kind=api")["data"]] == ["api"]
    revoked = admin.write("DELETE", f"/api/tokens/{made['id']}")
    assert (revoked["kind"], revoked["state"]) == ("delivery", "revoked")
    assert admin.read("/api/tokens?kind=delivery&active=true")["data"] == []
    error(program(secret).get("/api/public/posts"), 401, "invalid_token")
    names = ["token.created", "token.revoked"]
    events = Event.objects.filter(name__in=names, payload__kind="delivery").order_by("pk")
    assert [event.name for event in events] == names
    assert secret[5:-4] not in str([event.payload for event in events])
    assert secret[5:-4] not in str(DeliveryToken.objects.values().get())


@pytest.mark.parametrize(
    ("more", "key"),
    [
        ({"permissions": ["posts.view"]}, "permissions"),
        ({"permissions": None}, "permissions"),
        ({"userId": 1}, "userId"),
        ({"scope": {"types": ["page"]}}, "scope"),
        ({"rate": "fast"}, "rate"),
        ({"rate": "0/minute"}, "rate"),
        ({"rate": "10/week"}, "rate"),
        ({"rate": 0}, "rate"),
        ({"rate": -1}, "rate"),
        ({"name": ""}, "name"),
        ({"kind": "admin"}, "kind"),
    ],
)
def test_what_a_delivery_token_cannot_have_is_refused(more: dict[str, Any], key: str) -> None:
    body = {"name": "Shop", "kind": "delivery", **more}

    answer = ApiClient("admin").send("POST", "/api/tokens", body)

    assert answer.status_code == 422
    assert key in {path.split(".")[0] for path in answer.json()["details"]}
    assert not DeliveryToken.objects.exists()


def test_an_api_token_has_no_rate_and_needs_permissions() -> None:
    body = {"name": "Export", "permissions": ["posts.view"], "rate": "10/minute"}
    refused("POST", "/api/tokens", body, 422, "invalid", "rate", role="admin")
    refused("POST", "/api/tokens", {"name": "x"}, 422, "invalid", "permissions", role="admin")


@pytest.mark.parametrize("role", ["editor", "translator"])
def test_only_administrators_make_one(role: str) -> None:
    body = {"name": "Shop", "kind": "delivery"}

    assert ApiClient(role).send("POST", "/api/tokens", body).status_code == 403
    assert not DeliveryToken.objects.exists()


def test_threat_14_it_opens_nothing_but_what_is_public() -> None:
    make.post("Draft", slug="draft", status="draft")
    secret = secret_of()

    for path in ("/api/posts", "/api/auth/me", "/api/users", "/api/tokens", "/api/redirects"):
        error(program(secret).get(path), 401, "invalid_token")
    error(program(secret).send("POST", "/api/posts", {"type": "blog"}), 401, "invalid_token")
    assert program(secret).read("/api/public/posts")["data"] == []
    assert DeliveryToken.objects.get().last_used_at is not None


def public_reads() -> list[str]:
    """Return the addresses of all reads that are public, from the URL configuration."""
    found = ["/api/schema/delivery"]
    for address in addresses():
        permissions = getattr(address.view, "permissions", {})
        action = address.actions.get("GET")
        if action is not None and permissions.get(action) == PUBLIC:
            found.append(address.path)
    return found


PUBLIC_READS = public_reads()


def test_the_walk_knows_the_public_reads() -> None:
    assert {
        "/api/public/posts", "/api/public/resolve", "/api/menus/<menu>", "/api/schema/delivery",
        "/api/forms-definitions/<slug>", "/api/public/changes", "/api/public/privacy",
    } <= set(PUBLIC_READS)  # fmt: skip


@pytest.mark.parametrize("path", PUBLIC_READS)
def test_every_public_read_has_the_rate_of_the_token(
    settings: Any, one_window: None, path: str
) -> None:
    settings.THROTTLE_RATES = {**settings.THROTTLE_RATES, "public": "1/minute", "anon": "1/minute"}
    secret, address = secret_of(rate="3/minute"), filled(path)

    def limit(client: Client) -> tuple[int, str]:
        answers.clear()
        answer = client.get(address)
        assert answer.status_code in (200, 404, 422, 429), answer.content
        return answer.status_code == 429, answer["X-RateLimit-Limit"]

    assert [limit(program(secret)) for _ in range(4)] == [(False, "3")] * 3 + [(True, "3")]
    # What the token used does not count for others.
    assert [limit(ApiClient()) for _ in range(2)] == [(False, "1"), (True, "1")]


@pytest.mark.parametrize("path", PUBLIC_READS)
def test_every_public_read_refuses_and_counts_unknown_tokens(
    settings: Any, one_window: None, path: str
) -> None:
    settings.THROTTLE_RATES = {**settings.THROTTLE_RATES, "public": "1/minute", "anon": "1/minute"}
    answers.clear()
    first, second = (program("cmsd_made-up").get(filled(path)) for _ in range(2))

    error(first, 401, "invalid_token")
    assert first["WWW-Authenticate"] == "Bearer"
    assert second.status_code == 429


@pytest.mark.parametrize(
    "error", [OperationalError("busy"), InternalError("read-only"), InterfaceError("closed")]
)
def test_a_use_that_cannot_be_stored_does_not_fail_the_call(error: Exception) -> None:
    make.post()
    secret, (_, bearer) = secret_of(), token_of(make.user("admin"), "posts.view")

    def fail_updates(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        if sql.startswith("UPDATE"):
            raise error
        return execute(sql, params, many, context)

    answers.clear()
    with connection.execute_wrapper(fail_updates):
        assert program(secret).get("/api/public/posts").status_code == 200
        assert program(bearer).get("/api/posts").status_code == 200

    assert DeliveryToken.objects.get().last_used_at is None
    assert ApiToken.objects.get().last_used_at is None


def test_threat_57_unknown_expired_and_revoked_ones_are_401_and_counted(
    settings: Any, one_window: None
) -> None:
    settings.THROTTLE_RATES = {**settings.THROTTLE_RATES, "public": "2/minute"}
    expired = secret_of()
    DeliveryToken.objects.update(expires_at=timezone.now() - timedelta(seconds=1))

    found = [
        program(secret).get("/api/public/posts").status_code
        for secret in (expired, "cmsd_made-up", "cmsd_" + "x" * 500)
    ]

    assert found == [401, 401, 429]


def test_a_token_has_its_own_rate(settings: Any, one_window: None) -> None:
    settings.THROTTLE_RATES = {
        **settings.THROTTLE_RATES,
        "public": "1/minute",
        "delivery": "3/minute",
    }
    make.post()
    of_setting, own = secret_of(), secret_of(rate="2/minute")

    def made(client: Client) -> int:
        answers.clear()
        return int(client.get("/api/public/posts").status_code)

    assert [made(ApiClient()) for _ in range(2)] == [200, 429]
    assert [made(program(of_setting)) for _ in range(4)] == [200, 200, 200, 429]
    assert [made(program(own)) for _ in range(3)] == [200, 200, 429]


def test_cached_answers_and_304s_do_not_count(settings: Any, one_window: None) -> None:
    settings.THROTTLE_RATES = {**settings.THROTTLE_RATES, "public": "2/minute"}
    make.post()
    first = ApiClient().get("/api/public/posts")

    cached = [ApiClient().get("/api/public/posts") for _ in range(5)]
    answers.clear()
    # Made again, but the caller has it.
    known = [
        ApiClient().get("/api/public/posts", HTTP_IF_NONE_MATCH=first["ETag"]) for _ in range(5)
    ]
    answers.clear()
    second = ApiClient().get("/api/public/posts")
    answers.clear()
    third = ApiClient().get("/api/public/posts")

    assert {answer.status_code for answer in cached} == {200}
    assert {answer.status_code for answer in known} == {304}
    assert (second.status_code, third.status_code) == (200, 429)


def test_a_batch_of_paths_counts_as_one_call(settings: Any, one_window: None) -> None:
    settings.THROTTLE_RATES = {**settings.THROTTLE_RATES, "public": "1/minute"}
    body = {"paths": ["/", "/blog"]}

    assert ApiClient().send("POST", "/api/public/resolve", body).status_code == 200
    assert ApiClient().send("POST", "/api/public/resolve", body).status_code == 429
    answer = program(secret_of()).send("POST", "/api/public/resolve", body)
    assert answer.status_code == 200


def test_the_admin_makes_shows_and_revokes_one() -> None:
    admin = Client()
    admin.force_login(make.user("admin"))
    pages = "/admin/proofroom_accounts/deliverytoken/"

    made = admin.post(f"{pages}add/", {"name": "Shop", "rate": "100/minute"})
    token = DeliveryToken.objects.get()
    wrong = admin.post(f"{pages}add/", {"name": "Shop", "rate": "fast"})
    shown = admin.get(f"{pages}{token.pk}/change/").content.decode()

    assert "cmsd_" in made.content.decode()
    assert "no-store" in made["Cache-Control"]
    assert (wrong.status_code, DeliveryToken.objects.count()) == (422, 1)
    assert "cmsd_" not in shown
    assert "100/minute" in shown
    assert "Shop" in admin.get(pages).content.decode()
    admin.post(f"{pages}{token.pk}/change/")
    token.refresh_from_db()
    assert token.state == "revoked"


def test_conditions_that_any_answer_meets_do_not_lift_the_limit(
    one_window: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(settings.THROTTLE_RATES, "public", "2/minute")
    client = Client(HTTP_IF_NONE_MATCH="*")

    codes = [client.get(f"/api/public/posts?search=s{number}").status_code for number in range(24)]

    assert codes == [304] * 22 + [429] * 2


def test_a_request_for_drafts_is_refused_and_not_answered_with_live_content() -> None:
    post = make.post()
    path = f"/api/public/posts/{post.pk}"
    assert Client().get(path).status_code == 200  # so that a cache has it

    answer = Client(headers={"authorization": "Preview draft-token"}).get(path)

    error(answer, 401, "invalid_token")
