"""The work of an import grows linearly with its posts, with few statements per post."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from content.archive.posts import PostArchive
from proofroom.archive.imports import ArchiveImport
from proofroom.archive.rows import ArchiveRow
from tests import make
from tests.archive import site

pytestmark = pytest.mark.django_db


def statements(posts: int) -> list[str]:
    """Return the number of statements to import one batch of that many posts into an empty site."""
    site.empty()
    topic = make.term("Coffee")
    for number in range(posts):
        make.post(f"Post {number}", taxonomyTermIds=[str(topic.pk)])
    archive = site.export()
    site.empty()
    with CaptureQueriesContext(connection) as asked:
        report = site.bring(archive)
    assert report.counts["posts"]["created"] == posts
    return [query["sql"] for query in asked]


def test_a_post_more_costs_a_statement_for_each_check_of_its_own():
    first, second = statements(5), statements(25)

    # Whether its slug is free, its terms. PostgreSQL stores its words for search by
    # themselves. All else is in batches.
    own = 3 if connection.vendor == "postgresql" else 2
    assert len(second) - len(first) == 20 * own


@pytest.mark.services
def test_postgresql_plans_for_the_rows_that_the_import_has_written():
    counted = [sql for sql in statements(2) if sql.startswith("ANALYZE")]

    assert len(counted) == 1
    assert '"content_postmodule"' in counted[0]


def test_rows_are_not_read_once_more_where_no_post_was_here_before(monkeypatch):
    make.post("Here")
    archive = site.export()
    read: list[str] = []
    rows = ArchiveImport.rows

    def count(job: ArchiveImport, name: str, row: type[ArchiveRow]) -> object:
        read.append(name)
        return rows(job, name, row)

    monkeypatch.setattr(ArchiveImport, "rows", count)

    site.bring(archive)
    with_posts = read.count(PostArchive.name)
    site.empty()
    read.clear()
    site.bring(archive)

    assert read.count(PostArchive.name) == with_posts - 1
