"""Login through a SAML identity provider with signed answers."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from allauth.mfa.totp.internal.auth import TOTP
from allauth.socialaccount.models import SocialAccount
from django.core.cache import cache
from django.test import Client
from lxml import etree

from cms_project.sign_in import SignInEnvironment
from proofroom.accounts.admin.saml import LONGEST_ANSWER
from proofroom.accounts.models import SiteRole, User
from proofroom.core.models import Event
from tests import make
from tests.accounts.login_steps import SECRET, code_now
from tests.accounts.saml_provider import (
    ENTITY,
    LOGIN,
    LOGOUT,
    TRANSIENT,
    LoginRequest,
    SamlProvider,
)
from tests.accounts.test_provider_sign_in import (
    START,
    address_in,
    configure_sign_in,
    is_logged_in,
    people,
    refusal,
)

pytestmark = pytest.mark.django_db

ACS = "/admin/login/saml/acs/"
MAIL = "urn:oid:0.9.2342.19200300.100.1.3"
JANE = {MAIL: ["jane@example.com"]}


@pytest.fixture(scope="module")
def provider() -> SamlProvider:
    return SamlProvider()


@pytest.fixture
def environment(provider: SamlProvider, tmp_path: Path) -> dict[str, Any]:
    return {
        "saml_metadata_url": provider.write_metadata(tmp_path / "idp.xml"),
        "saml_entity_id": ENTITY,
        "sso_name": "Example ID",
        "sso_default_role": "editor",
        "sso_confirmed_domains": "example.com",
    }


@pytest.fixture(autouse=True)
def configured(environment: dict[str, Any], settings: Any) -> None:
    cache.clear()
    configure_sign_in(settings, SignInEnvironment.model_validate(environment))


def browser() -> Client:
    """Return a browser that uses the host named in the assertions."""
    return Client(headers={"host": "testserver"})


@pytest.fixture
def client() -> Client:
    return browser()


def asked(client: Client, next_url: str = "") -> LoginRequest:
    """Return the site's request to the provider at a login."""
    address = address_in(client.post(START, {"next": next_url}))
    assert address.startswith(f"{LOGIN}?")
    return LoginRequest.read(address)


def post(client: Client, answer: str) -> Any:
    """Post an answer like the provider's page: without the session, which returns with the redirect."""
    elsewhere = browser()
    posted = elsewhere.post(ACS, {"SAMLResponse": answer, "RelayState": ""})
    if posted.status_code != 302:
        return posted
    client.cookies.update(elsewhere.cookies)
    return client.get(posted["Location"])


def log_in(provider: SamlProvider, client: Client, next_url: str = "", **said: Any) -> Any:
    request = asked(client, next_url)
    said = {"subject": "jane-1", "attributes": JANE, **said}
    return post(
        client, provider.answer(request, provider.sign(provider.assertion(request, **said)))
    )


def test_a_new_user_gets_an_account_once(provider: SamlProvider) -> None:
    client, again = browser(), browser()

    came = log_in(provider, client, "/admin/inbox/")
    log_in(provider, again, attributes={MAIL: ["moved@elsewhere.example"]})

    user = people().get()
    assert came["Location"] == "/admin/inbox/"
    assert (user.email, user.role, user.has_usable_password()) == (
        "jane@example.com",
        "editor",
        False,
    )
    assert is_logged_in(client)
    assert is_logged_in(again)
    account = SocialAccount.objects.get()
    assert (account.provider, account.uid, account.extra_data) == ("saml", "jane-1", {})


def test_the_provider_reads_what_the_site_is(client: Client) -> None:
    page = client.get("/admin/login/saml/metadata/")

    metadata = etree.fromstring(page.content)
    assert page["Content-Type"] == "text/xml"
    assert metadata.attrib["entityID"] == "http://testserver/admin/login/saml/metadata/"
    assert f"http://testserver{ACS}" in page.content.decode()


def test_the_role_follows_an_attribute(
    provider: SamlProvider, environment: dict[str, Any], settings: Any
) -> None:
    environment |= {"sso_role_claim": "groups", "sso_roles": "cms-admins=admin,writers=editor"}
    configure_sign_in(settings, SignInEnvironment.model_validate(environment))
    make.user("admin")

    def role(*groups: str) -> str:
        log_in(provider, browser(), attributes={**JANE, "groups": groups})
        return User.objects.get(email="jane@example.com").role

    assert [role("staff", "cms-admins"), role("writers"), role("staff")] == [
        "admin",
        "editor",
        "editor",
    ]


