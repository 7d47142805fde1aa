"""Forms on the site's pages, sent without scripts: accepted, shown again, limited, and no open redirect."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from html import unescape
from typing import Any

import pytest
from django.core.cache import cache
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from content.models import Post
from content.posts.publish import set_status
from forms.models import FormDefinition, FormSubmission
from forms.services.definitions import delete_form, update_form
from proofroom.core.models import Event
from proofroom_apps.website import prefetch, queries
from proofroom_apps.website.pages import PageContent, page_of
from tests import make
from tests.content.test_definitions import paragraph
from tests.forms.test_submit import ALL_TYPES
from tests.site.test_page_queries import with_modules
from tests.site.test_pages import home, page, text

pytestmark = pytest.mark.django_db
BODY = {"email": "ada@example.com", "message": "Hello"}


@pytest.fixture
def at() -> str:
    """Return the id of the module that shows the form `contact` on the page `/contact`."""
    if not Post.objects.filter(slug="home").exists():
        home()
    make.form()
    return with_modules(page("Contact"), [("form", {"form": "contact"})])[0]


def send(at: str, client: Client | None = None, path: str = "/contact", **more: Any) -> Any:
    url = more.pop("url", "/forms/contact")
    client = client or Client(enforce_csrf_checks=True)
    return client.post(url, {**BODY, "_page": path, "_at": at, **more})


def nothing_stored() -> bool:
    return not FormSubmission.objects.exists() and not Event.objects.filter(
        name__startswith="form."
    )


def field(html: str, name: str) -> str:
    """Return the input element of a field."""
    found = re.search(rf'<(?:input|select|textarea)[^>]* name="{name}"[^>]*>', html)
    assert found is not None, name
    return found[0]


def test_the_page_shows_the_form_with_labels_and_what_browsers_check(at, client):
    fields = [{**row, "help": f"Help for {row['name']}"} for row in ALL_TYPES]
    fields[0] |= {"required": True, "placeholder": "Ada"}
    update_form(slug="contact", locale="en", values={"fields": fields}, actor=make.actor())

    html = text(client.get("/contact"))

    for row in fields:
        id_ = f"form-{at}-{row['name']}"
        assert f'<label for="{id_}">{row["label"]}' in html
        assert f'<p class="field-help" id="{id_}-help">Help for {row["name"]}</p>' in html
        assert f'id="{id_}"' in field(html, row["name"])
        assert f'aria-describedby="{id_}-help"' in field(html, row["name"])
    name = field(html, "name")
    assert 'required minlength="2" maxlength="10" placeholder="Ada" autocomplete="name"' in name
    assert 'autocomplete="email"' in field(html, "email")
    assert 'autocomplete="tel"' in field(html, "phone")
    assert 'type="url"' in field(html, "site")
    assert 'type="date"' in field(html, "day")
    assert 'step="any"' in field(html, "number")
    assert 'pattern="[A-Z]{2}"' in field(html, "code")
    assert re.findall(r"<option[^>]*>([^<]*)", html) == ["Please choose", "S", "M"]
    assert 'tabindex="-1" autocomplete="off"' in field(html, "homepage_url")
    assert 'aria-invalid="' not in html
    assert f'method="post" action="/forms/contact#form-{at}"' in html


def test_a_form_that_is_broken_takes_neither_the_page_nor_another_form(
    client: Client, caplog: pytest.LogCaptureFixture
) -> None:
    home()
    make.form()
    make.form("other")
    modules = [("form", {"form": "contact"}), ("form", {"form": "other"})]
    with_modules(page("Contact"), modules)
    FormDefinition.objects.filter(slug="contact").update(fields=[{"name": "x", "type": "gone"}])

    html = text(client.get("/contact"))

    assert re.findall(r'action="/forms/(\w+)', html) == ["other"]
    assert "cannot render form contact (en)" in caplog.text


def test_a_source_of_modules_that_fails_does_not_take_the_page(
    at: str, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_names: Collection[str], _locale: str) -> Mapping[str, object]:
        raise ZeroDivisionError

    broken = prefetch.ModuleSource("forms", "form-reference", fail)
    with prefetch.module_sources.registered_temporarily(broken, alone=True):
        html = text(client.get("/contact"))

    assert "<h1>Contact</h1>" in html
    assert '<form class="form"' not in html


def test_what_is_taken_leads_back_to_the_page_which_says_thanks(at, client):
    answer = send(at)

    row = FormSubmission.objects.get()
    assert (row.form_slug, row.locale, row.payload) == ("contact", "en", BODY)
    assert answer.status_code == 303
    assert answer["Location"] == f"/contact?sent={at}#form-{at}"
    assert answer["Cache-Control"] == "no-store"
    assert not answer.cookies
    shown = client.get(answer["Location"])
    html = text(shown)
    assert f'<div class="form-sent" id="form-{at}" role="status" tabindex="-1">' in html
    assert "<p>Thank you.</p>" in html
    assert '<form class="form"' not in html
    assert '<link rel="canonical" href="http://127.0.0.1:8000/contact">' in html


def test_every_visitor_gets_the_same_page(at, client):
    before = client.get("/contact")
    send(at, client, email="wrong")
    send(at, client)

    after = client.get("/contact")

    # Submitted data is in no cached page; only the content version may differ.
    assert text(after) == text(before)
    assert after["Cache-Control"] == "public, max-age=60, stale-while-revalidate=60"
    assert "wrong" not in text(after)
    for other in ("x", "", "<script>", at[:-1]):
        assert '<form class="form"' in text(client.get("/contact", {"sent": other}))


def test_what_is_wrong_is_said_by_field_and_what_was_written_stays(at):
    answer = send(at, email="no <address>", message="Hello <b>you</b>")

    html = text(answer)
    assert (answer.status_code, answer["Cache-Control"]) == (422, "no-store")
    assert not answer.has_header("ETag")
    email = field(html, "email")
    assert 'aria-invalid="true"' in email
    assert f'aria-describedby="form-{at}-email-error"' in email
    assert 'value="no &lt;address&gt;"' in email
    error = f'<p class="field-error" id="form-{at}-email-error">Email must be an email address.</p>'
    assert error in html
    assert f'<li><a href="#form-{at}-email">Email must be an email address.</a></li>' in html
    assert 'class="form-errors" role="alert" tabindex="-1" autofocus' in html
    assert "Hello &lt;b&gt;you&lt;/b&gt;</textarea>" in html
    assert 'aria-invalid="true"' not in field(html, "message")
    assert "<h1>Contact</h1>" in html
    assert nothing_stored()


def test_choices_and_boxes_stay_as_they_were(at):
    update_form(slug="contact", locale="en", values={"fields": ALL_TYPES}, actor=make.actor())

    html = text(send(at, email="x", size="M", agree="true"))

    assert "<option selected>M" in html
    assert "checked" in field(html, "agree")
    assert "checked" not in field(text(send(at, email="x")), "agree")


def test_only_the_form_that_was_sent_shows_what_became_of_it(client):
    home()
    make.form()
    first, second = with_modules(
        page("Contact"),
        [
            ("form", {"form": "contact"}),
            ("prose-with-form", {"form": "contact", "content": paragraph("Beside")}),
        ],
    )

    html = text(send(second, email="x"))

    assert html.count("form-errors") == 1
    assert f'id="form-{second}-email-error"' in html
    assert f'id="form-{first}-email-error"' not in html
    taken = text(client.get(f"/contact?sent={second}"))
    assert (taken.count("form-sent"), taken.count('<form class="form"')) == (1, 1)


def test_a_german_page_speaks_german_also_where_the_form_does_not(client):
    home()
    make.form()
    at = with_modules(page("Kontakt", locale="de"), [("form", {"form": "contact"})])[0]

    html = text(client.get("/de/kontakt"))
    wrong = text(send(at, path="/de/kontakt", url="/forms/contact?locale=de", email="x"))
    taken = send(at, path="/de/kontakt", url="/forms/contact?locale=de")

    assert "(Pflichtfeld)" in html
    assert 'action="/forms/contact?locale=de#form-' in html
    assert "Email: Das ist keine E-Mail-Adresse." in wrong
    assert "Bitte korrigieren Sie diese Felder:" in wrong
    assert '<html lang="de"' in wrong
    assert taken["Location"].startswith("/de/kontakt?sent=")


def test_a_form_by_itself_mixes_no_languages_where_nobody_translated_the_site(client, settings):
    settings.CMS_ENV = settings.CMS_ENV.model_copy(update={"locales": ("en", "de", "ar")})
    make.form()

    html = text(client.get("/forms/contact?locale=ar"))
    wrong = text(client.post("/forms/contact?locale=ar", {"email": "x"}))

    assert '<html lang="ar" dir="rtl">' in html
    for page_shown in (html, wrong):
        assert '<button class="button">Search</button>' in page_shown
        assert re.search("[\u0600-\u06ff]", page_shown.partition('class="languages"')[0]) is None


def test_the_language_of_the_page_has_its_own_form():
    home()
    make.form()
    make.form(locale="de", title="Schreiben Sie uns", successMessage="Danke!")
    at = with_modules(page("Kontakt", locale="de"), [("form", {"form": "contact"})])[0]

    answer = send(at, path="/de/kontakt")

    assert FormSubmission.objects.get().locale == "de"
    html = text(Client().get(answer["Location"]))
    assert "<h2 " in html
    assert "Schreiben Sie uns</h2>" in html
    assert "<p>Danke!</p>" in html


@pytest.mark.parametrize("address", ["/thanks", "/thanks?a=b#c", "/dänke"])
def test_a_form_leads_on_within_the_site(at, address):
    update_form(slug="contact", locale="en", values={"redirectUrl": address}, actor=make.actor())

    answer = send(at)

    assert answer.status_code == 303
    assert answer["Location"] == address.replace("ä", "%C3%A4")


def test_a_form_leads_on_to_another_site_from_a_page_that_says_so(at, client):
    # `form-action 'self'` of the policy also holds for where a form is redirected to.
    target = "https://elsewhere.example/thanks"
    update_form(slug="contact", locale="en", values={"redirectUrl": target}, actor=make.actor())

    answer = send(at)

    assert (answer.status_code, answer["Location"]) == (303, "/forms/contact?sent=form#form-form")
    onward = client.get(answer["Location"])
    assert onward["Refresh"] == f"0; url={target}"
    assert f'href="{target}"' in text(onward)
    assert "Thank you." in text(onward)
    assert not client.get("/forms/contact").has_header("Refresh")


@pytest.mark.parametrize(
    "path",
    [
        "https://evil.example/contact", "//evil.example/contact", "/\\evil.example", "\\\\evil",
        "javascript:alert(1)", "/contact\r\nSet-Cookie: a=b", "/contact\x00", "", "contact",
        "/nothing", "/secret", "/about", "/" + "a" * 5000, "/contact?next=//evil.example",
        "/contact#//evil.example", "/forms/contact", "/admin/", "/contact/", "/%2fevil.example",
    ],
    ids=lambda value: re.sub(r"\W+", "-", value)[:25] or "none",
)  # fmt: skip
def test_threat_54_a_sent_form_leads_to_a_published_page_with_it_or_to_none(at, path):
    secret = page("Secret", status="draft")
    with_modules(secret, [("form", {"form": "contact"})])
    page("About")

    taken, wrong = send(at, path=path), send(at, path=path, email="x")

    assert (taken.status_code, taken["Location"]) == (303, "/forms/contact?sent=form#form-form")
    assert wrong.status_code == 422
    assert "<h1>Write to us</h1>" in text(wrong)
    assert "evil" not in text(wrong)
    assert "Secret" not in text(wrong)


@pytest.mark.parametrize("module", ["", "form", "x" * 5000, "../..", '"><script>', "\x00"])
def test_a_module_that_is_not_there_is_answered_by_a_page_of_the_form(at, module):
    answer = send(module, email="x")

    assert answer.status_code == 422
    assert "<h1>Write to us</h1>" in text(answer)
    assert "<script>" not in text(answer)


def test_a_module_with_another_form_does_not_stand_for_this_one(at):
    make.form("other", title="Another")

    answer = send(at, url="/forms/other", email="x")

    assert "<h1>Another</h1>" in text(answer)
    assert answer.status_code == 422


def test_what_fills_the_honeypot_is_thanked_and_forgotten(at, client):
    answer = send(at, homepage_url="https://spam.example")

    assert answer["Location"] == f"/contact?sent={at}#form-{at}"
    assert nothing_stored()


def test_one_submission_too_many_says_when_to_retry_and_keeps_the_input(at, settings):
    settings.THROTTLE_RATES = {**settings.THROTTLE_RATES, "forms": "1/hour"}
    wrong = send(at, email="x")
    first = send(at)

    second = send(at, message="Still here")

    assert (wrong.status_code, first.status_code, second.status_code) == (422, 303, 429)
    assert 0 < int(second["Retry-After"]) <= 3600
    assert second["Cache-Control"] == "no-store"
    html = unescape(text(second))
    assert re.search(r"Please try again in \d+ minutes?\.", html)
    assert "Still here</textarea>" in html
    assert FormSubmission.objects.count() == 1
    settings.CMS_ENV = settings.CMS_ENV.model_copy(update={"throttle_allow_ips": ("127.0.0.1",)})
    assert send(at).status_code == 303


def test_tries_are_limited_too(at, settings):
    settings.THROTTLE_RATES = {**settings.THROTTLE_RATES, "public": "2/hour"}
    cache.clear()

    codes = [send(at, email="x").status_code for _ in range(3)]

    assert codes == [422, 422, 429]


@pytest.mark.parametrize(
    ("kind", "body", "code"),
    [
        ("application/json", "{}", 415),
        ("text/plain", "email=a@example.com", 415),
        ("application/x-www-form-urlencoded", "x" * 300_000, 413),
        ("multipart/form-data", "no boundary", 400),
        ("multipart/form-data; boundary=x", "no parts", 422),
        ("multipart/form-data; boundary=x; charset=utf-7", "--x\r\nContent-Disposition: form-data; "
         'name="email"\r\n\r\n+2AA-\r\n--x--\r\n', 422),
        ("application/x-www-form-urlencoded; charset=utf-16", "email=a", 400),
        ("application/x-www-form-urlencoded", "email=%00", 422),
        ("application/x-www-form-urlencoded", "email=a%40example.com&%00=1", 422),
        ("application/x-www-form-urlencoded", "email=%ED%A0%80@example.com", 422),
        ("application/x-www-form-urlencoded", "email=a%40example.com&email=b%40example.com", 422),
        ("application/x-www-form-urlencoded", "_at=1&_at=2&_page=/&_page=/&email=", 422),
        ("application/x-www-form-urlencoded", "&".join(f"a{n}=1" for n in range(21_000)), 400),
        ("application/x-www-form-urlencoded", "email=a%40example.com&" + "&".join(
            f"a{n}=1" for n in range(9_000)), 422),
    ],
    ids=lambda value: re.sub(r"\W+", "-", str(value))[:40],
)  # fmt: skip
def test_hostile_bodies_are_refused(at, kind, body, code):
    answer = Client().generic("POST", "/forms/contact", body, content_type=kind)

    assert answer.status_code == code
    assert len(answer.content) < 60_000
    assert nothing_stored()


def test_files_are_not_taken(at):
    from django.core.files.uploadedfile import SimpleUploadedFile

    answer = send(at, email=SimpleUploadedFile("a.txt", b"a@example.com"))

    assert answer.status_code == 422
    assert "Email must be text." in text(answer)
    assert nothing_stored()


def test_removed_fields_are_reported_once(at):
    answer = send(at, colour="green")

    assert answer.status_code == 422
    assert "The form has changed in the meantime." in text(answer)
    assert "green" not in text(answer)
    assert nothing_stored()


def test_a_form_that_is_gone_leaves_the_page_and_answers_nothing(at, client):
    delete_form(slug="contact", locale="en", actor=make.actor())

    assert '<form class="form"' not in text(client.get("/contact"))
    assert client.get("/contact").status_code == 200
    assert send(at).status_code == 404
    for slug in ("contact", "Contact", "x" * 300, "a%00b", "%F0%9F%98%80"):
        assert client.get(f"/forms/{slug}").status_code == 404
    assert nothing_stored()


def test_a_page_that_is_no_longer_published_is_not_shown_again(at):
    post = Post.objects.get(path="/contact")
    set_status(post_id=post.pk, status="archived", actor=make.actor())

    answer = send(at, email="x")

    assert "<h1>Contact</h1>" not in text(answer)
    assert "<h1>Write to us</h1>" in text(answer)


def test_a_form_has_a_page_of_its_own(at, client):
    with CaptureQueriesContext(connection) as queries:
        response = client.get("/forms/contact?locale=de")

    html = text(response)
    assert (response.status_code, response["Cache-Control"]) == (200, "no-store")
    assert '<meta name="robots" content="noindex">' in html
    assert "<h1>Write to us</h1>" in html
    assert 'action="/forms/contact?locale=de#form-form"' in html
    assert len(queries) <= 3
    assert client.get("/forms/contact?locale=xx").status_code == 200
    for method in ("put", "patch", "delete"):
        assert getattr(client, method)("/forms/contact").status_code == 405


def test_a_preview_shows_the_form_and_cannot_send_it(at):
    found = queries.find_published_post("/contact", "en")
    assert found is not None

    html = page_of(PageContent(found.post, found.modules, (), preview="Review"))

    form = html[html.index('<form class="form"') :].partition("</form>")[0]
    assert "This is a preview. The form cannot be submitted here." in form
    assert '<fieldset class="form-fields" disabled>' in form
    assert "action=" not in form
    assert "method=" not in form
    assert 'name="_page"' not in form


def test_labels_of_a_form_become_no_markup(at, client):
    attack = '"><script>alert(1)</script>'
    fields = [
        {"name": "email", "label": attack, "type": "email", "help": attack, "placeholder": attack},
        {"name": "size", "label": "Size", "type": "select", "options": [attack]},
    ]
    values = {"title": attack, "description": attack, "submitLabel": attack, "fields": fields}
    update_form(slug="contact", locale="en", values=values, actor=make.actor())

    pages = [
        client.get("/contact"), client.get("/forms/contact"), send(at, email=attack, size=attack),
        client.get("/forms/contact?sent=form"),
    ]  # fmt: skip

    for response in pages:
        assert "<script>alert(1)" not in text(response)
        assert "alert(1)" in text(response)
