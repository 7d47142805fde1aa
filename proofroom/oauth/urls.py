"""URLs of the authorization server. The consent page is part of the admin."""

from __future__ import annotations

from django.urls import path, re_path

from proofroom.oauth import views

urlpatterns = [
    # RFC 9728 appends the path of the resource to the well-known path.
    re_path(
        r"^\.well-known/oauth-protected-resource(?:/[\w./-]{0,200})?$",
        views.protected_resource,
        name="oauth-protected-resource",
    ),
    path(".well-known/oauth-authorization-server", views.authorization_server),
    # Clients look for one path or the other.
    path(".well-known/openid-configuration", views.authorization_server),
    path("oauth/token", views.token, name="oauth-token"),
    path("oauth/revoke", views.revoke, name="oauth-revoke"),
    path("oauth/register", views.register, name="oauth-register"),
    path("oauth/introspect", views.introspect, name="oauth-introspect"),
]
