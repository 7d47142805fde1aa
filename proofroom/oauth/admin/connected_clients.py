"""Pages to limit, disconnect and readmit a connected client."""

from __future__ import annotations

from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from proofroom.accounts.admin.limit_page import limit_page
from proofroom.core.admin.permissions import actor_of, service_errors_as_http
from proofroom.oauth.connections import (
    disconnect,
    find_manageable_connection,
    limit_connection,
    unblock_connection,
)
from proofroom.oauth.models import OAuthConnection


@require_POST
@service_errors_as_http
def disconnect_client(request: HttpRequest, connection_id: UUID) -> HttpResponse:
    """End the connection, and redirect to the account or the list of all clients."""
    connection = disconnect(connection_id=connection_id, actor=actor_of(request))
    messages.success(request, _("%(name)s was disconnected.") % {"name": connection.client.label})
    if request.POST.get("back") == "list":
        return HttpResponseRedirect(_all_clients())
    return HttpResponseRedirect(_own_clients())


@service_errors_as_http
def limit_client(request: HttpRequest, connection_id: UUID) -> HttpResponse:
    """Show and save the content the client is limited to."""
    actor = actor_of(request)
    connection = find_manageable_connection(connection_id=connection_id, actor=actor)
    is_own = connection.user_id == actor.user.pk
    return limit_page(
        request,
        "admin/oauth/limit.html",
        OAuthConnection,
        name=connection.client.label,
        scope=connection.scope,
        limit=lambda limits: limit_connection(
            connection_id=connection_id, limits=limits, actor=actor
        ),
        back=_own_clients() if is_own else _all_clients(),
    )


@require_POST
@service_errors_as_http
def allow_client_again(request: HttpRequest, connection_id: UUID) -> HttpResponse:
    """Allow a client again that the user disconnected, and redirect to the account."""
    connection = unblock_connection(connection_id=connection_id, actor=actor_of(request))
    messages.success(request, _("%(name)s can connect again.") % {"name": connection.client.label})
    return HttpResponseRedirect(_own_clients())


def _own_clients() -> str:
    return f"{reverse('admin:account')}#connected-clients"


def _all_clients() -> str:
    return reverse("admin:proofroom_oauth_oauthconnection_changelist")