@pytest.mark.parametrize(
    ("attribute", "subjects"),
    [(None, ["jane-1", "jane-1"]), ("employee", ["x-1", "x-2"])],
)
def test_a_person_is_who_the_provider_says_for_good(
    provider: SamlProvider,
    environment: dict[str, Any],
    settings: Any,
    attribute: str | None,
    subjects: Sequence[str],
) -> None:
    configure_sign_in(
        settings, SignInEnvironment.model_validate({**environment, "saml_id_attribute": attribute})
    )

    for subject in subjects:
        client = browser()
        log_in(provider, client, subject=subject, attributes={**JANE, "employee": ["7"]})
        assert is_logged_in(client)

    assert people().count() == 1
    assert SocialAccount.objects.get().uid == ("7" if attribute else "jane-1")


def test_a_name_that_changes_at_every_login_logs_nobody_in(provider: SamlProvider) -> None:
    client = browser()

    log_in(provider, client, subject="_5f1", name_format=TRANSIENT)

    assert not is_logged_in(client)
    assert "The login did not work" in refusal(client)
    assert not people().exists()


def test_an_email_that_is_not_confirmed_logs_nobody_in(provider: SamlProvider) -> None:
    client = browser()

    log_in(provider, client, attributes={MAIL: ["eve@elsewhere.example"]})

    assert not is_logged_in(client)
    assert "is not confirmed" in refusal(client)


def test_an_account_that_is_there_already_is_not_taken_over(provider: SamlProvider) -> None:
    make.user("admin")
    client = browser()

    log_in(provider, client, attributes={MAIL: ["Admin@example.com"]})

    assert not is_logged_in(client)
    assert "connect Example ID under Login methods" in refusal(client)
    assert not SocialAccount.objects.exists()


def test_people_connect_their_account(provider: SamlProvider) -> None:
    user = make.user("editor")
    client = browser()
    client.post("/admin/login/", {"username": user.email, "password": make.PASSWORD})
    confirm = client.post("/admin/account/methods/provider/connect/")
    page = client.post(confirm["Location"], {"password": make.PASSWORD})
    request = LoginRequest.read(address_in(page))

    answer = provider.sign(provider.assertion(request, "jane-1", JANE))
    connected = post(client, provider.answer(request, answer))

    assert connected["Location"] == "/admin/account/methods/"
    assert SocialAccount.objects.get().user == user
    event = Event.objects.get(name="user.second-factor-added")
    assert event.payload["type"] == "saml"


# Hostile


def forged(provider: SamlProvider, request: LoginRequest, kind: str) -> str:
    """Return an answer that must not log in a user."""
    good = provider.sign(provider.assertion(request, "jane-1", JANE))
    if kind == "not signed":
        return provider.answer(request, provider.assertion(request, "jane-1", JANE))
    if kind == "signed by another":
        other = SamlProvider()
        return provider.answer(request, other.sign(other.assertion(request, "jane-1", JANE)))
    if kind == "changed afterwards":
        encoded = provider.answer(request, good)
        changed = base64.b64decode(encoded).replace(b"jane@", b"john@")
        return base64.b64encode(changed).decode()
    if kind == "another site":
        other_site = provider.assertion(request, "jane-1", JANE, audience="https://other.example")
        return provider.answer(request, provider.sign(other_site))
    if kind == "too late":
        ends = timedelta(minutes=-10)
        late = provider.assertion(request, "jane-1", JANE, ends=ends)
        return provider.answer(request, provider.sign(late))
    if kind == "wrapped":
        evil = provider.assertion(request, "admin-1", {MAIL: ["eve@example.com"]})
        return provider.answer(request, evil, good)
    if kind == "not asked for":
        unasked = LoginRequest("_made-up", request.issuer, request.answer_to)
        assertion = provider.sign(provider.assertion(unasked, "jane-1", JANE))
        return provider.answer(unasked, assertion)
    texts = {
        "no XML": "eA==",
        "no base64": "%%%",
        "an entity": '<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]><x>&a;</x>',
        "another document": "<x/>",
    }
    text = texts[kind]
    return base64.b64encode(text.encode()).decode() if text.startswith("<") else text


