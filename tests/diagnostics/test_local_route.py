"""An anonymous visitor's response to a URL, computed without an HTTP request."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pytest
from django.core.handlers.base import BaseHandler
from django.core.signals import request_finished
from django.db import connection, connections
from django.http import HttpResponse, StreamingHttpResponse
from django.test import Client
from django.utils import translation

from proofroom.core.diagnostics import local_route
from proofroom.core.diagnostics.local_route import local_answer
from proofroom.core.errors import NotAllowed, RuleViolation
from proofroom.core.models import Event
from proofroom.core.progress import CallCancelled, follow_progress
from proofroom_apps.previews.models import PreviewLink
from proofroom_apps.previews.services import create_preview_link
from seo.models import Redirect
from tests import make
from tests.diagnostics.asking import refusal, told

pytestmark = pytest.mark.django_db


def tried(path: str, **arguments: Any) -> dict[str, Any]:
    return told("test_local_route", path=path, **arguments)


def answer_with(monkeypatch: pytest.MonkeyPatch, view: Any) -> None:
    """Make every URL answer so, through all middleware."""
    handler = BaseHandler()
    handler.load_middleware()
    monkeypatch.setattr(handler, "resolve_request", lambda request: (view, (), {}))
    monkeypatch.setattr(local_route, "_handler", lambda: handler)


def test_it_answers_what_a_visitor_gets(client: Client) -> None:
    make.post("Grüße vom Markt", slug="market")
    page = client.get("/blog/market", HTTP_ACCEPT="text/html")

    found = tried("/blog/market?page=1")

    assert (found["status"], found["bytes"]) == (200, len(page.content))
    assert found["body"] == page.content.decode()[: local_route.BODY_BYTES]
    assert found["headers"]["Content-Type"] == "text/html; charset=utf-8"
    assert "Content-Security-Policy" in found["headers"]
    assert "location" not in found


@pytest.mark.parametrize(
    ("path", "status", "location"),
    [
        ("/health", 200, None),
        ("/none", 404, None),
        ("/search/?q=tea", 301, "/search?q=tea"),
        ("/admin/", 302, "/admin/login/?next=/admin/"),
        ("/admin/logout/", 302, "/admin/"),
        ("/api/posts", 401, None),
        ("/api/none", 404, None),
        ("/%2F/evil.example", 404, None),
        ("/..%2f..%2fetc/passwd", 404, None),
        ("/media/..%2f..%2fetc/passwd", 404, None),
    ],
)
def test_each_address_answers_for_itself(path: str, status: int, location: str | None) -> None:
    found = tried(path)

    assert (found["status"], found.get("location")) == (status, location)


def test_head_has_no_body() -> None:
    make.post(slug="tea")

    found = tried("/blog/tea", method="HEAD")

    assert found["status"] == 200
    assert "body" not in found


@pytest.mark.parametrize(
    "path",
    [
        "https://evil.example/", "//evil.example", "/\\evil.example", "\\\\evil", "blog", "", "#x",
        "/a\r\nX-Evil: 1", "/a\x00", "/a b", "/\ud800", "/\u2028", "/" + "x" * 2_000, "file:///etc/passwd",
    ],
    ids=ascii,
)  # fmt: skip
def test_what_is_no_path_of_this_site_is_refused(path: str) -> None:
    code, text = refusal("test_local_route", path=path)

    assert code in ("invalid", "invalid_arguments")
    assert "path" in text


@pytest.mark.parametrize("method", ["POST", "DELETE", "get", "OPTIONS", "GET\r\n"])
def test_other_methods_are_refused(method: str) -> None:
    assert refusal("test_local_route", path="/", method=method)[0] == "invalid_arguments"


def test_a_redirect_is_shown_and_counts_no_hit() -> None:
    row = make.redirect("/old", "/blog/tea", type=302)

    found = tried("/old?from=x")

    assert (found["status"], found["location"]) == (302, "/blog/tea?from=x")
    assert Redirect.objects.get(pk=row.pk).hits == 0


def test_a_try_is_held_to_no_rate(settings: Any) -> None:
    settings.THROTTLE_RATES = {**settings.THROTTLE_RATES, "anon": "1/hour"}

    found = [tried("/api/posts")["status"] for _ in range(3)]

    assert found == [401, 401, 401]


def test_a_preview_counts_no_view() -> None:
    post = make.post(slug="tea")
    make.staged(post, {"title": "Waits for approval"})
    link, token = create_preview_link(
        post_id=post.pk, layer="ai-review", actor=make.actor("editor")
    )

    found = tried(f"/preview/{token}")

    assert found["status"] == 200
    assert PreviewLink.objects.get(pk=link.pk).views == 0


def test_nothing_that_an_answer_writes_stays(
    monkeypatch: pytest.MonkeyPatch, django_capture_on_commit_callbacks: Any
) -> None:
    def view(request: Any) -> HttpResponse:
        make.redirect("/written", "/x")
        return HttpResponse("done", content_type="text/plain")

    answer_with(monkeypatch, view)
    before = Event.objects.count()

    with django_capture_on_commit_callbacks() as waiting:
        found = local_answer(path="/x", actor=make.actor("admin"))

    assert found.body == "done"
    assert not Redirect.objects.exists()
    assert (Event.objects.count(), waiting) == (before, [])


def test_nobody_is_logged_in_and_no_cookie_is_set(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Any] = []

    def view(request: Any) -> HttpResponse:
        headers, address = request.headers, request.META["REMOTE_ADDR"]
        seen.extend([dict(request.COOKIES), headers.get("Authorization"), address])
        response = HttpResponse("hello", content_type="text/plain")
        response.set_cookie("sessionid", "canary")
        return response

    answer_with(monkeypatch, view)

    found = tried("/x")

    assert seen == [{}, None, "192.0.2.1"]
    assert "Set-Cookie" not in found["headers"]
    assert "canary" not in str(found)


@pytest.mark.parametrize(
    ("content", "kind", "body", "is_cut"),
    [
        (b"x" * 25_000, "text/plain", "x" * 20_000, True),
        (b'{"a": 1}', "application/ld+json", '{"a": 1}', None),
        (b"\x89PNG\x00", "image/png", None, None),
        (b"\xff\xfe", "text/plain; charset=utf-8", "\ufffd\ufffd", None),
    ],
    ids=["long", "json", "binary", "broken"],
)
def test_text_is_shown_to_its_limit(
    monkeypatch: pytest.MonkeyPatch,
    content: bytes,
    kind: str,
    body: str | None,
    is_cut: bool | None,
) -> None:
    answer_with(monkeypatch, lambda request: HttpResponse(content, content_type=kind))

    found = tried("/x")

    assert (found.get("body"), found.get("cut"), found["bytes"]) == (body, is_cut, len(content))


def test_an_endless_answer_is_read_to_its_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    def blocks() -> Any:
        while True:
            yield b"y" * 1_000

    answer_with(
        monkeypatch, lambda request: StreamingHttpResponse(blocks(), content_type="text/plain")
    )

    found = tried("/x")

    assert (found["body"], found["cut"]) == ("y" * 20_000, True)
    assert "bytes" not in found


def test_an_answer_is_closed_without_ending_the_outer_request(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    closed: list[str] = []

    def blocks() -> Iterator[bytes]:
        try:
            yield b"z"
            yield b"never read" * local_route.BODY_BYTES
            yield b"never read"
        finally:
            closed.append("stream")

    answer_with(
        monkeypatch, lambda request: StreamingHttpResponse(blocks(), content_type="text/plain")
    )

    def note_end(**_: Any) -> None:
        # Django closes what this names.
        closed.append(f"{len(connections.all(initialized_only=True))} connections")

    request_finished.connect(note_end)
    try:
        found = local_answer(path="/x", actor=make.actor("admin"))
    finally:
        request_finished.disconnect(note_end)

    assert found.is_cut
    assert closed == ["stream", "0 connections"]


def test_secrets_are_hidden_in_what_went_wrong(
    monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    settings.CMS_ENV = settings.CMS_ENV.model_copy(update={"agent_secret": "canary-agent"})
    settings.DEBUG = True

    def view(request: Any) -> HttpResponse:
        raise ValueError(f"canary-agent of ann@example.com, {settings.SECRET_KEY}")

    answer_with(monkeypatch, view)

    found = tried("/x")

    assert found["status"] == 500
    assert "[hidden] of [address], [hidden]" in found["body"]
    assert "canary-agent" not in found["body"]


def test_what_takes_too_long_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local_route, "ROUTE_TIMEOUT_SECONDS", 0.01)

    def view(request: Any) -> HttpResponse:
        time.sleep(0.02)
        Redirect.objects.count()
        return HttpResponse("late")

    answer_with(monkeypatch, view)

    code, text = refusal("test_local_route", path="/x")

    assert (code, text) == ("too_slow", "/x did not answer within 0 seconds.")


def test_a_cancelled_call_ends_at_the_next_query(monkeypatch: pytest.MonkeyPatch) -> None:
    class Gone:
        def report(self, done: float, total: float | None, message: str) -> None: ...

        def check(self) -> None:
            raise CallCancelled

    answer_with(monkeypatch, lambda request: HttpResponse(str(Redirect.objects.count())))
    before = list(connection.execute_wrappers)

    with follow_progress(Gone()), pytest.raises(CallCancelled):
        local_answer(path="/x", actor=make.actor("admin"))
    assert connection.execute_wrappers == before


def test_it_leaves_the_language_of_the_thread_as_it_was() -> None:
    with translation.override("de"):
        tried("/admin/login/")
        assert translation.get_language() == "de"


def test_only_who_was_granted_it_tries_addresses() -> None:
    with pytest.raises(NotAllowed):
        local_answer(path="/", actor=make.actor("editor"))
    with pytest.raises(RuleViolation):
        local_answer(path="//x", actor=make.actor("admin"))
