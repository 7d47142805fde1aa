"""The pages of roles, and the page that says who may what."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from proofroom.accounts.access import explain_access
from proofroom.accounts.models import SiteRole, User
from proofroom.accounts.roles import permissions_of
from proofroom.accounts.services.invitations import create_invitation
from tests import make

pytestmark = pytest.mark.django_db
SignedIn = Callable[..., Client]
LIST = "/admin/proofroom_accounts/siterole/"


def test_a_role_is_made_from_a_copy(signed_in: SignedIn) -> None:
    admin = signed_in("admin")

    page = admin.get(f"{LIST}add/?copy=translator").content.decode()
    assert "Copy of Translator" in page
    assert "Approve changes in Review" in page
    assert page.count("checked") == len(permissions_of("translator"))
    answer = admin.post(
        f"{LIST}add/", {"label": "Desk", "permissions": ["posts.view", "posts.review.approve"]}
    )

    assert answer.status_code == 302
    assert permissions_of("desk") == {"posts.view", "posts.review.approve"}
    assert "Desk" in admin.get(LIST).content.decode()
    assert admin.get(f"{LIST}add/?copy=nobody").status_code == 404


def test_a_role_is_changed_and_removed(signed_in: SignedIn) -> None:
    make.site_role("desk", "posts.view")
    make.user("desk")
    admin, path = signed_in("admin"), f"{LIST}desk/change/"

    changed = admin.post(
        path, {"do": "change", "label": "Press desk", "permissions": ["posts.view", "media.view"]}
    )
    assert changed.status_code == 302
    assert permissions_of("desk") == {"posts.view", "media.view"}
    page = admin.get(path).content.decode()
    assert "Press desk" in page
    refused = admin.post(path, {"do": "remove", "move_to": ""})
    assert refused.status_code == 422
    assert "Choose the role that they get instead" in refused.content.decode()
    assert SiteRole.objects.filter(name="desk").exists()

    assert admin.post(path, {"do": "remove", "move_to": "editor"}).status_code == 302

    assert User.objects.get(username="desk").role == "editor"
    assert not SiteRole.objects.filter(name="desk").exists()
    assert admin.get(path).status_code == 404


def test_what_is_built_in_is_shown_and_takes_no_change(signed_in: SignedIn) -> None:
    admin = signed_in("admin")

    for name in ("admin", "translator", "ai_agent"):
        page = admin.get(f"{LIST}{name}/change/").content.decode()
        assert 'value="change"' not in page
        admin.post(f"{LIST}{name}/change/", {"do": "change", "label": "X", "permissions": []})
        admin.post(f"{LIST}{name}/change/", {"do": "remove", "move_to": "editor"})
    assert not User.objects.filter(role="editor", username="admin").exists()
    assert SiteRole.objects.filter(is_built_in=True).count() == 4


def test_nobody_is_offered_what_they_could_not_give(signed_in: SignedIn) -> None:
    make.site_role("manager", "users.manage", "posts.view")
    make.site_role("strong", "posts.publish")
    manager = signed_in("manager")

    page = manager.get(f"{LIST}add/").content.decode()
    assert 'value="posts.view"' in page
    assert 'value="posts.publish"' not in page
    assert 'value="change"' not in manager.get(f"{LIST}strong/change/").content.decode()
    refused = manager.post(f"{LIST}add/", {"label": "X", "permissions": ["posts.publish"]})
    assert refused.status_code == 422
    assert not SiteRole.objects.filter(label="X").exists()


def test_the_page_says_which_role_may_do_what(signed_in: SignedIn) -> None:
    make.site_role("desk", "posts.view")
    admin = signed_in("admin")

    page = admin.get(f"{LIST}access/").content.decode()

    assert "Desk" in page
    assert "Approve changes in Review" in page
    with CaptureQueriesContext(connection) as few:
        admin.get(f"{LIST}access/")
    for number in range(5):
        make.site_role(f"desk{number}", "posts.view")
    with CaptureQueriesContext(connection) as many:
        admin.get(f"{LIST}access/")
    assert len(many) == len(few)


def test_the_page_says_why_a_person_may_and_why_not(signed_in: SignedIn) -> None:
    make.site_role("desk", "posts.view", "posts.publish")
    desk, translator = make.user("desk"), make.user("translator")
    admin = signed_in("admin")

    def asked(user: User, permission: str) -> str:
        return admin.get(f"{LIST}access/?person={user.pk}&permission={permission}").content.decode()

    assert "Yes. desk has the role Desk" in asked(desk, "posts.publish")
    no = asked(translator, "posts.publish")
    assert "No. translator has the role Translator" in no
    assert "Roles that do: Admin, Editor, Desk." in no
    assert "Yes." not in asked(translator, "posts.fly")
    User.objects.filter(pk=desk.pk).update(is_active=False)
    assert not explain_access(
        person=User.objects.get(pk=desk.pk), permission="posts.publish"
    ).is_allowed


def test_lists_of_people_and_invitations_cost_the_same_for_many_roles(signed_in: SignedIn) -> None:
    admin = signed_in("admin")
    counts = []
    for number in range(3):
        make.site_role(f"desk{number}", "users.manage")
        inviter = make.actor(f"desk{number}")
        create_invitation(email=f"new{number}@example.com", role=f"desk{number}", actor=inviter)
        for path in ("user/", "invitation/", "siterole/"):
            admin.get(f"/admin/proofroom_accounts/{path}")
            with CaptureQueriesContext(connection) as found:
                page = admin.get(f"/admin/proofroom_accounts/{path}").content.decode()
            assert f"Desk{number}" in page
            counts.append((path, len(found)))

    assert len(set(counts)) == 3
