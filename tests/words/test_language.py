"""Languages: users' own in the admin; English for programs."""

from __future__ import annotations

from uuid import uuid4

import pytest
from django.utils.translation import get_language

from tests.api_client import ApiClient

pytestmark = pytest.mark.django_db

GERMAN = {"Accept-Language": "de"}


def test_the_browsers_language_applies_until_the_user_chooses() -> None:
    client = ApiClient(None)

    german = client.get("/admin/login/", headers=GERMAN)
    client.send_form("POST", "/admin/language/", {"language": "en", "next": "/admin/"})
    chosen = client.get("/admin/login/", headers=GERMAN)

    assert '<html lang="de"' in german.content.decode()
    assert "Passwort</label>" in german.content.decode()
    assert '<html lang="en"' in chosen.content.decode()


def test_the_choice_is_stored_in_an_http_only_cookie() -> None:
    client = ApiClient("editor")

    answer = client.send_form(
        "POST", "/admin/language/", {"language": "de", "next": "/admin/inbox/"}
    )

    assert (answer.status_code, answer["Location"]) == (302, "/admin/inbox/")
    cookie = answer.cookies["django_language"]
    assert (cookie.value, cookie["httponly"], cookie["samesite"]) == ("de", True, "Lax")
    assert '<html lang="de"' in client.get("/admin/").content.decode()


@pytest.mark.parametrize("next_", ["https://elsewhere.example/", "//elsewhere.example", ""])
def test_the_choice_leads_to_no_other_site(next_: str) -> None:
    answer = ApiClient("editor").send_form(
        "POST", "/admin/language/", {"language": "de", "next": next_}
    )

    assert answer["Location"] == "/"


@pytest.mark.parametrize("language", ["xx", "", "../de", "d" * 9_000])
def test_a_language_that_is_not_there_is_not_kept(language: str) -> None:
    answer = ApiClient("editor").send_form(
        "POST", "/admin/language/", {"language": language, "next": "/admin/"}
    )

    assert (answer.status_code, "django_language" in answer.cookies) == (302, False)


def test_asking_without_a_form_changes_nothing() -> None:
    answer = ApiClient("editor").get("/admin/language/?language=de")

    assert (answer.status_code, "django_language" in answer.cookies) == (405, False)


def test_programs_get_english_for_any_user() -> None:
    client = ApiClient("editor")
    client.cookies["django_language"] = "de"
    client.get("/admin/", headers=GERMAN)

    missing = client.get(f"/api/posts/{uuid4()}", headers=GERMAN)
    wrong = client.send("POST", "/api/posts", {"type": "nothing"}, headers=GERMAN)

    assert missing.json()["error"].startswith("No post has the ID ")
    assert "known: " in wrong.json()["error"]


def test_the_language_of_one_reader_does_not_stay_for_the_next() -> None:
    ApiClient("editor").get("/admin/", headers=GERMAN)

    assert get_language() == "en"
