"""Proposals of the demo's rules: enough to show the workflow on the sample post, never worse on good texts."""

from __future__ import annotations

from io import StringIO
from typing import Any, cast

import pytest
from django.core.management import call_command

from agents_app.models import AgentRun
from agents_app.providers.demo.conversation import answer
from agents_app.runs.creation import create_run
from content.layers import approve, digest_of, submit
from content.models import Post
from proofroom.core.json import JsonObject
from tests import make
from tests.conftest import RunOnCommit

TITLE = "How to brew filter coffee"
GOOD = {
    "metaTitle": "Filter coffee by hand, step by step",
    "metaDescription": "A hand-brewed filter coffee in four minutes, with the reasons behind the recipe.",
    "excerpt": "One recipe, a scale and four minutes. How to brew a clean cup by hand.",
}


def seo(modules: list[JsonObject] | None = None, **post: Any) -> dict[str, Any]:
    payload = {"post": {"title": TITLE, "locale": "en", **post}, "modules": modules or []}
    return cast("dict[str, Any]", answer("seo-specialist", cast(JsonObject, payload)))


@pytest.mark.django_db
def test_the_sample_post_gets_modest_proposals_once(run_on_commit: RunOnCommit) -> None:
    call_command("seed", stdout=StringIO())
    post = Post.objects.get(slug="how-to-brew-filter-coffee", locale="en")
    good = (post.excerpt, post.meta_description)
    editor = make.actor("editor", via="admin")

    def run() -> AgentRun:
        with run_on_commit():
            begun = create_run(
                agent_id="seo-specialist", scope="dropdown", actor=editor, post_id=post.pk
            )
        begun.refresh_from_db()
        return begun

    first, second = run(), run()
    proposed = make.layers(post).ai_review.document
    submit(post_id=post.pk, actor=editor)
    approve(post_id=post.pk, actor=editor, digest=digest_of(make.layers(post).review.changes))
    third = run()

    hero, faq = make.module_id(post, "hero"), make.module_id(post, "faq")
    assert sorted(first.staged) == sorted(
        [f"modules.{hero}.props.subtitle", f"modules.{faq}.props.heading", "post.metaTitle"]
    )
    assert proposed.fields["metaTitle"] == "How to brew filter coffee: What you need"
    assert (proposed.fields["excerpt"], proposed.fields["metaDescription"]) == good
    assert {module.type: module.props for module in proposed.modules}["faq"]["heading"] == (
        "Questions from the counter: How to brew filter coffee"
    )
    assert [(run.status, run.staged) for run in (second, third)] == [("succeeded", [])] * 2


def test_good_texts_are_left_alone() -> None:
    body: JsonObject = {"postModuleId": "m", "type": "prose", "props": {}}

    assert seo([body], **GOOD)["post"] == {}


@pytest.mark.parametrize(
    ("name", "present", "proposed"),
    [
        ("metaTitle", "", TITLE),
        ("metaTitle", "Coffee", TITLE),
        ("metaTitle", "Coffee " * 12, TITLE),
        ("metaDescription", "Too short.", GOOD["excerpt"]),
        ("metaDescription", None, GOOD["excerpt"]),
        ("excerpt", "long words " * 40, "long words " * 21 + "long…"),
    ],
)
def test_what_is_missing_or_of_the_wrong_length_is_replaced(
    name: str, present: str | None, proposed: str
) -> None:
    assert seo(**{**GOOD, name: present})["post"] == {name: proposed}


def test_headings_are_in_the_language_of_the_post() -> None:
    faq: JsonObject = {"postModuleId": "m", "type": "faq", "props": {"heading": ""}}

    (edit,) = seo([faq], **GOOD, locale="de")["modules"]

    assert edit == {"postModuleId": "m", "props": {"heading": f"Fragen zu: {TITLE}"}}
