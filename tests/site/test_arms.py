"""Running variations: one URL, an arm per visitor, and separated caches."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.http import HttpResponse
from django.test import Client

from content.models import Post
from content.posts.variations import create_variation
from content.store.arms import Arm, arm_of_bucket, visitor_bucket
from content.store.traffic import change_variation
from forms.models import FormSubmission
from proofroom.core.caching.answer_cache import answers
from tests import make
from tests.queries import count_queries
from tests.site.test_page_queries import with_modules
from tests.site.test_pages import home, page, text

pytestmark = pytest.mark.django_db
PATH = "/blog/coffee"
BOT = "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)"


def variation_of(post: Post, name: str, weight: int = 30) -> Post:
    actor = make.actor()
    made = create_variation(post_id=post.pk, variation=name, actor=actor, weight=weight)
    make.edited(made, {"title": f"Title of {name}"})
    return change_variation(post_id=post.pk, variation_id=made.pk, actor=actor, running=True)


def browser(wanted: str, post: Post, *arms: Post) -> str:
    """Return a user agent that is assigned that arm."""
    laid = [Arm(arm.pk, arm.variation, arm.variation_weight or 0) for arm in arms]
    for number in range(500):
        found = arm_of_bucket(visitor_bucket(post.pk, "127.0.0.1", f"Browser {number}"), laid)
        if (found.name if found is not None else "A") == wanted:
            return f"Browser {number}"
    raise AssertionError(f"nobody is shown {wanted}")


def get(agent: str, path: str = PATH, **headers: str) -> Any:
    return Client().get(path, headers={"user-agent": agent, **headers})


def title(response: HttpResponse) -> str:
    found = re.search(r"<title>(.*?)</title>", text(response))
    assert found is not None
    return found[1]


@pytest.fixture
def post() -> Post:
    home()
    return make.post("Filter coffee", slug="coffee")


def test_each_visitor_is_shown_one_arm_and_the_same_one_again(post: Post) -> None:
    b, c = variation_of(post, "B"), variation_of(post, "C", 20)
    shown = {}
    for name in ("A", "B", "C"):
        agent = browser(name, post, b, c)
        first, again = get(agent), get(agent)
        assert (first.content, first["ETag"]) == (again.content, again["ETag"])
        assert not first.cookies
        shown[name] = title(first)

    assert {name: words.partition(" · ")[0] for name, words in shown.items()} == {
        "A": "Filter coffee", "B": "Title of B", "C": "Title of C",
    }  # fmt: skip


def test_a_visitor_keeps_an_arm_whose_share_grows(post: Post) -> None:
    made = variation_of(post, "B", 10)
    agent = browser("B", post, made)

    change_variation(post_id=post.pk, variation_id=made.pk, actor=make.actor(), weight=20)

    assert title(get(agent)).startswith("Title of B")


def test_an_arm_is_served_at_its_originals_url(post: Post) -> None:
    german = make.post("Filterkaffee", locale="de", translation_of=post, slug="kaffee")
    made = variation_of(post, "B")
    make.edited(made, {"robotsJson": {"index": False}, "canonicalUrl": "https://example.com/x"})
    original = text(get(browser("A", post, made)))

    html = text(get(browser("B", post, made)))

    assert f'data-post-id="{made.pk}"' in html
    assert f'data-post-version="{Post.objects.get(pk=made.pk).version}"' in html
    assert '<link rel="canonical" href="http://127.0.0.1:8000/blog/coffee">' in html
    assert f'hreflang="de" href="http://127.0.0.1:8000{german.path}"' in html
    assert '<meta name="robots"' not in html
    for of_both in (r'<link rel="alternate".*', r'<meta property="og:url".*', r'"url":"[^"]*"'):
        assert re.findall(of_both, html) == re.findall(of_both, original)
    assert re.findall(r'"item":"[^"]*"', html) == re.findall(r'"item":"[^"]*"', original)
    assert '<meta property="og:title" content="Title of B' in html
    assert f'data-post-id="{post.pk}"' in original


def test_programs_markdown_and_feeds_have_the_original(post: Post) -> None:
    variation_of(post, "B", 100)

    assert title(get(BOT)).startswith("Filter coffee")
    assert title(get("Browser")).startswith("Title of B")
    for path in (f"{PATH}.md", "/blog/feed.xml", "/llms.txt"):
        answer = get("Browser", path)
        assert b"Filter coffee" in answer.content
        assert b"Title of B" not in answer.content
        assert answer["Cache-Control"] == "public, max-age=60, stale-while-revalidate=60"
    assert b"Title of B" not in get("Browser", accept="text/markdown").content


def test_caches_that_are_shared_keep_no_arm_and_others_know_them_apart(post: Post) -> None:
    before = get("Browser")
    assert before["Cache-Control"] == "public, max-age=60, stale-while-revalidate=60"
    made = variation_of(post, "B")
    one, other = browser("A", post, made), browser("B", post, made)

    original, arm = get(one), get(other)

    for answer in (original, arm):
        assert answer["Cache-Control"] == "private, max-age=60"
        assert "Cookie" not in answer["Vary"]
    assert len({before["ETag"], original["ETag"], arm["ETag"]}) == 3
    assert get(one, **{"if-none-match": original["ETag"]}).status_code == 304
    assert get(other, **{"if-none-match": arm["ETag"]}).status_code == 304
    assert get(other, **{"if-none-match": original["ETag"]}).status_code == 200
    assert get(other, **{"if-none-match": before["ETag"]}).status_code == 200

    change_variation(post_id=post.pk, variation_id=made.pk, actor=make.actor(), running=False)
    after = get(other, **{"if-none-match": arm["ETag"]})
    assert (after.status_code, after["Cache-Control"]) == (
        200,
        "public, max-age=60, stale-while-revalidate=60",
    )
    assert title(after).startswith("Filter coffee")


def test_each_arm_is_made_once_and_a_page_without_a_test_costs_nothing_more(post: Post) -> None:
    def cost(agent: str, path: str = PATH) -> int:
        return count_queries(get, agent, path)

    plain = cost("Browser")
    assert cost("Browser") == 1
    made = variation_of(post, "B")
    one, other = browser("A", post, made), browser("B", post, made)

    # Changes since the last rendering are queried once, and so is the page frame; the second arm is
    # the variation.
    assert (cost(one), cost(other)) == (plain + 1, 2)
    assert (cost(one), cost(other)) == (1, 1)
    assert text(get(one)) != text(get(other))


def test_a_named_arm_is_shown_and_not_counted(post: Post, settings: Any) -> None:
    settings.CMS_ENV = settings.CMS_ENV.model_copy(update={"analytics_tracking": True})
    made = variation_of(post, "B")
    agents = {name: browser(name, post, made) for name in ("A", "B")}

    for name, begins in (("A", "Filter coffee"), ("B", "Title of B")):
        for agent in (*agents.values(), BOT):
            answer = get(agent, f"{PATH}?variation={name}")
            assert title(answer).startswith(begins)
            assert answer["X-Robots-Tag"] == "noindex, nofollow"
            assert '<meta name="robots" content="noindex, nofollow">' in text(answer)
            assert answer["Cache-Control"] == "private, max-age=60"
            assert "cms/track" not in text(answer)
            assert "cms/staff" in text(answer)
    for name, agent in agents.items():
        counted = get(agent)
        assert "cms/track" in text(counted)
        for query in ("?variation=Z", "?variation=", "?variation=b", "?variation=%00"):
            answer = get(agent, PATH + query)
            assert title(answer) == title(counted), (name, query)
            assert "X-Robots-Tag" not in answer.headers
            assert "cms/track" in text(answer)


def test_what_does_not_run_is_shown_to_nobody(post: Post) -> None:
    idle = create_variation(post_id=post.pk, variation="C", actor=make.actor())
    Post.objects.filter(pk=idle.pk).update(title="Secret")
    before = get("Browser")

    named = get("Browser", f"{PATH}?variation=C")

    assert named.content == before.content
    assert named["Cache-Control"] == "public, max-age=60, stale-while-revalidate=60"


def test_a_form_on_an_arm_is_taken_and_shown_again_there() -> None:
    home()
    make.form()
    contact = page("Contact")
    of_original = with_modules(contact, [("form", {"form": "contact"})])[0]
    made = create_variation(post_id=contact.pk, variation="B", actor=make.actor(), weight=50)
    make.edited(made, {"title": "Write to us"})
    change_variation(post_id=contact.pk, variation_id=made.pk, actor=make.actor(), running=True)
    made.refresh_from_db()
    at = make.module_id(made, "form")
    visitor, stranger = (
        Client(headers={"user-agent": browser(name, contact, made)}) for name in ("B", "A")
    )
    sent = {"email": "wrong", "message": "Hello", "_page": "/contact", "_at": at}

    refused = visitor.post("/forms/contact", sent)
    taken = visitor.post("/forms/contact", {**sent, "email": "ada@example.com"})

    assert refused.status_code == 422
    assert "Write to us" in text(refused)
    assert f'data-post-id="{made.pk}"' in text(refused)
    assert (taken.status_code, taken["Location"]) == (303, f"/contact?sent={at}#form-{at}")
    assert FormSubmission.objects.count() == 1
    # A visitor whose IP address changed is thanked on the page of the form.
    for client in (visitor, stranger):
        thanks = text(client.get(taken["Location"]))
        assert f'<div class="form-sent" id="form-{at}"' in thanks
    own = text(stranger.get(f"/contact?sent={of_original}"))
    assert f'<div class="form-sent" id="form-{of_original}"' in own
    for junk in ("x", "%00", "00000000-0000-4000-8000-000000000000"):
        assert title(stranger.get(f"/contact?sent={junk}")).startswith("Contact")


def test_an_edit_of_an_arm_is_seen_at_once(post: Post) -> None:
    made = variation_of(post, "B")
    agent = browser("B", post, made)
    etag = get(agent)["ETag"]

    make.edited(made, {"title": "Now this"})

    after = get(agent, **{"if-none-match": etag})
    assert (after.status_code, title(after).partition(" · ")[0]) == (200, "Now this")


def test_a_url_that_names_an_arm_is_never_cached(
    post: Post, monkeypatch: pytest.MonkeyPatch
) -> None:
    variation_of(post, "B")
    kept: list[str] = []
    monkeypatch.setattr(answers, "put", lambda version, key, *rest: kept.append(key))

    for query in ("?variation=B", "?n=1&variation=B", "?variation=A"):
        assert get("Browser", PATH + query).status_code == 200

    assert kept == []
