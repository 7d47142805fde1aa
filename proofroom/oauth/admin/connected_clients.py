"""The end of a connection, from the person's account."""

from __future__ import annotations

from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from proofroom.core.admin.permissions import actor_of, answers_refusals
from proofroom.oauth.connections import disconnect


@require_POST
@answers_refusals
def disconnect_client(request: HttpRequest, connection_id: UUID) -> HttpResponse:
    """End the connection, and show the account again."""
    connection = disconnect(connection_id=connection_id, actor=actor_of(request))
    messages.success(request, _("%(name)s was disconnected.") % {"name": connection.client.label})
    return HttpResponseRedirect(f"{reverse('admin:account')}#connected-clients")
