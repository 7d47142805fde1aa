"""A request of a visitor: from the submission to the erasure, with the keyboard, on a phone and in the dark."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import expect

from forms.models import FormSubmission
from tests import make
from tests.browser.test_looks import serious

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.mark.parametrize("scripts", [True, False], ids=["with scripts", "without"])
def test_a_submission_leads_to_the_erasure_of_its_person(open_page: Any, scripts: bool) -> None:
    make.form()
    make.submission(email="Anna@example.com", message="When do you open?")
    make.submission(email="other@example.com", message="Hello")
    mine = FormSubmission.objects.earliest("created_at")
    admin = open_page("admin", scripts=scripts)
    admin.goto(f"/admin/forms/formsubmission/{mine.pk}/change/")
    admin.get_by_role("link", name="Export or erase the data of anna@example.com").click()
    expect(admin.get_by_label("Email address")).to_have_value("anna@example.com")
    admin.get_by_label("Email address").press("Enter")

    admin.get_by_role("rowheader", name="Submissions of forms").wait_for()
    assert not scripts or serious(admin) == []
    admin.get_by_role("link", name="Erase data…").click()
    admin.get_by_text("This cannot be undone.").wait_for()
    admin.set_viewport_size({"width": 375, "height": 700})
    width = admin.evaluate("document.documentElement.scrollWidth") if scripts else 375
    assert width <= 375
    assert not scripts or serious(admin) == []
    admin.get_by_label("Email address of the person").fill("anna@example.com")
    admin.get_by_label("Email address of the person").press("Enter")

    admin.get_by_role("heading", name="Erased data").wait_for()
    expect(admin.get_by_text("anna@example.com")).to_have_count(0)
    assert [row.payload["message"] for row in FormSubmission.objects.all()] == ["Hello"]


@pytest.mark.parametrize("name", ["", "add/", "retention/", "cookies/"])
def test_the_pages_are_readable_in_the_dark_and_on_a_phone(open_page: Any, name: str) -> None:
    admin = open_page("admin")
    admin.emulate_media(color_scheme="dark")
    admin.goto(f"/admin/proofroom_privacy/personaldatarequest/{name}")
    assert serious(admin) == []

    admin.set_viewport_size({"width": 375, "height": 700})

    assert admin.evaluate("document.documentElement.scrollWidth") <= 375
    assert serious(admin) == []
