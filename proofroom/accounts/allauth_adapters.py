"""What django-allauth asks of this project: how mail goes out, what addresses links have, what is recorded."""

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

from proofroom.accounts.devices import device_of
from proofroom.accounts.models import User
from proofroom.accounts.saml import SAML_SESSION_KEY
from proofroom.accounts.services.sign_in import finish_sign_in, has_second_factor
from proofroom.core.caching.rate_limits import client_address
from proofroom.core.encryption import decrypt, encrypt
from proofroom.core.site_urls import absolute

logger = logging.getLogger(__name__)

# What a page shows by itself needs no message above it.
_UNSAID = (
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
    """An address for a mail: by `SITE_URL`, never by what the request says the host is."""
    return absolute(reverse(name, kwargs=kwargs))


class AccountAdapter(DefaultAccountAdapter):
    """Accounts: mail, links and what is recorded of a login."""

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
        """Nobody makes themselves an account: an admin creates it, or invites."""
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
        if message_template not in _UNSAID:
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
            frame["device"] = device_of(context["user_agent"])
        message: EmailMessage = super().render_mail(
            template_prefix, email, {**context, **frame}, headers
        )
        return message

    def send_mail(self, template_prefix: str, email: str, context: dict[str, Any]) -> None:
        """A mail that cannot be sent is logged: an answer that told would tell which accounts there are."""
        if not settings.HAS_EMAIL:
            return
        try:
            super().send_mail(template_prefix, email, context)
        except OSError:  # those of SMTP are such, too
            logger.exception("The mail %s could not be sent.", template_prefix)

    def send_password_reset_mail(self, user: User, email: str, context: dict[str, Any]) -> None:
        """Whoever cannot log in with a password is told so, as somebody without an account is."""
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
        others = User.objects.exclude(pk=email_address.user_id)
        if others.filter(email__iexact=email_address.email).exists():
            messages.error(request, str(self.error_messages["email_taken"]))
            return False
        return bool(super().confirm_email(request, email_address))

    def is_safe_url(self, url: str) -> bool:
        """Only addresses of this admin: nobody is led elsewhere after a login."""
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
        # A login by other means must not stay bound to what a provider said before.
        request.session.pop(SAML_SESSION_KEY, None)
        login: SocialLogin | None = (kwargs.get("signal_kwargs") or {}).get("sociallogin")
        if login is not None and SAML_SESSION_KEY in login.state:
            request.session[SAML_SESSION_KEY] = login.state[SAML_SESSION_KEY]
        return response

    def is_reauthentication_required(self, *, app: str, **kwargs: Any) -> bool:
        """Whoever came through the provider just now is not asked again: they may have nothing else to show."""
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
        return [{"id": "provider", "url": reverse("confirm_with_provider")}]

    def get_login_stages(self) -> list[str]:
        return [
            "allauth.account.stages.EmailVerificationStage",
            "allauth.mfa.stages.AuthenticateStage",
        ]


class SecondFactorAdapter(DefaultMFAAdapter):
    """Second factors: secrets are encrypted, and a role that must have one keeps its last."""

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
