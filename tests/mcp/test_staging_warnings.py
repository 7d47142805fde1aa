"""Warnings of staging tools about mismatches of a translation with its source."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from content.models import Post
from content.tools.staging_warnings import MAX_WARNINGS
from content.translations.translate import create_translation
from tests import make
from tests.mcp.calling import done

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("environment")]
SAVE, UPDATE = "save_post_ai_review", "update_post_module_ai_review"


def warned(answer: dict[str, Any]) -> list[tuple[str, str, str]]:
    return [(one["path"], one["code"], one["message"]) for one in answer.get("warnings", [])]


def german(source: Post) -> Post:
    return create_translation(post_id=source.pk, locale="de", actor=make.actor("admin"))


def test_a_proposed_translation_says_what_does_not_agree() -> None:
    source = make.post("Two ways in", markdown="Is it free? Yes, for [members](https://a.example).")
    prose, hero = make.module_id(source, "prose"), make.module_id(source, "hero")

    answer = done(
        "create_translation_ai_review",
        postId=str(source.pk),
        locale="de",
        fields={"title": "Drei Wege hinein"},
        modules=[
            {"sourcePostModuleId": hero, "props": {"title": "Zwei Wege hinein"}},
            {
                "sourcePostModuleId": prose,
                "props": {
                    "content": "Ist es kostenlos? Nein, für [Mitglieder](https://b.example)."
                },
            },
        ],
    )

    copy = {one["sourcePostModuleId"]: one["postModuleId"] for one in answer["modules"]}[prose]
    place = f"modules.{copy}.props.content"
    assert warned(answer) == [
        (
            "post.title", "source_mismatch",
            "The source says 'Two', the translation 'Drei'. Keep the number of the source.",
        ),
        (
            place, "source_mismatch",
            "1 · Paragraph: The source says 'Yes', the translation 'Nein'. Keep the answer of the source.",
        ),
        (
            place, "source_mismatch",
            "1 · Paragraph: The source says 'https://a.example', the translation 'https://b.example'. "
            "Keep the link of the source.",
        ),
    ]  # fmt: skip


def test_a_faithful_translation_has_no_warnings() -> None:
    source = make.post("Two ways in", markdown="It takes three days.")
    post = german(source)

    answer = done(SAVE, postId=str(post.pk), patch={"title": "Zwei Wege hinein"})
    module = done(
        UPDATE, postModuleId=make.module_id(post, "prose"), contentMarkdown="Es dauert drei Tage."
    )

    assert "warnings" not in answer
    assert "warnings" not in module


def test_only_what_the_call_staged_is_named() -> None:
    post = german(make.post("Two ways in", excerpt="It costs 20 euros."))
    done(SAVE, postId=str(post.pk), patch={"title": "Drei Wege hinein"})

    answer = done(SAVE, postId=str(post.pk), patch={"excerpt": "Es kostet 30 Euro."})

    assert [path for path, _code, _message in warned(answer)] == ["post.excerpt"]


def test_a_module_is_compared_as_it_is_updated() -> None:
    post = german(make.post(markdown="Open the window for two minutes."))
    prose = make.module_id(post, "prose")

    answer = done(
        UPDATE, postModuleId=prose, contentMarkdown="Zwei Stunden lang das Fenster öffnen."
    )

    assert warned(answer) == [
        (
            f"modules.{prose}.props.content", "source_mismatch",
            "1 · Paragraph: The source says 'two minutes', the translation 'Zwei Stunden'. "
            "Keep the amount and unit of the source.",
        )
    ]  # fmt: skip


def test_the_wrong_language_has_a_code_of_its_own() -> None:
    post = german(make.post(excerpt="All that you need to know about the opening of our new shop."))

    answer = done(
        SAVE,
        postId=str(post.pk),
        patch={
            "excerpt": "Tout ce que vous devez savoir sur l'ouverture de notre nouveau magasin."
        },
    )

    assert warned(answer) == [
        ("post.excerpt", "language", "The text is in 'fr'. Write it in 'de'.")
    ]


def test_texts_that_are_only_copied_are_one_warning() -> None:
    text = "This is a text that is long enough to say which language it is written in."
    source, other = make.post(markdown=text, excerpt=text), make.post(excerpt=text, slug="other")

    answer = done("create_translation_ai_review", postId=str(source.pk), locale="de")
    bulk = done("create_translations_ai_review_bulk", postId=str(other.pk), locales=["de"])

    [(path, code, message)] = warned(answer)
    assert (path, code) == ("post.excerpt", "language")
    assert message.startswith("2 texts are still copies of the source, this one first.")
    [(path, code, message)] = warned(bulk["items"][0])
    assert (path, code) == ("post.excerpt", "language")
    assert message.startswith("The text is still a copy of the source.")


def test_no_more_warnings_than_a_client_reads() -> None:
    source = make.post(markdown="\n\n".join(f"There are {at} cats." for at in range(40)))
    post = german(source)

    answer = done(
        UPDATE,
        postModuleId=make.module_id(post, "prose"),
        contentMarkdown="\n\n".join(f"Es gibt {at} Katzen." for at in range(1, 41)),
    )

    found = warned(answer)
    assert len(found) == MAX_WARNINGS == 20
    assert found[-1][2].startswith("21 more of these are not shown.")


def test_a_post_that_is_no_translation_costs_no_query_more() -> None:
    post = make.post()

    def queries(patch: dict[str, str]) -> int:
        with CaptureQueriesContext(connection) as captured:
            answer = done(SAVE, postId=str(post.pk), patch=patch)
        assert "warnings" not in answer
        return sum("draft_rows" in one["sql"] and "origin_rows" in one["sql"] for one in captured)

    assert queries({"title": "Drei Wege hinein"}) == 0
