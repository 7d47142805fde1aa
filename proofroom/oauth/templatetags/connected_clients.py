"""The AI clients of a person, for the page of their account."""

from __future__ import annotations

from django import template
from django.template.context import RequestContext

from proofroom.oauth.connections import connections_of

register = template.Library()


@register.inclusion_tag("admin/oauth/connected_clients.html", takes_context=True)
def connected_clients(context: RequestContext) -> dict[str, object]:
    """List them with their last use, each with a button that ends it. One query."""
    request = context["request"]
    found = [*connections_of(request.user.pk)]
    return {"connections": found, "csrf_token": context["csrf_token"]}
