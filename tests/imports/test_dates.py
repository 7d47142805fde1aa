"""Imports preserve dates."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime
from pathlib import Path

import pytest

from content.models import Post
from content.paths.url_patterns import create_pattern
from proofroom_apps.imports.dates import read_date
from tests import make
from tests.imports.importing import run

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("admin")]


def moment(*parts: int) -> datetime:
    return datetime(*parts, tzinfo=UTC)  # type: ignore[misc]  # year to second


def dates(slug: str) -> tuple[datetime | None, datetime, datetime]:
    post = Post.objects.get(slug=slug)
    return post.published_at, post.created_at, post.updated_at


@pytest.mark.parametrize(
    ("value", "found"),
    [
        ("2019-03-04T05:06:07Z", moment(2019, 3, 4, 5, 6, 7)),
        ("2019-03-04T05:06:07+02:00", moment(2019, 3, 4, 3, 6, 7)),
        ("2019-03-04 05:06:07 +0000", moment(2019, 3, 4, 5, 6, 7)),
        ("2019-03-04 05:06:07", moment(2019, 3, 4, 5, 6, 7)),
        ("2019-03-04", moment(2019, 3, 4)),
        ("2019/3/4", moment(2019, 3, 4)),
        ("Mon, 04 Mar 2019 05:06:07 GMT", moment(2019, 3, 4, 5, 6, 7)),
        (1551675967, moment(2019, 3, 4, 5, 6, 7)),
        (1551675967000, moment(2019, 3, 4, 5, 6, 7)),
        (date(2019, 3, 4), moment(2019, 3, 4)),
        ("0000-00-00 00:00:00", None),
        ("soon", None),
        ("2019-13-04", None),
        (True, None),
        (float("nan"), None),
        (10**400, None),
        ("9" * 5000, None),
        ([], None),
    ],
)
def test_dates_are_read_as_sources_write_them(value: object, found: datetime | None) -> None:
    assert read_date(value) == found


def wxr(*items: str) -> str:
    head = '<rss xmlns:wp="http://wordpress.org/export/1.2/"><channel>'
    return f"{head}{''.join(items)}</channel></rss>"


def item(name: str, status: str, *dates: str) -> str:
    return (
        f"<item><title>{name}</title><wp:post_id>{sum(name.encode())}</wp:post_id>"
        f"<wp:post_type>post</wp:post_type><wp:status>{status}</wp:status>"
        f"<wp:post_name>{name}</wp:post_name>{''.join(dates)}</item>"
    )


def test_posts_of_wordpress_keep_their_dates(tmp_path: Path) -> None:
    create_pattern(
        actor=make.actor("admin"), type="blog", locale="en", pattern="/{yyyy}/{mm}/{slug}"
    )
    path = tmp_path / "export.xml"
    path.write_text(
        wxr(
            item(
                "live",
                "publish",
                "<wp:post_date>2019-03-04 07:06:07</wp:post_date>",
                "<wp:post_date_gmt>2019-03-04 05:06:07</wp:post_date_gmt>",
                "<wp:post_modified_gmt>2020-01-01 00:00:00</wp:post_modified_gmt>",
            ),
            item(
                "begun",
                "draft",
                "<wp:post_date>2018-02-03 04:05:06</wp:post_date>",
                "<wp:post_date_gmt>0000-00-00 00:00:00</wp:post_date_gmt>",
            ),
            item("planned", "future", "<wp:post_date_gmt>2150-01-01 00:00:00</wp:post_date_gmt>"),
            item("told", "publish", "<pubDate>Mon, 04 Mar 2019 05:06:07 +0000</pubDate>"),
            item("undated", "publish"),
        )
    )

    said = run("wordpress", path)

    published = moment(2019, 3, 4, 5, 6, 7)
    assert dates("live") == (published, published, moment(2020, 1, 1))
    assert Post.objects.get(slug="live").path == "/2019/03/live"
    assert dates("begun")[:2] == (None, moment(2018, 2, 3, 4, 5, 6))
    assert Post.objects.get(slug="begun").path == "/2018/02/begun"
    assert dates("planned")[0] is None
    assert "It is to be published on 2150-01-01T00:00:00.000Z in the source." in said
    assert dates("told")[0] == published
    assert dates("undated")[0] is None
    assert set(Post.objects.values_list("status", flat=True)) == {"draft"}
    assert "5 unchanged" in run("wordpress", path)


def test_front_matter_has_dates(tmp_path: Path) -> None:
    pages = {
        "one.md": "---\ntitle: One\ndate: 2019-03-04\nlastmod: 2020-01-01T00:00:00Z\n---\nx",
        "two.md": "+++\ntitle = 'Two'\ndate = 2019-03-04T05:06:07Z\ndraft = true\n+++\nx",
        "2018-02-03-three.md": "---\ntitle: Three\n---\nx",
        "four.md": '{"title": "Four", "pubDate": "Mar 04 2019 05:06"}\nx',
        "five.md": "---\ntitle: Five\ndate: soon\nlast_update: {date: 2020-01-01}\n---\nx",
    }
    for name, text in pages.items():
        (tmp_path / name).write_text(text)

    said = run("markdown", tmp_path, type="blog")

    assert dates("one") == (moment(2019, 3, 4), moment(2019, 3, 4), moment(2020, 1, 1))
    assert dates("two")[:2] == (None, moment(2019, 3, 4, 5, 6, 7))
    assert dates("three")[0] == moment(2018, 2, 3)
    assert dates("four")[0] == moment(2019, 3, 4, 5, 6)
    assert dates("five")[2] == moment(2020, 1, 1)
    assert "date cannot store soon; the value was left out." in said


def test_records_have_dates(tmp_path: Path) -> None:
    csv, data = tmp_path / "a.csv", tmp_path / "a.json"
    csv.write_text("id,title,published_at,modified\n1,Csv,2019-03-04,2020-01-01\n2,Bad,soon,\n")
    record = {"id": 1, "title": "Json", "wann": "2019-03-04T05:06:07Z", "createdAt": "2018-01-01"}
    data.write_text(json.dumps([record]))
    mapping = tmp_path / "mapping.json"
    mapping.write_text(json.dumps({"publishedAt": "wann"}))

    said = run("csv", csv)
    run("json", data, mapping=str(mapping))

    assert dates("csv") == (moment(2019, 3, 4), moment(2019, 3, 4), moment(2020, 1, 1))
    assert dates("json")[:2] == (moment(2019, 3, 4, 5, 6, 7), moment(2018, 1, 1))
    assert "publishedAt" in said


def test_entries_of_contentful_have_dates(tmp_path: Path) -> None:
    sys = {
        "id": "a",
        "contentType": {"sys": {"id": "t"}},
        "publishedVersion": 3,
        "firstPublishedAt": "2019-03-04T05:06:07.000Z",
        "publishedAt": "2020-01-01T00:00:00.000Z",
        "createdAt": "2018-01-01T00:00:00.000Z",
        "updatedAt": "2020-01-01T00:00:00.000Z",
    }
    space = {
        "locales": [{"code": "en", "default": True}],
        "contentTypes": [{"sys": {"id": "t"}, "fields": [{"id": "body", "type": "Text"}]}],
        "entries": [{"sys": sys, "fields": {"title": {"en": "Tea"}, "body": {"en": "x"}}}],
    }
    path = tmp_path / "space.json"
    path.write_text(json.dumps(space))

    run("contentful", path)

    assert dates("tea") == (moment(2019, 3, 4, 5, 6, 7), moment(2018, 1, 1), moment(2020, 1, 1))
