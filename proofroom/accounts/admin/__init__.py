"""The admin of accounts: people, invitations, roles and API tokens."""

from contextlib import suppress

# Imported so that their admin classes exist before they are unregistered, whatever the import order.
import allauth.account.admin
import allauth.mfa.admin
import allauth.socialaccount.admin
import allauth.usersessions.admin  # noqa: F401
from allauth.account.models import EmailAddress, EmailConfirmation
from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount, SocialApp, SocialToken
from allauth.usersessions.models import UserSession
from django.contrib import admin
from django.contrib.admin.exceptions import NotRegistered

from proofroom.accounts.admin import invitations, roles, tokens, users

__all__ = ["invitations", "roles", "tokens", "users"]

# Users manage these on the page of their own account. Administrators do not edit the rows.
_HIDDEN_MODELS = (
    EmailAddress,
    EmailConfirmation,
    Authenticator,
    UserSession,
    SocialAccount,
    SocialApp,
    SocialToken,
)
for model in _HIDDEN_MODELS:
    with suppress(NotRegistered):
        admin.site.unregister(model)