@pytest.mark.parametrize(
    "kind",
    [
        "not signed",
        "signed by another",
        "changed afterwards",
        "another site",
        "too late",
        "wrapped",
        "not asked for",
        "no XML",
        "no base64",
        "an entity",
        "another document",
    ],
)
def test_forged_answers_log_nobody_in(provider: SamlProvider, kind: str) -> None:
    client = browser()

    came = post(client, forged(provider, asked(client), kind))

    assert (came.status_code, came["Location"]) == (302, "/admin/login/")
    assert not is_logged_in(client)
    assert not people().exists()
    assert "The login did not work" in refusal(client)


def test_an_answer_counts_once_and_in_its_own_session_only(provider: SamlProvider) -> None:
    client, stranger = browser(), browser()
    request = asked(client)
    answer = provider.answer(request, provider.sign(provider.assertion(request, "jane-1", JANE)))

    post(stranger, answer)
    first = post(client, answer)
    client.logout()
    post(client, answer)

    assert first["Location"] == "/admin/"
    assert not is_logged_in(stranger)
    assert not is_logged_in(client)


@pytest.mark.parametrize("answer", ["", "x" * (LONGEST_ANSWER + 1)])
def test_an_invalid_answer_is_refused_before_it_is_cached(client: Client, answer: str) -> None:
    assert client.post(ACS, {"SAMLResponse": answer}).status_code == 400
    assert client.get(ACS).status_code == 400
    assert "sessionid" not in client.cookies


def log_out(client: Client, request: dict[str, str]) -> Any:
    return client.get("/admin/login/saml/logout/", request)


@pytest.mark.parametrize("indexes", [(), ("session-1",), ("session-0", "session-1")])
def test_the_provider_logs_out_whom_it_names(
    provider: SamlProvider, indexes: tuple[str, ...]
) -> None:
    client, elsewhere = browser(), browser()
    log_in(provider, client)
    elsewhere.force_login(people().get())

    request = provider.logout("jane-1", *indexes)
    answers = [log_out(client, request), log_out(elsewhere, request), log_out(browser(), request)]

    for answer in answers:
        assert answer.status_code == 302
        assert answer["Location"].startswith(f"{LOGOUT}?SAMLResponse=")
        assert answer["Location"].endswith("&RelayState=here")
    assert not is_logged_in(client)
    assert is_logged_in(elsewhere)  # by no provider


@pytest.mark.parametrize(
    "named",
    [
        {"subject": "john-1"},
        {"subject": "jane-1", "indexes": ("session-2",)},
        {"subject": "jane-1", "name_format": TRANSIENT},
    ],
)
def test_another_users_logout_ends_nothing(provider: SamlProvider, named: dict[str, Any]) -> None:
    client = browser()
    log_in(provider, client)

    request = provider.logout(named.pop("subject"), *named.pop("indexes", ()), **named)
    answer, of_nobody = log_out(client, request), log_out(browser(), request)

    assert is_logged_in(client)
    for one in (answer, of_nobody):
        assert one.status_code == 302
        assert one["Location"].startswith(f"{LOGOUT}?SAMLResponse=")


def test_a_log_out_finds_the_session_that_a_second_factor_was_asked_for(
    provider: SamlProvider,
) -> None:
    log_in(provider, browser())
    TOTP.activate(people().get(), SECRET)
    client = browser()
    log_in(provider, client, index="session-2")
    client.post("/admin/login/code/", {"code": code_now()})
    was_logged_in = is_logged_in(client)

    log_out(client, provider.logout("jane-1", "session-2"))

    assert (was_logged_in, is_logged_in(client)) == (True, False)


def test_a_login_by_other_means_is_not_ended_by_the_provider(provider: SamlProvider) -> None:
    user = make.user("editor")
    SocialAccount.objects.create(user=user, provider="saml", uid="jane-1")
    client = browser()
    log_in(provider, client)
    was_logged_in = is_logged_in(client)

    # The same session, without a logout in between.
    client.post("/admin/login/", {"username": user.email, "password": make.PASSWORD})
    log_out(client, provider.logout("jane-1"))

    assert (was_logged_in, is_logged_in(client)) == (True, True)


