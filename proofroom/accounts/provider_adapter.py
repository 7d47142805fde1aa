"""The django-allauth adapter for logins through an identity provider (`OIDC_SERVER_URL`, `SAML_METADATA_URL`).

A login needs an email confirmed by the provider. It opens an existing account only if its owner connected the
provider before, unless the operator trusts the provider with that (`SSO_LINK_BY_EMAIL`).
"""

from __future__ import annotations

import logging
from typing import Any, Final, NoReturn

from allauth.account.models import EmailAddress
from allauth.core.exceptions import ImmediateHttpResponse
from allauth.socialaccount.adapter import DefaultSocialAccountAdapter
from allauth.socialaccount.models import SocialAccount, SocialLogin
from allauth.socialaccount.providers.base import AuthError
from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponseRedirect
from django.urls import reverse
from django.utils.translation import gettext as _

from proofroom.accounts.login_limits import has_too_many_tries
from proofroom.accounts.models import User
from proofroom.accounts.provider_ids import SAML
from proofroom.accounts.saml import SAML_SESSION_KEY
from proofroom.accounts.services.provider_accounts import (
    apply_provider_role,
    create_provider_account,
    role_for_claim,
)
from proofroom.accounts.services.sign_in import record_failed_login
from proofroom.core.errors import CmsError
from proofroom.core.repeated_errors import log_once

logger = logging.getLogger(__name__)

_SUBJECT: Final = "sub"


def refuse(request: HttpRequest, text: str, email: str = "") -> NoReturn:
    """Redirect the user to the page they came from, with the reason as a message.

    Counts as an attempt of the address. Beyond the limit, attempts are no longer recorded.
    """
    messages.error(request, text)
    if isinstance(request.user, User):
        raise ImmediateHttpResponse(HttpResponseRedirect(reverse("mfa_index")))
    # A client that repeats failed logins must not fill the activity log.
    if not has_too_many_tries(request):
        record_failed_login(email, via="admin")
    raise ImmediateHttpResponse(HttpResponseRedirect(reverse("admin:login")))


def refuse_unreachable(request: HttpRequest, error: Exception) -> NoReturn:
    """Redirect the user if the provider does not answer or its metadata cannot be read."""
    log_once(
        logger, "The provider of logins cannot be reached, or its metadata cannot be read.", error
    )
    refuse(
        request,
        _("Logging in with %(provider)s does not work at the moment. Try again in a few minutes.")
        % {"provider": settings.PROVIDER_NAME},
    )


def provider_claims(login: SocialLogin) -> dict[str, Any]:
    """Return the provider's claims about a person, from the ID token and the UserInfo endpoint.

    Both must have the same subject (OpenID Connect Core 5.3.2), otherwise `ValueError` is raised. For SAML, return
    the attributes, each a list of strings.
    """
    extra_data: dict[str, Any] = login.account.extra_data
    if login.account.provider == SAML:
        attributes: dict[str, Any] = extra_data["attributes"]
        return attributes
    token, userinfo = extra_data.get("id_token") or {}, extra_data.get("userinfo") or {}
    if token and userinfo and token[_SUBJECT] != userinfo[_SUBJECT]:
        raise ValueError("The ID token and the user info name different people.")
    return {**token, **userinfo}


class ProviderAdapter(DefaultSocialAccountAdapter):
    """The adapter for accounts that log in through a provider."""

    def pre_social_login(self, request: HttpRequest, sociallogin: SocialLogin) -> None:
        claims = provider_claims(sociallogin)
        saml_session = sociallogin.account.extra_data.get("session")
        # Personal data of the provider, such as groups and pictures, is not needed again, so it is not stored.
        sociallogin.account.extra_data = {}
        if sociallogin.account.pk:
            SocialAccount.objects.filter(pk=sociallogin.account.pk).update(extra_data={})
        if sociallogin.state.get("process") == "connect":
            return
        role = None
        if settings.PROVIDER_ROLE_CLAIM:
            role = role_for_claim(claims.get(settings.PROVIDER_ROLE_CLAIM))
            # Where a claim decides the role, a user without a matching claim has lost access at the provider.
            if role is None:
                refuse(request, _("Your account there has no role on this site."))
        sociallogin.state["role"] = role
        if sociallogin.account.provider == SAML:
            sociallogin.state[SAML_SESSION_KEY] = saml_session
        user = sociallogin.user
        if sociallogin.is_existing and role is not None and user.can_log_in:
            try:
                apply_provider_role(user, role)
            except CmsError as error:
                refuse(request, error.message, user.email)

    def authenticate_by_email(self, sociallogin: SocialLogin) -> tuple[User, str] | None:
        """Return the person's account with this confirmed email, if the setting allows logging in by email."""
        found: tuple[User, str] | None = super().authenticate_by_email(sociallogin)
        if found is None or not found[0].can_log_in:
            return None
        # An unconfirmed address may belong to another person, who could otherwise log in to this account.
        confirmed = EmailAddress.objects.filter(user=found[0], email=found[0].email, verified=True)
        return found if confirmed.exists() else None

    def is_open_for_signup(self, request: HttpRequest, sociallogin: SocialLogin) -> bool:
        """Return True for a confirmed email that no account has; refuse the login otherwise."""
        emails = [one.email for one in sociallogin.email_addresses if one.verified]
        if not emails:
            refuse(request, _("The email of your account there is not confirmed."))
        # Connecting by email alone would let the provider take over any account.
        if User.objects.filter(email__iexact=emails[0]).exists():
            refuse(
                request,
                _(
                    "An account with your email already exists. Log in to it, then connect "
                    "%(provider)s under Login methods."
                )
                % {"provider": settings.PROVIDER_NAME},
                emails[0],
            )
        sociallogin.email_addresses = [
            EmailAddress(email=emails[0].lower(), verified=True, primary=True)
        ]
        return True

    def save_user(
        self, request: HttpRequest, sociallogin: SocialLogin, form: object = None
    ) -> User:
        try:
            user = create_provider_account(
                email=sociallogin.email_addresses[0].email,
                name=sociallogin.user.username,
                role=sociallogin.state["role"],
            )
        except CmsError as error:
            refuse(request, error.message)
        sociallogin.user = sociallogin.account.user = user
        sociallogin.account.save()
        return user

    def on_authentication_error(
        self,
        request: HttpRequest,
        provider: object,
        error: str | None = None,
        exception: Exception | None = None,
        extra_context: dict[str, Any] | None = None,
    ) -> None:
        if error == AuthError.CANCELLED:
            refuse(request, _("You cancelled the login."))
        if exception is not None:
            logger.warning("The login through the provider failed: %s", exception)
        refuse(request, _("The login did not work. Try again."))

    def get_connect_redirect_url(self, request: HttpRequest, socialaccount: SocialAccount) -> str:
        return reverse("mfa_index")
