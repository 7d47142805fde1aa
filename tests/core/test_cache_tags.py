"""`Cache-Tag`: its names, its length, and what replaces a longer set."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import pytest

from proofroom.core.caching.cache_tags import (
    MAX_BYTES,
    add_cache_tags,
    cache_headers,
    cache_tags_of,
    dependencies_of,
    marked_tags,
    tags_in_post,
)
from proofroom.core.caching.content_tags import ANY_TYPE, EVERYTHING, collect_tags, tag_of_list


def test_tags_of_the_cache_of_the_process_become_public_ones() -> None:
    post, asset = uuid4(), uuid4()

    tags = {f"post:{post.hex}", f"media:{asset.hex}", f"group:{post.hex}", "path:0f", EVERYTHING}

    assert cache_tags_of(tags) == sorted([f"post:{post}", f"media:{asset}", "site"])


def test_lists_are_of_all_languages_unless_they_say_which() -> None:
    assert cache_tags_of({tag_of_list("blog")}) == ["site", "type:blog:de", "type:blog:en"]
    tags = {tag_of_list("blog"), *marked_tags(["type:blog:en"])}
    assert cache_tags_of(tags) == ["site", "type:blog:en"]
    assert {"type:blog:en", "type:page:de"} <= set(cache_tags_of({tag_of_list(ANY_TYPE)}))


def test_added_tags_invalidate_nothing_in_the_process() -> None:
    with collect_tags() as tags:
        add_cache_tags("menu:main")

    assert cache_tags_of(tags) == ["menu:main", "site"]
    assert dependencies_of({*tags, "post:1"}) == {"post:1"}


def test_a_long_set_is_replaced_by_its_types() -> None:
    single = {f"post:{uuid4().hex}" for _ in range(150)}

    tags = cache_tags_of({*single, *marked_tags(["menu:main", "global:letter"])})

    assert len(",".join(tags)) <= MAX_BYTES
    assert {"menu:main", "global:letter", "site", "type:blog:en"} <= set(tags)
    assert not any(tag.startswith("post:") for tag in tags)


@pytest.mark.parametrize(("before", "space"), [("", ""), ("", " "), (" ", " ")])
def test_terms_and_global_modules_are_found_in_the_json_of_a_post(before: str, space: str) -> None:
    # PostgreSQL writes spaces before colons, too.
    term = uuid4()
    body = (
        f'{{"title"{before}:{space}"\\"globalSlug\\":\\"quoted\\"","taxonomyTermIds"{before}:{space}["{term}"],'
        f'"modules":[{{"globalSlug"{before}:{space}"letter"}},{{"globalSlug"{before}:{space}null}}]}}'
    )

    assert tags_in_post(body.encode()) == [f"term:{term}", "global:letter"]


def test_a_second_header_is_sent_by_setting(settings: Any) -> None:
    tags = marked_tags(["menu:main"])
    assert cache_headers(tags) == {"Cache-Tag": "menu:main,site"}

    settings.SURROGATE_KEY = True

    assert cache_headers(tags)["Surrogate-Key"] == "menu:main site"
