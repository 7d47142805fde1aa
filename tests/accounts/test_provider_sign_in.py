"""Login through an OpenID provider in a separate process."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from allauth.account.models import EmailAddress
from allauth.mfa.totp.internal.auth import TOTP
from allauth.socialaccount.models import SocialAccount, SocialLogin, SocialToken
from allauth.socialaccount.providers import registry
from allauth.socialaccount.providers.openid_connect.provider import OpenIDConnectProvider
from django.core.cache import cache
from django.db.models import QuerySet
from django.test import Client

from cms_project.sign_in import SignInEnvironment, provider_settings
from proofroom.accounts.models import Invitation, User
from proofroom.accounts.provider_adapter import provider_claims
from proofroom.accounts.provider_ids import SAML
from proofroom.accounts.saml import SamlProvider
from proofroom.accounts.services.invitations import create_invitation
from proofroom.core.models import Event
from tests import make
from tests.accounts.oidc_provider.process import provider_for
from tests.api_client import ApiClient
from tests.ports import free_port

pytestmark = pytest.mark.django_db

START = "/admin/login/provider/"
CALLBACK = "/admin/login/oidc/callback/"
SECRET = "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"


@pytest.fixture(scope="module")
def provider() -> Iterator[str]:
    """Return the address of the provider."""
    with provider_for("http://testserver") as url:
        yield url


@pytest.fixture(autouse=True)
def configured(provider: str, settings: Any) -> None:
    cache.clear()
    configure(settings, provider)


def configure(settings: Any, url: str, **more: Any) -> None:
    env = SignInEnvironment.model_validate(
        {
            "oidc_server_url": url,
            "oidc_client_id": "site",
            "oidc_client_secret": "site-secret",
            "sso_name": "Example ID",
            **more,
        }
    )
    configure_sign_in(settings, env)


def configure_sign_in(settings: Any, env: SignInEnvironment) -> None:
    # Like allauth at the start of a process with its app, see `provider_apps`.
    registry.register(SamlProvider if env.sso_provider == SAML else OpenIDConnectProvider)
    settings.SOCIALACCOUNT_PROVIDERS = provider_settings(env)
    settings.PROVIDER_ID = env.sso_provider or ""
    settings.PROVIDER_NAME = env.sso_name if settings.PROVIDER_ID else ""
    settings.PROVIDER_ROLE_CLAIM = env.sso_role_claim
    settings.PROVIDER_ROLES = env.sso_roles
    settings.PROVIDER_DEFAULT_ROLE = env.sso_default_role
    settings.PASSWORD_LOGIN = env.password_login
    settings.ACCOUNT_REAUTHENTICATION_METHODS = (
        ("password", "mfa") if env.password_login else ("mfa",)
    )


def address_in(page: Any) -> str:
    """Return the target of a redirect."""
    found = re.search(r'http-equiv="refresh" content="0; url=([^"]+)"', page.content.decode())
    assert found is not None
    return html.unescape(found[1])


def answer_of(provider: str, address: str, **person: str) -> str:
    """Return the URL to which the provider redirects a user after the login."""
    said = {"name": "jane", "email": "jane@example.com", "verified": "yes", **person}
    with httpx.Client() as browser:
        browser.get(f"{provider}/log-in", params=said).raise_for_status()
        back = urlsplit(browser.get(address).headers["Location"])
    assert f"http://{back.netloc}{back.path}" == f"http://testserver{CALLBACK}"
    return f"{back.path}?{back.query}"


def log_in(provider: str, client: Client, next_url: str = "", **person: str) -> Any:
    page = client.post(START, {"next": next_url})
    return client.get(answer_of(provider, address_in(page), **person))


def is_logged_in(client: Client) -> bool:
    return client.get("/api/auth/me").status_code == 200


def refusal(client: Client) -> str:
    """Return the error on the login page."""
    return client.get("/admin/login/").content.decode()


def people() -> QuerySet[User]:
    return User.objects.exclude(role="ai_agent")


def recorded(name: str) -> list[Event]:
    return list(Event.objects.filter(name=name).order_by("pk"))


def test_a_new_user_gets_an_account_once(provider: str, settings: Any) -> None:
    configure(settings, provider, sso_default_role="translator")
    client, again = Client(), Client()

    came = log_in(provider, client, "/admin/inbox/")
    log_in(provider, again, email="other@example.com", verified="no")

    user = people().get()
    assert came["Location"] == "/admin/inbox/"
    assert (user.email, user.username, user.role) == ("jane@example.com", "jane", "translator")
    assert not user.has_usable_password()
    assert is_logged_in(client)
    assert is_logged_in(again)
    assert EmailAddress.objects.get(user=user).verified
    assert [event.payload["methods"] for event in recorded("user.logged-in")] == [
        ["socialaccount"],
        ["socialaccount"],
    ]
    assert SocialAccount.objects.get().extra_data == {}
    assert not SocialToken.objects.exists()


@pytest.mark.parametrize("role", [None, "editor"])
def test_an_email_that_is_not_confirmed_logs_nobody_in(
    provider: str, settings: Any, role: str | None
) -> None:
    configure(settings, provider, sso_default_role=role, sso_link_by_email=True)
    make.user("editor")
    client = Client()

    for email in ("editor@example.com", "new@example.com"):
        came = log_in(provider, client, email=email, verified="no")
        assert came["Location"] == "/admin/login/"
        assert "is not confirmed" in refusal(client)

    assert not is_logged_in(client)
    assert people().count() == 1
    assert not SocialAccount.objects.exists()


def test_domains_that_the_operator_trusts_count_as_confirmed(provider: str, settings: Any) -> None:
    configure(settings, provider, sso_default_role="editor", sso_confirmed_domains="example.com")
    client, stranger = Client(), Client()

    log_in(provider, client, verified="no")
    log_in(provider, stranger, name="eve", email="eve@example.com.evil.example", verified="no")

    assert (is_logged_in(client), is_logged_in(stranger)) == (True, False)


def test_an_account_that_is_there_already_is_not_taken_over(provider: str, settings: Any) -> None:
    configure(settings, provider, sso_default_role="editor")
    make.user("admin")
    client = Client()

    log_in(provider, client, email="Admin@Example.com")

    assert not is_logged_in(client)
    assert "connect Example ID under Login methods" in refusal(client)
    assert not SocialAccount.objects.exists()
    assert people().count() == 1


def test_a_provider_that_is_trusted_with_it_logs_in_by_email(provider: str, settings: Any) -> None:
    configure(settings, provider, sso_link_by_email=True)
    user = make.user("editor")
    client, moved = Client(), Client()

    log_in(provider, client, email="editor@example.com")
    log_in(provider, moved, email="somewhere@else.example")

    assert is_logged_in(client)
    assert is_logged_in(moved)
    assert SocialAccount.objects.get().user == user
    assert [event.payload["type"] for event in recorded("user.second-factor-added")] == ["oidc"]


@pytest.mark.parametrize("kind", ["agent", "disabled", "not confirmed"])
def test_nobody_logs_in_by_email_to_an_account_that_is_not_theirs(
    provider: str, settings: Any, kind: str
) -> None:
    configure(settings, provider, sso_link_by_email=True, sso_default_role="editor")
    user = make.user("ai_agent" if kind == "agent" else "editor")
    if kind == "disabled":
        User.objects.filter(pk=user.pk).update(is_active=False)
    elif kind == "not confirmed":
        EmailAddress.objects.filter(user=user).update(verified=False)
    client = Client()

    log_in(provider, client, email=user.email)

    assert not is_logged_in(client)
    assert not SocialAccount.objects.exists()


def test_a_disabled_account_stays_out(provider: str, settings: Any) -> None:
    configure(settings, provider, sso_default_role="editor")
    client = Client()
    log_in(provider, client)
    User.objects.update(is_active=False)

    log_in(provider, client)

    assert not is_logged_in(client)


def test_people_connect_their_account_and_disconnect_it(provider: str) -> None:
    user = make.user("editor")
    client, other, third = Client(), Client(), Client()
    client.post("/admin/login/", {"username": user.email, "password": make.PASSWORD})
    asked = client.post("/admin/account/methods/provider/connect/")
    page = client.post(asked["Location"], {"password": make.PASSWORD})

    connected = client.get(answer_of(provider, address_in(page), email="mine@else.example"))
    log_in(provider, other, email="mine@else.example")
    make.user("translator")
    third.post("/admin/login/", {"username": "translator@example.com", "password": make.PASSWORD})
    asked = third.post("/admin/account/methods/provider/connect/")
    page = third.post(asked["Location"], {"password": make.PASSWORD})
    third.get(answer_of(provider, address_in(page), email="mine@else.example"))

    assert asked["Location"].startswith("/admin/account/confirm/")
    assert connected["Location"] == "/admin/account/methods/"
    assert other.get("/api/auth/me").json()["username"] == "editor"
    assert SocialAccount.objects.get().user == user
    assert "already connected" in third.get("/admin/account/methods/").content.decode()
    client.post("/admin/account/methods/provider/disconnect/")
    assert not SocialAccount.objects.exists()
    assert [event.payload["type"] for event in recorded("user.second-factor-removed")] == ["oidc"]


def test_users_without_a_password_keep_the_provider(provider: str, settings: Any) -> None:
    configure(settings, provider, sso_default_role="editor")
    client = Client()
    log_in(provider, client)

    client.post("/admin/account/methods/provider/disconnect/")

    assert SocialAccount.objects.exists()
    assert (
        "You have no other way to log in" in client.get("/admin/account/methods/").content.decode()
    )


def test_the_role_follows_the_claim(provider: str, settings: Any) -> None:
    claim = {"sso_role_claim": "groups", "sso_roles": "cms-admins=admin,writers=editor"}
    configure(settings, provider, **claim)
    make.user("admin")
    client = Client()

    def role(groups: str) -> str:
        log_in(provider, client, groups=groups)
        return User.objects.get(username="jane").role

    roles = [role("staff writers cms-admins"), role("writers")]
    client = Client()
    log_in(provider, client, groups="staff")

    assert roles == ["admin", "editor"]
    assert not is_logged_in(client)
    assert "has no role on this site" in refusal(client)
    assert User.objects.get(username="jane").role == "editor"
    assert [event.payload["role"] for event in recorded("user.changed")] == ["editor"]


def test_the_last_admin_keeps_the_role(provider: str, settings: Any) -> None:
    claim = {"sso_role_claim": "groups", "sso_roles": "cms-admins=admin,writers=editor"}
    configure(settings, provider, **claim)
    client = Client()
    log_in(provider, client, groups="cms-admins")

    log_in(provider, client, groups="writers")

    assert is_logged_in(client)
    assert people().get().role == "admin"


def test_an_invitation_gives_the_role(provider: str, settings: Any) -> None:
    configure(settings, provider, password_login=False)
    make.user("admin")
    _invitation, secret = create_invitation(
        email="jane@example.com", role="translator", actor=make.actor("admin")
    )
    client, stranger = Client(), Client()

    page = client.get(f"/admin/login/invitation/{secret}/").content.decode()
    log_in(provider, client)
    log_in(provider, stranger, name="eve", email="eve@example.com")

    assert "Log in with Example ID" in page
    assert "password" not in page.partition("<main")[2]
    assert User.objects.get(email="jane@example.com").role == "translator"
    assert Invitation.objects.get().state == "accepted"
    assert not is_logged_in(stranger)
    assert "Ask an administrator to invite you" in refusal(stranger)


def test_the_second_factor_is_asked_for_all_the_same(provider: str, settings: Any) -> None:
    configure(settings, provider, sso_default_role="editor")
    client = Client()
    log_in(provider, client)
    TOTP.activate(people().get(), SECRET)
    again = Client()

    came = log_in(provider, again)

    assert came["Location"] == "/admin/login/code/"
    assert not is_logged_in(again)


def test_logging_in_with_passwords_can_be_turned_off(provider: str, settings: Any) -> None:
    configure(settings, provider, password_login=False)
    user = make.user("editor")
    client = Client()
    credentials = {"email": user.email, "password": make.PASSWORD}

    page = client.get("/admin/login/").content.decode()
    client.post("/admin/login/", {"username": user.email, "password": make.PASSWORD})
    api = ApiClient().send("POST", "/api/auth/login", credentials)
    forgot = client.post("/admin/login/forgot/", {"email": user.email})

    assert 'name="password"' not in page
    assert "Forgot your password?" not in page
    assert not is_logged_in(client)
    assert (api.status_code, api.json()["code"]) == (403, "password_login_off")
    assert forgot.status_code == 404


def test_provider_users_log_in_again_before_methods_change(provider: str, settings: Any) -> None:
    configure(settings, provider, sso_default_role="editor", password_login=False)
    client = Client()
    log_in(provider, client)
    at_once = client.get("/admin/account/methods/app/")
    session = client.session
    session["account_authentication_methods"][-1]["at"] -= 3600
    session.save()

    asked = client.get("/admin/account/methods/app/")
    page = client.get(asked["Location"])
    log_in(provider, client, "/admin/account/methods/app/")

    assert at_once.status_code == 200
    assert asked["Location"].startswith("/admin/account/confirm/provider/")
    assert 'value="/admin/account/methods/app/"' in page.content.decode()
    assert client.get("/admin/account/methods/app/").status_code == 200


# Hostile


@pytest.mark.parametrize("target", ["https://evil.example/", "//evil.example/", "/media/x"])
def test_it_leads_nowhere_else(provider: str, settings: Any, target: str) -> None:
    configure(settings, provider, sso_default_role="editor")

    assert log_in(provider, Client(), target)["Location"] == "/admin/"


def test_an_answer_counts_once_and_in_its_own_session_only(provider: str, settings: Any) -> None:
    configure(settings, provider, sso_default_role="editor")
    client, stranger = Client(), Client()
    answer = answer_of(provider, address_in(client.post(START)))

    stolen = stranger.get(answer)
    first = client.get(answer)
    client.logout()
    replayed = client.get(answer)

    assert (stolen["Location"], replayed["Location"]) == ("/admin/login/", "/admin/login/")
    assert first["Location"] == "/admin/"
    assert not is_logged_in(stranger)
    assert not is_logged_in(client)


@pytest.mark.parametrize(
    "query",
    ["", "code=x", "state=x&code=x", "error=access_denied", "error=<script>", "state=\x00&code=é"],
)
def test_made_up_answers_log_nobody_in(query: str) -> None:
    client = Client()
    client.post(START)

    answer = client.get(f"{CALLBACK}?{query}")

    assert answer.status_code in (302, 400)
    assert not is_logged_in(client)


@pytest.mark.parametrize("change", ["code=made-up", "error=access_denied"])
def test_an_answer_without_its_code_logs_nobody_in(provider: str, change: str) -> None:
    client = Client()
    state = parse_qs(urlsplit(address_in(client.post(START))).query)["state"][0]

    answer = client.get(f"{CALLBACK}?state={state}&{change}")

    assert answer["Location"] == "/admin/login/"
    assert not is_logged_in(client)


def test_the_code_needs_the_verifier_of_the_session_that_asked(
    provider: str, settings: Any
) -> None:
    configure(settings, provider, sso_default_role="editor")
    victim, client = Client(), Client()
    code = parse_qs(urlsplit(answer_of(provider, address_in(victim.post(START)))).query)["code"][0]
    own = parse_qs(urlsplit(address_in(client.post(START))).query)

    client.get(f"{CALLBACK}?state={own['state'][0]}&code={code}")

    assert own["code_challenge_method"] == ["S256"]
    assert not is_logged_in(client)


def test_a_provider_that_is_away_is_said_so(settings: Any) -> None:
    configure(settings, f"http://127.0.0.1:{free_port()}")
    client = Client()

    assert client.post(START)["Location"] == "/admin/login/"
    assert "Logging in with Example ID does not work at the moment" in refusal(client)


def test_starts_are_limited_by_address() -> None:
    client = Client(REMOTE_ADDR="10.9.9.9")

    answers = [client.post(START, REMOTE_ADDR="10.9.9.9") for _try in range(11)]

    assert [answer.status_code for answer in answers] == [200] * 10 + [302]


def test_a_login_begins_by_a_form_of_this_site_only() -> None:
    client = Client(enforce_csrf_checks=True)

    assert client.get(START)["Location"] == "/admin/login/"
    assert client.post(START).status_code == 403
    assert "socialaccount_states" not in client.session


def test_token_and_user_info_of_different_people_are_refused() -> None:
    account = SocialAccount(extra_data={"id_token": {"sub": "1"}, "userinfo": {"sub": "2"}})

    with pytest.raises(ValueError, match="different people"):
        provider_claims(SocialLogin(account=account))


def test_without_a_provider_there_are_no_such_pages(settings: Any) -> None:
    configure_sign_in(settings, SignInEnvironment.model_validate({}))
    client = Client()

    assert client.post(START).status_code == 404
    assert client.get(CALLBACK)["Location"] == "/admin/login/"
    assert START not in client.get("/admin/login/").content.decode()


@pytest.mark.parametrize(
    ("variables", "said"),
    [
        ({"oidc_server_url": "https://id.example.com"}, "OIDC_CLIENT_ID"),
        ({"sso_role_claim": "groups"}, "SSO_ROLES"),
        ({"sso_roles": "writers"}, "cms-admins=admin"),
        ({"password_login": False}, "OIDC_SERVER_URL or SAML_METADATA_URL"),
        ({"saml_metadata_url": "https://id.example.com/saml"}, "SAML_ENTITY_ID"),
        ({"saml_metadata_url": "ftp://id.example.com", "saml_entity_id": "x"}, "http"),
        (
            {
                "oidc_server_url": "https://id.example.com",
                "oidc_client_id": "site",
                "saml_metadata_url": "file:///idp.xml",
                "saml_entity_id": "x",
            },
            "set only one of OIDC_SERVER_URL and SAML_METADATA_URL",
        ),
    ],
)
def test_variables_that_do_not_fit_together_are_said(variables: Any, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        SignInEnvironment.model_validate(variables)
