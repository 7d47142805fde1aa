"""The admin of accounts: people, invitations, roles, and the tokens of their programs."""

from allauth.account.models import EmailAddress, EmailConfirmation
from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount, SocialApp, SocialToken
from allauth.usersessions.models import UserSession
from django.contrib import admin

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
    if admin.site.is_registered(model):
        admin.site.unregister(model)
