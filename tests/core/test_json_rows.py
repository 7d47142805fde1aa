"""Rows of another table in one column: the same on every database."""

from __future__ import annotations

from uuid import UUID

import orjson
import pytest
from django.db.models import F, OuterRef

from content.models import Post, PostModule
from proofroom.core.database.json_rows import ListedRows
from tests import make

pytestmark = pytest.mark.django_db


def test_parts_come_in_their_order_with_their_json_and_none_where_there_are_none() -> None:
    post = make.post("First")
    bare = make.post("Bare")
    PostModule.objects.filter(post=bare).delete()
    parts = ListedRows(
        PostModule.objects.filter(post=OuterRef("pk"))
        .order_by("-order_index")
        .values(
            part=F("id"), place=F("order_index"), is_locked=F("locked"), said=F("instance__props")
        )
    )

    found = dict(Post.objects.annotate(parts=parts).values_list("pk", "parts"))

    rows = PostModule.objects.filter(post=post).order_by("-order_index").select_related("instance")
    listed = [
        (UUID(one["part"]), one["place"], bool(one["is_locked"]), one["said"])
        for one in orjson.loads(found[post.pk])
    ]
    assert listed == [(row.pk, row.order_index, row.locked, row.instance.props) for row in rows]
    assert len(listed) > 1
    assert orjson.loads(found[bare.pk] or "[]") == []
