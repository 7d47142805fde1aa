"""Runs on one field in the admin: links, page, answers side by side, selection."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from agents_app.definitions.agents import switch_agent
from agents_app.models import AgentRun
from agents_app.runs import execution
from content.models import Post
from tests import make
from tests.browser.agents_scene import run

pytestmark = pytest.mark.django_db
SignedIn = Callable[..., Client]
TITLE = "a very long title about filter coffee that nobody would ever read to its end"


def address(post: Post, field: str = "post.title", **more: str) -> str:
    query = "&".join(f"{name}={value}" for name, value in {"field": field, **more}.items())
    return f"/admin/agents_app/field/?post={post.pk}&{query}"


def asked(client: Client, post: Post) -> AgentRun:
    response = client.post(address(post), {"agent": "general-assistant", "words": "shorten"})
    assert response.status_code == 302, response.content.decode()
    return done()


def done() -> AgentRun:
    """Return the run after executing it."""
    run = AgentRun.objects.get(status="queued")
    execution.execute_run(run.pk)
    run.refresh_from_db()
    return run


def page(client: Client, run: AgentRun) -> str:
    return client.get(f"/admin/agents_app/agentrun/{run.pk}/change/").content.decode()


def edit_page(client: Client, post: Post) -> str:
    return client.get(f"/admin/content/post/{post.pk}/change/").content.decode()


def test_each_field_that_an_agent_serves_has_a_link(signed_in: SignedIn) -> None:
    post = make.post(TITLE)
    hero = make.module_id(post, "hero")

    html = edit_page(signed_in(), post)

    query = f"?post={post.pk}&amp;field=post.metaTitle&amp;agent="
    assert f"{query}seo-specialist" in html
    assert f"{query}proofreader" in html
    assert f"field=module.hero.title&amp;module={hero}&amp;agent=seo-specialist" in html
    # The SEO specialist does not serve the prose, and no agent serves the order of posts.
    assert "field=module.prose.content" in html
    assert "field=module.prose.content&amp;module=" in html
    assert not any(
        "module.prose" in part.split('"')[0] and "seo-specialist" in part.split('"')[0]
        for part in html.split("/admin/agents_app/field/")[1:]
    )
    assert "field=post.orderIndex" not in html


def test_who_may_not_ask_sees_no_link_and_an_agent_that_is_off_has_none(
    signed_in: SignedIn,
) -> None:
    post = make.post(TITLE)
    assert "/admin/agents_app/field/" not in edit_page(signed_in("translator"), post)
    client = signed_in()
    assert "agent=proofreader" in edit_page(client, post)

    switch_agent(agent_id="proofreader", enabled=False, actor=make.actor("admin"))

    assert "agent=proofreader" not in edit_page(client, post)
    assert "Proofreader" not in client.get(address(post)).content.decode()
    refused = client.post(address(post), {"agent": "proofreader"})
    assert refused.status_code == 422
    assert not AgentRun.objects.exists()


def test_an_answer_is_shown_beside_the_field_and_staged_only_when_it_is_chosen(
    signed_in: SignedIn,
) -> None:
    post = make.post(TITLE)
    client, before = signed_in(), make.live_hash()

    run = asked(client, post)

    html = page(client, run)
    assert "Answer 1" in html
    assert "Use this answer" in html
    assert not make.layers(post).ai_review.exists

    response = client.post(f"/admin/agents_app/agentrun/{run.pk}/use/", follow=True)

    assert "Added to AI Review. The live text has not changed" in response.content.decode()
    staged = make.layers(post).ai_review
    assert staged.changes.paths == ("post.title",)
    assert staged.document.fields["title"] == run.value
    assert staged.marks["post.title"].run_id == str(run.pk)
    assert make.live_hash() == before
    html = page(client, run)
    assert "in AI Review" in html
    assert "Use this answer" not in html


def test_trying_again_keeps_the_answers_before_with_the_note(signed_in: SignedIn) -> None:
    post = make.post(TITLE)
    client = signed_in()
    first = asked(client, post)

    response = client.post(
        f"/admin/agents_app/agentrun/{first.pk}/retry/", {"note": "shorter <b>please</b>"}
    )

    second = done()
    assert response["Location"] == f"/admin/agents_app/agentrun/{second.pk}/change/"
    for one in (first, second):
        html = page(client, one)
        assert html.index("Answer 2") < html.index("Answer 1")
        assert "shorter &lt;b&gt;please&lt;/b&gt;" in html
    earlier = client.get(address(post)).content.decode().split("Earlier questions")[1]
    assert "<br>shorter &lt;b&gt;please&lt;/b&gt;" in earlier
    assert "<br>shorten</li>" in earlier
    client.post(f"/admin/agents_app/agentrun/{first.pk}/use/")
    assert make.layers(post).ai_review.document.fields["title"] == first.value


def test_words_that_an_agent_does_not_take_are_refused_in_place(signed_in: SignedIn) -> None:
    post = make.post(TITLE)

    refused = signed_in().post(address(post), {"agent": "proofreader", "words": "Mind the tone"})

    html = refused.content.decode()
    assert refused.status_code == 422
    assert "does not accept your own instructions" in html
    assert "Mind the tone" in html
    assert not AgentRun.objects.exists()


@pytest.mark.parametrize(
    "query",
    [
        "?post=x&field=post.title",
        "?field=post.title",
        "",
        "?post={post}&field=" + "a" * 301,
        "?post=00000000-0000-4000-8000-000000000000&field=post.title",
    ],
    ids=["no-uuid", "no-post", "nothing", "long", "unknown"],
)
def test_an_address_of_nothing_answers_404(signed_in: SignedIn, query: str) -> None:
    post = make.post()
    path = "/admin/agents_app/field/" + query.replace("{post}", str(post.pk))
    assert signed_in().get(path).status_code == 404


@pytest.mark.parametrize(
    "field", ["post.nothing", "module.faq.nothing", "module.none.title", "post"]
)
def test_a_field_that_is_not_there_leads_back_to_the_post(signed_in: SignedIn, field: str) -> None:
    post = make.post()
    response: Any = signed_in().get(address(post, field))
    assert response.status_code == 302
    assert response["Location"] == f"/admin/content/post/{post.pk}/change/"


def test_a_translator_may_neither_ask_nor_choose(signed_in: SignedIn) -> None:
    post = make.post(TITLE)
    run = asked(signed_in(), post)
    translator = signed_in("translator")

    assert translator.get(address(post)).status_code == 403
    assert translator.post(address(post), {"agent": "proofreader"}).status_code == 403
    assert translator.post(f"/admin/agents_app/agentrun/{run.pk}/use/").status_code == 403
    assert AgentRun.objects.count() == 1
    assert not make.layers(post).ai_review.exists


ATTACK = '"><script>alert(1)</script><img src=x onerror=alert(1)>'
ODD: list[Any] = [
    ATTACK,
    {"type": "doc", "content": [{"type": "text", "text": ATTACK}]},
    {"type": "doc", "content": "nonsense"},
    [ATTACK, {"a": [None]}],
    {"question": ATTACK},
    1e300,
    True,
    None,
]


@pytest.mark.parametrize(
    "key",
    ["post.title", "post.featuredMediaId", "post.robotsJson", "module.prose.content",
     "module.faq.items", "module.hero.theme", "module.faq.items.0.question"],
)  # fmt: skip
def test_whatever_a_model_answered_is_shown_as_text(signed_in: SignedIn, key: str) -> None:
    post, client = make.post(ATTACK), signed_in()
    module = make.module_id(post, key.split(".")[1]) if key.startswith("module.") else ""
    make.staged_module(post, make.module_id(post, "faq"), props={"items": [{"question": "Why?"}]})
    first = None
    for value in ODD:
        given = {"scope": "field", "field_key": key, "post_module_id": module, "value": value}
        first = first or run(post, summary=ATTACK, **given)
        run(post, first_try=first, note=ATTACK, **given)
    assert first is not None

    shown = client.get(f"/admin/agents_app/agentrun/{first.pk}/change/")
    asked_page = client.get(address(post, key, module=module))

    assert (shown.status_code, asked_page.status_code) == (200, 200)
    html = shown.content.decode()
    assert html.count('class="candidate') == len(ODD) + 2
    for text in (html, asked_page.content.decode()):
        assert "<script>alert" not in text
        assert "<img src=x" not in text


def test_a_field_that_is_gone_and_answers_that_do_not_fit_are_said(signed_in: SignedIn) -> None:
    post, client = make.post("Coffee"), signed_in()
    odd = run(post, scope="field", field_key="post.title", value={"a": 1})
    gone = run(post, scope="field", field_key="module.quote.text", value="x")

    refused = client.post(f"/admin/agents_app/agentrun/{odd.pk}/use/", follow=True)

    assert refused.redirect_chain == [(f"/admin/agents_app/agentrun/{odd.pk}/change/", 302)]
    assert 'class="error"' in refused.content.decode()
    assert not make.layers(post).ai_review.exists
    assert "no module of type" in page(client, gone)
