"""Addresses of accounts under `/api/`."""

from __future__ import annotations

from django.urls import path

from accounts.api.session import SessionViewSet

urlpatterns = [
    path("auth/login", SessionViewSet.as_view({"post": "login"})),
    path("auth/logout", SessionViewSet.as_view({"post": "logout"})),
    path("auth/me", SessionViewSet.as_view({"get": "me"})),
]
