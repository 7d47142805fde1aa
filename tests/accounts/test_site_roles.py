"""Site roles: their permissions, assignment, and the effect of removed permissions."""

from __future__ import annotations

import re
from typing import Any

import pytest
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal.auth import TOTP
from django.db import connection
from django.test import override_settings
from django.test.utils import CaptureQueriesContext

from mcp_bridge.access.tokens import create_token as create_mcp_token
from mcp_bridge.models import McpToken
from proofroom.accounts.allauth_adapters import SecondFactorAdapter
from proofroom.accounts.models import ApiToken, Invitation, SiteRole, User
from proofroom.accounts.permission_labels import GROUP_LABELS, label_of
from proofroom.accounts.queries import permissions_of, roles_with
from proofroom.accounts.roles import GRANTS, assignable_permissions
from proofroom.accounts.services import roles as service
from proofroom.accounts.services.agents import ensure_agent_user
from proofroom.accounts.services.invitations import (
    accept_invitation,
    create_invitation,
    find_invitation,
)
from proofroom.accounts.services.provider_accounts import (
    apply_provider_role,
    create_provider_account,
)
from proofroom.accounts.services.tokens import create_token
from proofroom.accounts.services.users import change_user, create_user
from proofroom.core.actor import Actor
from proofroom.core.content_scope import ContentScope
from proofroom.core.errors import NotAllowed, NotFound, RuleViolation
from proofroom.core.models import Event
from tests import make
from tests.accounts.bearer import program, token_of
from tests.api.refusals import error
from tests.api_client import ApiClient
from tests.queries import count_queries

pytestmark = pytest.mark.django_db
PASSWORD = "a-long-enough-one"


def change(name: str, *permissions: str, **values: Any) -> SiteRole:
    values = {"label": name.capitalize(), "actor": make.actor("admin"), **values}
    return service.change_role(name=name, permissions=permissions, **values)


def state() -> list[Any]:
    return [
        list(model.objects.order_by("pk").values())
        for model in (SiteRole, User, Invitation, ApiToken, McpToken, Event)
    ]


@pytest.fixture
def manager() -> Any:
    """Return a user who manages accounts and tokens, with fewer permissions than an administrator."""
    make.site_role("manager", "users.manage", "tokens.manage", "posts.view")
    return make.actor("manager")


def test_a_role_grants_what_was_chosen() -> None:
    make.site_role("checker", "posts.view", "posts.review.approve")
    user = make.user("checker")

    assert permissions_of("checker") == {"posts.view", "posts.review.approve"}
    assert user.has_perm("posts.review.approve")
    assert not user.has_perm("posts.publish")
    assert ApiClient("checker").read("/api/auth/me")["permissions"] == [
        "posts.review.approve",
        "posts.view",
    ]
    user.is_active = False
    assert not user.has_perm("posts.view")


def test_every_permission_has_a_group_and_words() -> None:
    assert {name.partition(".")[0] for name in assignable_permissions()} <= {*GROUP_LABELS}
    assert all(label_of(name) != name for name in assignable_permissions())


def test_a_change_holds_at_once_and_is_in_the_log_with_before_and_after() -> None:
    make.site_role("checker", "posts.view")
    client = ApiClient("checker")
    client.read("/api/media", expect=403)

    change("checker", "posts.view", "media.view", label="Media desk")

    client.read("/api/media")
    event = Event.objects.get(name="role.changed")
    assert event.payload == {
        "role": "checker",
        "name": "Media desk",
        "nameBefore": "Checker",
        "before": ["posts.view"],
        "after": ["media.view", "posts.view"],
        "scopeBefore": {},
        "scope": {},
        "secondFactorBefore": False,
        "secondFactor": False,
    }
    assert not Event.objects.filter(name="user.changed").exists()


