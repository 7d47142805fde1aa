"""Forms and submissions in the admin."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from content.models import Draft, PostModule
from forms.models import FormDefinition, FormSubmission
from tests import make
from tests.admin.pages import fields

pytestmark = pytest.mark.django_db
SignedIn = Callable[..., Client]
LIST = "/admin/forms/formdefinition/"
SENT = "/admin/forms/formsubmission/"


def test_a_form_is_made_changed_and_deleted(signed_in: SignedIn) -> None:
    client = signed_in()
    blank = fields(client.get(f"{LIST}add/"), having="slug")
    given = {**blank, "slug": "contact", "locale": "de", "title": "Schreib uns"}

    made = client.post(f"{LIST}add/", given)

    assert made.status_code == 302, made.content
    form = FormDefinition.objects.get()
    assert (form.slug, form.locale, form.title) == ("contact", "de", "Schreib uns")
    assert [row["name"] for row in form.fields] == ["name", "email", "message"]
    page = client.get(f"{LIST}{form.pk}/change/")
    assert "/api/forms/contact/submissions/export" in page.content.decode()
    now: Any = {**fields(page, having="version"), "title": "Kontakt", "redirectUrl": "/danke"}
    assert client.post(f"{LIST}{form.pk}/change/", now).status_code == 302
    form.refresh_from_db()
    assert (form.title, form.redirect_url, form.version) == ("Kontakt", "/danke", 2)
    stale = client.post(f"{LIST}{form.pk}/change/", {**now, "title": "Of another window"})
    assert stale.status_code == 422
    assert "Reload it." in stale.content.decode()
    form.refresh_from_db()
    assert (form.title, form.version) == ("Kontakt", 2)
    assert "permanently deletes" in client.get(f"{LIST}{form.pk}/delete/").content.decode()
    assert FormDefinition.objects.count() == 1
    client.post(f"{LIST}{form.pk}/delete/")
    assert FormDefinition.objects.count() == 0


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"questions": "{"}, "This is not valid JSON"),
        ({"questions": "[" * 100_000}, "This is not valid JSON"),
        (
            {"questions": '[{"name": "a", "label": "A", "type": "color"}]'},
            "Type: This must be one of",
        ),
        ({"questions": "[]"}, "This must not be empty."),
        ({"questions": json.dumps([{"name": "", "label": "A", "type": "text"}] * 300)}, "at most"),
        ({"redirectUrl": "javascript:alert(1)"}, "must be a path of this site"),
        ({"title": ""}, "This field is required"),
    ],
    ids=lambda value: str(value)[:30],
)
def test_service_errors_are_shown_at_their_fields(
    signed_in: SignedIn, change: dict[str, str], says: str
) -> None:
    form = make.form()
    client = signed_in()
    address = f"{LIST}{form.pk}/change/"
    given: Any = {**fields(client.get(address)), **change}
    before = FormDefinition.objects.values().get()

    page = client.post(address, given)

    assert page.status_code == 422
    assert says in page.content.decode()
    assert FormDefinition.objects.values().get() == before


def test_the_cards_of_a_form_are_changed_by_their_buttons_and_saved(signed_in: SignedIn) -> None:
    form = make.form()
    client, address = signed_in(), f"{LIST}{form.pk}/change/"
    sent: Any = fields(client.get(address))

    def pressed(rows: Any, do: str, **more: str) -> Any:
        return fields(client.post(address, {**rows, **more, "do": do}))

    rows = pressed(sent, "add:select")
    last = rows["row"][-1]
    rows[f"label-{last}"], rows[f"options-{last}"] = "Wie geht’s?", "gut\r\n\r\nschlecht"
    rows = pressed(rows, f"copy:{last}")
    rows = pressed(rows, "add:consent")
    rows = pressed(rows, "remove:0")
    rows = pressed(rows, "down:0")
    for nothing in ("up:0", "down:999", "up:x", "add:colour", "nonsense"):
        rows = pressed(rows, nothing)
    form.refresh_from_db()
    assert form.version == 1
    assert client.post(address, rows).status_code == 302

    form.refresh_from_db()
    first = [row["name"] for row in make.form("other").fields]
    assert [row["name"] for row in form.fields] == [
        "wie_gehts", first[1], "wie_gehts_2", "consent"
    ]  # fmt: skip
    assert form.fields[0]["options"] == ["gut", "schlecht"]
    as_json = '[{"name": "a", "label": "A", "type": "text", "minLength": 3}]'
    rows = pressed(sent, "json", json=as_json)
    assert (rows["name-0"], rows["minLength-0"]) == (["a"], ["3"])
    odd: Any = client.post(
        address, {**sent, "do": "json", "json": '[{"type": [], "options": 1}, 5]'}
    )
    bad: Any = client.post(address, {**sent, "do": "json", "json": '{"a": "\\ud800"}'})
    assert (odd.status_code, bad.status_code) == (200, 200)
    assert "This is not valid JSON" in bad.content.decode()


def test_a_submission_is_read_and_deleted(signed_in: SignedIn) -> None:
    make.form()
    row = make.submission(email="visitor@example.com", message="Hello\nthere")
    make.submission(email="other@example.com")
    client = signed_in()

    listed = client.get(f"{SENT}?form_slug=contact").content.decode()
    page = client.get(f"{SENT}{row.pk}/change/").content.decode()

    assert "visitor@example.com · Hello" in listed
    assert '<dt>Email</dt><dd class="pre">visitor@example.com</dd>' in page
    client.post(f"{SENT}{row.pk}/delete/")
    assert list(FormSubmission.objects.values_list("payload__email", flat=True)) == [
        "other@example.com"
    ]


def test_submissions_are_said_to_be_of_a_form_by_its_title(signed_in: SignedIn) -> None:
    make.form(title="Schreiben Sie uns", locale="de")
    make.form(title="Write to us")
    row = make.submission(email="visitor@example.com")
    make.form("closed", title="Closed")
    make.submission("closed", email="other@example.com")
    FormDefinition.objects.filter(slug="closed").delete()
    client = signed_in()

    listed = client.get(SENT).content.decode()
    page = client.get(f"{SENT}{row.pk}/change/").content.decode()

    assert re.findall(r"\?form_slug=([\w-]+)[^>]*>\s*([^<]+?)\s*<", listed) == [
        ("closed", "closed"),
        ("contact", "Write to us"),
    ]
    assert re.findall(r'class="field-form_title[^>]*>(?:<[^>]+>)*([^<]+)<', listed) == [
        "closed",
        "Write to us",
    ]
    assert "Submission of Write to us" in page


def test_a_checked_box_is_sent_as_a_word(signed_in: SignedIn) -> None:
    boxes = [{"name": name, "label": name, "type": "checkbox"} for name in ("agree", "news")]
    make.form(fields=boxes)
    row = make.submission(agree=True)
    client = signed_in()

    listed = client.get(SENT).content.decode()
    assert "yes · no" in listed or "no · yes" in listed  # the order of keys is the database's
    page = client.get(f"{SENT}{row.pk}/change/").content.decode()
    assert '<dd class="pre">yes</dd>' in page


def test_threat_31_labels_and_values_are_text(signed_in: SignedIn) -> None:
    evil = '<img src=x onerror="alert(1)">'
    field = {"name": "say", "label": evil, "type": "text", "help": evil}
    form = make.form(title=evil, description=evil, fields=[field])
    row = make.submission(say=evil)
    client = signed_in()

    for address in (
        LIST,
        f"{LIST}{form.pk}/change/",
        f"{LIST}{form.pk}/delete/",
        SENT,
        f"{SENT}{row.pk}/change/",
    ):
        page = client.get(address)
        assert page.status_code == 200
        assert "<img src=x" not in page.content.decode(), address
        assert "&lt;img src=x" in page.content.decode() or address == f"{SENT}{row.pk}/delete/"


def test_a_translator_changes_and_deletes_nothing(signed_in: SignedIn) -> None:
    form = make.form()
    row = make.submission(email="visitor@example.com")
    client = signed_in("translator")

    for address in (
        f"{LIST}{form.pk}/change/",
        f"{LIST}{form.pk}/delete/",
        f"{SENT}{row.pk}/change/",
        f"{SENT}{row.pk}/delete/",
    ):
        assert client.get(address).status_code == 403
        assert client.post(address, {"title": "x"}).status_code == 403
    assert FormDefinition.objects.get().version == 1
    assert FormSubmission.objects.count() == 1


def test_the_new_kinds_are_built_with_their_cards(signed_in: SignedIn) -> None:
    form = make.form(
        fields=[
            {"name": "email", "label": "Email", "type": "email"},
            {"name": "kind", "label": "Kind", "type": "radio", "options": ["Job", "Other"]},
        ]
    )
    client, address = signed_in(), f"{LIST}{form.pk}/change/"
    rows: Any = fields(client.get(address))
    for kind in ("step", "file", "checkboxes"):
        rows = fields(client.post(address, {**rows, "do": f"add:{kind}"}))
    step, file, days = rows["row"][2:]
    rows |= {
        f"label-{step}": "Your application",
        f"if-field-{step}": "kind",
        f"label-{file}": "CV",
        f"accept-{file}": ["application/pdf"],
        f"maxBytes-{file}": "1,5",
        f"label-{days}": "Days",
        f"options-{days}": "Mon\nTue",
    }
    # The comparison and the answer appear when the other field is chosen.
    shaped = client.post(address, {**rows, "do": "preview"})
    rows = fields(shaped)
    assert re.findall(
        r'<option value="(\w+)"[^>]*>(?:is|is not|is filled in|is empty)<', shaped.content.decode()
    ) == [
        "equals",
        "notEquals",
        "isNotEmpty",
        "isEmpty",
    ]
    rows |= {
        f"if-value-{step}": "Job",
        "confirmationField": "email",
        "confirmationSubject": "Thanks {{nobody}}",
        "confirmationText": "{{answers}}",
    }
    wrong = client.post(address, {**rows, "do": "save"})
    rows["confirmationSubject"] = "Thanks"

    saved = client.post(address, {**rows, "do": "save"})

    assert wrong.status_code == 422
    assert "There is no field &#x27;nobody&#x27; in this form." in wrong.content.decode()
    assert saved.status_code == 302, saved.content.decode()
    form.refresh_from_db()
    assert form.confirmation == {"emailField": "email", "subject": "Thanks", "text": "{{answers}}"}
    assert form.fields[2:] == [
        {
            "name": "your_application",
            "label": "Your application",
            "type": "step",
            "required": False,
            "showIf": {"field": "kind", "operator": "equals", "value": "Job"},
        },
        {
            "name": "cv",
            "label": "CV",
            "type": "file",
            "required": False,
            "accept": ["application/pdf"],
            "maxBytes": 1_572_864,
        },
        {
            "name": "days",
            "label": "Days",
            "type": "checkboxes",
            "required": False,
            "options": ["Mon", "Tue"],
        },
    ]


def test_a_form_is_added_to_a_draft_at_once_and_to_a_live_page_in_review(
    signed_in: SignedIn,
) -> None:
    form = make.form()
    draft, live = (
        make.post("Draft", type="page", status="draft"),
        make.post("Live", type="page"),
    )
    client, address = signed_in(role="editor"), f"{LIST}{form.pk}/add-to-page/"

    shown = client.get(address, {"q": "dra"}).content.decode()
    at_once = client.post(address, {"page": str(draft.pk)})
    in_review = client.post(address, {"page": str(live.pk)})
    nowhere = client.post(address, {"page": "x"})

    assert str(draft.pk) in shown
    assert str(live.pk) not in shown
    assert at_once["Location"] == f"/admin/content/post/{draft.pk}/change/"
    assert in_review["Location"] == f"/admin/content/post/{live.pk}/review/?layer=review"
    assert nowhere.status_code == 422
    modules = [
        (item.post_id, item.instance.props["form"])
        for item in PostModule.objects.filter(instance__type="form")
    ]
    assert modules == [(draft.pk, "contact")]
    staged = Draft.objects.get(post=live, layer="review").document["modules"][-1]
    assert (staged["type"], staged["props"]["form"]) == ("form", "contact")
    assert signed_in(role="translator").get(address).status_code == 403
