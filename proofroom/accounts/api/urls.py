"""URLs of accounts under `/api/`."""

from __future__ import annotations

from django.urls import path

from proofroom.core.api.lazy_views import LazyViewSet

InvitationViewSet = LazyViewSet("proofroom.accounts.api.invitations.InvitationViewSet")
RoleViewSet = LazyViewSet("proofroom.accounts.api.roles.RoleViewSet")
SessionViewSet = LazyViewSet("proofroom.accounts.api.session.SessionViewSet")
TokenViewSet = LazyViewSet("proofroom.accounts.api.tokens.TokenViewSet")
UserViewSet = LazyViewSet("proofroom.accounts.api.users.UserViewSet")

urlpatterns = [
    path("auth/login", SessionViewSet.as_view({"post": "login"})),
    path("auth/logout", SessionViewSet.as_view({"post": "logout"})),
    path("auth/me", SessionViewSet.as_view({"get": "me"})),
    path("users", UserViewSet.as_view({"get": "list", "post": "create"})),
    path(
        "users/<str:user_id>",
        UserViewSet.as_view({"get": "retrieve", "patch": "update", "delete": "destroy"}),
    ),
    path("roles", RoleViewSet.as_view({"get": "list", "post": "create"})),
    path(
        "roles/<str:role>",
        RoleViewSet.as_view({"get": "retrieve", "patch": "update", "delete": "destroy"}),
    ),
    path("invitations", InvitationViewSet.as_view({"get": "list", "post": "create"})),
    path("invitations/<str:invitation_id>", InvitationViewSet.as_view({"delete": "destroy"})),
    path("tokens", TokenViewSet.as_view({"get": "list", "post": "create"})),
    path("tokens/<str:token_id>", TokenViewSet.as_view({"patch": "update", "delete": "destroy"})),
]