def test_who_loses_a_right_by_their_role_loses_sessions_and_tokens_for_ever() -> None:
    make.site_role("checker", "posts.view", "media.view")
    user = make.user("checker")
    _, secret = token_of(user, "posts.view")
    create_mcp_token(name="Laptop", user_id=user.pk, actor=make.actor("admin"))
    session, other = ApiClient("checker"), ApiClient("editor")

    change("checker", "posts.view")
    change("checker", "posts.view", "media.view")

    session.read("/api/auth/me", expect=401)
    error(program(secret).get("/api/posts"), 401, "invalid_token")
    assert McpToken.objects.get().revoked_at is not None
    other.read("/api/auth/me")
    ApiClient("checker").read("/api/auth/me")
    told = Event.objects.get(name="user.changed").payload
    assert told == {"id": user.pk, "changed": ["permissions"], "role": "checker", "active": True}


def test_nothing_is_written_where_nothing_changes() -> None:
    make.site_role("checker", "posts.view")
    before = state()

    change("checker", "posts.view")

    assert state() == before


@pytest.mark.parametrize(
    ("values", "field"),
    [
        ({"label": "  "}, "label"),
        ({"label": "x" * 61}, "label"),
        ({"label": "Editor"}, "label"),
        ({"label": "AI agent"}, "label"),
        ({"label": "known"}, "label"),
        ({"label": "a\x00b"}, "label"),
        ({"description": "x" * 201}, "description"),
        ({"permissions": ()}, "permissions"),
        ({"permissions": ("posts.fly",)}, "permissions"),
        ({"permissions": ("posts.view", "posts.ai-review.save")}, "permissions"),
    ],
)
def test_what_no_role_can_be_is_refused(values: dict[str, Any], field: str) -> None:
    make.site_role("known", "posts.view")
    before = state()

    with pytest.raises(RuleViolation) as refused:
        service.create_role(
            **{
                "label": "New",
                "permissions": ("posts.view",),
                "actor": make.actor("admin"),
                **values,
            }
        )

    assert set(refused.value.details) == {field}
    assert state() == before


def test_a_role_keeps_a_name_for_settings_that_is_no_other_ones() -> None:
    admin = make.actor("admin")
    names = [
        service.create_role(label=label, permissions=("posts.view",), actor=admin).name
        for label in ("Ärzte & Pflege", "Visitor", "編集", "A role of a rather long name")
    ]

    assert names == ["arzte_pflege", "visitor_2", "role", "a_role_of_a_rather_l"]


def test_an_undeclared_role_with_users_is_no_role() -> None:
    someone = make.user("editor")
    User.objects.filter(pk=someone.pk).update(role="gone")

    made = service.create_role(label="Gone", permissions=("posts.view",), actor=make.actor("admin"))

    assert made.name == "gone_2"
    assert not User.objects.get(pk=someone.pk).has_perm("posts.view")


def test_nobody_makes_or_changes_a_role_to_have_more_than_they_have(manager: Any) -> None:
    make.site_role("strong", "posts.view", "posts.publish")
    before = state()

    with pytest.raises(RuleViolation, match="You do not have: Publish and unpublish posts"):
        service.create_role(label="X", permissions=("posts.publish",), actor=manager)
    with pytest.raises(RuleViolation, match="You do not have"):
        change("manager", "users.manage", "posts.publish", actor=manager)
    with pytest.raises(NotAllowed, match="permissions that you do not have"):
        change("strong", "posts.view", actor=manager)
    with pytest.raises(NotAllowed, match="permissions that you do not have"):
        service.remove_role(name="strong", actor=manager)

    assert state() == before


def test_a_removed_apps_permission_counts_as_an_administrators(
    manager: Any,
) -> None:
    weak = make.site_role("weak", "posts.view")
    SiteRole.objects.filter(pk=weak.pk).update(permissions=["posts.view", "stock.edit"])
    before = state()

    with pytest.raises(RuleViolation, match="You cannot give the role"):
        create_invitation(email="new@example.com", role="weak", actor=manager)
    with pytest.raises(NotAllowed, match="permissions that you do not have"):
        change("weak", "posts.view", actor=manager)
    assert state() == before

    change("weak", "posts.view")
    create_invitation(email="new@example.com", role="weak", actor=manager)


