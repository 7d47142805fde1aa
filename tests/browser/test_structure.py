"""Site structure: forms are built, terms are moved."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import expect

from tests import make
from tests.browser.test_forms import contact
from tests.browser.test_menus import save

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_a_form_without_a_slug_is_named_by_its_title(open_page: Any) -> None:
    from forms.models import FormDefinition

    make.form(slug="contact-us")
    page = open_page()
    page.goto("/admin/forms/formdefinition/add/")
    expect(page.get_by_text("Leave blank to generate it from the title.")).to_be_visible()
    page.get_by_label("Title").fill("Contact us: today!")
    page.get_by_label("Title").press("Enter")
    page.wait_for_url("**/change/")
    page.goto("/admin/forms/formdefinition/add/")
    page.get_by_label("Title").fill("Contact us")
    page.get_by_label("Title").press("Enter")
    page.wait_for_url("**/change/")

    made = FormDefinition.objects.order_by("created_at").values_list("slug", "title")[1:]
    assert list(made) == [
        ("contact-us-today", "Contact us: today!"),
        ("contact-us-2", "Contact us"),
    ]


def test_a_form_is_built_and_the_site_shows_it(open_page: Any) -> None:
    from forms.models import FormDefinition

    contact()
    form = FormDefinition.objects.get()
    names = [row["name"] for row in form.fields]
    page = open_page()
    page.goto(f"/admin/forms/formdefinition/{form.pk}/change/")
    page.get_by_role("button", name="Dropdown").click()
    page.locator("[data-new] [data-part=label]").fill("How do you brew?")
    page.get_by_label("Options, one per line").last.fill("Filter\nEspresso")
    page.locator(".builder-preview", has_text="Espresso").wait_for()
    handle = page.locator("[data-new] [data-handle]")
    handle.press("Home")
    expect(page.locator("[data-card]").first).to_have_attribute("data-label", "How do you brew?")
    page.locator("[data-card]").nth(1).get_by_role("button", name="Remove").click()
    page.locator("[data-unsaved]", has_text="Not saved yet").wait_for()
    page.get_by_role("button", name="Undo").click()
    page.locator("[data-rows]:not([aria-busy])").wait_for()
    save(page)

    form.refresh_from_db()
    assert form.fields[0] == {
        "name": "how_do_you_brew",
        "label": "How do you brew?",
        "type": "select",
        "required": False,
        "options": ["Filter", "Espresso"],
    }
    assert [row["name"] for row in form.fields[1:]] == names
    page.goto("/contact")
    page.get_by_label("How do you brew?").select_option("Espresso")


def test_terms_are_moved_and_renamed_and_what_is_refused_goes_back(open_page: Any) -> None:
    coffee, tea = make.term("Coffee"), make.term("Tea")
    page = open_page()
    page.goto("/admin/proofroom_taxonomies/term/?taxonomy=topics")

    handle = page.get_by_role("button", name="Move Tea", exact=True)
    with page.expect_response("**/admin/proofroom_taxonomies/term/**"):
        handle.press("ArrowRight")
    expect(page.locator("#terms-says")).to_have_text(
        "Tea moved to 1 of 1 below Coffee.", use_inner_text=True
    )
    handle.press("F2")
    page.get_by_label("New name").fill("Teas")
    page.keyboard.press("Enter")
    page.get_by_role("link", name="Teas").wait_for()
    tea.refresh_from_db()
    assert (tea.name, tea.parent_id) == ("Teas", coffee.pk)
    page.route("**/admin/proofroom_taxonomies/term/**", lambda route: route.fulfill(body="Log in"))
    handle.press("ArrowLeft")
    page.get_by_role("alert").get_by_text("Could not move the term.").wait_for()
    expect(page.locator("[data-tree] > [data-item]")).to_have_count(1)
