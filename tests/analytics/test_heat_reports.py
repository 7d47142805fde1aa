"""Answers of heatmaps: positions, modules, and the pages before and after a revision."""

from __future__ import annotations

from uuid import uuid4

import pytest

from tests import make
from tests.analytics.happened import HEATMAP, MARCH, click, keep, read
from tests.api_client import ApiClient

pytestmark = pytest.mark.django_db


def test_a_heatmap_answers_the_mean_place_of_each_cell() -> None:
    post = make.post()
    click(post, 195, 78, 390)
    click(post, 502, 203)
    click(post, 508, 207)
    click(post, 5_000, 90_000)
    keep(post, event_type="click", viewport_width=1000)
    keep(post, event_type="click", goal="form:contact", x=1, y=1, viewport_width=1000)

    answer = read(f"{HEATMAP}?postId={post.pk}&{MARCH}")

    assert answer == {
        "data": [
            {"x": 0.5033, "y": 203.3333, "count": 3},
            {"x": 1.0, "y": 50_000.0, "count": 1},
        ],
        "meta": {"grid": 10, "max": 3, "total": 4},
    }


def test_modules_are_ranked_with_their_places_and_removed_ones_are_marked() -> None:
    post = make.post()
    hero = str(post.placements.get(instance__type="hero").pk)
    gone = str(uuid4())
    for said in (
        {"postModuleId": hero, "moduleX": 0.5, "moduleY": 0.25},
        {"postModuleId": hero.upper(), "moduleX": 0.504, "moduleY": 0.254},
        {"postModuleId": hero, "moduleX": "left", "moduleY": 7},
        {"postModuleId": gone, "moduleX": 0, "moduleY": 1},
        {"postModuleId": "hero"},
        {"postModuleId": {"a": [1]}, "moduleX": True},
    ):
        click(post, 10, 10, metadata=said)

    answer = read(f"{HEATMAP}/modules?postId={post.pk}&{MARCH}")
    whole = read(f"{HEATMAP}?postId={post.pk}&{MARCH}")

    assert answer == {
        "data": [
            {
                "postModuleId": hero,
                "label": "Hero",
                "type": "hero",
                "isGone": False,
                "count": 3,
                "spots": [{"x": 0.502, "y": 0.252, "count": 2}],
            },
            {
                "postModuleId": gone,
                "label": "A module that is gone",
                "type": None,
                "isGone": True,
                "count": 1,
                "spots": [{"x": 0.0, "y": 1.0, "count": 1}],
            },
        ],
        "meta": {"max": 3, "total": 4},
    }
    assert whole["meta"] == {"grid": 10, "max": 6, "total": 6}


def test_before_and_after_a_revision_are_the_versions_beside_it() -> None:
    post, other = make.post(), make.post("Other", slug="other")
    post.revisions.all().delete()
    made = [
        post.revisions.create(version=version, reason="edited", document={})
        for version in (2, 5, 9)
    ]
    for version, times in ((1, 1), (2, 2), (4, 3), (5, 4), (8, 5), (9, 6), (12, 7)):
        for _ in range(times):
            click(post, 10, 10, version=version)
    path = f"{HEATMAP}?postId={post.pk}&{MARCH}&revisionId="

    def total(revision: int, side: str) -> int:
        found: int = read(f"{path}{made[revision].pk}{side}")["meta"]["total"]
        return found

    assert [total(n, "&side=after") for n in range(3)] == [5, 9, 13]
    assert [total(n, "&side=before") for n in range(3)] == [1, 5, 9]
    assert total(1, "") == 9
    client = ApiClient("admin")
    client.read(f"{path}{other.revisions.first().pk}", expect=404)
    refused = client.read(f"{HEATMAP}?postId={post.pk}&side=before", expect=422)
    assert list(refused["details"]) == ["side"]
