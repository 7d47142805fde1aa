"""The address of a preview link."""

from __future__ import annotations

from django.urls import path

from proofroom_apps.previews.views import preview

urlpatterns = [path("preview/<str:token>", preview, name="preview")]
