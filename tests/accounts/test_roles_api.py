"""Site roles and invitations over the API."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

import pytest
from django.core import mail
from django.test import override_settings

from proofroom.accounts.models import Invitation, SiteRole, User
from proofroom.accounts.services.invitations import accept_invitation
from proofroom.core.models import Event
from tests import make
from tests.accounts.bearer import program, token_of
from tests.api_client import ApiClient

pytestmark = pytest.mark.django_db
NO_LIMITS: dict[str, Any] = {
    "types": [],
    "locales": [],
    "sections": [],
    "terms": [],
    "readsAll": False,
}


def test_the_life_of_a_role() -> None:
    section = make.post("Docs", type="page", slug="docs")
    admin = ApiClient("admin")
    scope = {"types": ["page"], "sections": [str(section.pk)], "readsAll": True}

    made = admin.write(
        "POST",
        "/api/roles",
        {"label": "Docs desk", "permissions": ["posts.view", "posts.edit"], "scope": scope},
        expect=201,
    )

    assert made == {
        "role": "docs_desk",
        "permissions": ["posts.edit", "posts.view"],
        "canLogIn": True,
        "label": "Docs desk",
        "description": "",
        "builtIn": False,
        "scope": {**NO_LIMITS, **scope},
        "requiresSecondFactor": False,
    }
    assert admin.read("/api/roles/docs_desk") == made
    changed = admin.write("PATCH", "/api/roles/docs_desk", {"description": "Writes the docs"})
    assert changed == {**made, "description": "Writes the docs"}
    # The answer can be sent back.
    freed = admin.write("PATCH", "/api/roles/docs_desk", {**changed, "scope": {}})
    assert freed["scope"] == NO_LIMITS
    user = make.user("docs_desk", "somebody")
    admin.write("DELETE", "/api/roles/docs_desk", expect=422)
    removed = admin.write("DELETE", "/api/roles/docs_desk?moveTo=editor")
    assert removed == {"role": "docs_desk", "moved": 1}
    assert User.objects.get(pk=user.pk).role == "editor"
    admin.read("/api/roles/docs_desk", expect=404)


def test_a_role_requires_a_second_factor_where_it_says_so() -> None:
    admin = ApiClient("admin")
    new = {"label": "Desk", "permissions": ["posts.view"], "requiresSecondFactor": True}

    made = admin.write("POST", "/api/roles", new, expect=201)
    kept = admin.write("PATCH", "/api/roles/desk", {"description": "Writes"})
    desk = ApiClient("desk")
    refused = desk.read("/api/posts", expect=403)
    taken = admin.write("PATCH", "/api/roles/desk", {"requiresSecondFactor": False})
    desk.read("/api/posts")

    answers = [answer["requiresSecondFactor"] for answer in (made, kept, taken)]
    assert answers == [True, True, False]
    assert refused["code"] == "second_factor_required"
    assert [
        (event.payload["secondFactorBefore"], event.payload["secondFactor"])
        for event in Event.objects.filter(name="role.changed").order_by("pk")
    ] == [(True, True), (True, False)]


def test_what_the_setting_requires_is_not_turned_off_here() -> None:
    admin = ApiClient("admin")
    make.site_role("desk", "posts.view")

    with override_settings(TWO_FACTOR_ROLES=frozenset({"desk"})):
        shown = admin.read("/api/roles/desk")
        kept = admin.write("PATCH", "/api/roles/desk", {"description": "Writes"})
        off = {"requiresSecondFactor": False}
        refused = admin.write("PATCH", "/api/roles/desk", off, expect=422)

    assert (shown["requiresSecondFactor"], kept["requiresSecondFactor"]) == (True, True)
    assert "TWO_FACTOR_ROLES names this role" in refused["error"]
    assert not SiteRole.objects.get(name="desk").requires_second_factor


@pytest.mark.parametrize(
    ("body", "key"),
    [
        ({"scope": {"types": ["castle"]}}, "types"),
        ({"scope": {"locales": ["tlh"]}}, "locales"),
        ({"scope": {"sections": ["nonsense"]}}, "scope.sections.0"),
        ({"scope": {"sections": ["00000000-0000-4000-8000-000000000000"]}}, "sections"),
        ({"scope": {"terms": ["00000000-0000-4000-8000-000000000000"]}}, "terms"),
        ({"scope": {"castles": []}}, "scope.castles"),
        ({"scope": {"types": ["page"]}, "permissions": ["settings.manage"]}, "permissions"),
        ({"label": ""}, "label"),
        ({"permissions": []}, "permissions"),
    ],
)
def test_what_does_not_fit_is_refused_by_name(body: dict[str, Any], key: str) -> None:
    whole = {"label": "Desk", "permissions": ["posts.view"], **body}

    answer = ApiClient("admin").write("POST", "/api/roles", whole, expect=422)

    assert key in answer["details"], answer
    assert not SiteRole.objects.filter(label="Desk").exists()


def test_built_in_roles_stay_and_programs_make_none() -> None:
    admin = ApiClient("admin")

    admin.write("PATCH", "/api/roles/editor", {"label": "Writer"}, expect=403)
    admin.write("DELETE", "/api/roles/editor?moveTo=admin", expect=403)
    assert admin.read("/api/roles/editor")["builtIn"] is True
    _, secret = token_of(make.user("admin"), "users.manage")
    body = {"label": "Desk", "permissions": ["posts.view"]}
    refused = program(secret).post("/api/roles", body, content_type="application/json")
    assert refused.status_code == 403


def test_an_invitation_tells_its_link_once_where_no_mail_goes_out() -> None:
    admin = ApiClient("admin")
    body = {"email": "New@Example.com", "role": "editor"}

    made = admin.write("POST", "/api/invitations", body, expect=201)

    [listed] = admin.read("/api/invitations")["data"]
    assert "link" not in listed
    assert (listed["email"], listed["state"]) == ("new@example.com", "pending")
    secret = urlsplit(made["link"]).path.rstrip("/").rpartition("/")[2]
    accept_invitation(secret=secret, username="new", password="a-long-enough-one")
    assert admin.read("/api/invitations")["data"][0]["state"] == "accepted"


def test_an_invitation_goes_out_by_mail_and_can_be_revoked() -> None:
    admin = ApiClient("admin")
    body = {"email": "new@example.com", "role": "editor"}

    with override_settings(HAS_EMAIL=True):
        made = admin.write("POST", "/api/invitations", body, expect=201)

    assert made["link"] is None
    assert mail.outbox[0].to == ["new@example.com"]
    assert admin.write("DELETE", f"/api/invitations/{made['id']}")["state"] == "revoked"
    assert Invitation.objects.get().state == "revoked"
