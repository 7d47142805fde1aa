"""The experiment of a post: results, verdicts, and doubts."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from analytics.models import GOAL_MAX, PostCount
from content.models import Post
from content.posts.trash import delete_post
from content.store.traffic import change_variation
from proofroom.core.json import format_time
from tests import make
from tests.analytics.begun import begun, moved
from tests.analytics.counted import ago, arm
from tests.api_client import ApiClient

pytestmark = pytest.mark.django_db

ADDRESS = "/api/analytics/variations"


def read(post_id: UUID, query: str = "", role: str = "editor") -> Any:
    return ApiClient(role).read(f"{ADDRESS}?postId={post_id}{query}")


def warnings(found: Any) -> list[str]:
    return [warning["code"] for warning in found["warnings"]]


def test_the_arms_of_a_test_with_their_rates_ranges_and_verdicts() -> None:
    post, (variation,) = begun(days=3)
    arm(post.pk, post.pk, 5000, 500, day=ago(3))
    arm(post.pk, variation.pk, 4000, 550, day=ago(2))
    arm(post.pk, variation.pk, 1000, 100)
    arm(post.pk, variation.pk, 0, 7, goal="form:contact")

    found = read(post.pk)

    a, b = found["arms"]
    assert (a["postId"], a["variation"], a["weight"]) == (str(post.pk), "A", 50)
    assert (a["views"], a["conversions"], a["rate"]) == (5000, 500, 0.1)
    assert a["interval"] == {"low": 0.091989, "high": 0.108625}
    assert (a["difference"], a["verdict"], a["viewsNeeded"]) == (None, None, None)
    assert (b["postId"], b["variation"], b["running"]) == (str(variation.pk), "B", True)
    assert (b["views"], b["conversions"], b["rate"], b["verdict"]) == (5000, 650, 0.13, "better")
    assert b["difference"] == {"low": 0.010644, "high": 0.049356}
    assert b["viewsNeeded"] == 1562
    assert found["goal"] == "signup"
    assert found["goals"] == [
        {"goal": "signup", "conversions": 1150},
        {"goal": "form:contact", "conversions": 7},
    ]
    assert (found["from"], found["to"]) == (str(ago(3)), str(ago(0)))
    assert (found["running"], found["endedAt"], found["warnings"]) == (True, None, [])
    assert read(variation.pk) == found


def test_what_visitors_report_is_in_the_test_at_once() -> None:
    post, (variation,) = begun()
    phone = "Mozilla/5.0 (Linux; Android 16) AppleWebKit/537.36 Chrome/156.0 Mobile Safari/537.36"

    def seen(shown: Post, *, goal: str = "") -> None:
        of = {"postId": str(shown.pk), "viewportWidth": 390}
        click = {**of, "eventType": "click", "x": 1, "y": 1, "metadata": {"goal": goal}}
        body = [{**of, "eventType": "view"}, *([click] if goal else [])]
        ApiClient().write(
            "POST", "/api/public/analytics/track", body, headers={"User-Agent": phone}
        )

    seen(post, goal="signup")
    seen(post)
    seen(variation, goal="signup")

    found = read(post.pk)

    assert [(arm["views"], arm["clicks"], arm["conversions"]) for arm in found["arms"]] == [
        (2, 1, 1), (1, 1, 1),
    ]  # fmt: skip
    assert found["goals"] == [{"goal": "signup", "conversions": 2}]
    assert [arm["verdict"] for arm in found["arms"]] == [None, "too-early"]


def test_another_goal_and_a_goal_that_nobody_reached() -> None:
    post, (variation,) = begun()
    arm(post.pk, post.pk, 300, 20)
    arm(post.pk, variation.pk, 300, 4, goal="form:contact")

    by_form = read(post.pk, "&goal=form:contact")
    assert [item["conversions"] for item in by_form["arms"]] == [0, 4]
    assert by_form["arms"][1]["verdict"] == "too-early"
    unknown = read(post.pk, "&goal=nothing")
    assert [item["conversions"] for item in unknown["arms"]] == [0, 0]
    assert unknown["arms"][1]["viewsNeeded"] is None


def test_a_post_without_a_test_has_one_arm_and_no_verdict() -> None:
    post = make.post()

    found = read(post.pk)

    assert [item["verdict"] for item in found["arms"]] == [None]
    assert (found["running"], found["startedAt"], found["goal"]) == (False, None, None)
    assert (found["arms"][0]["rate"], found["arms"][0]["interval"]) == (
        None,
        {"low": 0.0, "high": 1.0},
    )
    assert (found["from"], found["to"]) == (str(ago(29)), str(ago(0)))


def test_a_split_far_from_the_weights_is_doubted() -> None:
    post, (variation,) = begun(weight=50)
    arm(post.pk, post.pk, 5000, 250)
    arm(post.pk, variation.pk, 4600, 230)

    assert warnings(read(post.pk)) == ["odd-split"]
    arm(post.pk, variation.pk, 350)
    assert warnings(read(post.pk)) == []


def test_the_split_of_a_test_that_ended_is_not_judged_by_weights_that_may_be_others() -> None:
    post, (b, c) = begun("B", "C", weight=50, days=2)
    arm(post.pk, b.pk, 5000, 250)
    editor = make.actor("editor")

    for row in (b, c):
        change_variation(post_id=post.pk, variation_id=row.pk, running=False, actor=editor)

    assert "odd-split" not in warnings(read(post.pk))


def test_changed_weights_arms_and_content_are_reported() -> None:
    post, (b, c) = begun("B", "C", weight=20, days=2)
    editor = make.actor("editor")
    arm(post.pk, post.pk, 5000, 250)
    arm(post.pk, b.pk, 10, 1)

    change_variation(post_id=post.pk, variation_id=b.pk, weight=30, actor=editor)
    assert warnings(read(post.pk)) == ["weights-changed"]
    change_variation(post_id=post.pk, variation_id=c.pk, running=False, actor=editor)
    assert warnings(read(post.pk)) == ["weights-changed", "arms-changed"]
    make.edited(b, {"title": "Other words"}, by=editor)
    assert warnings(read(post.pk)) == ["weights-changed", "arms-changed", "content-changed"]
    before = read(post.pk, f"&to={ago(1)}")
    assert warnings(before) == []


def test_what_is_done_at_the_beginning_and_at_the_end_is_no_change() -> None:
    post, (b, c) = begun("B", "C", weight=20, days=2)
    editor = make.actor("editor")
    arm(post.pk, post.pk, 600, 20)
    arm(post.pk, b.pk, 200, 20)
    arm(post.pk, c.pk, 200, 20)

    for row in (b, c):
        change_variation(post_id=post.pk, variation_id=row.pk, running=False, actor=editor)
    make.edited(post, {"title": "After it"}, by=editor)

    found = read(post.pk)
    assert warnings(found) == []
    assert (found["running"], found["endedAt"] is not None) == (False, True)
    assert [(item["variation"], item["running"]) for item in found["arms"]] == [
        ("A", False), ("B", False), ("C", False),
    ]  # fmt: skip
    # A new test begins a new course.
    moved(5)
    change_variation(post_id=post.pk, variation_id=b.pk, running=True, actor=editor)
    found = read(post.pk)
    assert (found["from"], found["endedAt"]) == (str(ago(0)), None)
    assert found["startedAt"] > format_time(timezone.now() - timedelta(hours=1))
    assert found["startedAt"].endswith("Z")


def test_a_period_within_an_experiment_and_excess_goals_are_warned_of() -> None:
    post, (variation,) = begun(days=9)
    arm(post.pk, post.pk, 10, 12)
    arm(post.pk, variation.pk, 10, 2)

    found = read(post.pk, f"&from={ago(3)}")

    assert warnings(found) == ["part-of-test", "many-goals"]
    assert (found["arms"][0]["conversions"], found["arms"][0]["rate"]) == (12, 1.0)
    assert warnings(read(post.pk)) == ["many-goals"]


def test_what_is_asked_wrongly_is_refused() -> None:
    post = make.post()
    client = ApiClient("editor")

    for query, field in [
        ("", "postId"),
        ("?postId=x", "postId"),
        ("?postId=<id>&goal=a%00b", "goal"),
        ("?postId=<id>&goal=" + "a" * (GOAL_MAX + 1), "goal"),
        ("?postId=<id>&goal=a%0Ab", "goal"),
        ("?postId=<id>&goal=", "goal"),
        ("?postId=<id>&effect=101", "effect"),
        ("?postId=<id>&effect=1.5", "effect"),
        ("?postId=<id>&effect=9999999999", "effect"),
        ("?postId=<id>&from=2030-01-31&to=2030-01-01", "from"),
        ("?postId=<id>&to=0000-00-00", "to"),
    ]:
        answer = client.read(ADDRESS + query.replace("<id>", str(post.pk)), expect=422)
        assert list(answer["details"]) == [field], query


def test_what_is_not_there_has_no_trial() -> None:
    post, _ = begun()
    client = ApiClient("editor")

    client.read(f"{ADDRESS}?postId={uuid4()}", expect=404)
    delete_post(post_id=post.pk, actor=make.actor("admin"))
    client.read(f"{ADDRESS}?postId={post.pk}", expect=404)


def test_many_arms_and_many_changes_take_as_many_statements_as_few() -> None:
    few, many = statements_of("B"), statements_of(*"CDEFGHIJK", changes=3)

    assert few == many


def statements_of(*names: str, changes: int = 0) -> int:
    """Return the number of statements to read the experiment of a post with these arms."""
    PostCount.objects.all().delete()
    Post.objects.all().delete()
    post, rows = begun(*names, weight=5, days=1)
    for row in rows:
        arm(post.pk, row.pk, 100, 10)
        for weight in range(6, 6 + changes):
            change_variation(
                post_id=post.pk, variation_id=row.pk, weight=weight, actor=make.actor("editor")
            )
    client = ApiClient("editor")
    read(post.pk)  # what is read once is read

    with CaptureQueriesContext(connection) as asked:
        found = client.read(f"{ADDRESS}?postId={post.pk}")

    assert len(found["arms"]) == len(names) + 1
    return len(asked)
