"""The admin of accounts: people, invitations, roles, and the tokens of their programs."""

from contextlib import suppress

# Before their pages are taken away, whichever module is imported first.
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

# Each person sees their own on the page of their account; nobody edits these rows.
_THEIRS = (
    EmailAddress,
    EmailConfirmation,
    Authenticator,
    UserSession,
    SocialAccount,
    SocialApp,
    SocialToken,
)
for model in _THEIRS:
    with suppress(NotRegistered):
        admin.site.unregister(model)
