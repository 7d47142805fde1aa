"""The analytics page: for a period, for a post, and without data."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable
from datetime import date, timedelta
from io import StringIO
from typing import Any

import pytest
from django.test import Client

from analytics.admin.charts import chart_periods, draw_chart, step_of, totals
from analytics.models import Dimension
from analytics.periods import Period
from analytics.rollups.summaries import Moment, Summary, Totals
from proofroom.core.admin.charts import line, rounded, upright
from tests import make
from tests.analytics.counted import ago, count, today
from tests.queries import count_queries

pytestmark = pytest.mark.django_db

PAGE = "/admin/analytics/sitecount/"
SignedIn = Callable[..., Client]


def words(page: str) -> str:
    """Return the text of a page without markup."""
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", page))


@pytest.fixture
def admin(client: Client) -> Client:
    client.force_login(make.user("admin"))
    return client


def shown(admin: Client, query: str = "", status: int = 200) -> str:
    response = admin.get(f"{PAGE}{query}")
    assert response.status_code == status
    return response.content.decode()


def a_post_with_figures() -> Any:
    post = make.post("Filter coffee")
    count(ago(1), 1200, 90, 3)
    count(ago(31), 1000, 100)
    count(ago(1), 800, 60, post_id=post.pk)
    count(ago(1), 700, dimension=Dimension.REFERRER, value="search.example")
    count(ago(1), 500, dimension=Dimension.REFERRER)
    count(ago(1), 900, 70, dimension=Dimension.DEVICE, value="mobile")
    count(ago(1), 1200, 90, dimension=Dimension.LOCALE, value="en")
    return post


def test_totals_stand_beside_the_period_before(admin: Client) -> None:
    a_post_with_figures()

    text = words(shown(admin))

    assert "Views 1,200 ▲ 20 % 20 percent more than before from 1,000" in text
    assert "Clicks 90 ▼ 10 % 10 percent less than before from 100" in text
    assert "Goals reached 3 no earlier data" in text
    before = Period(ago(29), today()).before()
    assert f"Compared with the previous period, {before.first.day} {before.first:%B %Y} to" in text


def test_what_the_figures_divide_into_reads_as_tables(admin: Client) -> None:
    post = a_post_with_figures()

    page = shown(admin)
    text = words(page)

    assert "search.example 700 58 %" in text
    assert "Direct or unknown 500 42 %" in text
    assert "Phones 900 100 %" in text
    assert "English 1,200 100 %" in text
    day = ago(1)
    assert f'<th scope="row">{day.day} {day:%B %Y}</th><td>1,200</td><td>1,000</td>' in page
    assert f"Filter coffee 800 67 % {post.path} · 60 clicks · Heatmap" in text
    assert f'href="/admin/analytics/heatmap/{post.pk}/"' in page


def test_a_post_is_found_by_its_title_its_address_and_its_id(admin: Client) -> None:
    post = a_post_with_figures()
    make.post("Filter papers", slug="papers")

    assert "Views 800 no earlier data" in words(shown(admin, f"?postId={post.pk}"))
    assert "Views 800 " in words(shown(admin, "?post=coffee"))
    assert "Views 800 " in words(shown(admin, f"?post={post.pk}"))
    which = words(shown(admin, "?post=filter"))
    assert "Choose a post Filter papers" in which
    assert "Filter papers /blog/papers" in which
    assert "Views 1,200" in which


@pytest.mark.parametrize(
    ("query", "says"),
    [
        ("?post=nothing-like-it", "No post matches this title or address."),
        ("?post=%25_%F0%9F%98", "No post matches this title or address."),
        ("?postId=00000000-0000-4000-8000-000000000000", "Post not found"),
        ("?from=yesterday", "from must be a date"),
        ("?from=2026-02-01&to=2026-01-01", "must not be later"),
        ("?from=1999-01-01", "from must be a date from"),
    ],
)
def test_what_is_asked_oddly_is_said_and_the_usual_is_shown(
    admin: Client, query: str, says: str
) -> None:
    a_post_with_figures()

    text = words(shown(admin, query, 422))

    assert says in text
    assert "Views 1,200" in text


def test_spans_and_own_days(admin: Client) -> None:
    count(date(2026, 3, 4), 7)
    count(ago(0), 5)

    assert "Views 5 " in words(shown(admin, "?span=7"))
    assert "Views 5 " in words(shown(admin, "?span=odd"))
    assert "Views 7 " in words(shown(admin, "?from=2026-03-01&to=2026-03-31"))
    last = today().replace(day=1) - timedelta(days=1)
    count(last, 9)
    assert "Views 9 " in words(shown(admin, "?span=last-month"))
    assert "Views 5 " in words(shown(admin, "?span=month"))


def test_an_empty_page_says_why_it_may_be(admin: Client, settings: Any) -> None:
    text = words(shown(admin))
    assert "No visits yet" in text
    assert "Visits by logged-in users, including yours, are not counted." in text
    assert "Analytics is turned off" not in text

    changed = {"analytics_tracking": False, "analytics_consent": True}
    settings.CMS_ENV = settings.CMS_ENV.model_copy(update=changed)
    text = words(shown(admin))
    assert "Analytics is turned off. To turn it on, set ANALYTICS_TRACKING=1" in text
    assert "Visitors are counted only after they agree (ANALYTICS_CONSENT=1)." in text

    count(ago(300), 1)
    assert "No visits in this period" in words(shown(admin))
    post = make.post()
    assert "No visits to this post in this period" in words(shown(admin, f"?postId={post.pk}"))


def test_the_days_and_the_posts_are_exported_and_begin_no_formula(admin: Client) -> None:
    post = make.post("=1+1", slug="sum")
    count(ago(0), 12, 3, 1)
    count(ago(0), 12, 3, 1, post_id=post.pk)

    days, posts = (
        list(csv.reader(StringIO(body.lstrip("\ufeff"))))
        for body in (exported(admin, "?span=7"), exported(admin, "?span=7&of=posts"))
    )

    assert days[0] == ["date", "views", "clicks", "goals"]
    assert days[1:] == [[str(ago(n)), "0", "0", "0"] for n in range(6, 0, -1)] + [
        [str(today()), "12", "3", "1"]
    ]
    assert posts == [
        ["postId", "title", "path", "views", "clicks", "goals"],
        [str(post.pk), "'=1+1", "/blog/sum", "12", "3", "1"],
    ]


@pytest.mark.parametrize(
    "query", ["?from=2026-02-30", "?postId=3d6f9c1e-5b7a-4e21-9c48-2f0a7d5e8b13"]
)
def test_what_cannot_be_exported_is_not_exported_as_something_else(
    query: str, admin: Client
) -> None:
    response = admin.get(f"{PAGE}export/{query}")

    assert response.status_code == 422
    assert response["Content-Type"].startswith("text/html")
    assert "Content-Disposition" not in response


def exported(admin: Client, query: str) -> str:
    response = admin.get(f"{PAGE}export/{query}")
    assert response["Content-Type"] == "text/csv; charset=utf-8"
    assert response["Content-Disposition"].startswith('attachment; filename="')
    return b"".join(response.streaming_content).decode()  # type: ignore[attr-defined]


def test_many_posts_and_days_take_as_many_statements_as_few(admin: Client) -> None:
    a_post_with_figures()
    shown(admin)
    few = statements(admin)
    for number in range(12):
        post = make.post(f"Post {number}", slug=f"post-{number}")
        for day in range(5):
            count(ago(day), 3, 1, post_id=post.pk)
            count(ago(day), 3, 1, dimension=Dimension.REFERRER, value=f"{number}.example")

    assert statements(admin) == few


def statements(admin: Client) -> int:
    return count_queries(shown, admin)


def summary_of(days: int, views: Callable[[int], int], *, is_monthly: bool = False) -> Summary:
    first = date(2026, 1, 1)
    moments = [Moment(first + timedelta(days=n), views(n), 0, 0) for n in range(days)]
    last = first + timedelta(days=days - 1)
    now = Totals(views=sum(moment.views for moment in moments))
    return Summary(Period(first, last), now, Totals(), moments, is_monthly, [], [], [], [], None)


def test_a_long_period_is_drawn_by_weeks() -> None:
    found = summary_of(100, lambda _: 2)

    assert step_of(found) == "week"
    drawn = draw_chart("views", chart_periods(found, found.over_time))
    assert [column.value for column in drawn.columns] == [14] * 14 + [4]
    assert (drawn.columns[14].stretch.first, drawn.columns[14].stretch.last) == (
        date(2026, 4, 9),
        date(2026, 4, 10),
    )
    assert [column.before for column in drawn.columns] == [14] * 14 + [4]
    assert (drawn.top, drawn.half, drawn.peak) == (20, 10, 14)
    assert step_of(summary_of(92, lambda _: 2)) == "day"


def test_the_line_of_the_period_before_is_drawn_where_each_column_has_one() -> None:
    found = summary_of(4, lambda n: n)

    assert draw_chart("views", chart_periods(found, found.over_time)).line == (
        "12.50,150.0 37.50,112.5 62.50,75.0 87.50,37.5"
    )
    assert draw_chart("views", chart_periods(found, found.over_time[:3])).line == ""
    assert draw_chart("views", chart_periods(found, [])).columns[0].before is None
    empty = draw_chart("clicks", chart_periods(found, found.over_time))
    assert (empty.most, empty.line, empty.top) == (None, "", 2)


def test_axes_end_at_round_numbers_and_columns_fit_them() -> None:
    assert [rounded(top) for top in (0, 1, 3, 9, 10, 11, 401, 1448, 99_000)] == [
        2, 2, 4, 10, 10, 20, 600, 2000, 100_000,
    ]  # fmt: skip
    assert (upright(0, 4, 5, 10).top, upright(0, 4, 5, 10).height) == ("75.0", "75.0")
    assert upright(3, 4, 0, 0).height == "0.0"
    assert line([], 10) == ""


def test_a_change_is_shown_in_percent_of_the_previous_value() -> None:
    found = summary_of(2, lambda _: 5)
    looks = []
    for before in (0, 8, 10, 40):
        replaced = Summary(
            found.period, found.totals, Totals(views=before), found.over_time, False,
            [], [], [], [], None,
        )  # fmt: skip
        looks.append((totals(replaced)[0].look, totals(replaced)[0].percent))

    assert looks == [("none", None), ("up", 25), ("same", 0), ("down", 75)]
