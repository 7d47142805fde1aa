"""Warnings in answers of staging tools, by code, and the same rules as chips in review and inbox."""

from __future__ import annotations

from typing import Any

import pytest

from content.inbox.rows import rules_of
from content.models import Layer, QueuedChange
from proofroom.briefs.models import Brief
from tests import make
from tests.api_client import ApiClient
from tests.mcp.calling import done

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("environment")]

SAVE, UPDATE = "save_post_ai_review", "update_post_module_ai_review"


def warnings(answer: dict[str, Any]) -> list[tuple[str, str]]:
    return [(one["path"], one["code"]) for one in answer.get("warnings", ())]


def save(post: Any, **patch: Any) -> dict[str, Any]:
    return done(SAVE, postId=str(post.pk), patch=patch)


def test_a_good_proposal_has_no_warnings() -> None:
    post = make.post()
    make.post("Target", slug="target")

    answer = save(post, metaTitle="Filter coffee", metaDescription="x" * 160)
    module = done(
        UPDATE,
        postModuleId=make.module_id(post, "prose"),
        contentMarkdown="Grind the beans and read [more](/blog/target).",
    )

    assert "warnings" not in answer
    assert "warnings" not in module


def test_too_long() -> None:
    answer = save(make.post(), metaTitle="x" * 61, metaDescription="y" * 161)

    assert warnings(answer) == [
        ("post.metaTitle", "too_long"),
        ("post.metaDescription", "too_long"),
    ]
    assert answer["warnings"][0]["message"] == (
        "Meta title has 61 characters. Search engines show about 60."
    )


def test_unchanged_names_the_values_that_staged_nothing() -> None:
    post = make.post(excerpt="Short", metaTitle="Coffee")

    answer = save(post, excerpt="Short", metaTitle="Tea")
    terms = done("set_post_taxonomy_terms_ai_review", postId=str(post.pk), taxonomyTermIds=[])
    hero = make.module_id(post, "hero")
    props = done(UPDATE, postModuleId=hero, props={"title": post.title, "subtitle": "New"})

    assert warnings(answer) == [("post.excerpt", "unchanged")]
    assert warnings(terms) == [("post.taxonomyTermIds", "unchanged")]
    assert warnings(props) == [(f"modules.{hero}.props.title", "unchanged")]


def test_replaced_names_who_had_staged_something_else() -> None:
    post = make.post()
    make.staged(post, {"excerpt": "From an agent"})

    first = save(post, excerpt="From a client")
    again = save(post, excerpt="From the same client")

    assert warnings(first) == [("post.excerpt", "replaced")]
    assert first["warnings"][0]["message"] == "This replaced what seo-specialist had staged here."
    assert warnings(again) == []


def test_dead_link_within_the_site() -> None:
    post = make.post(markdown="[old](/gone)")
    prose = make.module_id(post, "prose")

    answer = done(UPDATE, postModuleId=prose, contentMarkdown="[old](/gone) and [new](/nowhere)")

    # Links that were there before are not the client's.
    assert warnings(answer) == [(f"modules.{prose}.props.content", "dead_link")]
    assert answer["warnings"][0]["message"] == "The site has no published page at /nowhere."


def test_forbidden_term_and_protected_name() -> None:
    Brief.objects.create(
        name="Site",
        terms=[{"term": "user", "preferred": "reader", "forbidden": True}],
        protected_names=["Proofroom"],
    )
    post = make.post(excerpt="Proofroom is for readers.")

    answer = save(post, excerpt="The proof room is for users.", metaTitle="proofroom")

    assert warnings(answer) == [
        ("post.excerpt", "forbidden_term"),
        ("post.excerpt", "protected_name"),
        ("post.metaTitle", "protected_name"),
    ]
    assert [one["message"] for one in answer["warnings"]] == [
        "Write “reader” instead of “users”.",
        "The name Proofroom is missing or was changed.",
        "The name Proofroom is written “proofroom”.",
    ]


def test_a_translation_must_keep_the_protected_names_of_its_source() -> None:
    Brief.objects.create(name="Site", protected_names=["Proofroom"])
    source = make.post(excerpt="Proofroom is for readers.")
    translation = make.post(
        "Filterkaffee", locale="de", translation_of=source, excerpt="Etwas", markdown="Bohnen"
    )

    lost = save(translation, excerpt="Der Korrekturraum ist für Leser.")
    kept = save(translation, excerpt="Proofroom ist für Leser.")

    assert ("post.excerpt", "protected_name") in warnings(lost)
    assert ("post.excerpt", "protected_name") not in warnings(kept)


def test_language_of_a_post_that_is_no_translation() -> None:
    answer = save(
        make.post(), excerpt="Mahlen Sie die Bohnen und gießen Sie das heiße Wasser darauf."
    )

    assert warnings(answer) == [("post.excerpt", "language")]


def test_source_mismatch_of_a_translation() -> None:
    source = make.post(excerpt="It takes 4 minutes.")
    translation = make.post("Filterkaffee", locale="de", translation_of=source, markdown="Bohnen")

    assert ("post.excerpt", "source_mismatch") in warnings(
        save(translation, excerpt="Es dauert 5 Minuten.")
    )


def test_a_new_post_is_judged_too() -> None:
    Brief.objects.create(name="Site", never=["cheap as chips"])

    answer = done(
        "create_post_ai_review",
        type="blog",
        title="Cheap as chips",
        contentMarkdown="[there](/nowhere)",
    )

    assert {code for _path, code in warnings(answer)} == {"forbidden_term", "dead_link"}


def test_the_rules_are_stored_with_the_change_and_shown_as_chips() -> None:
    Brief.objects.create(name="Site", terms=[{"term": "user", "forbidden": True}])
    post = make.post()
    save(post, excerpt="For users.")

    row = QueuedChange.objects.get(post=post, path="post.excerpt")
    assert [(rule.check, rule.value) for rule in rules_of(row)] == [("brief", "users")]
    editor = ApiClient("editor")
    for address in (
        f"/admin/content/post/{post.pk}/review/?layer={Layer.AI_REVIEW.value}",
        "/admin/inbox/",
    ):
        page = editor.get(address).content.decode()
        assert "Editorial brief: users" in page


def test_a_rule_that_the_type_switches_off_is_not_applied(monkeypatch: pytest.MonkeyPatch) -> None:
    from tests.content.checking import set_levels

    set_levels(monkeypatch, {"brief": "off"})
    Brief.objects.create(
        name="Site", terms=[{"term": "user", "forbidden": True}], protected_names=["Proofroom"]
    )
    post = make.post(excerpt="Proofroom")

    assert warnings(save(post, excerpt="For users.")) == []
