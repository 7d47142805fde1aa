"""Errors, conditions and headers reveal nothing the caller may not know."""

from __future__ import annotations

import re
from importlib.metadata import version
from typing import Any, Final

import pytest
from django.conf import settings

from proofroom.accounts.models import User
from tests import make
from tests.accounts.bearer import program, token_of
from tests.api.refusals import stored
from tests.api_client import ApiClient
from tests.contract.endpoint import NOBODY, Area, Endpoint, Names, areas, filled

pytestmark = pytest.mark.django_db
ANOTHER: Final = "00000000-0000-4000-8000-0000000000ff"
NESTED: Final = [
    (area, item)
    for area in areas()
    for item in area.endpoints
    if item.has_gaps and item.is_missing_404
]


def _call(endpoint: Endpoint, names: Names, client: ApiClient) -> Any:
    path = filled(endpoint.path + endpoint.query, names)
    if endpoint.method == "GET":
        return client.get(path)
    body = filled(endpoint.body, names) if endpoint.body is not None else None
    if endpoint.is_multipart:
        return client.send_form(endpoint.method, path, body or {})
    return client.send(endpoint.method, path, body)


def _said(response: Any, *ids: str) -> str:
    """Return the response without the requested id."""
    text = response.content.decode()
    for id_ in ids:
        text = text.replace(id_, "<id>")
    return f"{response.status_code} {text}"


@pytest.mark.parametrize(
    ("area", "endpoint"), NESTED, ids=[endpoint.address for _, endpoint in NESTED]
)
def test_threat_21_who_may_not_hears_the_same_of_what_is_there_and_what_is_not(
    area: Area, endpoint: Endpoint
) -> None:
    names = area.scene()
    gaps = [part[1:-1] for part in endpoint.path.split("/") if part.startswith("<")]
    strangers = [role for role in (None, "translator", "editor") if role not in endpoint.who]
    before = stored()

    for role in strangers:
        there = _said(_call(endpoint, names, ApiClient(role)))
        for gap in gaps:
            for absent in (NOBODY, "1", "x"):
                gone = _said(_call(endpoint, {**names, gap: absent}, ApiClient(role)))
                assert gone == there
    assert stored() == before


def test_threat_21_what_is_in_the_trash_and_what_never_was_sound_the_same() -> None:
    posts = next(area for area in areas() if area.name == "posts")
    names = posts.scene()
    deleted, endpoints = (
        names["deleted_id"],
        [item for area in areas() for item in area.endpoints if "<post_id>" in item.path],
    )
    assert len(endpoints) > 10
    before = stored()

    for endpoint in endpoints:
        body = {**names, **dict.fromkeys(_gaps_of(endpoint) - {"post_id"}, ANOTHER)}
        for role in ("translator", "editor", "admin"):
            client = ApiClient(role)
            trash = _said(_call(endpoint, {**body, "post_id": deleted}, client), deleted)
            never = _said(_call(endpoint, {**body, "post_id": NOBODY}, client), NOBODY)
            if endpoint.path.endswith("/restore"):
                continue  # what the trash is for
            assert trash == never, endpoint.address
    assert stored() == before


def _gaps_of(endpoint: Endpoint) -> set[str]:
    return set(re.findall(r"<(\w+)>", endpoint.path))


def test_threat_22_conditions_are_judged_after_who_asks() -> None:
    post = make.post()
    editor = ApiClient("editor")
    _, secret = token_of(make.user("editor"), "media.view")

    for path in ("/api/posts", f"/api/posts/{post.pk}"):
        etag = editor.get(path)["ETag"]
        assert editor.get(path, HTTP_IF_NONE_MATCH=etag).status_code == 304
        for condition in (etag, "*"):
            assert ApiClient().get(path, HTTP_IF_NONE_MATCH=condition).status_code == 401
            answer = program(secret).get(path, HTTP_IF_NONE_MATCH=condition)
            assert (answer.status_code, "ETag" in answer) == (403, False)
    gone = f"/api/posts/{NOBODY}"
    assert editor.get(gone, HTTP_IF_NONE_MATCH="*").status_code == 404


def test_threat_23_no_answer_names_the_software_or_its_version() -> None:
    versions = [version(name) for name in ("django", "djangorestframework", "drf-spectacular")]
    make.post()
    answers = [
        ApiClient(role).get(path)
        for role in (None, "admin")
        for path in ("/api/schema/", "/api/posts", "/api/nothing", "/api/auth/me", "/", "/health")
    ]

    for answer in answers:
        heads = " ".join(f"{name}: {value}" for name, value in answer.headers.items())
        assert "Server" not in answer
        assert "X-Powered-By" not in answer
        for text in (heads, answer.content.decode()):
            assert not any(found in text for found in versions), answer.request["PATH_INFO"]
            assert "Django/" not in text
            assert str(settings.BASE_DIR) not in text


def test_threat_21_login_tells_nothing_of_who_has_an_account() -> None:
    make.user("editor")
    off = make.user("translator")
    User.objects.filter(pk=off.pk).update(is_active=False)

    answers = {
        _said(
            ApiClient().send("POST", "/api/auth/login", {"email": email, "password": "not-the-one"})
        )
        for email in ("editor@example.com", "translator@example.com", "nobody@example.com")
    }

    assert len(answers) == 1
