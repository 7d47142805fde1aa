"""Forms: created, read, changed and deleted over the API."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from django.db import connection
from pytest_django import DjangoAssertNumQueries

from content.comparison.references import ReferenceIds, load_titles
from content.document.differences import ShownReference
from forms.models import FormDefinition
from proofroom.core.actor import SYSTEM
from proofroom.core.caching.content_version import content_version
from proofroom.core.models import Event
from tests import make
from tests.api_client import ApiClient

pytestmark = pytest.mark.django_db
URL = "/api/forms-definitions"
EMAIL = {"name": "email", "label": "Email", "type": "email", "required": True}


def stored() -> tuple[list[Any], int]:
    return list(FormDefinition.objects.order_by("pk").values()), Event.objects.count()


def test_a_form_is_made_and_read_by_anybody() -> None:
    editor = ApiClient("editor")
    before = content_version()
    fields: list[dict[str, Any]] = [
        {**EMAIL, "placeholder": "you@example.com", "help": "Where we answer."},
        {"name": "size", "label": "Size", "type": "select", "options": ["S", "M"]},
        {"name": "code", "label": "Code", "type": "text", "pattern": "[A-Z]{2}[0-9]{4}"},
        {"name": "note", "label": "Note", "type": "textarea", "minLength": 2, "maxLength": 900},
    ]

    made = editor.write(
        "POST",
        URL,
        {"slug": "order", "title": " Order ", "fields": fields, "redirectUrl": "/thanks"},
        expect=201,
    )

    read = ApiClient().read(f"{URL}/order")
    assert read == made
    assert {name: made[name] for name in made if name not in ("id", "createdAt", "updatedAt")} == {
        "slug": "order",
        "locale": "en",
        "title": "Order",
        "description": "",
        "fields": [{**row, "required": row.get("required", False)} for row in fields],
        "submitLabel": "Send",
        "successMessage": "Thank you.",
        "redirectUrl": "/thanks",
        "honeypot": "homepage_url",
        "version": 1,
    }
    event = Event.objects.get(name="content.changed")
    assert event.payload == {
        "what": "form",
        "id": made["id"],
        "did": "created",
        "slug": "order",
        "locale": "en",
    }
    assert content_version() > before


def test_a_missing_locale_falls_back_to_the_default_one() -> None:
    make.form("contact", title="English")
    make.form("contact", locale="de", title="Deutsch")
    make.form("only-en", title="English only")
    make.form("only-de", locale="de", title="Nur Deutsch")
    visitor = ApiClient()

    assert visitor.read(f"{URL}/contact")["title"] == "English"
    assert visitor.read(f"{URL}/contact?locale=de")["title"] == "Deutsch"
    fallback = visitor.read(f"{URL}/only-en?locale=de")
    assert (fallback["title"], fallback["locale"]) == ("English only", "en")
    visitor.read(f"{URL}/only-de", expect=404)
    assert visitor.read(f"{URL}/only-de?locale=de")["title"] == "Nur Deutsch"
    for query in ("?locale=xx", "?locale=", "?locale=de%00"):
        assert "locale" in visitor.read(f"{URL}/contact{query}", expect=422)["details"]


def test_writes_never_fall_back_to_another_locale() -> None:
    make.form("contact")
    before = stored()
    editor = ApiClient("editor")

    editor.write("PUT", f"{URL}/contact?locale=de", {"title": "x"}, expect=404)
    editor.write("DELETE", f"{URL}/contact?locale=de", expect=404)

    assert stored() == before


def test_what_was_read_can_be_put_back_and_changes_nothing() -> None:
    make.form("contact", redirectUrl="https://example.com/thanks")
    editor = ApiClient("editor")
    read = editor.read(f"{URL}/contact")
    before = stored()

    assert editor.write("PUT", f"{URL}/contact", read) == read
    assert stored() == before


def test_a_change_keeps_what_is_absent_and_counts_up() -> None:
    make.form("contact", description="Old", redirectUrl="/old")
    editor = ApiClient("editor")

    first = editor.write("PUT", f"{URL}/contact", {"title": "New", "redirectUrl": None})

    assert (first["title"], first["description"], first["redirectUrl"], first["version"]) == (
        "New",
        "Old",
        None,
        2,
    )


def test_an_old_version_is_409_by_body_and_by_header() -> None:
    make.form("contact")
    editor = ApiClient("editor")
    etag = editor.get(f"{URL}/contact")["ETag"]
    editor.write("PUT", f"{URL}/contact", {"title": "Second", "version": 1})
    before = stored()

    for extra, body in (({}, {"version": 1}), ({"HTTP_IF_MATCH": etag}, {})):
        answer = editor.write("PUT", f"{URL}/contact", {"title": "x", **body}, expect=409, **extra)
        assert (answer["code"], answer["version"]) == ("stale_version", 2)
    assert stored() == before
    fresh = editor.get(f"{URL}/contact")["ETag"]
    editor.write("PUT", f"{URL}/contact", {"title": "Third"}, HTTP_IF_MATCH=fresh)


def test_the_public_answer_can_be_cached_and_asked_again() -> None:
    make.form("contact")
    visitor = ApiClient()

    first = visitor.get(f"{URL}/contact")
    again = visitor.get(f"{URL}/contact", HTTP_IF_NONE_MATCH=first["ETag"])

    assert (again.status_code, again.content) == (304, b"")
    for answer in (first, again):
        assert answer["Cache-Control"] == "public, max-age=60, stale-while-revalidate=60"
        assert "Cookie" not in answer.get("Vary", "")
        assert "sessionid" not in answer.cookies
    ApiClient("editor").write("PUT", f"{URL}/contact", {"title": "New"})
    changed = visitor.get(f"{URL}/contact", HTTP_IF_NONE_MATCH=first["ETag"])
    assert (changed.status_code, changed.json()["title"]) == (200, "New")


def test_reading_a_form_counts_as_frontends_do_and_looks_up_no_session(
    django_assert_num_queries: Any,
) -> None:
    make.form("contact")
    editor = ApiClient("editor")

    with django_assert_num_queries(1):
        answer = editor.get(f"{URL}/contact")

    assert answer["X-RateLimit-Limit"] == "600"


def test_the_list_is_paged_and_filtered() -> None:
    for slug, locale in (("b", "en"), ("a", "en"), ("a", "de")):
        make.form(slug, locale=locale)
    editor = ApiClient("editor")

    listed = editor.read(f"{URL}?per_page=2")
    german = editor.read(f"{URL}?locale=de")

    assert [(row["slug"], row["locale"]) for row in listed["data"]] == [("a", "de"), ("a", "en")]
    assert listed["meta"] == {"total": 3, "per_page": 2, "current_page": 1, "last_page": 2}
    assert [(row["slug"], row["locale"]) for row in german["data"]] == [("a", "de")]


def test_a_review_names_a_form_by_its_title_and_slug(
    django_assert_num_queries: DjangoAssertNumQueries,
) -> None:
    form = make.form("contact")
    wanted = ReferenceIds()
    wanted.add("form-reference", ["contact", "nowhere"])

    with django_assert_num_queries(1):
        found = load_titles(wanted, SYSTEM)

    assert found.title(ShownReference("form-reference", "contact")) == f"{form.title} · contact"
    assert found.title(ShownReference("form-reference", "nowhere")) == "nowhere"


def test_a_form_is_deleted_in_one_locale() -> None:
    make.form("contact")
    german = make.form("contact", locale="de")

    answer = ApiClient("editor").write("DELETE", f"{URL}/contact?locale=de")

    assert answer == {"id": str(german.pk), "slug": "contact", "locale": "de"}
    assert list(FormDefinition.objects.values_list("locale", flat=True)) == ["en"]


def field(**values: Any) -> list[dict[str, Any]]:
    return [{"name": "one", "label": "One", "type": "text", **values}]


@pytest.mark.parametrize(
    ("change", "key"),
    [
        ({"slug": "Contact"}, "slug"),
        ({"slug": "a" * 101}, "slug"),
        ({"slug": "a\n"}, "slug"),
        ({"slug": 5}, "slug"),
        ({"locale": "xx"}, "locale"),
        ({"locale": ["en"]}, "locale"),
        ({"title": ""}, "title"),
        ({"title": "x" * 201}, "title"),
        ({"title": "x" * 1_000_000}, "title"),
        ({"title": "nul\x00"}, "title"),
        ({"title": "two\nlines"}, "title"),
        ({"title": None}, "title"),
        ({"description": 1}, "description"),
        ({"submitLabel": "x" * 101}, "submitLabel"),
        ({"successMessage": ""}, "successMessage"),
        ({"nonsense": 1}, "nonsense"),
        ({"redirectUrl": "javascript:alert(1)"}, "redirectUrl"),
        ({"redirectUrl": "//evil.example"}, "redirectUrl"),
        ({"redirectUrl": "/\\evil.example"}, "redirectUrl"),
        ({"redirectUrl": "java\tscript:alert(1)"}, "redirectUrl"),
        ({"redirectUrl": "http://[::1"}, "redirectUrl"),
        ({"redirectUrl": "http://ex\u2100mple.com"}, "redirectUrl"),
        ({"redirectUrl": "http://:80/"}, "redirectUrl"),
        ({"redirectUrl": "mailto:a@example.com"}, "redirectUrl"),
        ({"redirectUrl": "thanks"}, "redirectUrl"),
        ({"redirectUrl": "http:/evil"}, "redirectUrl"),
        ({"fields": []}, "fields"),
        ({"fields": None}, "fields"),
        ({"fields": [1]}, "fields.0"),
        ({"fields": [EMAIL, EMAIL]}, "fields.1.name"),
        ({"fields": [EMAIL, {**EMAIL, "name": "Email"}]}, "fields.1.name"),
        ({"fields": field(name="homepage_url")}, "fields.0.name"),
        ({"fields": field(name="__proto__")}, "fields.0.name"),
        ({"fields": field(name="a b")}, "fields.0.name"),
        ({"fields": field(name="a\n")}, "fields.0.name"),
        ({"fields": field(name="a" * 61)}, "fields.0.name"),
        ({"fields": field(label="")}, "fields.0.label"),
        ({"fields": field(type="color")}, "fields.0.type"),
        ({"fields": field(required="yes")}, "fields.0.required"),
        ({"fields": field(required=1)}, "fields.0.required"),
        ({"fields": field(options=["a"])}, "fields.0.options"),
        ({"fields": field(type="select")}, "fields.0.options"),
        ({"fields": field(type="select", options=[])}, "fields.0.options"),
        ({"fields": field(type="select", options=["a", "a"])}, "fields.0.options"),
        ({"fields": field(type="select", options=[""])}, "fields.0.options.0"),
        ({"fields": field(type="select", options=["a"], maxLength=3)}, "fields.0.maxLength"),
        ({"fields": field(maxLength=0)}, "fields.0.maxLength"),
        ({"fields": field(maxLength=True)}, "fields.0.maxLength"),
        ({"fields": field(maxLength=2_001)}, "fields.0.maxLength"),
        ({"fields": field(maxLength=10**30)}, "fields.0.maxLength"),
        ({"fields": field(minLength=5, maxLength=4)}, "fields.0.minLength"),
        ({"fields": field(type="number", minLength=1)}, "fields.0.minLength"),
        ({"fields": field(type="date", pattern="a")}, "fields.0.pattern"),
        ({"fields": field(type="textarea", pattern="a")}, "fields.0.pattern"),
        ({"fields": field(pattern="")}, "fields.0.pattern"),
        ({"fields": field(pattern="[")}, "fields.0.pattern"),
        ({"fields": field(pattern="a", maxLength=501)}, "fields.0.maxLength"),
        ({"fields": field(nonsense=1)}, "fields.0.nonsense"),
        (
            {"fields": [{"name": f"f{n}", "label": "x", "type": "text"} for n in range(101)]},
            "fields",
        ),
    ],
    ids=lambda value: str(value)[:50].encode("ascii", "backslashreplace").decode(),
)
def test_what_does_not_fit_is_refused_by_path(change: dict[str, Any], key: str) -> None:
    body = {"slug": "contact", "title": "Contact", "fields": [EMAIL], **change}

    answer = ApiClient("editor").write("POST", URL, body, expect=422)

    assert key in answer["details"], answer
    assert stored() == ([], 0)


def test_half_a_character_is_refused() -> None:
    body = r'{"slug": "contact", "title": "half \ud800", "fields": []}'

    answer = ApiClient("editor").send("POST", URL, body)

    assert answer.status_code in (400, 422)
    assert stored() == ([], 0)


def test_the_slug_and_the_locale_of_a_form_stay() -> None:
    make.form("contact")
    before = stored()

    for name, value in (("slug", "other"), ("locale", "de")):
        answer = ApiClient("editor").write("PUT", f"{URL}/contact", {name: value}, expect=422)
        assert set(answer["details"]) == {name}
    assert stored() == before


def test_a_taken_slug_is_refused_in_its_locale_only() -> None:
    make.form("contact")
    body = {"slug": "contact", "title": "Contact", "fields": [EMAIL]}
    editor = ApiClient("editor")

    answer = editor.write("POST", URL, body, expect=422)

    assert (answer["code"], set(answer["details"])) == ("slug_taken", {"slug"})
    assert FormDefinition.objects.count() == 1
    editor.write("POST", URL, {**body, "locale": "de"}, expect=201)


@pytest.mark.parametrize("slug", ["a%00", "a%0A", "%F0%9F%98%80", "A", "x" * 2000, "%ED%A0%80"])
def test_what_is_no_form_is_404(slug: str) -> None:
    make.form("contact")
    for method, body in (("PUT", {"title": "x"}), ("DELETE", None)):
        ApiClient("editor").write(method, f"{URL}/{slug}", body, expect=404)
    ApiClient().read(f"{URL}/{slug}", expect=404)


def test_agents_and_their_clients_write_no_forms() -> None:
    from forms.services.definitions import create_form, delete_form, update_form
    from proofroom.core.errors import NotAllowed

    make.form("contact")
    before = stored()
    values = {"title": "x", "fields": [EMAIL]}
    for actor in (make.agent_actor(), make.mcp_actor("admin"), make.actor("translator")):
        for write in (
            lambda actor=actor: create_form(slug="b", locale=None, values=values, actor=actor),
            lambda actor=actor: update_form(
                slug="contact", locale=None, values=values, actor=actor
            ),
            lambda actor=actor: delete_form(slug="contact", locale=None, actor=actor),
        ):
            with pytest.raises(NotAllowed):
                write()
    assert stored() == before


@pytest.mark.services
@pytest.mark.django_db(transaction=True)
def test_two_who_make_one_form_at_once_do_not_both() -> None:
    make.user("editor")
    answers: list[Any] = []
    gate = threading.Barrier(4)

    def send() -> None:
        try:
            editor = ApiClient("editor")
            gate.wait()
            body = {"slug": "contact", "title": "Contact", "fields": [EMAIL]}
            answers.append(editor.send("POST", URL, body))
        finally:
            connection.close()

    threads = [threading.Thread(target=send) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sorted(answer.status_code for answer in answers) == [201, 422, 422, 422]
    assert FormDefinition.objects.count() == 1
