"""The template tag that lists a user's AI clients on their account page."""

from __future__ import annotations

from django import template
from django.template.context import RequestContext

from proofroom.oauth.connections import connections_of

register = template.Library()


@register.inclusion_tag("admin/oauth/connected_clients.html", takes_context=True)
def connected_clients(context: RequestContext) -> dict[str, object]:
    """List the user's connections with their last use and a button to end each. One query."""
    request = context["request"]
    found = [*connections_of(request.user.pk)]
    return {"connections": found, "csrf_token": context["csrf_token"]}
