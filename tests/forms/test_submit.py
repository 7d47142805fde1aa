"""Form submissions: accepted, refused, and silently dropped ones."""

from __future__ import annotations

import json
import threading
import tracemalloc
from typing import Any

import pytest
from django.db import connection
from django.test import Client

from forms.answers import read_answers
from forms.models import FormSubmission
from forms.queries import fields_of
from proofroom.core.errors import RuleViolation
from proofroom.core.json import Json
from proofroom.core.models import Event
from tests import make
from tests.api_client import ApiClient

pytestmark = pytest.mark.django_db
URL = "/api/forms/contact/submit"
ALL_TYPES: list[Any] = [
    {"name": "name", "label": "Name", "type": "text", "minLength": 2, "maxLength": 10},
    {"name": "email", "label": "Email", "type": "email"},
    {"name": "message", "label": "Message", "type": "textarea"},
    {"name": "size", "label": "Size", "type": "select", "options": ["S", "M"]},
    {"name": "agree", "label": "Agree", "type": "checkbox"},
    {"name": "number", "label": "Number", "type": "number"},
    {"name": "day", "label": "Day", "type": "date"},
    {"name": "phone", "label": "Phone", "type": "tel"},
    {"name": "site", "label": "Site", "type": "url"},
    {"name": "code", "label": "Code", "type": "text", "pattern": "[A-Z]{2}"},
]
FULL = {
    "name": " Ada ",
    "email": "ada@example.com",
    "message": "One\r\ntwo",
    "size": "M",
    "agree": True,
    "number": 4.5,
    "day": "2026-02-28",
    "phone": "+49 (30) 123-4",
    "site": "https://example.com/a?b=c",
    "code": "AB",
}
STORED = {**FULL, "name": "Ada", "message": "One\ntwo"}


def post_form(body: str, client: Client | None = None, **extra: Any) -> Any:
    kind = extra.pop("content_type", "application/x-www-form-urlencoded")
    return (client or Client(enforce_csrf_checks=True)).generic(
        "POST", URL, body, content_type=kind, **extra
    )


def nothing_stored() -> bool:
    return not FormSubmission.objects.exists() and not Event.objects.filter(
        name__startswith="form."
    )


def test_every_type_is_accepted_normalised_and_sent() -> None:
    make.form(fields=ALL_TYPES, successMessage="Danke", redirectUrl="/thanks")

    answer = ApiClient().write("POST", URL, FULL, expect=201)

    row = FormSubmission.objects.get()
    assert answer == {"id": str(row.pk), "successMessage": "Danke", "redirectUrl": "/thanks"}
    assert (row.form_slug, row.locale, row.payload) == ("contact", "en", STORED)
    told = {"formSlug": "contact", "submissionId": str(row.pk), "payload": STORED}
    events = Event.objects.filter(name__startswith="form.").order_by("pk")
    assert [(event.name, event.payload, event.actor, event.via) for event in events] == [
        ("form.submitted", told, None, "site"),
        ("form.submit", told, None, "site"),
    ]


def test_a_page_without_scripts_sends_text_and_is_sent_on() -> None:
    make.form(fields=ALL_TYPES, redirectUrl="https://example.com/thanks")
    body = "name=Ada&agree=on&number=-7&day=2026-02-28&email=&homepage_url="
    multipart = "\r\n".join(
        ["--x", 'Content-Disposition: form-data; name="name"', "", "Grace", "--x--", ""]
    )

    plain = post_form(body)
    browser = post_form(body, HTTP_ACCEPT="text/html,application/xhtml+xml,*/*;q=0.8")
    parts = post_form(multipart, content_type="multipart/form-data; boundary=x")

    assert (plain.status_code, plain.json()["redirectUrl"]) == (201, "https://example.com/thanks")
    assert (browser.status_code, browser["Location"]) == (303, "https://example.com/thanks")
    assert parts.status_code == 201
    ada = {"name": "Ada", "agree": True, "number": -7, "day": "2026-02-28"}
    payloads = list(FormSubmission.objects.order_by("created_at").values_list("payload", flat=True))
    assert payloads == [ada, ada, {"name": "Grace", "agree": False}]


