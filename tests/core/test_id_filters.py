"""Lookups by ids from requests: an invalid id finds nothing and runs no query."""

from __future__ import annotations

from uuid import UUID, uuid4

import pytest
from pytest_django import DjangoAssertNumQueries

from proofroom.core.database.id_filters import find_by_id
from proofroom.core.validation.input_validation import parse_uuids
from proofroom_apps.menus.models import Menu

pytestmark = pytest.mark.django_db


def test_a_row_is_found_by_its_id_in_any_spelling() -> None:
    menu = Menu.objects.create(name="Main", slug="main", locale="en")

    for id_ in (menu.pk, str(menu.pk), menu.pk.hex, f"{{{menu.pk}}}".upper()):
        assert find_by_id(Menu.objects, id_) == menu
    assert find_by_id(Menu.objects.exclude(slug="main"), menu.pk) is None
    assert find_by_id(Menu.objects, uuid4()) is None


@pytest.mark.parametrize("id_", [None, "", "main", 7, "\x00", ["a"], {}])
def test_what_is_no_id_costs_no_query(
    id_: object, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    with django_assert_num_queries(0):
        assert find_by_id(Menu.objects, id_) is None


def test_ids_come_once_in_their_order() -> None:
    one, other = UUID(int=2), UUID(int=1)

    assert parse_uuids([str(one), "x", other, None, one.hex]) == [one, other]
