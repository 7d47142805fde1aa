"""Frontends that missed webhooks ask what became stale since they last asked."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from urllib.parse import urlencode

import pytest
from django.test import Client
from django.utils import timezone

from content.posts.trash import delete_post
from content.store.live_changes import delete_old_changes
from proofroom.core.models import LiveChange
from tests import make
from tests.conftest import RunOnCommit
from tests.queries import count_queries

pytestmark = pytest.mark.django_db
CHANGES = "/api/public/changes"


def ask(**query: Any) -> Any:
    return Client().get(f"{CHANGES}?{urlencode(query)}")


def rows(answer: Any) -> list[tuple[str, str | None, str]]:
    return [(row["tag"], row["path"], row["kind"]) for row in answer.json()["data"]]


def test_a_first_call_answers_where_to_begin() -> None:
    LiveChange.objects.create(tag="site")

    answer = ask()

    assert answer.status_code == 200
    assert answer["Cache-Control"] == "no-store"
    assert answer.json()["data"] == []
    assert rows(ask(since=answer.json()["next"])) == []


def test_a_cursor_answers_the_later_changes_oldest_first(run_on_commit: RunOnCommit) -> None:
    with run_on_commit():
        post = make.post(slug="brew")
    cursor = ask().json()["next"]

    with run_on_commit():
        make.edited(post, {"slug": "filter"})
    with run_on_commit():
        delete_post(post_id=post.pk, actor=make.actor())
    answer = ask(since=cursor)

    tag = f"post:{post.pk}"
    found = rows(answer)
    assert {
        (tag, "/blog/brew", "gone"), (tag, "/blog/filter", "changed"), (tag, "/blog/filter", "gone"),
        ("type:blog:en", None, "changed"), ("redirects", None, "changed"),
    } == set(found)  # fmt: skip
    assert found.index((tag, "/blog/filter", "changed")) < found.index(
        (tag, "/blog/filter", "gone")
    )
    times = [row["at"] for row in answer.json()["data"]]
    assert times == sorted(times)
    assert times[0].endswith("Z")
    assert rows(ask(since=answer.json()["next"])) == []


def test_pages_of_a_limit_give_each_row_once() -> None:
    since = (timezone.now() - timedelta(minutes=1)).isoformat()
    for number in range(5):
        LiveChange.objects.create(tag=f"term:{number}")

    found, cursor = [], since
    for _ in range(4):
        answer = ask(since=cursor, limit=2).json()
        found += [row["tag"] for row in answer["data"]]
        cursor = answer["next"]

    assert found == [f"term:{number}" for number in range(5)]


def test_what_is_too_old_is_gone() -> None:
    old = timezone.now() - timedelta(days=31)

    for since in (old.isoformat(), f"c5.{int(old.timestamp())}"):
        answer = ask(since=since)
        assert (answer.status_code, answer.json()["code"]) == (410, "changes_gone")
        assert answer.json()["error"].endswith(".")


def test_a_cursor_stays_valid_while_nothing_changes() -> None:
    LiveChange.objects.create(tag="site", at=timezone.now() - timedelta(days=29))
    cursor = ask(since=(timezone.now() - timedelta(days=30, minutes=-5)).isoformat()).json()["next"]

    assert int(cursor.partition(".")[2]) >= int(timezone.now().timestamp()) - 60


def test_a_wrong_since_is_told_that_it_takes_a_cursor_too() -> None:
    assert ask(since="soon").json()["error"] == (
        "since must be `next` of an earlier answer, or a time such as 2026-01-31T12:00:00Z."
    )


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ({"since": "yesterday"}, "since"),
        ({"since": "c1"}, "since"),
        ({"since": "c" + "9" * 30 + ".1"}, "since"),
        ({"since": ""}, "since"),
        ({"limit": "0"}, "limit"),
        ({"limit": "1001"}, "limit"),
        ({"limit": "ten"}, "limit"),
    ],
)
def test_another_value_is_refused(query: dict[str, str], field: str) -> None:
    answer = ask(**query)

    assert (answer.status_code, list(answer.json()["details"])) == (422, [field])


def test_old_rows_are_deleted() -> None:
    LiveChange.objects.create(tag="old", at=timezone.now() - timedelta(days=31))
    LiveChange.objects.create(tag="new")

    assert delete_old_changes(days=30) == 1
    assert [row.tag for row in LiveChange.objects.all()] == ["new"]


def test_a_cursor_of_lost_rows_is_gone() -> None:
    LiveChange.objects.create(tag="site")
    lost = LiveChange.objects.create(tag="lost")
    cursor = ask().json()["next"]
    lost.delete()

    number, _dot, moment = cursor.partition(".")
    answer = ask(since=cursor)
    LiveChange.objects.create(pk=number[1:], tag="other")
    LiveChange.objects.create(tag="later")
    reused = ask(since=f"{number}.{int(moment) - 60}")

    assert (answer.status_code, answer.json()["code"]) == (410, "changes_gone")
    assert (reused.status_code, reused.json()["code"]) == (410, "changes_gone")


def test_a_cursor_outlives_the_rows_that_expire() -> None:
    LiveChange.objects.create(tag="site")
    cursor = ask().json()["next"]
    LiveChange.objects.all().delete()
    row, _dot, moment = cursor.partition(".")

    answer = ask(since=f"{row}.{int(moment) - 1000}")

    assert (answer.status_code, answer.json()["data"]) == (200, [])
    assert answer.json()["next"] >= cursor
    LiveChange.objects.create(tag="new")
    assert [row["tag"] for row in ask(since=answer.json()["next"]).json()["data"]] == ["new"]


def test_any_number_of_rows_is_read_in_two_queries() -> None:
    cursor = ask().json()["next"]
    for number in range(5):
        LiveChange.objects.create(tag=f"term:{number}")

    assert count_queries(lambda: ask(since=cursor)) == 2