def test_a_form_of_another_locale_is_sent_to_it_and_falls_back() -> None:
    make.form(successMessage="Thanks")
    make.form(locale="de", successMessage="Danke")
    make.form("only-en")
    visitor = ApiClient()
    body = {"email": "a@example.com"}

    german = visitor.write("POST", f"{URL}?locale=de", body, expect=201)
    visitor.write("POST", "/api/forms/only-en/submit?locale=de", body, expect=201)
    visitor.write("POST", f"{URL}?locale=xx", body, expect=422)

    assert german["successMessage"] == "Danke"
    found = FormSubmission.objects.order_by("created_at").values_list("form_slug", "locale")
    assert list(found) == [("contact", "de"), ("only-en", "en")]


@pytest.mark.parametrize(
    ("change", "key"),
    [
        ({"name": "A"}, "name"),
        ({"name": "x" * 11}, "name"),
        ({"name": "x" * 200_000}, "name"),
        ({"name": 5}, "name"),
        ({"name": True}, "name"),
        ({"name": ["Ada"]}, "name"),
        ({"name": {"a": 1}}, "name"),
        ({"name": "two\nlines"}, "name"),
        ({"name": "bell\x07"}, "name"),
        ({"name": "nul\x00"}, "name"),
        ({"email": "a@example.com\nBcc: b@example.com"}, "email"),
        ({"email": "a" * 300 + "@example.com"}, "email"),
        ({"message": "x" * 20_001}, "message"),
        ({"size": "L"}, "size"),
        ({"size": ["S"]}, "size"),
        ({"size": 1}, "size"),
        ({"agree": "perhaps"}, "agree"),
        ({"agree": 1}, "agree"),
        ({"number": "four"}, "number"),
        ({"number": True}, "number"),
        ({"number": "1e999"}, "number"),
        ({"number": "NaN"}, "number"),
        ({"number": "٣"}, "number"),
        ({"number": 2**53 + 1}, "number"),
        ({"number": [1]}, "number"),
        ({"day": "2026-02-30"}, "day"),
        ({"day": "20260228"}, "day"),
        ({"day": "2026-W01-1"}, "day"),
        ({"day": 20260228}, "day"),
        ({"phone": "call me"}, "phone"),
        ({"phone": "+-()"}, "phone"),
        ({"phone": "1" * 51}, "phone"),
        ({"site": "javascript:alert(1)"}, "site"),
        ({"site": "ftp://example.com"}, "site"),
        ({"site": "http://[::1"}, "site"),
        ({"site": "example.com"}, "site"),
        ({"code": "ab"}, "code"),
        ({"code": "ABC"}, "code"),
        ({"nonsense": 1}, "nonsense"),
        ({"homepage_URL": "x"}, "homepage_URL"),
        ({"x" * 5000: 1}, "x" * 80),
    ],
    ids=lambda value: str(value)[:40].encode("ascii", "backslashreplace").decode(),
)
def test_what_does_not_fit_is_refused_by_name(change: dict[str, Any], key: str) -> None:
    make.form(fields=ALL_TYPES)

    answer = ApiClient().write("POST", URL, {**FULL, **change}, expect=422)

    assert set(answer["details"]) == {key}
    assert nothing_stored()


def test_all_that_is_wrong_is_said_at_once() -> None:
    make.form()

    answer = ApiClient().write("POST", URL, {"message": 5, "other": 1}, expect=422)

    assert answer["details"] == {
        "other": ["There is no field 'other' in this form; known: email, message."],
        "email": ["Email is required."],
        "message": ["Message must be text."],
    }
    many = ApiClient().write("POST", URL, {f"f{n}": 1 for n in range(5000)}, expect=422)
    assert len(many["details"]) == 50


