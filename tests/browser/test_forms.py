"""A visitor without scripts sends a form: first invalid, then valid."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import expect

from tests import make
from tests.browser.test_looks import serious
from tests.forms.test_submit import ALL_TYPES
from tests.site.test_page_queries import with_modules
from tests.site.test_pages import home, page

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def contact() -> str:
    home()
    fields = [{**row, "help": f"What {row['label'].lower()} means."} for row in ALL_TYPES]
    fields[1]["required"] = True
    make.form(fields=fields, successMessage="Thank you for writing.")
    return with_modules(page("Contact"), [("form", {"form": "contact"})])[0]


def test_a_form_is_sent_without_scripts(open_page: Any) -> None:
    from forms.models import FormSubmission

    at = contact()
    visitor = open_page(None, scripts=False)
    visitor.goto("/contact")
    # A browser takes this for an address; the server asks for more.
    visitor.get_by_label("Email").fill("ada@example")
    visitor.get_by_label("Message").fill("Good morning")
    visitor.get_by_role("button", name="Send").click()

    wrong = visitor.get_by_role("alert")
    assert wrong.get_by_role("link").all_inner_texts() == ["Email must be an email address."]
    assert not FormSubmission.objects.exists()
    expect(visitor.get_by_label("Message")).to_have_value("Good morning")
    wrong.get_by_role("link").click()
    email = visitor.locator(f"#form-{at}-email")
    assert email.evaluate("element => element === document.activeElement")
    email.fill("ada@example.com")
    visitor.get_by_role("button", name="Send").click()

    visitor.wait_for_url("**/contact?sent=*")
    said = visitor.get_by_role("status")
    expect(said).to_have_text("Thank you for writing.", use_inner_text=True)
    assert said.evaluate("element => element === document.activeElement")
    payload = FormSubmission.objects.get().payload
    assert payload == {"email": "ada@example.com", "message": "Good morning", "agree": False}


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_a_form_with_errors_has_no_serious_barrier(open_page: Any, dark: bool) -> None:
    contact()
    visitor = open_page(None, dark=dark, width=390)
    visitor.goto("/contact")
    visitor.get_by_label("Email").fill("ada@example")
    with visitor.expect_response("**/forms/contact*") as answer:
        visitor.get_by_role("button", name="Send").click()

    assert answer.value.status == 422
    visitor.wait_for_selector(".form-errors")
    assert serious(visitor) == []
    wide = visitor.evaluate("() => document.documentElement.scrollWidth")
    assert wide <= 390


def test_a_form_is_counted_once_its_visitor_agreed_to_be(open_page: Any, settings: Any) -> None:
    from analytics.models import AnalyticsEvent

    settings.CMS_ENV = settings.CMS_ENV.model_copy(update={"analytics_consent": True})
    contact()
    visitor = open_page(None)
    reached = AnalyticsEvent.objects.filter(goal="form:contact")

    def send() -> int:
        visitor.goto("/contact")
        visitor.get_by_label("Email").fill("ada@example.com")
        visitor.get_by_label("Message").fill("Good morning")
        visitor.get_by_role("button", name="Send").click()
        visitor.wait_for_url("**/contact?sent=*")
        return reached.count()

    assert send() == 0
    visitor.get_by_role("button", name="Yes, count my visits").click()
    assert send() == 1
    visitor.get_by_role("button", name="Visit counting").click()
    visitor.get_by_role("button", name="No").click()
    assert send() == 1
