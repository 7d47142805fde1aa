"""The rows of filterable custom fields follow every write of live content."""

from __future__ import annotations

from datetime import timedelta
from io import StringIO

import pytest
from django.core.management import call_command
from django.utils import timezone

from content.checks import check_definitions
from content.models import FieldValue, Layer, Post
from content.posts.trash import delete_post, purge_trash
from content.store.field_values import (
    collect_values,
    follow_filterable_fields,
    rebuild_field_values,
)
from proofroom.core.json import Json
from proofroom.definitions import (
    Boolean,
    Date,
    ModuleProps,
    MultiSelect,
    PostType,
    TaxonomyReference,
    Text,
    filterable_custom_fields,
    post_types,
)
from tests import make
from tests.queries import count_queries

pytestmark = pytest.mark.django_db


def praise(title: str = "Praise", **custom: Json) -> Post:
    return make.post(title, type="testimonial", customFields=custom)


def values(post: Post | None = None) -> list[tuple[str, str, float | None]]:
    rows = FieldValue.objects.all() if post is None else FieldValue.objects.filter(post=post)
    return sorted(rows.values_list("name", "text", "number"), key=str)


def test_creation_and_edits_store_the_marked_fields_only() -> None:
    post = praise(rating=4, company="Kettle & Co", quote="Fine", authorName="Ann")
    assert values(post) == [("company", "Kettle & Co", None), ("rating", "", 4.0)]

    make.edited(post, {"customFields": {"rating": 5}})
    assert values(post) == [("company", "Kettle & Co", None), ("rating", "", 5.0)]

    make.edited(post, {"customFields": {"rating": None, "company": ""}})
    assert values(post) == []
    make.edited(post, {"customFields": {"company": "Pan"}})
    assert values(post) == [("company", "Pan", None)]


def test_an_edit_of_other_values_costs_no_statement() -> None:
    plain, marked = make.post("Plain", type="testimonial"), praise("Marked", rating=4)

    def edit(post: Post, text: str) -> int:
        return count_queries(lambda: make.edited(post, {"excerpt": text}))

    edit(plain, "zero"), edit(marked, "zero")
    assert edit(plain, "one") == edit(marked, "one")


def test_staged_values_are_not_live() -> None:
    post = praise(rating=4)
    for layer in (Layer.REVIEW, Layer.AI_REVIEW):
        make.staged(post, {"customFields": {"rating": 1}}, layer=layer)

    assert values(post) == [("rating", "", 4.0)]


def test_purged_posts_take_their_values_along() -> None:
    post = praise(rating=4)
    delete_post(post_id=post.pk, actor=make.actor("editor"))
    assert values() == [("rating", "", 4.0)]  # as restoring brings them back
    Post.objects.update(deleted_at=timezone.now() - timedelta(days=31))
    purge_trash(actor=make.actor("admin"), days=30)

    assert values() == []


def test_the_rows_can_be_rebuilt() -> None:
    post, other = praise(rating=4, company="Kettle"), make.post()
    before = values()
    FieldValue.objects.filter(name="rating").delete()
    FieldValue.objects.create(post=other, name="company", text="wrong")

    call_command("rebuild_field_values", stdout=StringIO())

    assert values() == before
    ids = set(FieldValue.objects.filter(post=post).values_list("pk", flat=True))
    rebuild_field_values()  # rows that are right stay
    assert set(FieldValue.objects.filter(post=post).values_list("pk", flat=True)) == ids


def test_marks_that_come_and_go_are_followed_after_migrate() -> None:
    post = praise(rating=4)
    FieldValue.objects.all().delete()
    FieldValue.objects.create(post=post, name="quote", text="not marked any more")

    follow_filterable_fields()

    assert values() == [("rating", "", 4.0)]


class _Custom(ModuleProps):
    days: str | None = Date(filterable=True)
    kinds: list[str] = MultiSelect(filterable=True)
    is_new: bool = Boolean(filterable=True)
    topics: list[str] = TaxonomyReference(many=True, filterable=True)
    other: str = Text()


class _Shop(PostType):
    name = "shop"
    label = "Shop"
    url_pattern = "/shop/{slug}"
    CustomFields = _Custom


@pytest.fixture
def shop(monkeypatch: pytest.MonkeyPatch) -> type[PostType]:
    monkeypatch.setattr(post_types, "all", lambda: {"shop": _Shop})
    return _Shop


@pytest.mark.usefixtures("shop")
def test_each_kind_of_value_has_its_rows() -> None:
    found = collect_values(
        "shop",
        {
            "days": "2026-01-31",
            "kinds": ["a", "b", "a", 3],
            "isNew": False,
            "topics": [],
            "other": "left out",
        },
    )

    assert found == [
        ("days", "2026-01-31", None),
        ("kinds", "a", None),
        ("kinds", "b", None),
        ("isNew", "false", None),
    ]
    assert collect_values("shop", {"days": 3, "isNew": "yes", "kinds": {"a": 1}}) == []
    assert collect_values("gone", {"days": "2026-01-31"}) == []


@pytest.mark.parametrize("value", [10**400, -(10**400), float("inf"), float("nan"), True])
def test_numbers_that_the_column_cannot_hold_have_no_row(value: Json) -> None:
    assert collect_values("testimonial", {"rating": value}) == []
    assert collect_values("testimonial", {"rating": 10**300}) == [("rating", "", 1e300)]


def test_only_marked_fields_are_filterable() -> None:
    assert list(filterable_custom_fields("testimonial")) == ["company", "rating"]
    assert list(filterable_custom_fields("profile")) == ["role"]
    assert list(filterable_custom_fields("company")) == ["industry"]
    assert filterable_custom_fields("blog") == {}


def test_a_mark_that_cannot_work_is_an_error_of_check(
    shop: type[PostType], monkeypatch: pytest.MonkeyPatch
) -> None:
    class Long(ModuleProps):
        story: str = Text(max_length=2000, filterable=True)

    monkeypatch.setattr(shop, "CustomFields", Long)
    monkeypatch.setattr(shop, "filterable", ("title", "rating"))

    found = {error.id: error.msg for error in check_definitions()}

    assert "filterable names 'rating'" in found["content.E024"]
    assert "'story' has more than 300 characters" in found["content.E025"]
