"""The mail of an invitation."""

from __future__ import annotations

from allauth.account.adapter import get_adapter
from django.conf import settings
from django.http import HttpRequest
from django.urls import reverse

from proofroom.accounts.models import Invitation
from proofroom.core.site_urls import absolute


def link_of(secret: str) -> str:
    """Return the URL of the page that accepts the invitation with this secret."""
    return absolute(reverse("accept_invitation", kwargs={"secret": secret}))


def mail_invitation(request: HttpRequest, invitation: Invitation, secret: str) -> bool:
    """Send the link to the invited address. Return True if the mail went out."""
    if not settings.HAS_EMAIL:
        return False
    context = {"invitation": invitation, "link": link_of(secret), "inviter": request.user}
    mail = get_adapter(request).render_mail("account/email/invitation", invitation.email, context)
    try:
        mail.send()
    except OSError:  # SMTPException is a subclass of OSError
        return False
    return True
