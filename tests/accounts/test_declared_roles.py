"""Roles and permissions declared by an app, beside the product's."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured

from proofroom.accounts import roles
from proofroom.accounts.queries import permissions_of
from proofroom.accounts.roles import (
    GRANTS,
    PermissionSet,
    Role,
    RoleDefinition,
    all_permissions,
    grants,
    people_roles,
)


class Stock(PermissionSet):
    name = "stock"
    permissions = ("stock.view", "stock.edit")
    roles = ("editor",)


class Clerk(RoleDefinition):
    name = "clerk"
    label = "Clerk"
    includes = ("translator",)
    permissions = ("stock.view", "posts.create")


class Declared:
    """Declarations of a test's apps."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.monkeypatch = monkeypatch

    def __call__(self, *definitions: Any) -> None:
        for registry in (roles.permission_sets, roles.app_roles):
            found = {one.name: one for one in definitions if issubclass(one, registry.base)}
            self.monkeypatch.setattr(registry, "_found", found)
        grants.cache_clear()


@pytest.fixture
def declared(monkeypatch: pytest.MonkeyPatch) -> Iterator[Declared]:
    yield Declared(monkeypatch)
    monkeypatch.undo()
    grants.cache_clear()


def test_a_role_has_what_it_includes_and_what_it_names(declared: Declared) -> None:
    declared(Stock, Clerk)

    assert permissions_of("clerk") == GRANTS["translator"] | {"stock.view", "posts.create"}
    assert people_roles() == ["admin", "editor", "translator", "clerk"]


def test_permissions_of_an_app_are_for_admins_and_whom_it_names(declared: Declared) -> None:
    declared(Stock)

    assert permissions_of("admin") == GRANTS["admin"] | {"stock.view", "stock.edit"}
    assert permissions_of("editor") == GRANTS["editor"] | {"stock.view", "stock.edit"}
    assert permissions_of("translator") == GRANTS["translator"]
    assert {"stock.view", "stock.edit"} <= all_permissions()


def test_agents_get_none(declared: Declared) -> None:
    class ForAgents(Stock):
        roles = ("ai_agent",)

    declared(ForAgents)

    assert permissions_of(Role.AI_AGENT) == GRANTS["ai_agent"]


@pytest.mark.parametrize(
    ("attributes", "reason"),
    [
        ({"name": "editor"}, "is already a role"),
        ({"name": "Big Boss"}, "is not a name of a-z, 0-9 and _"),
        ({"name": "a_role_of_a_long_name"}, "more than 20"),
        ({"permissions": ("stock.sell",)}, "there is no permission or role stock.sell"),
        ({"includes": ("nobody",)}, "there is no permission or role nobody"),
    ],
)
def test_a_wrong_role_is_said(
    declared: Declared, attributes: dict[str, object], reason: str
) -> None:
    declared(Stock, type("Wrong", (Clerk,), attributes))

    with pytest.raises(ImproperlyConfigured, match=reason):
        grants()


@pytest.mark.parametrize("name", ["posts.publish", "stock", "stock view"])
def test_a_permission_takes_no_name_of_the_product(declared: Declared, name: str) -> None:
    declared(type("Wrong", (Stock,), {"permissions": (name,)}))

    with pytest.raises(ImproperlyConfigured, match="is already a permission of the product"):
        grants()