def test_log_outs_that_cannot_be_used_end_nothing(provider: SamlProvider) -> None:
    client = browser()
    log_in(provider, client)
    good = provider.logout("jane-1", "session-1")
    name_of_another = provider.logout("john-1", "session-1")["SAMLRequest"]

    answers = [
        log_out(client, {**good, "SAMLRequest": name_of_another}),
        log_out(client, SamlProvider().logout("jane-1", "session-1")),
        log_out(client, provider.logout("jane-1", issuer="https://other.example")),
        log_out(client, provider.logout("jane-1", kind="SAMLResponse")),
        log_out(client, {**good, "SAMLResponse": "eA=="}),
        log_out(client, {**good, "SAMLRequest": "%%%"}),
        log_out(client, {**good, "SAMLRequest": "eA=="}),
    ]

    assert [answer.status_code for answer in answers] == [400] * 7
    assert is_logged_in(client)


def test_only_a_signed_request_logs_out(provider: SamlProvider) -> None:
    client = browser()
    log_in(provider, client)

    unsigned = client.get("/admin/login/saml/logout/", {"SAMLRequest": "eA=="})
    forged_one = client.get(
        "/admin/login/saml/logout/",
        {"SAMLRequest": "eA==", "Signature": "eA==", "SigAlg": "none"},
    )

    assert (unsigned.status_code, forged_one.status_code) == (400, 400)
    assert is_logged_in(client)


def test_without_the_provider_there_are_no_such_pages(settings: Any, client: Client) -> None:
    configure_sign_in(settings, SignInEnvironment.model_validate({}))

    pages = [client.post(ACS, {"SAMLResponse": "x"})]
    pages += [client.get(f"/admin/login/saml/{name}/") for name in ("metadata", "acs/finish")]

    assert {page.status_code for page in pages} == {404}


def test_metadata_that_cannot_be_read_is_said_so_and_logged_once(
    environment: dict[str, Any],
    settings: Any,
    tmp_path: Path,
    client: Client,
    caplog: pytest.LogCaptureFixture,
) -> None:
    for name, text in (("gone.xml", None), ("broken.xml", "<x"), ("other.xml", "<x/>")):
        if text is not None:
            (tmp_path / name).write_text(text)
        environment["saml_metadata_url"] = (tmp_path / name).as_uri()
        configure_sign_in(settings, SignInEnvironment.model_validate(environment))
        caplog.clear()
        cache.clear()  # the tries of the address, too

        for _try in range(2):
            assert client.post(START)["Location"] == "/admin/login/"
            assert "Logging in with Example ID does not work at the moment" in refusal(client)
        for page in ("metadata", "acs/finish"):
            assert client.get(f"/admin/login/saml/{page}/")["Location"] == "/admin/login/"
            assert "Logging in with Example ID does not work at the moment" in refusal(client)

        logged = [one for one in caplog.records if one.levelname == "ERROR"]
        assert [one.message for one in logged] == [
            "The provider of logins cannot be reached, or its metadata cannot be read. "
            "The same error is not logged again for ten minutes."
        ]
        assert logged[0].exc_info is not None


def test_a_name_is_never_used_as_a_required_attribute(
    provider: SamlProvider, environment: dict[str, Any], settings: Any
) -> None:
    environment["saml_id_attribute"] = "employee"
    configure_sign_in(settings, SignInEnvironment.model_validate(environment))
    log_in(provider, browser(), subject="x", attributes={**JANE, "employee": ["7"]})
    client = browser()

    log_in(provider, client, subject="7", attributes={MAIL: ["eve@example.com"]})

    assert not is_logged_in(client)
    assert people().count() == 1


def test_tries_without_end_are_recorded_up_to_the_limit(client: Client) -> None:
    for _try in range(15):
        client.get("/admin/login/saml/acs/finish/", REMOTE_ADDR="10.9.9.8")

    assert Event.objects.filter(name="user.login-failed").count() == 10


def test_a_role_that_is_gone_logs_nobody_in(
    provider: SamlProvider, environment: dict[str, Any], settings: Any
) -> None:
    make.site_role("writer", "posts.view")
    environment |= {"sso_role_claim": "groups", "sso_roles": "chiefs=admin,writers=writer"}
    configure_sign_in(settings, SignInEnvironment.model_validate(environment))
    make.user("admin")
    log_in(provider, browser(), attributes={**JANE, "groups": ["chiefs"]})
    SiteRole.objects.filter(name="writer").delete()
    client = browser()

    log_in(provider, client, attributes={**JANE, "groups": ["writers"]})

    assert not is_logged_in(client)
    assert "is not a role for people" in refusal(client)
