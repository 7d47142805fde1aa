"""Addresses of embeds on the site."""

from __future__ import annotations

from django.urls import path

from proofroom_apps.embeds.views import thumbnail

urlpatterns = [
    path("embeds/<uuid:facts_id>/<slug:digest>.webp", thumbnail, name="embed-thumbnail"),
]
