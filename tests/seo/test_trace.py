"""The trace of an address: through the API, as a tool, and hidden information."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from content.models import Post
from content.paths.url_patterns import create_pattern
from content.posts.publish import set_status
from content.posts.trash import delete_post
from mcp_bridge.access.principals import Principal
from mcp_bridge.protocol.tool_calls import call_tool
from proofroom.accounts.services.tokens import create_token
from proofroom.core.actor import Actor
from proofroom.core.errors import NotAllowed, RuleViolation
from seo.trace import Trace, trace_address
from tests import make
from tests.api_client import ApiClient
from tests.diagnostics.asking import told
from tests.seo.leading import edit, page

pytestmark = pytest.mark.django_db


def traced(path: str) -> Trace:
    return trace_address(path, make.actor("admin"))


def said(found: Trace) -> str:
    return " ".join(step.sentence for step in found.steps)


def test_what_it_says_is_what_visitors_get(client: Client) -> None:
    page("Home", "home")
    top = page("About", "about")
    page("Team", "team", parentId=str(top.pk))
    make.post(slug="tea")
    make.post("Tee", slug="tee", locale="de")
    make.post("Plan", slug="plan", status="draft")
    make.redirect("/old", "/blog/tea", type=302)
    make.redirect("/off", "/blog/tea", active=False)
    edit(make.post(slug="one"), slug="two")
    make.post(slug="leaf", taxonomyTermIds=[str(make.term("Black tea").pk)])
    make.redirect("/companies", "/blog/tea")

    for path, outcome in (
        ("/", "page"),
        ("/about/team", "page"),
        ("/blog/tea", "page"),
        ("/de/blog/tee", "page"),
        ("/blog", "list"),
        ("/blog.md", "list"),
        ("/blog/feed.xml", "list"),
        ("/blog/topics/black-tea", "list"),
        ("/blog/topics/black-tea.md", "list"),
        ("/blog/topics/none", "nothing"),
        ("/people", "nothing"),
        ("/companies", "redirect"),
        ("/blog/topics/black-tea/", "moved"),
        ("/search/", "moved"),
        ("/blog/tea/", "moved"),
        ("/en/blog/tea", "moved"),
        ("/blog/", "moved"),
        ("/old", "redirect"),
        ("/blog/one", "redirect"),
        ("/off", "nothing"),
        ("/blog/plan", "nothing"),
        ("/team", "nothing"),
        ("/de/blog/tea", "nothing"),
        ("/robots.txt", "system"),
        ("/admin/login/", "system"),
        ("/health", "system"),
    ):
        found = traced(path)
        response = client.get(path)
        assert (path, found.outcome) == (path, outcome)
        assert (path, found.status) == (path, response.status_code)
        if outcome in ("moved", "redirect"):
            assert (path, found.location) == (path, response["Location"])


def test_it_says_why_nothing_is_there() -> None:
    make.post("Plan", slug="plan", status="draft")
    gone, archived = make.post("Gone", slug="gone"), make.post("Stored", slug="stored")
    delete_post(post_id=gone.pk, actor=make.actor("admin"))
    set_status(post_id=archived.pk, status="archived", actor=make.actor("admin"))
    waiting = make.post("Secret plan of an agent", slug="waiting", status="draft")
    Post.objects.filter(pk=waiting.pk).update(is_placeholder=True)

    assert "The blog 'Plan' is draft; its address is /blog/plan." in said(traced("/blog/plan"))
    assert "The blog 'Gone' is in the trash." in said(traced("/blog/gone"))
    assert "The blog 'Stored' is archived" in said(traced("/blog/stored"))
    assert "waiting for approval" in said(traced("/blog/waiting"))
    assert "Secret plan" not in said(traced("/blog/waiting"))
    assert "There is no blog of the slug 'none'." in said(traced("/blog/none"))
    assert "It does not fit /blog/{slug} of blog." in said(traced("/none"))


def test_it_tries_the_patterns_that_stand() -> None:
    post = make.post("Tee", slug="tee", locale="de")
    create_pattern(actor=make.actor(), type="blog", locale="de", pattern="/{yyyy}/neu-{slug}.x")
    path = Post.objects.get(pk=post.pk).path

    found = traced(path.replace("/20", "/19"))

    (step,) = [step for step in found.steps if step.facts.get("pattern") == "/{yyyy}/neu-{slug}.x"]
    assert (step.found, step.facts["slug"]) == (True, "tee")
    assert f"has the address {path}" in step.sentence


def test_a_caller_who_may_not_see_posts_learns_of_no_draft() -> None:
    make.post("Secret plan", slug="plan", status="draft")
    user = make.user("admin")
    narrow = Actor(user=user, via="api", permissions=frozenset({"seo.manage"}))

    found = trace_address("/blog/plan", narrow)
    other = trace_address("/blog/none", narrow)

    assert "Secret plan" not in said(found)
    assert said(found).replace("plan", "none") == said(other)
    assert [len(step.facts.get("postIds", [])) for step in found.steps] == [0] * len(found.steps)


def test_threat_16_a_token_without_posts_reads_no_title() -> None:
    make.post("Secret plan", slug="plan", status="draft")
    owner = make.user("admin")
    _, secret = create_token(
        name="seo", permissions=["seo.manage"], actor=make.actor("admin"), user_id=owner.pk
    )

    response = ApiClient().get(
        "/api/seo/trace?path=/blog/plan", HTTP_AUTHORIZATION=f"Bearer {secret}"
    )

    assert response.status_code == 200
    assert b"Secret plan" not in response.content


@pytest.mark.parametrize(
    "path",
    ["", "no", "//evil.example", "/a\x00", "/a\r\nb", "/\ud800", "https://x", "/" + "x" * 3000],
    ids=["empty", "relative", "host", "nul", "lines", "surrogate", "absolute", "long"],
)
def test_what_is_no_path_is_refused(path: str) -> None:
    with pytest.raises(RuleViolation) as refusal:
        traced(path)

    assert list(refusal.value.details) == ["path"]


@pytest.mark.parametrize("path", ["/" + "a-" * 900, "/" + "a/" * 900, "/%2e%2e/%00", "/ä/ö"])
def test_threat_26_odd_paths_are_answered(path: str) -> None:
    create_pattern(actor=make.actor(), type="blog", locale="en", pattern="/{slug}-{yyyy}-{mm}")

    assert traced(path).outcome == "nothing"


def test_only_who_manages_seo_may_ask() -> None:
    with pytest.raises(NotAllowed):
        trace_address("/x", make.actor("editor"))


def call(**principal: Any) -> Any:
    who = Principal(id="c", user_id=make.user("admin").pk, **principal)
    return call_tool(who, "trace_url_resolution", {"path": "/blog/tea"})


def test_the_tool_is_there_for_diagnostics_only() -> None:
    make.post(slug="tea")

    answer, refused = call(diagnostics=True), call()

    assert answer.structured_content["outcome"] == "page"
    assert [step["step"] for step in answer.structured_content["steps"]] == [
        "address", "locale", "post",
    ]  # fmt: skip
    assert refused.is_error


@pytest.mark.parametrize("path", ["/", "/blog", "/blog/tea", "/old", "/nowhere", "/de/blog/x"])
def test_the_tool_answers_what_it_promises(path: str) -> None:
    page("Home", "home")
    make.post(slug="tea")
    make.redirect("/old", "/blog/tea")

    answer = told("trace_url_resolution", path=path)

    assert {"path", "outcome", "status", "steps"} <= set(answer)
    assert {"step", "found", "sentence"} <= set(answer["steps"][0])
