"""Lookups by ids from requests: an invalid id finds nothing and runs no query."""

from __future__ import annotations

from uuid import UUID, uuid4

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from pytest_django import DjangoAssertNumQueries

from content.models import Post
from proofroom.core.database.distinct_values import distinct_values
from proofroom.core.database.id_filters import find_by_id
from proofroom.core.validation.input_validation import parse_uuids
from proofroom_apps.menus.models import Menu
from tests import make

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


def test_each_value_is_found_once_in_one_statement():
    for number, (type_, locale) in enumerate(
        (("page", "en"), ("blog", "de"), ("blog", "en"), ("page", "de"), ("blog", "en"))
    ):
        make.post(f"Post {number}", type=type_, locale=locale)

    with CaptureQueriesContext(connection) as queries:
        found = distinct_values(Post.objects.all(), ("type", "locale"))

    assert found == {"type": ["blog", "page"], "locale": ["de", "en"]}
    assert len(queries) == 1


def test_only_the_rows_that_were_asked_for_count():
    make.post("One", locale="en")
    make.post("Zwei", locale="de", status="draft")

    drafts = Post.objects.filter(status="draft")

    assert distinct_values(drafts, ("locale",)) == {"locale": ["de"]}
    assert distinct_values(drafts.filter(title="Nothing"), ("locale",)) == {"locale": []}
