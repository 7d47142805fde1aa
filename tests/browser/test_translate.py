"""A translation beside its source, in a browser: compared, written, saved and marked as current."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import expect

from content.layers import open_layers
from content.models import Post
from content.posts.edit import edit_post
from content.store.translation_status import states_of
from content.translations.translate import create_translation, mark_up_to_date
from tests import make
from tests.browser.conftest import OpenPage
from tests.browser.test_looks import serious, serious_in_any_light

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def german_of_changed() -> Post:
    """Create a German draft whose source has changed in two fields."""
    source = make.post(
        markdown="Grind the beans at **medium**.\n\n## Water\n\nPour the water at 92 °C.\n\n- one\n- two",
        excerpt="The whole way, in ten minutes.",
    )
    german = create_translation(post_id=source.pk, locale="de", actor=make.actor("admin"))
    make.edited(
        german, {"title": "Filterkaffee aufbrühen", "excerpt": "Der ganze Weg, in zehn Minuten."}
    )
    copied = states_of([german])[german.pk].untranslated_paths
    mark_up_to_date(post_id=german.pk, actor=make.actor("admin"), paths=copied)
    make.edited(
        source,
        {"title": "How to brew good filter coffee", "excerpt": "The whole way, in five minutes."},
    )
    german.refresh_from_db()
    return german


def open_translation(open_page: OpenPage, german: Post, **options: Any) -> Any:
    page = open_page(**options)
    page.goto(f"/admin/content/post/{german.pk}/translate/")
    page.wait_for_selector("[data-beside][data-ready]")
    return page


def progress(page: Any) -> str:
    return str(page.locator("[data-progress]").inner_text().strip())


def test_what_is_saved_is_up_to_date(open_page: OpenPage) -> None:
    german = german_of_changed()
    page = open_translation(open_page, german)
    row = page.locator("#t-post-title")
    expect(row.locator("ins")).to_contain_text("good", use_inner_text=True)
    before = progress(page)

    page.locator('[name="post.title"]').fill("Guten Filterkaffee aufbrühen")
    page.keyboard.press("Control+s")
    page.wait_for_selector('#t-post-title[data-state="current"]')

    german.refresh_from_db()
    assert german.title == "Guten Filterkaffee aufbrühen"
    assert progress(page) != before
    assert page.url.endswith("/translate/")


def test_a_field_is_called_up_to_date_and_the_next_one_is_found(open_page: OpenPage) -> None:
    german = german_of_changed()
    page = open_translation(open_page, german)

    page.locator("[data-next]").click()
    assert page.evaluate("document.activeElement.name") == "post.title"
    page.locator("#t-post-title [data-check]").click()
    page.wait_for_selector('#t-post-title[data-state="current"]')
    page.locator("[data-only-stale]").click()
    page.wait_for_timeout(50)

    shown = page.locator("[data-row]:visible")
    assert [shown.nth(at).get_attribute("id") for at in range(shown.count())] == ["t-post-excerpt"]
    page.locator("[data-check-all] button").click()
    page.wait_for_selector("[data-all-current]:visible")


def test_what_both_changed_is_chosen_as_in_the_editor(open_page: OpenPage) -> None:
    german = german_of_changed()
    page = open_translation(open_page, german)
    make.edited(german, {"title": "Kaffee"})

    page.locator('[name="post.title"]').fill("Guten Filterkaffee aufbrühen")
    page.keyboard.press("Control+s")
    page.wait_for_selector(".choices")
    expect(page.locator('[name="post.title"]')).to_have_value("Guten Filterkaffee aufbrühen")
    german.refresh_from_db()
    assert german.title == "Kaffee"


def test_a_translator_of_a_published_post_submits(open_page: OpenPage) -> None:
    german = german_of_changed()
    edit_post(post_id=german.pk, actor=make.actor("editor"), status="published")
    page = open_translation(open_page, german, role="translator")

    page.locator('[name="post.title"]').fill("Guten Filterkaffee aufbrühen")
    page.locator('button[value="save-review"]').click()
    page.wait_for_url("**/translate/?layer=review")

    german.refresh_from_db()
    assert german.title == "Filterkaffee aufbrühen"
    assert open_layers(german).review.document.fields["title"] == "Guten Filterkaffee aufbrühen"


def test_the_page_is_sound_in_any_light_and_on_a_phone(open_page: OpenPage) -> None:
    german = german_of_changed()
    page = open_translation(open_page, german)

    problems = serious_in_any_light(page)
    page.set_viewport_size({"width": 390, "height": 800})
    problems += serious(page)

    assert problems == []
    assert page.evaluate("() => document.documentElement.scrollWidth") <= 390


def test_a_field_is_translated_by_an_agent_and_its_proposal_is_linked(open_page: OpenPage) -> None:
    german = german_of_changed()
    page = open_translation(open_page, german)

    page.locator("#t-post-excerpt a[data-agent-dialog]").click()
    page.locator(".agent-dialog button[value=run]").click()
    page.wait_for_selector(".agent-dialog [data-run][data-finished]")
    page.locator(".agent-dialog .dialog-close").click()
    page.wait_for_selector('#t-post-excerpt a[href*="ai-review"]')

    document = open_layers(german).ai_review.document
    assert document.fields["excerpt"] == "[de] The whole way, in five minutes."
