"""Adapters for django-allauth: mail, the URLs of links, and what the activity log records."""

from __future__ import annotations

import logging
import time
from typing import Any, Final

from allauth.account.adapter import DefaultAccountAdapter
from allauth.account.app_settings import REAUTHENTICATION_TIMEOUT
from allauth.account.internal.flows.login import get_authentication_records
from allauth.account.models import EmailAddress, EmailConfirmationHMAC
from allauth.mfa.adapter import DefaultMFAAdapter
from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialLogin
from django.conf import settings
from django.contrib import messages
from django.core.mail import EmailMessage
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from proofroom.accounts.devices import device_name
from proofroom.accounts.models import User
from proofroom.accounts.saml import SAML_SESSION_KEY
from proofroom.accounts.services.sign_in import finish_sign_in, has_second_factor
from proofroom.core.caching.rate_limits import client_address
from proofroom.core.encryption import decrypt, encrypt
from proofroom.core.site_urls import absolute

logger = logging.getLogger(__name__)

# The pages behind these messages already show the same fact, so the message would repeat it.
_SUPPRESSED_MESSAGES = (
    "account/messages/logged_in.txt",
    "account/messages/logged_out.txt",
    "account/messages/email_confirmation_sent.txt",
    "account/messages/password_changed.txt",
    "mfa/messages/recovery_codes_generated.txt",
)
_CONFIRM_LABELS: Final = {
    "reauthenticate": gettext_lazy("Use your password"),
    "mfa_reauthenticate": gettext_lazy("Use your authenticator app or a recovery code"),
    "mfa_reauthenticate:webauthn": gettext_lazy("Use a passkey"),
}


def site_address(name: str, **kwargs: object) -> str:
    """Return an absolute URL for a mail, built from `SITE_URL`."""
    # The Host header is the client's: a password reset link built from it could point to an attacker's site.
    return absolute(reverse(name, kwargs=kwargs))


