"""Addresses of menus under `/api/`."""

from __future__ import annotations

from django.urls import path

from proofroom.core.api.lazy_views import LazyViewSet

MenusViewSet = LazyViewSet("proofroom_apps.menus.api.menus.MenusViewSet")
MenuViewSet = LazyViewSet("proofroom_apps.menus.api.menus.MenuViewSet")

urlpatterns = [
    path("menus", MenusViewSet.as_view({"get": "list", "post": "create"})),
    path("menus/by-slug/<str:menu>", MenuViewSet.as_view({"get": "retrieve"})),
    path(
        "menus/<str:menu>",
        MenuViewSet.as_view({"get": "retrieve", "put": "update", "delete": "destroy"}),
    ),
]
