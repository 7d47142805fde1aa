"""A compiled statement returns the same as its queryset, for any arguments, and is compiled once."""

from __future__ import annotations

from uuid import UUID, uuid4

import pytest
from django.db import connection
from django.db.models.functions import Upper
from django.db.models.sql.compiler import SQLCompiler
from django.test.utils import CaptureQueriesContext

from content.models import Post, PostModule
from proofroom.accounts.models import User
from proofroom.core.database.compiled_queries import (
    CompiledQuery,
    CompiledQueryForEach,
    Update,
    columns_of,
    instance_from_row,
    related_from_row,
)
from tests import make

pytestmark = pytest.mark.django_db

by_id = CompiledQuery(lambda post_id: Post.objects.filter(pk=post_id).values(*columns_of(Post)))


def test_rows_equal_the_querysets_for_each_argument() -> None:
    first, second = make.post("First"), make.post("Second")

    for post in (first, second, first):
        assert by_id.rows(post.pk) == list(
            Post.objects.filter(pk=post.pk).values(*columns_of(Post))
        )
    assert by_id.rows(uuid4()) == []


def test_tuples_are_in_the_order_of_values() -> None:
    post = make.post("First")
    statement = CompiledQuery(
        lambda ids: Post.objects.filter(pk__in=ids).values("locale", "title", upper=Upper("title"))
    )

    assert statement.tuples([post.pk]) == [("en", "First", "FIRST")]
    assert statement.tuples([]) == []


def test_arguments_stay_in_their_places_whatever_their_type_and_number() -> None:
    posts = [make.post(f"Post {number}") for number in range(3)]
    editor = make.user("editor")
    statement = CompiledQuery(
        lambda title, ids, author: (
            Post.objects.filter(pk__in=ids, title=title)
            .exclude(author_id=author)
            .values("title", "locale")
        )
    )

    def ask(title: str, ids: list[UUID], author: int) -> list[dict[str, str]]:
        return statement.rows(title, ids, author)

    ids = [post.pk for post in posts]
    assert ask("Post 1", ids, editor.pk) == [{"title": "Post 1", "locale": "en"}]
    assert ask("Post 2", ids, editor.pk) == [{"title": "Post 2", "locale": "en"}]
    assert ask("Post 2", ids[:2], editor.pk) == []
    assert ask("Post 1", ids, make.user("admin").pk) == []
    assert ask("Post 1", [], editor.pk) == []


def test_the_second_call_compiles_nothing_and_is_one_query(monkeypatch: pytest.MonkeyPatch) -> None:
    post = make.post()
    statement = CompiledQuery(
        lambda ids: PostModule.objects.filter(post_id__in=ids).values("id", "instance__props")
    )
    before = statement.rows([post.pk])

    def refuse(*args: object, **kwargs: object) -> None:
        raise AssertionError("compiled again")

    monkeypatch.setattr(SQLCompiler, "as_sql", refuse)
    with CaptureQueriesContext(connection) as captured:
        again = statement.rows([post.pk])

    assert again == before
    assert len(again) == 3
    assert len(captured) == 1


def test_a_list_is_one_parameter_however_long(monkeypatch: pytest.MonkeyPatch) -> None:
    posts = [make.post(f"Post {number}").pk for number in range(3)]
    statement = CompiledQuery(
        lambda ids, titles, orders: (
            Post.objects.filter(pk__in=ids, title__in=titles)
            .exclude(order_index__in=orders)
            .values("title")
        )
    )
    statement.rows(posts[:1], ["Post 0"], [7])

    def refuse(*args: object, **kwargs: object) -> None:
        raise AssertionError("compiled again")

    monkeypatch.setattr(SQLCompiler, "as_sql", refuse)
    found = statement.rows([*posts, *(uuid4() for _ in range(3_000))], ["Post 1", "Post 2"], [7, 8])

    assert sorted(row["title"] for row in found) == ["Post 1", "Post 2"]
    assert statement.rows(posts, ["Post 1"], [0, 1, 2, 3]) == []


def test_a_list_that_is_not_the_right_side_of_in_is_refused() -> None:
    statement = CompiledQuery(lambda titles: Post.objects.filter(title=titles[0]).values("id"))

    with pytest.raises(ValueError, match="not the right side of IN"):
        statement.rows(["First"])


def test_an_argument_that_is_no_parameter_is_refused() -> None:
    with pytest.raises(ValueError, match="not every argument"):
        CompiledQuery(lambda post_id: Post.objects.values("id")).rows(uuid4())


def test_an_instance_can_be_saved_and_loads_what_it_lacks() -> None:
    post = make.post("Before")

    found = instance_from_row(Post, by_id.rows(post.pk)[0])
    found.title = "After"
    found.save()
    partial = instance_from_row(User, {"id": post.author_id, "username": "x"})

    assert Post.objects.get(pk=post.pk).title == "After"
    assert found == post
    assert partial.email == make.user("admin").email


def test_an_argument_of_another_type_is_compiled_on_its_own() -> None:
    post = make.post("First")
    statement = CompiledQuery(lambda title: Post.objects.filter(title=title).values("title"))

    assert statement.rows("First") == [{"title": "First"}]

    # An id is no parameter of a text's filter unchanged; compiled for texts, it would find nothing.
    with pytest.raises(ValueError, match="not every argument"):
        statement.rows(post.pk)
    assert statement.rows("First") == [{"title": "First"}]


def test_an_update_takes_lists_of_any_length() -> None:
    posts = [make.post(f"Post {number}").pk for number in range(3)]
    retitle = Update(
        lambda ids, title: (Post.objects.filter(pk__in=ids), {"title": title, "status": "draft"})
    )

    assert retitle.execute(posts[:2], "Two") == 2
    assert retitle.execute(posts[2:], "One") == 1
    assert retitle.execute([uuid4(), *posts[:1]], "First") == 1
    assert retitle.execute([], "None") == 0

    found = dict(Post.objects.values_list("pk", "title"))
    assert [found[id_] for id_ in posts] == ["First", "Two", "One"]


def test_a_statement_for_each_has_a_limit_and_an_order_for_each() -> None:
    for number in range(4):
        make.post(f"Post {number}", slug=f"post-{number}")
        make.post(f"Beitrag {number}", slug=f"beitrag-{number}", locale="de")
    author = make.user("editor")
    Post.objects.filter(title="Post 3").update(author=author)
    statement = CompiledQueryForEach(
        lambda title, locale: (
            Post.objects.filter(locale=locale)
            .exclude(title=title)
            .select_related("author")
            .order_by("-title")[:2]
        )
    )

    for locales in (["en", "de"], ["de"], ["de", "xx", "en"]):
        with CaptureQueriesContext(connection) as asked:
            rows = statement.rows("Beitrag 2", of=locales)

        assert len(asked) == (1 if connection.vendor == "postgresql" else len(locales))
        assert {row["title"] for row in rows if row["locale"] == "de"} == {"Beitrag 3", "Beitrag 1"}
        english = {row["title"]: row for row in rows if row["locale"] == "en"}
        assert english.keys() == ({"Post 3", "Post 2"} if "en" in locales else set())
        for title, row in english.items():
            written_by = author if title == "Post 3" else make.user("admin")
            assert related_from_row(User, row, "author") == written_by
            assert instance_from_row(Post, row) == Post.objects.get(title=title)
    assert statement.rows("Beitrag 2", of=[]) == []
