"""The Checks tab of a post, and the test of its accessibility."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from django.test import Client

from content.models import AccessibilityReport, Layer, Post
from content.post_checks.accessibility_reports import MAX_REPORTS
from tests import make
from tests.admin.pages import fields, url
from tests.api_client import ApiClient
from tests.content.checking import read_checks, set_levels
from tests.queries import page_queries

pytestmark = pytest.mark.django_db
VIOLATION = {
    "rule": "image-alt",
    "impact": "critical",
    "help": "Images must have alternative text",
    "helpUrl": "https://dequeuniversity.com/rules/axe/4.12/image-alt",
    "count": 2,
    "target": "img",
}


def page(post: Post, query: str = "", role: str = "editor") -> str:
    answer = ApiClient(role).get(url(post, "checks", query))
    assert answer.status_code == 200
    return str(answer.content.decode())


def digest(post: Post, query: str = "") -> str:
    found = re.search(r'data-digest="(\w+)"', page(post, query))
    assert found is not None
    return found[1]


def store(post: Post, body: Any, *, role: str = "editor", query: str = "") -> Any:
    return ApiClient(role).send("POST", url(post, "checks/accessibility", query), body)


def result_of(post: Post, *violations: Any, query: str = "") -> dict[str, Any]:
    return {"digest": digest(post, query), "engine": "axe 4.12.1", "violations": list(violations)}


def test_the_page_shows_levels_messages_and_links_to_the_fields(monkeypatch):
    post = make.post(metaDescription="x" * 161, markdown="[a](/nowhere)")
    prose = make.module_id(post, "prose")
    set_levels(monkeypatch, {"seoTitle": "block", "orphan": "off"})

    text = page(post)

    assert text.index('data-check="seoTitle"') < text.index('data-check="seoDescription"')
    assert 'data-check="seoTitle" data-level="block"' in text
    assert 'data-check="seoDescription" data-level="warn"' in text
    assert 'data-check="altText" data-level="ok"' in text
    assert 'data-check="orphan"' not in text
    assert "Blocks publishing" in text
    assert f'href="{url(post)}#f-post-metaTitle">Go to Meta title</a>' in text
    assert f'href="{url(post)}#f-modules-{prose}-props-content">Go to Prose › ' in text
    assert "Write a meta title of at most 60 characters." in text
    assert 'aria-current="page">Checks' in text


def test_the_links_to_fields_lead_to_fields_of_the_form():
    post = make.post(markdown="[a](/nowhere)")
    editor = ApiClient("editor").get(url(post)).content.decode()

    for anchor in re.findall(rf'href="{url(post)}#([^"]+)"', page(post)):
        assert f'id="{anchor}"' in editor


def test_a_layer_can_be_checked_before_it_is_approved():
    post = make.post(metaTitle="Fine")
    assert 'aria-label="Layer"' not in page(post)
    make.staged(post, {"metaTitle": "x" * 61}, layer=Layer.REVIEW)

    assert "61 characters" not in page(post)
    text = page(post, "?layer=review")
    assert "61 characters" in text
    assert f'href="{url(post)}?layer=review#f-post-metaTitle"' in text


def test_without_checks_the_page_says_so(monkeypatch):
    from content.post_checks.registry import list_checks

    set_levels(monkeypatch, {check.name: "off" for check in list_checks()})

    assert "No checks for this post type" in page(make.post())


def test_translators_read_the_page_and_strangers_do_not(client: Client):
    post = make.post()

    assert "Meta title" in page(post, role="translator")
    assert client.get(url(post, "checks")).status_code == 302


def test_the_queries_of_the_page_do_not_grow_with_the_failures():
    few = make.post("Few", markdown="[a](/nowhere)")
    many = make.post("Many", markdown="\n\n".join(f"[a{n}](/nowhere-{n})" for n in range(40)))
    client = ApiClient("editor")

    assert page_queries(client, url(few, "checks")) == page_queries(client, url(many, "checks"))


def test_the_frame_runs_only_the_scripts_of_the_test():
    post = make.post()
    make.staged(post, {"title": "Staged title"}, layer=Layer.REVIEW)

    answer = ApiClient("editor").get(url(post, "checks/page", "?layer=review"))

    text, policy = answer.content.decode(), answer["Content-Security-Policy"]
    nonce = re.search(r"script-src 'nonce-([\w-]+)'", policy)
    assert nonce is not None
    scripts = re.findall(r"<script[^>]*>", text)
    executable = [one for one in scripts if "json" not in one]
    assert len(executable) == 2
    assert all(f'nonce="{nonce[1]}"' in one for one in executable)
    assert "frame-ancestors 'self'" in policy
    assert answer["X-Frame-Options"] == "SAMEORIGIN"
    assert "no-store" in answer["Cache-Control"]
    assert answer["X-Robots-Tag"] == "noindex, nofollow"
    assert "Staged title" in text


def test_a_result_is_stored_for_the_content_and_answered():
    post = make.post()

    assert store(post, result_of(post, VIOLATION)).json() == {"violations": 1}

    row = next(one for one in read_checks(post) if one["check"] == "accessibility")
    assert (row["level"], row["message"]) == (
        "warn",
        "Images must have alternative text (2 places)",
    )
    assert "Test again" in page(post)
    assert f'href="{VIOLATION["helpUrl"]}"' in page(post)
    assert store(post, result_of(post)).status_code == 200
    assert AccessibilityReport.objects.count() == 1
    assert 'data-check="accessibility" data-level="ok"' in page(post)


def test_the_result_of_a_layer_holds_after_its_approval():
    post = make.post()
    make.staged(post, {"excerpt": "New"}, layer=Layer.REVIEW)
    query = "?layer=review"
    assert store(post, result_of(post, query=query), query=query).status_code == 200
    assert not any(one["check"] == "accessibility" for one in read_checks(post))

    editor = ApiClient("editor")
    seen = editor.read(f"/api/posts/{post.pk}/changes?layer=review")["digest"]
    editor.write("POST", f"/api/posts/{post.pk}/review/approve", {"digest": seen})

    assert any(one["check"] == "accessibility" for one in read_checks(post))


def test_a_result_of_other_content_is_refused():
    post = make.post()
    old = result_of(post)
    make.edited(post, {"title": "Changed"})

    answer = store(post, old)

    assert (answer.status_code, answer.json()["code"]) == (409, "stale_version")
    assert not AccessibilityReport.objects.exists()


@pytest.mark.parametrize(
    "change",
    [
        {"digest": "x"},
        {"violations": [{**VIOLATION, "helpUrl": "javascript:alert(1)"}]},
        {"violations": [{**VIOLATION, "count": 0}]},
        {"violations": [VIOLATION] * 101},
        {"more": 1},
    ],
)
def test_a_malformed_result_is_refused(change):
    post = make.post()

    assert store(post, {**result_of(post), **change}).status_code == 422
    assert store(post, "no json").status_code == 422
    assert not AccessibilityReport.objects.exists()


def test_who_may_not_edit_stores_nothing():
    post = make.post()
    make.site_role("reader", "posts.view")

    assert store(post, json.dumps(result_of(post)), role="reader").status_code == 403
    assert "data-test" not in page(post, role="reader")
    assert not AccessibilityReport.objects.exists()


def test_only_the_latest_results_of_a_post_are_kept():
    post = make.post()
    for number in range(MAX_REPORTS + 2):
        make.edited(post, {"title": f"Title {number}"})
        assert store(post, result_of(post)).status_code == 200

    assert AccessibilityReport.objects.filter(post=post).count() == MAX_REPORTS
    assert any(one["check"] == "accessibility" for one in read_checks(post))


def test_a_publication_says_which_checks_warn():
    post = make.post(status="draft", metaTitle="Fine", metaDescription="Fine")
    editor = ApiClient("editor")
    form = fields(editor.get(url(post)))

    text = editor.post(url(post), {**form, "do": "publish"}, follow=True).content.decode()

    assert "2 checks warn: Translations, Links to this post." in text
    assert f'<a href="{url(post, "checks")}">Open checks</a>' in text
    # Later saves of the published post do not repeat it.
    form = fields(editor.get(url(post)))
    again = editor.post(url(post), {**form, "post.title": "New", "do": "save"}, follow=True)
    assert "checks warn" not in again.content.decode()


def test_the_review_says_before_the_approval_that_checks_would_refuse_it(monkeypatch):
    post = make.post(metaTitle="Fine", markdown="[a](/nowhere)")
    make.staged(post, {"metaTitle": "x" * 61, "excerpt": "New"}, layer=Layer.REVIEW)
    address, client = url(post, "review", "?layer=review"), ApiClient("editor")
    assert 'id="blocked"' not in client.get(address).content.decode()
    free = page_queries(client, address)

    set_levels(monkeypatch, {"seoTitle": "block", "deadLink": "block"})
    text = client.get(address).content.decode()

    notice = text.partition('id="blocked"')[2].partition("</div>")[0]
    assert "The meta title has 61 characters." in notice
    assert "/nowhere" not in notice  # the live post has this link already
    assert f'href="{url(post, "checks", "?layer=review")}"' in notice
    assert free <= page_queries(client, address)


def test_the_editor_names_the_failed_check_when_it_refuses_to_publish(monkeypatch):
    set_levels(monkeypatch, {"seoTitle": "block", "accessibility": "block"})
    post = make.post(status="draft", metaTitle="x" * 61)
    editor = ApiClient("editor")
    form = fields(editor.get(url(post)))

    answer = editor.post(url(post), {**form, "do": "publish"})

    text = answer.content.decode()
    assert answer.status_code == 422
    assert "Checks prevent the publication: SEO title, Accessibility." in text
    assert Post.objects.get(pk=post.pk).status == "draft"