def test_nobody_gives_an_account_or_a_token_more_than_they_have(manager: Any) -> None:
    make.site_role("strong", "posts.view", "posts.publish")
    make.site_role("weak", "posts.view")
    admin, weak = make.user("admin"), make.user("weak")
    new = {"email": "new@example.com", "username": "new", "password": PASSWORD}
    before = state()

    for role in ("admin", "editor", "strong"):
        with pytest.raises(RuleViolation, match="You cannot give the role"):
            create_user(role=role, actor=manager, **new)
        with pytest.raises(RuleViolation, match="You cannot give the role"):
            change_user(user_id=weak.pk, role=role, actor=manager)
        with pytest.raises(RuleViolation, match="You cannot give the role"):
            create_invitation(email="new@example.com", role=role, actor=manager)
    for values in ({"password": PASSWORD}, {"email": "mine@example.com"}, {"is_active": False}):
        with pytest.raises(NotAllowed, match="permissions that you do not have"):
            change_user(user_id=admin.pk, actor=manager, **values)
    for permission in ("posts.publish", "posts.view"):
        with pytest.raises(NotAllowed, match="permissions that you do not have"):
            create_token(name="x", permissions=[permission], user_id=admin.pk, actor=manager)
    with pytest.raises(NotAllowed, match="permissions that you do not have"):
        create_mcp_token(name="x", user_id=admin.pk, actor=manager)

    assert state() == before


def test_who_manages_accounts_gives_what_they_have_and_turns_agents_off(manager: Any) -> None:
    make.site_role("weak", "posts.view")
    agent = ensure_agent_user(agent_id="seo-specialist")

    user = create_user(
        email="new@example.com", username="new", role="weak", password=PASSWORD, actor=manager
    )
    change_user(user_id=user.pk, password="another-long-one", actor=manager)
    change_user(user_id=agent.pk, is_active=False, actor=manager)
    create_token(name="x", permissions=["posts.view"], user_id=user.pk, actor=manager)

    assert user.role == "weak"
    assert not User.objects.get(pk=agent.pk).is_active


@pytest.mark.parametrize("role", ["editor", "translator"])
def test_who_does_not_manage_accounts_touches_no_role(role: str) -> None:
    make.site_role("weak", "posts.view")
    actor = make.actor(role)
    before = state()

    with pytest.raises(NotAllowed):
        service.create_role(label="X", permissions=("posts.view",), actor=actor)
    with pytest.raises(NotAllowed):
        change("weak", "posts.view", label="Y", actor=actor)
    with pytest.raises(NotAllowed):
        service.remove_role(name="weak", actor=actor)
    assert state() == before


@pytest.mark.parametrize("via", ["mcp", "agent"])
def test_no_program_touches_a_role(via: Any) -> None:
    make.site_role("weak", "posts.view")
    actor = make.actor("admin", via=via)

    with pytest.raises(NotAllowed) as refused:
        service.create_role(label="X", permissions=("posts.view",), actor=actor)

    assert refused.value.code == "person_required"


@pytest.mark.parametrize("name", [*GRANTS])
def test_what_comes_with_the_software_is_neither_changed_nor_removed(name: str) -> None:
    with pytest.raises(NotAllowed) as refused:
        change(name, "posts.view", label="Other")
    assert refused.value.code in ("built_in_role", "role_above_own")
    with pytest.raises(NotAllowed):
        service.remove_role(name=name, actor=make.actor("admin"))
    assert permissions_of(name) == GRANTS[name]


def test_migrate_creates_declared_roles_and_withdraws_removed_ones() -> None:
    SiteRole.objects.all().delete()
    SiteRole.objects.create(name="gone", is_built_in=True)
    SiteRole.objects.create(name="editor", label="Mine", permissions=["users.manage"])
    SiteRole.objects.create(name="own", label="Own", permissions=["posts.view"])

    service.write_declared_roles()
    service.write_declared_roles()

    rows = dict(SiteRole.objects.values_list("name", "is_built_in"))
    assert rows == {"admin": True, "editor": True, "translator": True, "ai_agent": True} | {
        "own": False
    }
    assert permissions_of("editor") == GRANTS["editor"]
    assert permissions_of("gone") == frozenset()


