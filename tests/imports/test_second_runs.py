"""A second run touches what the source says and what the import wrote, and nothing else; in Review, unless asked."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from content.models import Draft, Post
from content.posts.edit import edit_post
from proofroom.taxonomies.models import Term
from tests import make

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def admin() -> None:
    make.user("admin")


def run(path: Path, record: dict[str, Any], **options: Any) -> str:
    path.write_text(json.dumps([{"id": 1, "title": "Anna", **record}]))
    out = StringIO()
    call_command("import", "json", str(path), stdout=out, stderr=out, fetch=False, **options)
    return out.getvalue()


@pytest.mark.parametrize("live", [False, True])
def test_custom_fields_that_people_changed_stay(tmp_path: Path, live: bool) -> None:
    path = tmp_path / "a.json"
    run(path, {"role": "Roaster", "email": "old@example.com"}, type="profile")
    post = Post.objects.get()
    make.edited(post, {"customFields": {"role": "Edited here"}})

    run(path, {"role": "Roaster", "email": "new@example.com"}, type="profile", live=live)

    post.refresh_from_db()
    wanted = make.layers(post).live if live else make.layers(post).review.document
    assert wanted.fields["customFields.role"] == "Edited here"
    assert wanted.fields["customFields.email"] == "new@example.com"
    assert post.custom_fields["email"] == ("new@example.com" if live else "old@example.com")


@pytest.mark.parametrize("live", [False, True])
def test_terms_that_people_chose_stay(tmp_path: Path, live: bool) -> None:
    path = tmp_path / "a.json"
    run(path, {"tags": ["x", "y"]})
    post = Post.objects.get()
    mine = make.term("Mine", "tags")
    edit_post(
        post_id=post.pk,
        actor=make.actor("editor"),
        edit=lambda one: one.with_terms([*one.taxonomy_term_ids, str(mine.pk)]),
    )

    run(path, {"tags": ["y", "z"]}, live=live)

    document = make.layers(post).live if live else make.layers(post).review.document
    names = Term.objects.filter(pk__in=document.taxonomy_term_ids).values_list("name", flat=True)
    assert set(names) == {"Mine", "y", "z"}
    if not live:
        assert set(post.post_terms.values_list("term__name", flat=True)) == {"Mine", "x", "y"}


def test_a_field_that_the_source_no_longer_fills_is_proposed_to_be_emptied(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    whole = {"excerpt": "Short", "metaTitle": "Search", "order": 5, "role": "Roaster"}
    run(path, whole, type="profile")
    post = Post.objects.get()
    make.edited(post, {"metaTitle": "Edited here"})

    run(path, {}, type="profile")

    post.refresh_from_db()
    document = make.layers(post).review.document
    assert (post.excerpt, post.order_index) == ("Short", 5)
    assert (document.fields["excerpt"], document.fields["orderIndex"]) == ("", 0)
    assert document.fields["metaTitle"] == "Edited here"
    assert document.fields["customFields.role"] in ("", None)


def test_a_picture_that_is_missing_this_time_is_not_taken_away(tmp_path: Path) -> None:
    media = tmp_path / "media"
    media.mkdir()
    (media / "a.png").write_bytes(make.picture())
    path = tmp_path / "a.json"
    run(path, {"image": "a.png"}, media=str(media))
    (media / "a.png").rename(media / "b.png")

    run(path, {"image": "c.png"}, media=str(media))

    assert Post.objects.get().featured_media_id
    assert not Draft.objects.filter(is_empty=False).exists()