def test_only_the_first_unknown_names_get_a_suggestion() -> None:
    fields = fields_of(
        make.form(
            fields=[{"name": "n" * 55 + str(n), "label": "N", "type": "text"} for n in range(100)]
        )
    )
    given: dict[str, Json] = {f"f{n}": 1 for n in range(10_000)}

    tracemalloc.start()
    with pytest.raises(RuleViolation):
        read_answers(fields, given)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    assert peak < 5_000_000


@pytest.mark.parametrize("value", ["", "   ", None])
def test_nothing_is_no_answer_where_one_is_required(value: Any) -> None:
    fields = [{**row, "required": True, "minLength": 1} for row in ALL_TYPES[:1]]
    fields += [{**row, "required": True} for row in ALL_TYPES[1:]]
    make.form(fields=fields)

    answer = ApiClient().write("POST", URL, dict.fromkeys(FULL, value), expect=422)

    assert answer["details"] == {row["name"]: [f"{row['label']} is required."] for row in ALL_TYPES}
    assert nothing_stored()


def test_zero_is_an_answer_and_an_unticked_box_is_none() -> None:
    make.form(fields=[{**ALL_TYPES[5], "required": True}, {**ALL_TYPES[4], "required": True}])
    visitor = ApiClient()

    refused = visitor.write("POST", URL, {"number": 0, "agree": False}, expect=422)
    visitor.write("POST", URL, {"number": "0", "agree": "true"}, expect=201)

    assert set(refused["details"]) == {"agree"}
    assert FormSubmission.objects.get().payload == {"number": 0, "agree": True}


def test_a_filled_honeypot_is_answered_like_success_and_stores_nothing(settings: Any) -> None:
    settings.THROTTLE_RATES = {**settings.THROTTLE_RATES, "forms": "1/hour"}
    make.form()
    visitor = ApiClient()
    body = {"email": "a@example.com", "homepage_url": "https://spam.example"}
    before = Event.objects.count()

    answers = [visitor.send("POST", URL, body) for _ in range(3)]

    assert [answer.status_code for answer in answers] == [201] * 3
    assert set(answers[0].json()) == {"id", "successMessage", "redirectUrl"}
    assert not FormSubmission.objects.exists()
    assert Event.objects.count() == before
    visitor.write("POST", URL, {"email": "a@example.com", "homepage_url": ""}, expect=201)
    assert FormSubmission.objects.get().payload == {"email": "a@example.com"}


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("application/json", "{"),
        ("application/json", json.dumps("x" * 300_000)),
        ("application/json", "[" * 100_000),
        ("text/plain", "email=a@example.com"),
        ("application/xml", "<a/>"),
        ("multipart/form-data; boundary=x", "no parts"),
        ("multipart/form-data", "no boundary"),
        ("application/x-www-form-urlencoded", "email=a@example.com&email=b@example.com"),
        ("application/x-www-form-urlencoded", "email=%00"),
        ("application/x-www-form-urlencoded", "%00=1"),
        ("application/x-www-form-urlencoded", "email=%ED%A0%80@example.com"),
        ("application/x-www-form-urlencoded", "&".join(f"a{n}=1" for n in range(21_000))),
    ],
    ids=lambda value: str(value)[:45],
)
def test_hostile_bodies_are_refused(kind: str, body: str) -> None:
    make.form()

    answer = post_form(body, content_type=kind)

    assert answer.status_code in (400, 413, 415, 422), answer.content[:300]
    assert set(answer.json()) == {"error", "code", "details"}
    assert nothing_stored()


