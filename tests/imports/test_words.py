"""Two sources never share a post or term because their slugs lost the difference."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path

import pytest

from content.models import Draft, Post
from proofroom.taxonomies.models import Term
from tests.imports.command import call_import

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("admin")]


def run(folder: Path, name: str, *records: dict[str, object]) -> str:
    path = folder / f"{name}.json"
    path.write_text(json.dumps(records))
    out = StringIO()
    call_import("json", str(path), name=name, stdout=out, stderr=out)
    return out.getvalue()


@pytest.mark.parametrize(
    ("one", "other", "slugs"),
    [
        ({"slug": "दिन"}, {"slug": "दौन"}, {"दिन", "दौन"}),
        ({"slug": "c"}, {"slug": "c++"}, {"c", "c-2"}),
        ({"title": "🎉"}, {"title": "🚀"}, {"post", "post-2"}),
        ({"title": "A" * 121}, {"title": "A" * 120 + "B"}, {"a" * 120, "a" * 120 + "-2"}),
    ],
)
def test_posts_of_two_sources_stay_two(
    tmp_path: Path, one: dict[str, str], other: dict[str, str], slugs: set[str]
) -> None:
    run(tmp_path, "first", {"title": "First", "body": "The first.", **one})
    run(tmp_path, "second", {"title": "Second", "body": "The second.", **other})

    assert set(Post.objects.values_list("slug", flat=True)) == slugs
    assert not Draft.objects.filter(is_empty=False).exists()


@pytest.mark.parametrize("record", [{"slug": "दिन"}, {"slug": "c++"}, {"title": "🎉"}])
def test_the_same_post_of_two_sources_is_one(tmp_path: Path, record: dict[str, str]) -> None:
    whole = {"title": "Same", "body": "The same.", **record}
    run(tmp_path, "first", whole)
    run(tmp_path, "second", whole)

    assert Post.objects.count() == 1


def test_terms_that_a_slug_does_not_tell_apart_stay_two(tmp_path: Path) -> None:
    run(tmp_path, "first", {"title": "A", "tags": ["C", "दिन"]})
    run(tmp_path, "second", {"title": "B", "tags": ["C++", "C#", "दौन", "C++"]})
    run(tmp_path, "third", {"title": "C", "tags": ["C#"]})

    assert dict(Term.objects.values_list("name", "slug")) == {
        "C": "c",
        "C++": "c-2",
        "C#": "c-3",
        "दिन": "दिन",
        "दौन": "दौन",
    }
