"""`Cache-Tag` of lists names every type and language whose posts they show."""

from __future__ import annotations

import pytest
from django.test import Client

from tests import make

pytestmark = pytest.mark.django_db
LIST = "/api/public/posts?type=blog"


def type_tags(query: str) -> list[str]:
    tags = Client().get(f"{LIST}{query}").headers["Cache-Tag"].split(",")
    return [tag for tag in tags if tag.startswith("type:")]


@pytest.mark.parametrize(
    ("query", "languages"),
    [
        ("", "en"),
        ("&locale=", "en"),
        ("&locale=de", "de"),
        ("&locale=de&fallback=en", "de en"),
        ("&allLocales=true", "de en"),
        ("&locale=en&fields=title,translations", "de en"),
        ("&locale=en&fields=title,seo", "de en"),
        ("&locale=en&include=translations", "de en"),
    ],
)
def test_a_list_names_the_languages_that_it_shows(query: str, languages: str) -> None:
    make.post()

    assert type_tags(query) == [f"type:blog:{one}" for one in languages.split()]


def test_posts_by_their_ids_may_be_of_any_language() -> None:
    post = make.post()

    assert type_tags(f"&ids={post.pk}") == ["type:blog:de", "type:blog:en"]
    assert type_tags(f"&ids={post.pk}&locale=en") == ["type:blog:en"]