def test_files_are_not_taken() -> None:
    make.form()
    body = "\r\n".join(
        [
            "--x",
            'Content-Disposition: form-data; name="email"',
            "",
            "a@example.com",
            "--x",
            'Content-Disposition: form-data; name="message"; filename="a.txt"',
            "Content-Type: text/plain",
            "",
            "words",
            "--x--",
            "",
        ]
    )

    answer = post_form(body, content_type="multipart/form-data; boundary=x")

    assert answer.status_code == 422
    assert answer.json()["details"] == {"message": ["Files are not accepted."]}
    assert nothing_stored()


def test_a_body_beyond_the_bound_is_413() -> None:
    make.form()

    answer = ApiClient().write("POST", URL, {"message": "x" * 300_000}, expect=413)

    assert answer["code"] == "too_large"
    assert nothing_stored()


@pytest.mark.parametrize("slug", ["a%00", "A", "%F0%9F%98%80", "x" * 3000])
def test_a_form_that_is_not_there_is_404(slug: str) -> None:
    make.form()

    ApiClient().write("POST", f"/api/forms/{slug}/submit", {"email": "a@example.com"}, expect=404)

    assert nothing_stored()


def test_no_session_is_looked_at_and_no_token_is_asked_for(django_assert_num_queries: Any) -> None:
    make.form()
    client = Client(enforce_csrf_checks=True)
    client.force_login(make.user("admin"))
    body = json.dumps({"email": "a@example.com"})

    # Form, both events, submission, the transaction's own two.
    with django_assert_num_queries(6):
        answer = client.post(URL, body, content_type="application/json")

    assert answer.status_code == 201
    assert not answer.cookies
    assert list(Event.objects.filter(name="form.submit").values_list("actor", flat=True)) == [None]


def test_threat_57_only_what_is_accepted_counts_and_the_next_is_429(settings: Any) -> None:
    settings.THROTTLE_RATES = {**settings.THROTTLE_RATES, "forms": "2/hour"}
    make.form()
    visitor = ApiClient()
    body = {"email": "a@example.com"}

    for _ in range(5):
        visitor.write("POST", URL, {"email": "none"}, expect=422)
    accepted = [visitor.send("POST", URL, body) for _ in range(2)]
    over = visitor.send("POST", URL, body, HTTP_X_FORWARDED_FOR="203.0.113.9")
    elsewhere = visitor.send("POST", URL, body, REMOTE_ADDR="203.0.113.9")

    assert [answer.status_code for answer in accepted] == [201, 201]
    assert [answer["X-RateLimit-Remaining"] for answer in accepted] == ["1", "0"]
    assert (over.status_code, over.json()["code"]) == (429, "too_many_requests")
    assert (over["X-RateLimit-Limit"], over["X-RateLimit-Remaining"]) == ("2", "0")
    assert 1 <= int(over["Retry-After"]) <= 3600
    assert elsewhere.status_code == 201
    assert FormSubmission.objects.count() == 3


def test_addresses_on_the_allow_list_have_no_limit(settings: Any) -> None:
    settings.THROTTLE_RATES = {**settings.THROTTLE_RATES, "forms": "1/hour"}
    settings.CMS_ENV = settings.CMS_ENV.model_copy(update={"throttle_allow_ips": ("127.0.0.0/8",)})
    make.form()

    for _ in range(3):
        ApiClient().write("POST", URL, {"email": "a@example.com"}, expect=201)


@pytest.mark.services
@pytest.mark.django_db(transaction=True)
def test_many_at_once_do_not_pass_the_limit_together(settings: Any) -> None:
    settings.THROTTLE_RATES = {**settings.THROTTLE_RATES, "forms": "3/hour"}
    make.form()
    body = json.dumps({"email": "a@example.com"})
    statuses: list[int] = []
    gate = threading.Barrier(8)

    def send() -> None:
        try:
            gate.wait()
            answer = Client().post(URL, body, content_type="application/json")
            statuses.append(answer.status_code)
        finally:
            connection.close()

    threads = [threading.Thread(target=send) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sorted(statuses) == [201] * 3 + [429] * 5
    assert FormSubmission.objects.count() == 3
