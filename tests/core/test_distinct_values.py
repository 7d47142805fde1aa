"""The distinct values of a column, by an index."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from content.models import Post
from proofroom.core.database.distinct_values import distinct_values
from tests import make

pytestmark = pytest.mark.django_db


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
