"""The contract of analytics and variations, checked from outside: by requests only."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.test import Client

from content.models import Post
from tests import make
from tests.api_client import ApiClient

pytestmark = pytest.mark.django_db

TRACK = "/api/public/analytics/track"
SUMMARY = "/api/analytics/summary"
HEATMAP = "/api/analytics/heatmap"
PEOPLE = "Mozilla/5.0 (X11; Linux x86_64) Chrome/156.0 Safari/537.36"


def track(body: Any, **headers: str) -> int:
    answer = ApiClient().write("POST", TRACK, body, HTTP_USER_AGENT=PEOPLE, **headers)
    assert set(answer) == {"accepted"}
    accepted: int = answer["accepted"]
    return accepted


def view(post: Post | None = None, width: int | None = 1280, **metadata: Any) -> dict[str, Any]:
    return {
        "eventType": "view",
        "postId": str(post.pk) if post else None,
        "viewportWidth": width,
        "metadata": {"path": post.path if post else "/elsewhere", **metadata},
    }


def click(post: Post | None, x: float, y: float, width: int = 1280) -> dict[str, Any]:
    return {**view(post, width), "eventType": "click", "x": x, "y": y}


def summary(query: str = "") -> Any:
    return ApiClient("admin").read(SUMMARY + query)


def heat(query: str) -> Any:
    return ApiClient("admin").read(HEATMAP + query)


def assert_refused(path: str, field: str) -> None:
    answer = ApiClient("admin").read(path, expect=422)
    assert set(answer) == {"error", "code", "details"}
    assert list(answer["details"]) == [field]


def test_one_object_or_an_array_of_at_most_a_hundred() -> None:
    post = make.post()

    assert track(view(post)) == 1
    assert track([view(post), click(post, 10, 10)]) == 2
    assert track([view(post)] * 100) == 100
    ApiClient().write("POST", TRACK, [view(post)] * 101, expect=422)
    wrong = [view(post), {**view(post), "eventType": "scroll"}]
    ApiClient().write("POST", TRACK, wrong, expect=422)
    assert summary()["totals"] == {"views": 102, "clicks": 1, **conversions(summary()["totals"])}


def conversions(totals: dict[str, int]) -> dict[str, int]:
    """Count conversions, which the contract allows in addition."""
    rest = {name: value for name, value in totals.items() if name not in ("views", "clicks")}
    assert set(rest) <= {"conversions"}
    assert not any(rest.values())
    return rest


def test_a_summary_has_what_the_contract_names() -> None:
    one, other = make.post("One", slug="one"), make.post("Other", slug="other")
    track([view(one), view(one), view(other), view(), click(one, 5, 5), click(None, 1, 1)])
    today = datetime.now(UTC).date()

    answer = summary(f"?from={today - timedelta(days=2)}&to={today}")

    assert (answer["totals"]["views"], answer["totals"]["clicks"]) == (4, 2)
    assert [
        {name: row[name] for name in ("postId", "title", "views", "clicks")}
        for row in answer["topPosts"]
    ] == [
        {"postId": str(one.pk), "title": "One", "views": 2, "clicks": 1},
        {"postId": str(other.pk), "title": "Other", "views": 1, "clicks": 0},
    ]
    assert [
        {name: row[name] for name in ("date", "views", "clicks")} for row in answer["overTime"]
    ] == [
        {"date": str(today - timedelta(days=2)), "views": 0, "clicks": 0},
        {"date": str(today - timedelta(days=1)), "views": 0, "clicks": 0},
        {"date": str(today), "views": 4, "clicks": 2},
    ]


def test_a_summary_by_post_and_by_days() -> None:
    one, other = make.post("One", slug="one"), make.post("Other", slug="other")
    track([view(one), view(other), view(other), click(other, 1, 1)])
    yesterday = datetime.now(UTC).date() - timedelta(days=1)

    of_one, of_other = summary(f"?postId={one.pk}"), summary(f"?postId={other.pk}")
    before = summary(f"?from={yesterday}&to={yesterday}")

    counts = [
        (answer["totals"]["views"], answer["totals"]["clicks"])
        for answer in (of_one, of_other, before)
    ]
    assert counts == [(1, 0), (2, 1), (0, 0)]
    assert before["topPosts"] == []


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("?to=2026-13-01", "to"),
        ("?from=2026-02-02&to=2026-02-01", "from"),
        ("?from=", "from"),
        ("?postId=x", "postId"),
        ("?from=2026-01-01%00", "from"),
        (f"?from={'9' * 5_000}", "from"),
    ],
)
@pytest.mark.parametrize("path", [SUMMARY, HEATMAP], ids=["summary", "heatmap"])
def test_a_bad_value_is_422_at_its_name(path: str, query: str, field: str) -> None:
    if path == HEATMAP and "postId" not in query:
        query += f"&postId={make.post().pk}"
    assert_refused(path + query, field)


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("eventType=scroll", "eventType"),
        ("viewport=all%27", "viewport"),
    ],
)
def test_a_heatmap_takes_the_values_of_the_contract(query: str, field: str) -> None:
    assert_refused(f"{HEATMAP}?postId={make.post().pk}&{query}", field)


def test_a_parameter_that_nobody_knows_is_ignored() -> None:
    track(view(make.post()))

    odd = summary("?groupBy=metadata__path&author__password__startswith=p&ordering=-ip")

    assert odd == summary()


def test_a_heatmap_is_of_a_page_a_thousand_pixels_wide() -> None:
    post = make.post()
    # The same spot of the page, seen at three widths: a quarter from the left, 400 of 1,000 down.
    same = [click(post, width / 4, width * 0.4, width) for width in (390, 820, 1280)]
    track([*same, click(post, 0, 0), view(post)])

    answer = heat(f"?postId={post.pk}")

    assert set(answer) == {"data", "meta"}
    assert {name: answer["meta"][name] for name in ("grid", "max", "total")} == {
        "grid": 10,
        "max": 3,
        "total": 4,
    }
    cells = sorted(answer["data"], key=lambda cell: cell["count"])
    assert [set(cell) for cell in cells] == [{"x", "y", "count"}] * 2
    assert [cell["count"] for cell in cells] == [1, 3]
    assert (cells[0]["x"], cells[0]["y"]) == (0, 0)
    assert cells[1]["x"] == pytest.approx(0.25, abs=0.001)
    assert cells[1]["y"] == pytest.approx(400, abs=1)


def test_mobile_is_below_768_and_tablet_below_1100() -> None:
    post = make.post()
    track([click(post, 10, 10, width) for width in (390, 767, 768, 1099, 1100, 2560)])

    totals = {
        name: heat(f"?postId={post.pk}&viewport={name}")["meta"]["total"]
        for name in ("all", "mobile", "tablet", "desktop")
    }

    assert totals == {"all": 6, "mobile": 2, "tablet": 2, "desktop": 2}


def test_a_heatmap_is_of_one_post_one_kind_and_its_days() -> None:
    post, other = make.post("One", slug="one"), make.post("Other", slug="other")
    track([click(post, 10, 10), click(other, 20, 20), {**view(post), "x": 5, "y": 5}])
    yesterday = datetime.now(UTC).date() - timedelta(days=1)

    asked = [
        heat(f"?postId={post.pk}{rest}")["meta"]["total"]
        for rest in ("", "&eventType=click", "&eventType=view", f"&from={yesterday}&to={yesterday}")
    ]

    assert asked == [1, 1, 1, 0]


def test_law_every_way_to_divide_them_has_the_same_sum() -> None:
    english, german = make.post(), make.post("Bohnen", slug="bohnen", locale="de")
    varied, arm = running_variation(english)
    batch = [
        *(
            view(post, width)
            for post in (english, german, None)
            for width in (390, 900, 1400, None)
        ),
        *(view(english, referrer=host) for host in ("a.example", "b.example", "")),
        *(click(post, 12.5, 900, width) for post in (english, german) for width in (390, 1400)),
        {**view(arm), "eventType": "click"},
        view(arm, 390),
        click(arm, 4, 4),
        view(locale="xx"),
        view(locale="de"),
    ]

    assert track(batch) == len(batch)
    answer = summary()

    clicks = sum(event["eventType"] == "click" for event in batch)
    totals = (answer["totals"]["views"], answer["totals"]["clicks"])
    assert totals == (len(batch) - clicks, clicks)
    for name in ("overTime", "devices", "locales"):
        rows = answer[name]
        assert (sum(row["views"] for row in rows), sum(row["clicks"] for row in rows)) == totals
    # What was shown of a variation counts for its original, once.
    first = answer["topPosts"][0]
    of_english = [event for event in batch if event["postId"] in (str(varied.pk), str(arm.pk))]
    seen = sum(event["eventType"] == "view" for event in of_english)
    assert (first["postId"], first["views"], first["clicks"]) == (
        str(varied.pk),
        seen,
        len(of_english) - seen,
    )
    assert str(arm.pk) not in {row["postId"] for row in answer["topPosts"]}
    placed = [
        event for event in batch if event.get("x") is not None and event["postId"] == str(german.pk)
    ]
    assert heat(f"?postId={german.pk}")["meta"]["total"] == len(placed) == 2


def running_variation(post: Post, weight: int = 50) -> tuple[Post, Post]:
    editor = ApiClient("editor")
    made = editor.write(
        "POST", f"/api/posts/{post.pk}/variations", {"variation": "B", "weight": weight}, expect=201
    )
    editor.write("PUT", f"/api/posts/{made['id']}", {"title": "The other way"})
    editor.write("PATCH", f"/api/posts/{post.pk}/variations/{made['id']}", {"running": True})
    return post, Post.objects.get(pk=made["id"])


def test_a_variation_is_in_no_list_and_no_sitemap_and_canonical_to_its_original() -> None:
    post, arm = running_variation(make.post(), weight=100)

    page = Client().get(post.path, HTTP_USER_AGENT=PEOPLE).content.decode()
    sitemap = b"".join(Client().get("/sitemap.xml")).decode()
    listed = ApiClient("editor").read("/api/posts?allLocales=true&per_page=100")["data"]

    assert "The other way" in page
    assert f'<link rel="canonical" href="http://127.0.0.1:8000{post.path}">' in page
    assert [row["id"] for row in listed] == [str(post.pk)]
    assert sitemap.count("<loc>") == sitemap.count(f"{post.path}</loc>") == 1
    assert str(arm.pk) not in sitemap


def test_a_winner_is_promoted_with_a_revision_and_the_test_is_over() -> None:
    post = make.post()
    german = ApiClient("editor").write(
        "POST", f"/api/posts/{post.pk}/translations", {"locale": "de"}, expect=201
    )
    _, arm = running_variation(post, weight=100)
    editor = ApiClient("editor")
    before = editor.read(f"/api/posts/{post.pk}/revisions")["meta"]["total"]

    answer = editor.write(
        "POST", f"/api/posts/{post.pk}/promote-variation", {"variationId": str(arm.pk)}
    )

    assert (answer["id"], answer["title"], answer["status"]) == (
        str(post.pk),
        "The other way",
        "published",
    )
    assert editor.read(f"/api/posts/{post.pk}/revisions")["meta"]["total"] > before
    assert editor.read(f"/api/posts/{german['id']}")["title"] == german["title"]
    rows = editor.read(f"/api/posts/{post.pk}/variations")["data"]
    assert [row["running"] for row in rows] == [False]


@pytest.mark.parametrize("weight", [0, 101, "50", 1.5, True])
def test_a_weight_is_from_1_to_100(weight: Any) -> None:
    post = make.post()
    editor = ApiClient("editor")
    made = editor.write("POST", f"/api/posts/{post.pk}/variations", {"variation": "B"}, expect=201)

    new = editor.write(
        "POST", f"/api/posts/{post.pk}/variations", {"variation": "C", "weight": weight}, expect=422
    )
    changed = editor.write(
        "PATCH", f"/api/posts/{post.pk}/variations/{made['id']}", {"weight": weight}, expect=422
    )

    assert [list(answer["details"]) for answer in (new, changed)] == [["weight"], ["weight"]]
    rows = editor.read(f"/api/posts/{post.pk}/variations")["data"]
    assert [(row["variation"], row["weight"], row["running"]) for row in rows] == [("B", 50, False)]
