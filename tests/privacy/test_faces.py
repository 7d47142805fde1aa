"""The API, the command, the pages of the admin and the public facts."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest
from django.conf import settings
from django.core.management import CommandError, call_command
from django.template import Context, Template
from django.urls import reverse

from forms.models import FormSubmission
from proofroom_apps.privacy.models import PersonalDataRequest
from proofroom_apps.website.consent import consent_texts
from tests import make
from tests.api_client import ApiClient
from tests.privacy.scene import ANNA, contact_form, statements, submit
from tests.privacy.test_declarations import change_environment

pytestmark = pytest.mark.django_db
URL = "/api/personal-data/requests"


@pytest.fixture(autouse=True)
def _form() -> None:
    contact_form()


def run(*args: str, stderr: io.StringIO | None = None) -> str:
    make.user("admin")
    out = io.StringIO()
    call_command("personal_data", *args, stdout=out, stderr=stderr or io.StringIO())
    return out.getvalue()


def test_the_api_finds_exports_and_erases() -> None:
    submit(email=ANNA)
    client = ApiClient("admin")

    search = client.write(
        "POST", URL, {"email": "ANNA@example.com", "action": "search"}, expect=201
    )
    export = client.write("POST", URL, {"email": ANNA, "action": "export"}, expect=201)
    file: Any = client.get(f"{URL}/{export['id']}/file")
    erased = client.write(
        "POST", URL, {"email": ANNA, "action": "erase", "confirm": ANNA}, expect=201
    )

    assert (search["state"], search["email"], search["done"]) == ("done", ANNA, search["total"])
    own = next(kind for kind in search["kinds"] if kind["kind"] == "forms.submissions")
    assert (own["found"], own["erasure"], own["erased"]) == (1, "deleted", None)
    assert file["Content-Type"] == "application/zip"
    assert "no-store" in file["Cache-Control"]
    with ZipFile(io.BytesIO(b"".join(file.streaming_content))) as archive:
        assert sorted(archive.namelist()) == ["data.json", "summary.html"]
    assert erased["email"] is None
    assert client.read(f"{URL}/{export['id']}/file", expect=404)["code"] == "not_found"
    assert FormSubmission.objects.count() == 0
    assert len(client.read(URL)["data"]) == 3
    ended = client.send("POST", f"{URL}/{erased['id']}/cancel")
    assert ended.status_code == 409


@pytest.mark.parametrize(
    ("body", "key"),
    [
        ({"email": "anna", "action": "search"}, "email"),
        ({"email": ANNA, "action": "look"}, "action"),
        ({"email": ANNA, "action": "erase"}, "confirm"),
        ({"email": ANNA, "action": "erase", "confirm": "x@example.com"}, "confirm"),
        ({"email": ANNA, "action": "search", "more": 1}, "more"),
        ({"email": ["a"], "action": "search"}, "email"),
        ({"email": "a\u0000@example.com", "action": "search"}, "email"),
        ({"email": "%@example.com", "action": "erase", "confirm": "_@example.com"}, "confirm"),
    ],
)
def test_the_api_refuses_other_bodies(body: dict[str, Any], key: str) -> None:
    answer = ApiClient("admin").write("POST", URL, body, expect=422)

    assert [*answer["details"]] == [key]
    assert not PersonalDataRequest.objects.exists()


def test_a_pattern_is_no_wildcard() -> None:
    submit(email=ANNA)

    answer = ApiClient("admin").write(
        "POST", URL, {"email": "ann_@example.com", "action": "search"}, expect=201
    )

    assert answer["kinds"] == []


def test_a_list_takes_the_same_statements_for_any_number() -> None:
    client = ApiClient("admin")
    client.write("POST", URL, {"email": ANNA, "action": "search"}, expect=201)
    make.copies(PersonalDataRequest.objects.get(), 40)

    with statements() as found:
        client.read(f"{URL}?per_page=40")

    assert len(found) == 3, found  # account, rows, their number


def test_the_retention_is_listed() -> None:
    answer = ApiClient("admin").read("/api/personal-data/retention?per_page=100")

    rows = {row["name"]: (row["days"], row["setting"]) for row in answer["data"]}
    assert rows["submissions"] == (0, "FORM_RETENTION_DAYS")
    assert rows["mcp-calls"] == (90, None)


def test_anyone_reads_the_privacy_facts(monkeypatch: pytest.MonkeyPatch) -> None:
    answer = ApiClient().get("/api/public/privacy")
    facts = answer.json()

    assert "public" in answer["Cache-Control"]
    assert not answer.cookies
    assert [row for row in facts["stored"] if row["audience"] == "visitors"] == []
    assert facts["consent"]["asked"] is False
    same = ApiClient().get("/api/public/privacy", HTTP_IF_NONE_MATCH=answer["ETag"])
    assert same.status_code == 304
    change_environment(monkeypatch, analytics_consent=True)
    facts = ApiClient().read("/api/public/privacy?locale=de")
    assert facts["consent"]["asked"] is True
    assert facts["locale"] == "de"
    assert facts["counting"].startswith("Diese Website zählt Besuche nur, wenn Sie zustimmen.")
    stored = {row["name"]: row["purpose"] for row in facts["stored"]}
    assert stored["cms-consent"].startswith("Merkt sich, ob Sie")
    ApiClient().read("/api/public/privacy?locale=xx", expect=422)


def test_the_site_shows_the_same_question() -> None:
    page = (Path(settings.BASE_DIR) / "templates/site/consent.html").read_text()
    texts = consent_texts()

    for text in (texts.question, texts.explanation, texts.agree, texts.refuse):
        assert f'"{text}"' in page


def test_the_tag_shows_the_cookies(monkeypatch: pytest.MonkeyPatch) -> None:
    page = Template("{% load privacy %}{% cookie_list %}|{% counting_text %}")
    assert "sets no cookies" in page.render(Context())

    change_environment(monkeypatch, analytics_consent=True)
    text = page.render(Context())
    assert "cms-consent" in text
    assert "sessionid" not in text
    staff = Template("{% load privacy %}{% cookie_list with_staff=True %}").render(Context())
    assert "sessionid" in staff


def test_the_command_finds_exports_and_erases(tmp_path: Path) -> None:
    submit(email=ANNA)
    file = tmp_path / "anna.zip"

    assert "Submissions of forms: 1" in run("find", ANNA)
    run("export", ANNA, str(file))
    dry = json.loads(run("erase", ANNA, "--dry-run", "--json"))
    assert FormSubmission.objects.count() == 1
    said = run("erase", ANNA, "--yes")

    assert file.stat().st_mode & 0o077 == 0
    with ZipFile(file) as archive:
        assert ANNA in archive.read("data.json").decode()
    assert {kind["kind"]: kind["erased"] for kind in dry["kinds"]}["forms.submissions"] is None
    assert "Submissions of forms: 1 (Deleted, 1 changed)" in said
    assert FormSubmission.objects.count() == 0
    assert "FORM_RETENTION_DAYS" in run("retention")


def test_the_command_erases_nothing_without_an_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    submit(email=ANNA)
    monkeypatch.setattr("sys.stdin", io.StringIO(""))

    with pytest.raises(CommandError, match="Nothing was erased"):
        run("erase", ANNA)

    assert FormSubmission.objects.count() == 1


def test_the_command_says_where_it_wrote(tmp_path: Path) -> None:
    submit(email=ANNA)
    file, errors = tmp_path / "anna.zip", io.StringIO()

    said = run("export", ANNA, str(file), "--json", stderr=errors)

    assert errors.getvalue() == f"Written to {file}\n"
    assert json.loads(said)["state"] == "done"


def test_the_command_names_what_goes_before_it_erases(monkeypatch: pytest.MonkeyPatch) -> None:
    submit(email=ANNA)
    asked: list[str] = []

    def answer(question: str) -> str:
        asked.append(question)
        return "anna"

    monkeypatch.setattr("builtins.input", answer)
    with pytest.raises(CommandError, match="the answer was not the address"):
        run("erase", ANNA)

    assert "  - Submissions of forms: 1 (deleted)" in asked[0]
    assert "It cannot be undone" in asked[0]
    assert FormSubmission.objects.count() == 1
    monkeypatch.setattr("builtins.input", lambda question: ANNA.upper())
    run("erase", ANNA)
    assert FormSubmission.objects.count() == 0


def test_the_command_asks_nothing_where_nothing_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("builtins.input", lambda question: pytest.fail("asked"))

    assert "Nothing found." in run("erase", "nobody@example.com")


def test_the_command_refuses_what_the_service_does(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="Enter an email address"):
        run("find", "anna")
    with pytest.raises(CommandError, match="no folder"):
        run("export", ANNA, str(tmp_path / "none" / "x.zip"))
    with pytest.raises(CommandError, match="your own account"):
        run("erase", "admin@example.com", "--yes")


@pytest.mark.parametrize("is_link", [False, True])
def test_the_command_writes_into_no_file_of_others(tmp_path: Path, is_link: bool) -> None:
    file, other = tmp_path / "anna.zip", tmp_path / "other.txt"
    other.write_text("other")
    if is_link:
        file.symlink_to(other)
    else:
        file.write_text("other")

    with pytest.raises(CommandError, match="File exists"):
        run("export", ANNA, str(file))

    assert file.read_text() == other.read_text() == "other"


def test_the_pages_lead_from_search_to_erasure() -> None:
    submit(email=ANNA, message="<b>hi</b>")
    client = ApiClient("admin")
    first = reverse("admin:proofroom_privacy_personaldatarequest_changelist")
    assert "Find what is stored about a person" in client.get(first).content.decode()

    wrong = client.send_form("POST", f"{first}add/", {"email": "anna"})
    assert wrong.status_code == 422
    found = client.send_form("POST", f"{first}add/", {"email": ANNA})
    page = client.get(found["Location"]).content.decode()
    assert "Submissions of forms" in page
    assert "Not searched: menus" in page
    assert "Erase data…" in page

    exported = client.send_form("POST", found["Location"], {"action": "export"})
    page = client.get(exported["Location"]).content.decode()
    assert "Download export" in page
    erase = found["Location"].replace("/change/", "/erase/")
    page = client.get(erase).content.decode()
    assert "This cannot be undone." in page
    refused = client.send_form("POST", erase, {"confirm": "other@example.com"})
    assert refused.status_code == 422
    assert FormSubmission.objects.count() == 1
    done = client.send_form("POST", erase, {"confirm": "Anna@Example.com"})
    page = client.get(done["Location"]).content.decode()
    assert ANNA not in page
    assert FormSubmission.objects.count() == 0
    assert client.get(erase).status_code == 404
    for name in ("retention", "cookies"):
        url = reverse(f"admin:proofroom_privacy_personaldatarequest_{name}")
        assert client.get(url).status_code == 200


def test_submissions_and_accounts_link_to_the_request_without_the_address() -> None:
    id_ = submit(email="Anna@Example.com", friend="joanna@example.com")
    account = make.user("editor")
    start = reverse("admin:proofroom_privacy_personaldatarequest_add")
    of_submission = reverse("admin:forms_formsubmission_change", args=[id_])
    of_account = reverse("admin:proofroom_accounts_user_change", args=[account.pk])
    admin = ApiClient("admin")
    addresses = {
        f"{start}?submission={id_}": ANNA,
        f"{start}?submission={id_}.1": "joanna@example.com",
        f"{start}?account={account.pk}": "editor@example.com",
    }

    pages = admin.get(of_submission).content.decode() + admin.get(of_account).content.decode()

    for link, address in addresses.items():
        assert f'"{link}"' in pages
        assert f'value="{address}"' in admin.get(link).content.decode()
    assert f"{start}?" not in ApiClient("editor").get(of_submission).content.decode()
    assert "email=" not in pages


@pytest.mark.parametrize(
    "query",
    ["submission=x", "submission=", "account=x", "account=9999999999999999999", "email=a@b.cc"],
)
def test_a_link_to_nothing_leaves_the_field_empty(query: str) -> None:
    url = reverse("admin:proofroom_privacy_personaldatarequest_add")
    answer = ApiClient("admin").get(f"{url}?{query}")

    assert answer.status_code == 200
    assert "@" not in answer.content.decode().split("<form", 1)[1].split("</form>")[0]


def test_a_link_gives_away_no_address_without_the_permission() -> None:
    id_ = submit(email=ANNA)
    account = make.user("editor")
    make.site_role("keepers", "privacy.manage")
    url = reverse("admin:proofroom_privacy_personaldatarequest_add")
    keeper = ApiClient("keepers")

    for query in (f"submission={id_}", f"account={account.pk}"):
        page = keeper.get(f"{url}?{query}").content.decode()
        assert ANNA not in page
        assert account.email not in page


def test_titles_do_not_contain_the_address() -> None:
    submit(email=ANNA)
    client = ApiClient("admin")
    first = reverse("admin:proofroom_privacy_personaldatarequest_changelist")
    page = client.send_form("POST", f"{first}add/", {"email": ANNA})["Location"]

    for url in (page, page.replace("/change/", "/erase/")):
        title, body = client.get(url).content.decode().split("</title>")
        assert ANNA not in title
        assert ANNA in body