class AccountAdapter(DefaultAccountAdapter):
    """The account adapter: mail, links, and the record of each login."""

    error_messages = {
        **DefaultAccountAdapter.error_messages,
        "email_taken": gettext_lazy("Another account already uses this email."),
        "incorrect_password": gettext_lazy("The password is wrong."),
        "enter_current_password": gettext_lazy("Enter your current password."),
        "same_as_current": gettext_lazy("This is your current email."),
        "too_many_login_attempts": gettext_lazy("Too many attempts. Try again in a few minutes."),
        "rate_limited": gettext_lazy("Too many attempts. Try again in a few minutes."),
    }

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        """Return False: only an admin creates accounts, directly or by invitation."""
        return False

    def get_client_ip(self, request: HttpRequest) -> str:
        return client_address(request)

    def add_message(
        self,
        request: HttpRequest,
        level: int,
        message_template: str | None = None,
        message_context: dict[str, Any] | None = None,
        extra_tags: str = "",
        message: str | None = None,
    ) -> None:
        if message_template not in _SUPPRESSED_MESSAGES:
            super().add_message(
                request, level, message_template, message_context, extra_tags, message
            )

    def render_mail(
        self,
        template_prefix: str,
        email: str | list[str],
        context: dict[str, Any],
        headers: dict[str, str] | None = None,
    ) -> EmailMessage:
        frame = {"site_name": "Proofroom", "site_address": settings.SITE_URL}
        if "user_agent" in context:
            frame["device"] = device_name(context["user_agent"])
        message: EmailMessage = super().render_mail(
            template_prefix, email, {**context, **frame}, headers
        )
        return message

    def send_mail(self, template_prefix: str, email: str, context: dict[str, Any]) -> None:
        """Send a mail. Log a failure instead of raising it."""
        if not settings.HAS_EMAIL:
            return
        # Accounts exist only for some addresses, and only those get a mail. An error here would reveal which.
        try:
            super().send_mail(template_prefix, email, context)
        except OSError:  # SMTPException is a subclass of OSError
            logger.exception("Cannot send the mail %s.", template_prefix)

    def send_password_reset_mail(self, user: User, email: str, context: dict[str, Any]) -> None:
        """Send the reset link, or the mail for an unknown account if the user has no password to reset."""
        # The page looks the same in both cases, so it does not reveal which accounts exist or how they log in.
        if user.can_log_in and user.has_usable_password():
            super().send_password_reset_mail(user, email, context)
        else:
            self.send_mail("account/email/unknown_account", email, {})

    def get_reset_password_from_key_url(self, key: str) -> str:
        user, _dash, token = key.partition("-")
        return site_address("account_reset_password_from_key", uidb36=user, key=token)

    def get_email_confirmation_url(
        self, request: HttpRequest, emailconfirmation: EmailConfirmationHMAC
    ) -> str:
        return site_address("account_confirm_email", key=emailconfirmation.key)

    def confirm_email(self, request: HttpRequest, email_address: EmailAddress) -> bool:
        # Another account may have got the address since the mail was sent.
        others = User.objects.exclude(pk=email_address.user_id)
        if others.filter(email__iexact=email_address.email).exists():
            messages.error(request, str(self.error_messages["email_taken"]))
            return False
        return bool(super().confirm_email(request, email_address))

    def is_safe_url(self, url: str) -> bool:
        """Return True for URLs of this admin only, which prevents open redirects after a login."""
        return url.startswith("/admin/") and super().is_safe_url(url)

    def pre_login(self, request: HttpRequest, user: User, **kwargs: Any) -> HttpResponse | None:
        return None if user.can_log_in else self.respond_user_inactive(request, user)

    def respond_user_inactive(self, request: HttpRequest, user: User) -> HttpResponse:
        messages.error(request, _("This account is turned off."))
        return HttpResponseRedirect(reverse("admin:login"))

    def post_login(self, request: HttpRequest, user: User, **kwargs: Any) -> HttpResponse:
        response: HttpResponse = super().post_login(request, user, **kwargs)
        used = [record.get("method", "") for record in get_authentication_records(request, user)]
        finish_sign_in(request, user, via="admin", methods=used)
        # Forget the SAML session of an earlier login, so that the provider's logout does not end this session.
        request.session.pop(SAML_SESSION_KEY, None)
        login: SocialLogin | None = (kwargs.get("signal_kwargs") or {}).get("sociallogin")
        if login is not None and SAML_SESSION_KEY in login.state:
            request.session[SAML_SESSION_KEY] = login.state[SAML_SESSION_KEY]
        return response

    def is_reauthentication_required(self, *, app: str, **kwargs: Any) -> bool:
        """Return False for a recent login through the provider: the user may have no other method."""
        used = get_authentication_records(self.request, self.request.user)
        if used and used[-1].get("method") == "socialaccount":
            return bool(time.time() - used[-1]["at"] > REAUTHENTICATION_TIMEOUT)
        return bool(super().is_reauthentication_required(app=app, **kwargs))

    def get_reauthentication_methods(self, user: User) -> list[dict[str, Any]]:
        methods: list[dict[str, Any]] = super().get_reauthentication_methods(user)
        if methods or not settings.PROVIDER_NAME:
            return [
                {**method, "description": _CONFIRM_LABELS.get(method["id"], method["description"])}
                for method in methods
            ]
        # Without a password or a second factor, logging in at the provider again is the only way to confirm.
        return [{"id": "provider", "url": reverse("confirm_with_provider")}]

    def get_login_stages(self) -> list[str]:
        # allauth's default list adds stages for phones and codes by mail, which this site does not offer.
        return [
            "allauth.account.stages.EmailVerificationStage",
            "allauth.mfa.stages.AuthenticateStage",
        ]


class SecondFactorAdapter(DefaultMFAAdapter):
    """The adapter for second factors. Secrets are encrypted, and the last factor stays if the role requires one."""

    error_messages = {
        **DefaultMFAAdapter.error_messages,
        "incorrect_code": gettext_lazy("The code is wrong or was already used."),
        "cannot_delete_authenticator": gettext_lazy(
            "Your role requires two-factor authentication. Add another method before you remove this one."
        ),
        "add_email_blocked": gettext_lazy(
            "Remove two-factor authentication before you add an email."
        ),
        "unverified_email": gettext_lazy("Confirm your email first."),
    }

    def get_totp_issuer(self) -> str:
        return "Proofroom"

    def encrypt(self, text: str) -> str:
        return encrypt(text)

    def decrypt(self, encrypted_text: str) -> str:
        return decrypt(encrypted_text)

    def can_delete_authenticator(self, authenticator: Authenticator) -> bool:
        user = authenticator.user
        return not user.must_use_second_factor or has_second_factor(user, besides=authenticator.pk)

    def generate_authenticator_name(self, user: User, type: Authenticator.Type) -> str:
        number = Authenticator.objects.filter(user_id=user.pk, type=type).count() + 1
        return _("Passkey %(number)d") % {"number": number}
