"""The tracking markup of the site's pages: script, settings, consent question, and marks."""

from __future__ import annotations

import gzip
import re
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from content.models import Post
from tests import make

pytestmark = pytest.mark.django_db


def shown(post: Post, path: str = "") -> str:
    return Client().get(path or post.path).content.decode()


def script(html: str) -> str:
    found = re.search(r"<script[^>]*cms/track\.js[^>]*>", html)
    return found[0] if found else ""


def choose(settings: Any, **values: object) -> None:
    settings.CMS_ENV = settings.CMS_ENV.model_copy(update=values)


def test_a_page_says_which_version_of_which_post_it_shows() -> None:
    post = make.post()
    post = make.edited(post, {"title": "New"})

    body = re.search(r"<body[^>]*>", shown(post))

    assert body is not None
    assert f'data-post-id="{post.pk}" data-post-version="{post.version}"' in body[0]
    assert post.version == 2


def test_a_module_shows_its_place_and_its_props() -> None:
    post = make.post()
    shared = make.global_module()
    place = make.placed(post, shared)

    html = shown(post)

    assert f'data-post-module-id="{place}" data-module-instance-id="{shared.pk}"' in html
    assert html.count(" data-module-instance-id=") == html.count(" data-post-module-id=") == 3


def test_the_script_gets_the_click_batch_limits(settings: Any) -> None:
    usual = script(shown(make.post()))
    choose(settings, analytics_batch=7, analytics_batch_seconds=3)
    other = script(shown(make.post("Other", slug="other")))

    assert 'data-batch="5" data-seconds="10">' in usual
    assert 'data-batch="7" data-seconds="3">' in other


def test_nobody_is_asked_where_nothing_waits_for_an_answer(settings: Any) -> None:
    choose(settings, analytics_consent=False)
    unasked = shown(make.post())
    choose(settings, analytics_consent=True, analytics_tracking=False)
    uncounted = shown(make.post("Other", slug="other"))

    for html in (unasked, uncounted):
        assert "consent" not in html


def test_every_page_contains_the_hidden_question_in_its_language(settings: Any) -> None:
    choose(settings, analytics_consent=True)
    post = make.post()

    pages = [shown(post), shown(post, "/search"), shown(post, "/de/nichts")]

    for html in pages:
        assert " data-consent>" in script(html)
        assert re.search(r"<section [^>]*data-consent-bar[^>]* hidden>", html)
        assert re.search(r"<button [^>]*data-consent-again[^>]* hidden>", html)
        assert html.count("cms/consent.js") == html.count("cms/consent.css") == 1
    assert "May we count your visits?" in pages[0]
    assert "Dürfen wir Ihre Besuche zählen?" in pages[2]


def test_a_visitor_s_scripts_are_small() -> None:
    def packed(name: str) -> int:
        return len(gzip.compress(Path("static/cms", name).read_bytes()))

    assert packed("track.js") < 3_000
    assert packed("staff/staff.js") + packed("consent.js") < 1_500
    plain = [Path("static/cms", name).stat().st_size for name in ("staff/staff.js", "track.js")]
    assert sum(plain) < 10_000


def test_scripts_of_other_sites_may_load_it_and_what_it_sends_is_taken() -> None:
    elsewhere = {"origin": "https://shop.example"}

    loaded = Client().get("/static/cms/track.js", headers=elsewhere)
    sent = Client().post(
        "/api/public/analytics/track",
        '[{"eventType":"view","metadata":{"path":"/a"}}]',
        content_type="text/plain;charset=UTF-8",
        headers=elsewhere,
    )

    assert loaded.status_code == 200
    assert loaded.headers["Access-Control-Allow-Origin"] == "*"
    assert loaded.headers["Content-Type"].startswith("text/javascript")
    assert sent.json() == {"accepted": 1}
