"""The end of a connection, and its way back, from the person's account."""

from __future__ import annotations

from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from proofroom.core.admin.permissions import actor_of, answers_refusals
from proofroom.oauth.connections import allow_again, disconnect


@require_POST
@answers_refusals
def disconnect_client(request: HttpRequest, connection_id: UUID) -> HttpResponse:
    """End the connection, and show the page again that asked for it: the account, or the list of all."""
    connection = disconnect(connection_id=connection_id, actor=actor_of(request))
    messages.success(request, _("%(name)s was disconnected.") % {"name": connection.client.label})
    if request.POST.get("back") == "list":
        return HttpResponseRedirect(reverse("admin:proofroom_oauth_oauthconnection_changelist"))
    return HttpResponseRedirect(f"{reverse('admin:account')}#connected-clients")


@require_POST
@answers_refusals
def allow_client_again(request: HttpRequest, connection_id: UUID) -> HttpResponse:
    """Let a client in again that the person kept out, and show the account."""
    connection = allow_again(connection_id=connection_id, actor=actor_of(request))
    messages.success(request, _("%(name)s can connect again.") % {"name": connection.client.label})
    return HttpResponseRedirect(f"{reverse('admin:account')}#connected-clients")