def test_a_role_in_use_is_removed_once_its_people_have_another() -> None:
    make.site_role("weak", "posts.view")
    user, admin = make.user("weak"), make.actor("admin")
    invitation, secret = create_invitation(email="new@example.com", role="weak", actor=admin)
    session = ApiClient("weak")
    before = state()

    with pytest.raises(RuleViolation) as refused:
        service.remove_role(name="weak", actor=admin)
    assert refused.value.code == "role_in_use"
    for wrong in ("weak", "nobody", "ai_agent"):
        with pytest.raises(RuleViolation) as refused:
            service.remove_role(name="weak", move_to=wrong, actor=admin)
        assert set(refused.value.details) == {"move_to"}
    assert state() == before

    assert service.remove_role(name="weak", move_to="translator", actor=admin) == 1

    session.read("/api/auth/me", expect=401)
    assert User.objects.get(pk=user.pk).role == "translator"
    assert accept_invitation(secret=secret, username="new", password=PASSWORD).role == "translator"
    event = Event.objects.get(name="role.removed")
    assert (event.payload["before"], event.payload["moved"]) == (["posts.view"], 1)
    with pytest.raises(NotFound):
        service.remove_role(name="weak", actor=admin)
    assert invitation.role == "weak"


def test_an_invitation_ends_where_who_invited_has_less_than_its_role(manager: Any) -> None:
    make.site_role("weak", "posts.view")
    _, secret = create_invitation(email="new@example.com", role="weak", actor=manager)
    assert find_invitation(secret).role == "weak"

    change("weak", "posts.view", "posts.publish")

    with pytest.raises(NotFound):
        find_invitation(secret)


def test_a_provider_gives_roles_of_the_site(manager: Any) -> None:
    make.site_role("weak", "posts.view")

    user = create_provider_account(email="new@example.com", name="New", role="weak")
    assert user.role == "weak"
    apply_provider_role(user, "manager")
    assert user.role == "manager"
    with pytest.raises(RuleViolation, match="not a role for people"):
        apply_provider_role(user, "nobody")


def test_a_role_can_require_a_second_factor() -> None:
    make.site_role("weak", "posts.view")

    with override_settings(TWO_FACTOR_ROLES=frozenset({"weak"})):
        ApiClient("weak").read("/api/posts", expect=403)
    ApiClient("weak").read("/api/posts")


def test_a_role_that_requires_a_second_factor_costs_no_statement_more() -> None:
    make.site_role("weak", "posts.view")
    client = ApiClient("weak")
    client.read("/api/posts")
    with CaptureQueriesContext(connection) as plain:
        client.read("/api/posts")

    SiteRole.objects.filter(name="weak").update(requires_second_factor=True)
    with CaptureQueriesContext(connection) as refused:
        client.read("/api/posts", expect=403)

    told = "SELECT .*proofroom_accounts_siterole"
    assert len([one for one in plain.captured_queries if re.search(told, one["sql"])]) == 1
    # The account and its role; and the session, if it is in the database.
    asked = [one for one in refused.captured_queries if "django_session" not in one["sql"]]
    assert len(asked) == 2


def test_the_last_second_factor_of_such_a_role_stays() -> None:
    make.site_role("weak", "posts.view")
    user = make.user("weak")
    factor = TOTP.activate(user, "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP").instance

    assert SecondFactorAdapter().can_delete_authenticator(factor)
    SiteRole.objects.filter(name="weak").update(requires_second_factor=True)

    factor = Authenticator.objects.get(pk=factor.pk)
    assert not SecondFactorAdapter().can_delete_authenticator(factor)


def test_the_api_takes_and_lists_roles_of_the_site() -> None:
    make.site_role("weak", "posts.view")
    admin = ApiClient("admin")
    new = {"email": "new@example.com", "username": "new", "role": "weak", "password": PASSWORD}

    made = admin.write("POST", "/api/users", new, expect=201)

    assert made["role"] == "weak"
    assert [row["id"] for row in admin.read("/api/users?role=weak")["data"]] == [made["id"]]
    listed = admin.read("/api/roles")["data"][-1]
    assert (listed["role"], listed["permissions"]) == ("weak", ["posts.view"])
    for wrong in ("gone", "x" * 200, "ai_agent"):
        answer = error(admin.send("POST", "/api/users", {**new, "role": wrong}), 422, "invalid")
        assert set(answer["details"]) == {"role"}


