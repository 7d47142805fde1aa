"""What a connected client is limited to, the end of a connection, and its way back, from the person's account."""

from __future__ import annotations

from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from proofroom.accounts.admin.scope_fields import ScopeForm
from proofroom.core.admin.form_pages import form_page, save_form
from proofroom.core.admin.permissions import actor_of, answers_refusals
from proofroom.oauth.connections import (
    allow_again,
    disconnect,
    find_managed,
    limit_connection,
)
from proofroom.oauth.models import OAuthConnection


@require_POST
@answers_refusals
def disconnect_client(request: HttpRequest, connection_id: UUID) -> HttpResponse:
    """End the connection, and show the page again that asked for it: the account, or the list of all."""
    connection = disconnect(connection_id=connection_id, actor=actor_of(request))
    messages.success(request, _("%(name)s was disconnected.") % {"name": connection.client.label})
    if request.POST.get("back") == "list":
        return HttpResponseRedirect(reverse("admin:proofroom_oauth_oauthconnection_changelist"))
    return HttpResponseRedirect(f"{reverse('admin:account')}#connected-clients")


@answers_refusals
def limit_client(request: HttpRequest, connection_id: UUID) -> HttpResponse:
    """Ask what content the client is limited to, and show the account again, or the list of all."""
    actor = actor_of(request)
    connection = find_managed(connection_id=connection_id, actor=actor)
    data = request.POST if request.method == "POST" else None
    form = ScopeForm(data, scope=connection.scope)
    if save_form(
        form,
        lambda: limit_connection(connection_id=connection_id, limits=form.scope, actor=actor),
    ):
        named = {"client": connection.client.label}
        messages.success(request, _("Saved the limits of %(client)s.") % named)
        if connection.user_id != actor.user.pk:
            return HttpResponseRedirect(reverse("admin:proofroom_oauth_oauthconnection_changelist"))
        return HttpResponseRedirect(f"{reverse('admin:account')}#connected-clients")
    context = {"button": _("Save limits")}
    title = _("Limit %(client)s") % {"client": connection.client.label}
    return form_page(
        request, "admin/oauth/limit.html", OAuthConnection, context, title=title, form=form
    )


@require_POST
@answers_refusals
def allow_client_again(request: HttpRequest, connection_id: UUID) -> HttpResponse:
    """Let a client in again that the person kept out, and show the account."""
    connection = allow_again(connection_id=connection_id, actor=actor_of(request))
    messages.success(request, _("%(name)s can connect again.") % {"name": connection.client.label})
    return HttpResponseRedirect(f"{reverse('admin:account')}#connected-clients")
