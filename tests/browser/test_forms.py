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


STEPS: list[Any] = [
    {"name": "email", "label": "Email", "type": "email", "required": True},
    {
        "name": "kind",
        "label": "Kind",
        "type": "radio",
        "options": ["Job", "Other"],
        "required": True,
    },
    {
        "name": "apply",
        "label": "Your application",
        "type": "step",
        "showIf": {"field": "kind", "operator": "equals", "value": "Job"},
    },
    {
        "name": "days",
        "label": "Days",
        "type": "checkboxes",
        "options": ["Mon", "Tue", "Wed"],
        "required": True,
    },
    {
        "name": "why",
        "label": "Reason",
        "type": "text",
        "required": True,
        "showIf": {"field": "days", "operator": "contains", "value": "Tue"},
    },
    {
        "name": "cv",
        "label": "CV",
        "type": "file",
        "accept": [".pdf"],
        "showIf": {"field": "days", "operator": "isNotEmpty"},
    },
    {"name": "end", "label": "Last words", "type": "step"},
    {"name": "code", "label": "Code", "type": "text", "pattern": "[A-Z]{2}"},
    {"name": "note", "label": "Note", "type": "textarea"},
]


def test_a_form_in_steps_follows_the_answers(open_page: Any) -> None:
    from forms.models import FormSubmission

    home()
    make.form(fields=STEPS)
    with_modules(page("Contact"), [("form", {"form": "contact"})])
    visitor = open_page(None, width=390)
    visitor.goto("/contact")
    progress, keys = visitor.locator(".form-progress"), visitor.keyboard
    expect(progress).to_have_text("Step 1 of 2")
    # The browser's own check holds the visitor at an empty field.
    visitor.get_by_role("button", name="Continue").click()
    expect(visitor.get_by_label("Email")).to_be_focused()
    visitor.get_by_label("Email").fill("ada@example.com")
    visitor.get_by_label("Job").check()
    expect(progress).to_have_text("Step 1 of 3")
    visitor.get_by_label("Email").press("Enter")
    expect(visitor.locator("legend", has_text="Your application")).to_be_focused()
    expect(visitor.get_by_label("Reason")).to_be_hidden()
    visitor.get_by_label("Tue").check()
    visitor.get_by_label("Reason").fill("x")
    assert serious(visitor) == []
    visitor.get_by_label("CV").set_input_files(
        {"name": "cv.pdf", "mimeType": "application/pdf", "buffer": b"%PDF-1.7 x"}
    )
    visitor.get_by_role("button", name="Continue").click()
    expect(progress).to_have_text("Step 3 of 3")
    visitor.get_by_role("button", name="Back").click()
    visitor.get_by_label("Tue").uncheck()
    visitor.get_by_label("Mon").check()
    keys.press("Enter")
    visitor.get_by_label("Note").fill("Hello")
    # The server refuses what the browser would let pass, and the page opens at the step with the error.
    visitor.locator("[name=email]").evaluate("input => { input.value = 'ada@example' }")
    visitor.get_by_role("button", name="Send").click()
    summary = visitor.get_by_role("alert")
    expect(summary.get_by_role("link")).to_have_text("Email must be an email address.")
    expect(progress).to_have_text("Step 1 of 3")
    visitor.get_by_role("button", name="Continue").click()
    summary.get_by_role("link").click()
    expect(visitor.get_by_label("Email")).to_be_focused()
    keys.press("ControlOrMeta+a")
    keys.type("ada@example.com")
    for _ in range(2):
        visitor.get_by_role("button", name="Continue").click()
    visitor.get_by_role("button", name="Send").click()

    visitor.wait_for_url("**/contact?sent=*")
    assert FormSubmission.objects.get().payload == {
        "email": "ada@example.com",
        "kind": "Job",
        "days": ["Mon"],
        "note": "Hello",
    }