def test_people_are_notified_by_what_their_role_may_do() -> None:
    make.site_role("weak", "posts.view")

    assert roles_with("posts.view") == ["admin", "editor", "translator", "weak"]
    assert roles_with("posts.publish") == ["admin", "editor"]


def test_a_role_of_the_site_costs_one_statement_and_others_none() -> None:
    make.site_role("weak", "posts.view")
    counts = {}
    for role in ("translator", "weak"):
        client = ApiClient(role)
        client.read("/api/posts")
        counts[role] = count_queries(client.read, "/api/posts")

    assert counts["weak"] == counts["translator"] + 1


def test_roles_of_many_accounts_are_read_together() -> None:
    make.site_role("weak", "posts.view")
    make.site_role("other", "posts.view")
    users = [make.user(role, name) for role, name in (("weak", "a"), ("other", "b"), ("weak", "c"))]

    with CaptureQueriesContext(connection) as found:
        User.preload_roles(users)
        assert all(user.has_perm("posts.view") for user in users)
    assert len(found) == 1


@pytest.mark.parametrize("lost", ["role", "account", "permissions"])
def test_a_slow_request_changes_nothing_with_rights_that_are_gone(lost: str) -> None:
    make.user("admin")
    make.site_role("chief", *sorted(permissions_of("admin")))
    actor = Actor(user=make.user("chief"), via="admin")
    chief = actor.user.pk
    make.site_role("weak", "posts.view")
    other = make.user("weak")
    if lost == "role":
        change_user(user_id=chief, role="weak", actor=make.actor("admin"))
    elif lost == "account":
        change_user(user_id=chief, is_active=False, actor=make.actor("admin"))
    else:
        change("chief", "posts.view", "users.manage", actor=make.actor("admin"))
    before = state()

    with pytest.raises(NotAllowed, match="account has changed"):
        change_user(user_id=chief, role="admin", is_active=True, actor=actor)
    with pytest.raises(NotAllowed, match="account has changed"):
        change_user(user_id=other.pk, role="admin", actor=actor)
    with pytest.raises((NotAllowed, RuleViolation)):
        change("weak", "posts.view", "settings.manage", actor=actor)
    with pytest.raises(NotAllowed, match="account has changed"):
        create_invitation(email="new@example.com", role="weak", actor=actor)

    assert state() == before


PAGES = ContentScope(types=frozenset({"page"}))


def test_who_is_limited_further_loses_sessions_and_who_is_less_does_not() -> None:
    make.site_role("checker", "posts.view", scope=ContentScope(types=frozenset({"page", "blog"})))
    make.user("checker")
    first = ApiClient("checker")

    change("checker", "posts.view", scope=PAGES)
    first.read("/api/auth/me", expect=401)
    second = ApiClient("checker")
    change("checker", "posts.view", scope=ContentScope(types=frozenset({"page"}), reads_all=True))
    second.read("/api/auth/me")
    change("checker", "posts.view", scope=ContentScope())
    second.read("/api/auth/me")
    event = Event.objects.filter(name="role.changed").latest("pk")
    assert event.payload["scopeBefore"] == {"types": ["page"], "readsAll": True}
    assert event.payload["scope"] == {}


@pytest.mark.parametrize(
    ("own", "other", "is_within"),
    [
        (PAGES, ContentScope(), True),
        (ContentScope(), PAGES, False),
        (PAGES, PAGES, True),
        (ContentScope(types=frozenset({"page", "blog"})), PAGES, False),
        (PAGES, ContentScope(types=frozenset({"page", "blog"})), True),
        (PAGES, ContentScope(locales=frozenset({"de"})), False),
        (ContentScope(types=frozenset({"page"}), reads_all=True), PAGES, False),
        (PAGES, ContentScope(types=frozenset({"page"}), reads_all=True), True),
    ],
)
def test_a_scope_is_within_one_that_limits_no_more(
    own: ContentScope, other: ContentScope, is_within: bool
) -> None:
    assert own.is_within(other) is is_within
    assert ContentScope.from_json(own.to_json()) == own


def test_a_scope_without_limits_is_stored_empty() -> None:
    assert ContentScope(reads_all=True).to_json() == {}
